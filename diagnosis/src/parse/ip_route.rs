//! `ip -j [-p] -4|-6 route show table all` (ip/iproute.c of iproute2). Before 5.x `metrics` was a
//! list of bare values without names; nothing here reads it.

use std::net::IpAddr;

use serde_json::Value;

use super::json::{self, Object};
use super::{Output, ParseError, Read, clip};
use crate::facts::Route;
use crate::verdict::Family;

pub(super) fn parse(output: &Output) -> Result<Read<Vec<Route>>, ParseError> {
    let items = json::items(output, "ip-route")?;
    // One output is one family's, so what one route says holds for those that say nothing.
    let family = items
        .iter()
        .filter_map(Value::as_object)
        .find_map(own_family)
        .unwrap_or(Family::Ip4);
    let mut facts = Vec::new();
    let mut unparsed = Vec::new();
    for item in &items {
        match item.as_object().and_then(|o| routes(o, family)) {
            Some(routes) => facts.extend(routes),
            None => unparsed.push(clip(&item.to_string())),
        }
    }
    Ok(Read { facts, unparsed })
}

/// The family a route shows by itself. A gateway does not: IPv4 may go by an IPv6 next hop.
fn own_family(object: &Object) -> Option<Family> {
    let of = |ip: IpAddr| match ip {
        IpAddr::V4(_) => Family::Ip4,
        IpAddr::V6(_) => Family::Ip6,
    };
    json::text(object, "dst")
        .and_then(|d| d.split('/').next()?.parse().ok())
        .or_else(|| json::ip(object, "prefsrc"))
        .or_else(|| json::ip(object, "gateway"))
        .map(of)
        // Only IPv6 routes have a router preference.
        .or_else(|| object.contains_key("pref").then_some(Family::Ip6))
}

fn routes(object: &Object, family: Family) -> Option<Vec<Route>> {
    let destination = json::owned(object, "dst")?;
    let family = own_family(object).unwrap_or(family);
    let gateway = match next_hop(object) {
        Ok(gateway) => gateway,
        Err(()) => return None,
    };
    let route = Route {
        family,
        destination,
        gateway,
        device: json::text(object, "dev").map(|d| json::interface(d).to_owned()),
        source: json::ip(object, "prefsrc"),
        table: match object.get("table") {
            Some(Value::String(name)) => name.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => "main".into(),
        },
        kind: json::owned(object, "type").unwrap_or_else(|| "unicast".into()),
        protocol: json::owned(object, "protocol"),
        metric: json::number(object, "metric"),
        flags: json::texts(object, "flags"),
    };
    match object.get("nexthops") {
        None => Some(vec![route]),
        // A multipath route is one route a next hop: what holds for one way need not hold for another.
        Some(Value::Array(hops)) if !hops.is_empty() => hops
            .iter()
            .map(|hop| {
                let hop = hop.as_object()?;
                Some(Route {
                    gateway: next_hop(hop).ok()?,
                    device: json::text(hop, "dev").map(|d| json::interface(d).to_owned()),
                    flags: [route.flags.clone(), json::texts(hop, "flags")].concat(),
                    ..route.clone()
                })
            })
            .collect(),
        Some(_) => None,
    }
}

/// The next hop: `gateway`, or `via` where it is of the other family. An address that cannot be
/// read is not "no gateway".
fn next_hop(object: &Object) -> Result<Option<IpAddr>, ()> {
    let text = match (object.get("gateway"), object.get("via")) {
        (None, None) => return Ok(None),
        (Some(gateway), _) => gateway.as_str(),
        (None, Some(via)) => via.get("host").and_then(Value::as_str),
    };
    text.and_then(|t| t.parse().ok()).map(Some).ok_or(())
}
