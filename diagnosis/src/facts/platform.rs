use serde::{Deserialize, Serialize};

/// What a host is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Platform {
    pub kind: PlatformKind,
    /// `PRETTY_NAME` of /etc/os-release.
    pub os: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    pub hostname: Option<String>,
    pub cpus: Option<u32>,
    /// `pveversion`, as printed.
    pub pve_version: Option<String>,
    /// The tools the checks use, and whether the host has them.
    pub tools: Vec<Tool>,
}

/// Proxmox VE's own tools: a host that is no hypervisor does not lack them.
const HYPERVISOR_TOOLS: [&str; 4] = ["lxc-info", "pct", "pvesh", "qm"];

impl Platform {
    /// The tools that this kind of host should have for the checks.
    pub fn expected_tools(&self) -> impl Iterator<Item = &Tool> {
        let hypervisor = self.kind == PlatformKind::ProxmoxVe;
        self.tools.iter().filter(move |tool| {
            hypervisor || tool.path.is_some() || !HYPERVISOR_TOOLS.contains(&tool.name.as_str())
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlatformKind {
    ProxmoxVe,
    Linux,
    Other,
}

impl PlatformKind {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProxmoxVe => "Proxmox VE",
            Self::Linux => "Linux",
            Self::Other => "other",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Tool {
    pub name: String,
    /// Where it is; `None` when the host does not have it.
    pub path: Option<String>,
}
