use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::verdict::Family;

/// A route as `ip route show table all` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
pub struct Route {
    pub family: Family,
    /// `default`, a prefix or an address, as printed.
    pub destination: String,
    pub gateway: Option<IpAddr>,
    pub device: Option<String>,
    pub source: Option<IpAddr>,
    /// `main`, `local`, or another table's name or number.
    pub table: String,
    /// `unicast`, `blackhole`, `unreachable`, `local` …
    pub kind: String,
    pub protocol: Option<String>,
    pub metric: Option<u32>,
    /// Flags as printed, such as `linkdown` or `dead`.
    pub flags: Vec<String>,
}
