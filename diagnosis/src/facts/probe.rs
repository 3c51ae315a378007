use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What `ping` (iputils) found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct PingProbe {
    pub target: Option<IpAddr>,
    pub sent: u32,
    pub received: u32,
    /// The kernel refused to send: no route. Nothing left the guest.
    pub no_route: bool,
    /// ICMP errors that came back, as printed, such as "From 10.10.10.122 icmp_seq=1 Destination Host Unreachable".
    pub errors: Vec<String>,
    pub rtt_average_us: Option<u64>,
}

/// What `arping` (iputils) found with a broadcast probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct ArpProbe {
    pub target: Option<IpAddr>,
    pub sent: u32,
    pub received: u32,
    pub replies: Vec<ArpReply>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct ArpReply {
    pub mac: String,
}
