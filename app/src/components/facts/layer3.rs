use diagnosis::facts::{Neighbour, NeighbourState, Route};
use leptos::prelude::*;

use super::{maybe, mono, table, text};

pub(super) fn routes(routes: Vec<Route>) -> AnyView {
    let rows = routes
        .into_iter()
        .map(|route| {
            let kind = if route.kind == "unicast" {
                String::new()
            } else {
                format!("{} ", route.kind)
            };
            let mut notes: Vec<String> = route.flags.clone();
            if let Some(protocol) = &route.protocol {
                notes.push(format!("by {protocol}"));
            }
            if let Some(source) = route.source {
                notes.push(format!("from {source}"));
            }
            vec![
                view! {
                    <span class="mono font-semibold">{format!("{kind}{}", route.destination)}</span>
                }
                .into_any(),
                maybe(route.gateway),
                maybe(route.device),
                mono(route.table),
                maybe(route.metric),
                text(route.family.name()),
                text(notes.join(", ")),
            ]
        })
        .collect();
    table(
        &[
            "to", "gateway", "device", "table", "metric", "family", "notes",
        ],
        rows,
        "There are no routes.",
    )
}

pub(super) fn neighbours(neighbours: Vec<Neighbour>) -> AnyView {
    let rows = neighbours
        .into_iter()
        .map(|n| {
            let states: Vec<&str> = n.states.iter().map(state).collect();
            vec![
                view! { <span class="mono font-semibold">{n.ip.to_string()}</span> }.into_any(),
                mono(n.device),
                maybe(n.mac),
                mono(states.join(" ")),
                text(if n.router { "router" } else { "" }),
            ]
        })
        .collect();
    table(
        &["address", "device", "MAC", "state", "notes"],
        rows,
        "The neighbour table is empty: nobody was asked for lately.",
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
