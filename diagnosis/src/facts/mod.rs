//! One parsed value each, in the field's terms, with units in the names. A fact that a tool did not
//! print is `None`, never a default that looks like a value.

mod guest;
mod link;
mod neighbour;
mod platform;
mod probe;
mod route;
#[cfg(feature = "engine")]
mod show;
mod vlan;

pub use guest::{Guest, GuestKind, GuestStatus};
pub use link::{Address, AddressScope, Link, LinkKind};
pub use neighbour::{Neighbour, NeighbourState};
pub use platform::{Platform, PlatformKind, Tool};
pub use probe::{ArpProbe, ArpReply, PingProbe};
pub use route::Route;
pub use vlan::{PortVlans, VlanRange};

use serde::{Deserialize, Serialize};

/// The facts of one output, by parser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Facts {
    Links(Vec<Link>),
    Vlans(Vec<PortVlans>),
    Routes(Vec<Route>),
    Neighbours(Vec<Neighbour>),
    Ping(PingProbe),
    Arp(ArpProbe),
    Guests(Vec<Guest>),
    Platform(Platform),
}
