use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// An interface as `ip -d addr` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Link {
    pub name: String,
    pub index: u32,
    pub kind: LinkKind,
    /// `IFF_UP`: a person or a tool switched it on.
    pub admin_up: bool,
    /// `IFF_LOWER_UP`: the carrier is there.
    pub carrier: bool,
    /// `operstate` as printed: `UP`, `DOWN`, `LOWERLAYERDOWN`, `UNKNOWN` …
    pub state: String,
    pub mtu: Option<u32>,
    pub mac: Option<String>,
    /// The bridge or bond this link is a port of.
    pub master: Option<String>,
    /// The interface this one lives on (a VLAN's lower device). Absent for a veth: its other end is
    /// in another namespace, and a name resolved here would be a wrong one.
    pub lower: Option<String>,
    pub vlan_id: Option<u16>,
    pub vni: Option<u32>,
    /// On a bridge: whether it looks at VLANs.
    pub vlan_filtering: Option<bool>,
    pub addresses: Vec<Address>,
}

/// What kind of interface it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    Loopback,
    /// A physical NIC, or one that says nothing about its kind.
    Nic,
    Bridge,
    Bond,
    Vlan,
    Vxlan,
    Veth,
    Tap,
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Address {
    pub ip: IpAddr,
    pub prefix_length: u8,
    pub scope: AddressScope,
    /// Duplicate address detection failed: the kernel does not use this address.
    pub dad_failed: bool,
    pub tentative: bool,
    pub deprecated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AddressScope {
    Global,
    Link,
    Host,
    Other(String),
}
