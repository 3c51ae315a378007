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

macro_rules! facts {
    (lists { $($list:ident($item:ty),)+ } single { $($one:ident($value:ty),)+ }) => {
        /// The facts of one output, by what they are about.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Facts {
            $($list(Vec<$item>),)+
            $($one($value),)+
        }

        /// What facts are about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FactsKind {
            $($list,)+
            $($one,)+
        }

        impl Facts {
            #[must_use]
            pub const fn kind(&self) -> FactsKind {
                match self {
                    $(Self::$list(_) => FactsKind::$list,)+
                    $(Self::$one(_) => FactsKind::$one,)+
                }
            }

            /// Whether a list of facts has none. Facts that are no list are there or not by themselves.
            #[must_use]
            pub const fn is_empty(&self) -> bool {
                match self {
                    $(Self::$list(list) => list.is_empty(),)+
                    $(Self::$one(_) => false,)+
                }
            }

            /// The facts themselves, without the word that says which they are.
            #[cfg(feature = "engine")]
            pub(crate) fn value(&self) -> serde_json::Value {
                match self {
                    $(Self::$list(facts) => serde_json::to_value(facts),)+
                    $(Self::$one(facts) => serde_json::to_value(facts),)+
                }
                .unwrap_or(serde_json::Value::Null)
            }
        }

        #[cfg(feature = "engine")]
        impl FactsKind {
            /// The JSON Schema of the facts themselves.
            #[must_use]
            pub fn schema(self) -> schemars::Schema {
                match self {
                    $(Self::$list => schemars::schema_for!(Vec<$item>),)+
                    $(Self::$one => schemars::schema_for!($value),)+
                }
            }
        }
    };
}

facts! {
    lists {
        Links(Link),
        Vlans(PortVlans),
        Routes(Route),
        Neighbours(Neighbour),
        Guests(Guest),
    }
    single {
        Ping(PingProbe),
        Arp(ArpProbe),
        Platform(Platform),
    }
}
