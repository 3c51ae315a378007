//! `arping` of iputils (arping.c). Its exit status says little (with `-c` it counts replies against
//! probes), so the counts decide. Thomas Habets' arping prints other text and is not understood.

use super::{Output, ParseError, Read, clip};
use crate::facts::{ArpProbe, ArpReply};

pub(super) fn parse(output: &Output) -> Result<Read<ArpProbe>, ParseError> {
    let mut target = None;
    let mut sent = None;
    let mut received = None;
    let mut replies = Vec::new();
    let mut unparsed = Vec::new();
    for line in output.stdout.lines().map(str::trim_end) {
        if let Some(rest) = line.strip_prefix("ARPING ") {
            target = rest.split(' ').next().and_then(|ip| ip.parse().ok());
        } else if let Some(mac) = reply_mac(line) {
            replies.push(ArpReply { mac });
        } else if let Some(count) = count(line, "Sent ", " probes (") {
            sent = Some(count);
        } else if let Some(count) = count(line, "Received ", " response(s)") {
            received = Some(count);
        } else if !line.is_empty() {
            unparsed.push(clip(line));
        }
    }
    unparsed.extend(
        output
            .stderr
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .map(clip),
    );
    match (sent, received) {
        (Some(sent), Some(received)) => Ok(Read {
            facts: ArpProbe {
                target,
                sent,
                received,
                replies,
            },
            unparsed,
        }),
        _ if output.exit == 0 => Err(ParseError::NotUnderstood {
            parser: "arping",
            detail: "it does not say how many probes were sent and answered".into(),
        }),
        _ => Err(output.failed()),
    }
}

/// `Unicast reply from 192.0.2.12 [02:00:00:00:01:03]  0.576ms`; also `Broadcast reply`.
fn reply_mac(line: &str) -> Option<String> {
    let (kind, rest) = line.split_once(" reply from ")?;
    if !matches!(kind, "Unicast" | "Broadcast") {
        return None;
    }
    let mac = rest.split_once('[')?.1.split_once(']')?.0;
    Some(mac.to_ascii_lowercase())
}

fn count(line: &str, before: &str, after: &str) -> Option<u32> {
    let rest = line.strip_prefix(before)?;
    rest.split_once(after)?.0.parse().ok()
}
