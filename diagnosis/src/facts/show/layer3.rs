use crate::facts::{Neighbour, NeighbourState, Route};
use crate::table::{Cell, Table};

pub(super) fn routes(routes: &[Route]) -> Table {
    let rows = routes
        .iter()
        .map(|route| {
            let destination = if route.kind == "unicast" {
                route.destination.clone()
            } else {
                format!("{} {}", route.kind, route.destination)
            };
            let mut notes = route.flags.clone();
            if let Some(protocol) = &route.protocol {
                notes.push(format!("by {protocol}"));
            }
            if let Some(source) = route.source {
                notes.push(format!("from {source}"));
            }
            vec![
                Cell::name(destination),
                Cell::maybe(route.gateway),
                Cell::maybe(route.device.as_ref()),
                Cell::code(&route.table),
                Cell::maybe(route.metric),
                Cell::text(route.family.name()),
                Cell::text(notes.join(", ")),
            ]
        })
        .collect();
    Table::new(
        &[
            "to", "gateway", "device", "table", "metric", "family", "notes",
        ],
        "There are no routes.",
        rows,
    )
}

pub(super) fn neighbours(neighbours: &[Neighbour]) -> Table {
    let rows = neighbours
        .iter()
        .map(|n| {
            let states: Vec<&str> = n.states.iter().map(state).collect();
            vec![
                Cell::name(n.ip),
                Cell::code(&n.device),
                Cell::maybe(n.mac.as_ref()),
                Cell::code(states.join(" ")),
                Cell::text(if n.router { "router" } else { "" }),
            ]
        })
        .collect();
    Table::new(
        &["address", "device", "MAC", "state", "notes"],
        "The neighbour table is empty: nobody was asked for lately.",
        rows,
    )
}

fn state(state: &NeighbourState) -> &str {
    match state {
        NeighbourState::Permanent => "PERMANENT",
        NeighbourState::Noarp => "NOARP",
        NeighbourState::Reachable => "REACHABLE",
        NeighbourState::Stale => "STALE",
        NeighbourState::None => "NONE",
        NeighbourState::Incomplete => "INCOMPLETE",
        NeighbourState::Delay => "DELAY",
        NeighbourState::Probe => "PROBE",
        NeighbourState::Failed => "FAILED",
        NeighbourState::Other(name) => name,
    }
}
