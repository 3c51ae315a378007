//! `qm list` (PVE::CLI::qm): `VMID NAME STATUS MEM(MB) BOOTDISK(GB) PID`. A VM without a name is
//! printed as "VM 100", so the name is what is left after the four columns behind it.

use super::pct_list::status_of;
use super::{Output, ParseError, Read, clip};
use crate::facts::{Guest, GuestKind};
use crate::ids::Vmid;

pub(super) fn parse(output: &Output) -> Result<Read<Vec<Guest>>, ParseError> {
    output.succeeded()?;
    let mut lines = output.stdout.lines().filter(|l| !l.trim().is_empty());
    let mut facts = Vec::new();
    let mut unparsed = Vec::new();
    let Some(header) = lines.next() else {
        return Ok(Read { facts, unparsed });
    };
    let columns: Vec<&str> = header.split_whitespace().collect();
    if columns != ["VMID", "NAME", "STATUS", "MEM(MB)", "BOOTDISK(GB)", "PID"] {
        return Err(ParseError::NotUnderstood {
            parser: "qm-list",
            detail: format!("the first line is “{}”", clip(header.trim())),
        });
    }
    for line in lines {
        match guest(line) {
            Some(guest) => facts.push(guest),
            None => unparsed.push(clip(line)),
        }
    }
    Ok(Read { facts, unparsed })
}

fn guest(line: &str) -> Option<Guest> {
    let (vmid, rest) = line.trim().split_once(' ')?;
    let mut rest = rest.trim();
    let mut tail = Vec::new();
    // PID, boot disk, memory, status: from the right.
    for _ in 0..4 {
        let (before, word) = rest.rsplit_once(' ').unwrap_or(("", rest));
        tail.push(word);
        rest = before.trim_end();
    }
    let [pid, disk, memory, status] = tail.try_into().ok()?;
    let numbers =
        pid.parse::<u64>().is_ok() && disk.parse::<f64>().is_ok() && memory.parse::<u64>().is_ok();
    (numbers && !status.is_empty()).then_some(())?;
    Some(Guest {
        vmid: Vmid(vmid.parse().ok()?),
        kind: GuestKind::VirtualMachine,
        name: rest.to_owned(),
        status: status_of(status),
    })
}
