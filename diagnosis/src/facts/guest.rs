use serde::{Deserialize, Serialize};

use crate::ids::Vmid;

/// A VM or container, as its hypervisor lists it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Guest {
    pub vmid: Vmid,
    pub kind: GuestKind,
    pub name: String,
    pub status: GuestStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GuestKind {
    Container,
    VirtualMachine,
}

impl GuestKind {
    /// Proxmox's short form.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Container => "CT",
            Self::VirtualMachine => "VM",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GuestStatus {
    Running,
    Stopped,
    Other(String),
}
