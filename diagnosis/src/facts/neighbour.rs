use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// An entry of the neighbour table (ARP for IPv4, neighbour discovery for IPv6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Neighbour {
    pub ip: IpAddr,
    pub device: String,
    /// Absent while nobody has answered (`INCOMPLETE`, `FAILED`).
    pub mac: Option<String>,
    pub states: Vec<NeighbourState>,
    /// The neighbour said that it is a router (IPv6).
    pub router: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum NeighbourState {
    Permanent,
    Noarp,
    Reachable,
    Stale,
    None,
    Incomplete,
    Delay,
    Probe,
    Failed,
    #[serde(untagged)]
    Other(String),
}
