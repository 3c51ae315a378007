use std::net::IpAddr;

use crate::facts::{Neighbour, NeighbourState};

/// The entry for an address on an interface; on any interface if none is named.
#[must_use]
pub fn neighbour<'a>(
    neighbours: &'a [Neighbour],
    ip: IpAddr,
    device: Option<&str>,
) -> Option<&'a Neighbour> {
    neighbours
        .iter()
        .find(|n| n.ip == ip && device.is_none_or(|d| n.device == d))
}

/// Whether the kernel asked for this neighbour and got no answer. No entry says nothing.
#[must_use]
pub fn resolution_failed(neighbours: &[Neighbour], ip: IpAddr, device: Option<&str>) -> bool {
    neighbour(neighbours, ip, device).is_some_and(|n| {
        n.mac.is_none()
            && n.states
                .iter()
                .any(|s| matches!(s, NeighbourState::Failed | NeighbourState::Incomplete))
    })
}
