use serde::{Deserialize, Serialize};

/// The VLANs of one bridge port, as `bridge vlan show` lists them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct PortVlans {
    pub port: String,
    /// The VLAN that untagged frames are put in. `None`: untagged frames are dropped.
    pub pvid: Option<u16>,
    pub vlans: Vec<VlanRange>,
}

/// Neighbouring VLANs with the same flags, first and last inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct VlanRange {
    pub first: u16,
    pub last: u16,
    /// Frames of these VLANs leave the port without a tag.
    pub untagged: bool,
}
