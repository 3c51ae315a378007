use crate::facts::{ArpProbe, PingProbe};
use crate::table::{Cell, Table};

pub(super) fn ping(ping: &PingProbe) -> Table {
    let mut rows = vec![
        ("target", Cell::maybe(ping.target)),
        ("answers", answers(ping.received, ping.sent)),
    ];
    if ping.no_route {
        rows.push((
            "route",
            Cell::text("none: the kernel refused to send, nothing left the guest"),
        ));
    }
    if let Some(us) = ping.rtt_average_us {
        rows.push((
            "round trip, average",
            Cell::text(format!("{}.{:03} ms", us / 1000, us % 1000)),
        ));
    }
    if !ping.errors.is_empty() {
        rows.push(("errors", Cell::codes(&ping.errors)));
    }
    Table::pairs(rows)
}

pub(super) fn arp(arp: &ArpProbe) -> Table {
    let mut rows = vec![
        ("target", Cell::maybe(arp.target)),
        ("answers", answers(arp.received, arp.sent)),
    ];
    if !arp.replies.is_empty() {
        rows.push((
            "answered by",
            Cell::codes(arp.replies.iter().map(|r| &r.mac)),
        ));
    }
    Table::pairs(rows)
}

fn answers(received: u32, sent: u32) -> Cell {
    Cell::text(format!("{received} of {sent} sent"))
}
