//! `ip -j neigh show` (ip/ipneigh.c of iproute2). FAILED and INCOMPLETE entries have no `lladdr`.

use super::json::{self, Object};
use super::{Output, ParseError, Read, clip};
use crate::facts::{Neighbour, NeighbourState};

pub(super) fn parse(output: &Output) -> Result<Read<Vec<Neighbour>>, ParseError> {
    let mut facts = Vec::new();
    let mut unparsed = Vec::new();
    for item in json::items(output, "ip-neigh")? {
        match item.as_object().and_then(neighbour) {
            Some(neighbour) => facts.push(neighbour),
            None => unparsed.push(clip(&item.to_string())),
        }
    }
    Ok(Read { facts, unparsed })
}

fn neighbour(object: &Object) -> Option<Neighbour> {
    Some(Neighbour {
        ip: json::ip(object, "dst")?,
        device: json::interface(json::text(object, "dev")?).to_owned(),
        mac: json::owned(object, "lladdr"),
        states: json::texts(object, "state")
            .into_iter()
            .map(state)
            .collect(),
        router: object.contains_key("router"),
    })
}

fn state(word: String) -> NeighbourState {
    match word.as_str() {
        "PERMANENT" => NeighbourState::Permanent,
        "NOARP" => NeighbourState::Noarp,
        "REACHABLE" => NeighbourState::Reachable,
        "STALE" => NeighbourState::Stale,
        "NONE" => NeighbourState::None,
        "INCOMPLETE" => NeighbourState::Incomplete,
        "DELAY" => NeighbourState::Delay,
        "PROBE" => NeighbourState::Probe,
        "FAILED" => NeighbourState::Failed,
        _ => NeighbourState::Other(word),
    }
}
