use diagnosis::facts::{ArpProbe, PingProbe};
use leptos::prelude::*;

use super::{maybe, pairs, text};

pub(super) fn ping(ping: PingProbe) -> AnyView {
    let mut rows = vec![
        ("target", maybe(ping.target)),
        (
            "answers",
            text(format!("{} of {} sent", ping.received, ping.sent)),
        ),
    ];
    if ping.no_route {
        rows.push((
            "route",
            text("none: the kernel refused to send, nothing left the guest"),
        ));
    }
    if let Some(us) = ping.rtt_average_us {
        rows.push((
            "round trip, average",
            text(format!("{}.{:03} ms", us / 1000, us % 1000)),
        ));
    }
    if !ping.errors.is_empty() {
        rows.push(("errors", lines(ping.errors)));
    }
    pairs(rows)
}

pub(super) fn arp(arp: ArpProbe) -> AnyView {
    let macs: Vec<String> = arp.replies.into_iter().map(|r| r.mac).collect();
    let mut rows = vec![
        ("target", maybe(arp.target)),
        (
            "answers",
            text(format!("{} of {} sent", arp.received, arp.sent)),
        ),
    ];
    if !macs.is_empty() {
        rows.push(("answered by", lines(macs)));
    }
    pairs(rows)
}

fn lines(lines: Vec<String>) -> AnyView {
    lines
        .into_iter()
        .map(|line| view! { <span class="block mono">{line}</span> })
        .collect_view()
        .into_any()
}
