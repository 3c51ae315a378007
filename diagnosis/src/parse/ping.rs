//! `ping` of iputils (ping/ping.c, ping_common.c), s2016 to 2024. Nothing received is exit 1 and a
//! result; exit 2 with "Network is unreachable" is one too: the kernel had no route.

use std::net::IpAddr;

use super::{Output, ParseError, Read, clip};
use crate::facts::PingProbe;

pub(super) fn parse(output: &Output) -> Result<Read<PingProbe>, ParseError> {
    let mut facts = PingProbe {
        target: None,
        sent: 0,
        received: 0,
        no_route: output.stderr.lines().any(is_no_route),
        errors: Vec::new(),
        rtt_average_us: None,
    };
    let mut unparsed = Vec::new();
    let mut counted = false;
    for line in output.stdout.lines() {
        let line = line.trim_end();
        let body = after_time(line);
        if let Some(rest) = line.strip_prefix("PING ") {
            facts.target = header_target(rest);
        } else if let Some((sent, received)) = statistics(line) {
            (facts.sent, facts.received, counted) = (sent, received, true);
        } else if let Some(average) = rtt_average_us(line) {
            facts.rtt_average_us = Some(average);
        } else if body.starts_with("From ") {
            facts.errors.push(clip(body));
        } else if !is_known(body) {
            unparsed.push(clip(line));
        }
    }
    for line in output
        .stderr
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
    {
        if is_no_route(line)
            || line.starts_with("ping: local error")
            || line.starts_with("ping: send")
        {
            facts.errors.push(clip(line));
        } else if !line.starts_with("ping: Warning") && !line.starts_with("WARNING: ") {
            unparsed.push(clip(line));
        }
    }
    if counted || (facts.no_route && output.exit == 2) {
        facts.no_route &= facts.received == 0;
        Ok(Read { facts, unparsed })
    } else if output.exit == 0 {
        Err(ParseError::NotUnderstood {
            parser: "ping",
            detail: "there is no line of statistics".into(),
        })
    } else {
        Err(output.failed())
    }
}

/// "ping: connect: Network is unreachable", before 2018 without "ping: ".
fn is_no_route(line: &str) -> bool {
    line.trim_end().ends_with(": Network is unreachable")
}

/// A line without the time stamp that `-D` puts before it.
fn after_time(line: &str) -> &str {
    line.strip_prefix('[')
        .and_then(|l| l.split_once("] "))
        .filter(|(time, _)| time.chars().all(|c| c.is_ascii_digit() || c == '.'))
        .map_or(line, |(_, rest)| rest)
}

/// `192.0.2.1 (192.0.2.1) 56(84) bytes of data.`, or IPv6 `fe80::1%eth0(fe80::1%eth0) 56 data bytes`.
fn header_target(rest: &str) -> Option<IpAddr> {
    let inside = rest.split_once('(')?.1.split_once(')')?.0;
    inside.split('%').next()?.parse().ok()
}

/// `3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 623ms`.
fn statistics(line: &str) -> Option<(u32, u32)> {
    let mut parts = line.split(", ");
    let sent = parts
        .next()?
        .strip_suffix(" packets transmitted")?
        .parse()
        .ok()?;
    let received = parts.next()?;
    let received = received
        .strip_suffix(" packets received")
        .or_else(|| received.strip_suffix(" received"))?
        .parse()
        .ok()?;
    // Without duplicates no more can come back than went out.
    (received <= sent && line.contains("packet loss")).then_some((sent, received))
}

/// `rtt min/avg/max/mdev = 0.031/0.038/0.046/0.007 ms`, sometimes with `, pipe 4` behind it.
fn rtt_average_us(line: &str) -> Option<u64> {
    let values = line
        .strip_prefix("rtt min/avg/max/mdev = ")
        .or_else(|| line.strip_prefix("round-trip min/avg/max = "))?;
    micros(values.split('/').nth(1)?)
}

/// Milliseconds with up to three decimals, as microseconds.
fn micros(milliseconds: &str) -> Option<u64> {
    let (whole, part) = milliseconds.split_once('.').unwrap_or((milliseconds, "0"));
    let digits: String = part.chars().chain("000".chars()).take(3).collect();
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(digits.parse().ok()?)
}

/// Lines that say nothing beyond what the statistics count.
fn is_known(line: &str) -> bool {
    line.is_empty()
        || line.contains(" bytes from ")
        || (line.starts_with("--- ") && line.ends_with(" ping statistics ---"))
        || line.starts_with("pipe ")
        || line.starts_with("no answer yet for icmp_seq=")
}
