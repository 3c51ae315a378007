//! `ip -j -d addr` (ip/ipaddress.c of iproute2). Without `-d` there is no `linkinfo`, so every
//! Ethernet interface reads as a NIC.

use serde_json::Value;

use super::json::{self, Object};
use super::{Output, ParseError, Read, clip};
use crate::facts::{Address, AddressScope, Link, LinkKind};

pub(super) fn parse(output: &Output) -> Result<Read<Vec<Link>>, ParseError> {
    let mut facts = Vec::new();
    let mut unparsed = Vec::new();
    for item in json::items(output, "ip-addr")? {
        match item.as_object().and_then(|o| link(o, &mut unparsed)) {
            Some(link) => facts.push(link),
            None => unparsed.push(clip(&item.to_string())),
        }
    }
    Ok(Read { facts, unparsed })
}

fn link(object: &Object, unparsed: &mut Vec<String>) -> Option<Link> {
    let flags = json::texts(object, "flags");
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    let empty = Object::new();
    let info = object
        .get("linkinfo")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let data = info
        .get("info_data")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let kind = kind(
        json::text(info, "info_kind"),
        json::text(data, "type"),
        json::text(object, "link_type"),
        has("LOOPBACK"),
    );
    let mut addresses = Vec::new();
    for entry in object
        .get("addr_info")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        match entry.as_object() {
            Some(o) if o.is_empty() => {}
            Some(o) => match address(o) {
                Some(address) => addresses.push(address),
                None => unparsed.push(clip(&entry.to_string())),
            },
            None => unparsed.push(clip(&entry.to_string())),
        }
    }
    Some(Link {
        name: json::interface(json::text(object, "ifname")?).to_owned(),
        index: json::number(object, "ifindex")?,
        admin_up: has("UP"),
        carrier: has("LOWER_UP"),
        state: json::owned(object, "operstate").unwrap_or_else(|| "UNKNOWN".into()),
        mtu: json::number(object, "mtu"),
        mac: json::owned(object, "address"),
        master: json::owned(object, "master"),
        // `link` is resolved in this namespace; a veth's other end is in another one.
        lower: match kind {
            LinkKind::Veth => None,
            _ => json::owned(object, "link").map(|l| json::interface(&l).to_owned()),
        },
        vlan_id: match kind {
            LinkKind::Vlan => json::number(data, "id"),
            _ => None,
        },
        vni: match kind {
            LinkKind::Vxlan => json::number(data, "id"),
            _ => None,
        },
        vlan_filtering: match kind {
            LinkKind::Bridge => json::number::<u8>(data, "vlan_filtering").map(|v| v != 0),
            _ => None,
        },
        kind,
        addresses,
    })
}

fn kind(
    info: Option<&str>,
    tun: Option<&str>,
    link_type: Option<&str>,
    loopback: bool,
) -> LinkKind {
    if loopback || link_type == Some("loopback") {
        return LinkKind::Loopback;
    }
    match info {
        Some("bridge") => LinkKind::Bridge,
        Some("bond") => LinkKind::Bond,
        Some("vlan") => LinkKind::Vlan,
        Some("vxlan") => LinkKind::Vxlan,
        Some("veth") => LinkKind::Veth,
        Some("tun") if tun != Some("tun") => LinkKind::Tap,
        Some(other) => LinkKind::Other(other.to_owned()),
        None => match link_type {
            None | Some("ether") => LinkKind::Nic,
            Some(other) => LinkKind::Other(other.to_owned()),
        },
    }
}

fn address(object: &Object) -> Option<Address> {
    Some(Address {
        ip: json::ip(object, "local")?,
        prefix_length: json::number(object, "prefixlen")?,
        scope: match json::text(object, "scope")? {
            "global" => AddressScope::Global,
            "link" => AddressScope::Link,
            "host" => AddressScope::Host,
            other => AddressScope::Other(other.to_owned()),
        },
        dad_failed: json::flag(object, "dadfailed"),
        tentative: json::flag(object, "tentative"),
        deprecated: json::flag(object, "deprecated"),
    })
}
