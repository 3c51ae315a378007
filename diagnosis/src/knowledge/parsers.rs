use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::facts::FactsKind;

macro_rules! parsers {
    ($($variant:ident = $name:literal => $facts:ident, $reads:literal;)+) => {
        /// The parsers, by the names the knowledge uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ParserName {
            $(#[doc = concat!("Reads `", $reads, "`.")] #[serde(rename = $name)] $variant,)+
        }

        impl ParserName {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// As the knowledge writes it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The command whose output it reads.
            #[must_use]
            pub const fn reads(self) -> &'static str {
                match self { $(Self::$variant => $reads),+ }
            }

            /// What it makes of it.
            #[must_use]
            pub const fn facts(self) -> FactsKind {
                match self { $(Self::$variant => FactsKind::$facts),+ }
            }
        }
    };
}

parsers! {
    IpAddr = "ip-addr" => Links, "ip -j -d addr";
    BridgeVlan = "bridge-vlan" => Vlans, "bridge -j -compressvlans vlan show";
    IpRoute = "ip-route" => Routes, "ip -j route show table all";
    IpNeigh = "ip-neigh" => Neighbours, "ip -j neigh show";
    Ping = "ping" => Ping, "ping -n -c 3 ADDRESS";
    Arping = "arping" => Arp, "arping -b -c 3 -I INTERFACE ADDRESS";
    PctList = "pct-list" => Guests, "pct list";
    QmList = "qm-list" => Guests, "qm list";
    OsRelease = "os-release" => Platform, "cat /etc/os-release";
    Uname = "uname" => Platform, "uname -s -n -r";
    Nproc = "nproc" => Platform, "nproc";
    PveVersion = "pve-version" => Platform, "pveversion";
    Tools = "tools" => Platform, "which tools the host has, a line each: NAME PATH";
}

/// No parser has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no parser is called “{0}”")]
pub struct UnknownParser(pub String);

impl FromStr for ParserName {
    type Err = UnknownParser;

    fn from_str(name: &str) -> Result<Self, UnknownParser> {
        Self::ALL
            .iter()
            .copied()
            .find(|parser| parser.name() == name)
            .ok_or_else(|| UnknownParser(name.to_owned()))
    }
}
