//! Facts as tables, one for each kind.

mod host;
mod layer2;
mod layer3;
mod probe;

use super::{Facts, Guest, Platform};
use crate::table::Table;

impl Facts {
    /// The facts as people read them.
    #[must_use]
    pub fn table(&self) -> Table {
        match self {
            Self::Links(links) => layer2::links(links),
            Self::Vlans(ports) => layer2::vlans(ports),
            Self::Routes(routes) => layer3::routes(routes),
            Self::Neighbours(neighbours) => layer3::neighbours(neighbours),
            Self::Ping(ping) => probe::ping(ping),
            Self::Arp(arp) => probe::arp(arp),
            Self::Guests(guests) => host::guests(guests),
            Self::Platform(platform) => host::platform(platform),
        }
    }
}

impl Platform {
    /// What the host is, as people read it.
    #[must_use]
    pub fn table(&self) -> Table {
        host::platform(self)
    }
}

impl Guest {
    /// A host's guests, as people read them.
    #[must_use]
    pub fn table(guests: &[Self]) -> Table {
        host::guests(guests)
    }
}
