//! `pct list` (PVE::CLI::pct): columns of at least 10, 10, 12 and 20 characters. Without containers
//! it prints nothing at all.

use super::{Output, ParseError, Read, clip};
use crate::facts::{Guest, GuestKind, GuestStatus};
use crate::ids::Vmid;

/// The locks of PVE::LXC::Config.
const LOCKS: [&str; 10] = [
    "backup",
    "create",
    "destroyed",
    "disk",
    "fstrim",
    "migrate",
    "mounted",
    "rollback",
    "snapshot",
    "snapshot-delete",
];

pub(super) fn parse(output: &Output) -> Result<Read<Vec<Guest>>, ParseError> {
    output.succeeded()?;
    let mut lines = output.stdout.lines().filter(|l| !l.trim().is_empty());
    let mut facts = Vec::new();
    let mut unparsed = Vec::new();
    let Some(header) = lines.next() else {
        return Ok(Read { facts, unparsed });
    };
    let columns: Vec<&str> = header.split_whitespace().collect();
    if columns != ["VMID", "Status", "Lock", "Name"] {
        return Err(ParseError::NotUnderstood {
            parser: "pct-list",
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
    let (vmid, rest) = line.trim_start().split_once(' ')?;
    let rest = rest.trim();
    let (status, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    // A row without a lock has only spaces there. A first word that is a lock is one if another word
    // follows it (a container may be called "backup"), or if it stands in the lock's column.
    let name_column_is_empty = line.trim_end().chars().count() <= 22 + 12;
    let gap = rest.len() - rest.trim_start().len();
    let rest = rest.trim();
    let name = match rest.split_once(' ') {
        Some((lock, name)) if LOCKS.contains(&lock) && gap < 12 => name.trim(),
        None if LOCKS.contains(&rest) && name_column_is_empty => "",
        _ => rest,
    };
    Some(Guest {
        vmid: Vmid(vmid.parse().ok()?),
        kind: GuestKind::Container,
        name: name.to_owned(),
        status: status_of(status),
    })
}

/// A guest's status as Proxmox words it.
pub(super) fn status_of(word: &str) -> GuestStatus {
    match word {
        "running" => GuestStatus::Running,
        "stopped" => GuestStatus::Stopped,
        other => GuestStatus::Other(other.to_owned()),
    }
}
