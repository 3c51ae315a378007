use crate::facts::{Address, AddressScope, Link, LinkKind, PortVlans, VlanRange};
use crate::table::{Cell, Line, Style, Table};

pub(super) fn links(links: &[Link]) -> Table {
    let rows = links
        .iter()
        .map(|link| {
            vec![
                Cell::name(&link.name),
                Cell::text(kind(link)),
                state(link),
                Cell::maybe(link.mtu),
                Cell::maybe(link.mac.as_ref()),
                Cell::maybe(belongs(link)),
                Cell(link.addresses.iter().map(address).collect()),
            ]
        })
        .collect();
    Table::new(
        &[
            "interface",
            "kind",
            "state",
            "MTU",
            "MAC",
            "part of",
            "addresses",
        ],
        "No interfaces were listed.",
        rows,
    )
}

fn kind(link: &Link) -> String {
    let name = match &link.kind {
        LinkKind::Loopback => "loopback",
        LinkKind::Nic => "NIC",
        LinkKind::Bridge => "bridge",
        LinkKind::Bond => "bond",
        LinkKind::Vlan => "VLAN",
        LinkKind::Vxlan => "VXLAN",
        LinkKind::Veth => "veth",
        LinkKind::Tap => "tap",
        LinkKind::Other(name) => name,
    };
    match (link.vlan_id, link.vni, link.vlan_filtering) {
        (Some(id), _, _) => format!("{name} {id}"),
        (None, Some(vni), _) => format!("{name}, VNI {vni}"),
        (None, None, Some(true)) => format!("{name}, looks at VLANs"),
        (None, None, Some(false)) => format!("{name}, ignores VLANs"),
        (None, None, None) => name.to_owned(),
    }
}

fn state(link: &Link) -> Cell {
    let words = match (link.admin_up, link.carrier) {
        (true, true) => "up",
        (true, false) => "on, no carrier",
        (false, _) => "switched off",
    };
    Cell(vec![
        Line::new(Style::Text, words),
        Line::new(Style::Code, &link.state),
    ])
}

fn belongs(link: &Link) -> Option<String> {
    match (&link.master, &link.lower) {
        (Some(master), Some(lower)) => Some(format!("{master}, on {lower}")),
        (Some(master), None) => Some(master.clone()),
        (None, Some(lower)) => Some(format!("on {lower}")),
        (None, None) => None,
    }
}

fn address(address: &Address) -> Line {
    let scope = match &address.scope {
        AddressScope::Global => None,
        AddressScope::Link => Some("link"),
        AddressScope::Host => Some("host"),
        AddressScope::Other(name) => Some(name.as_str()),
    };
    let mut notes: Vec<&str> = scope.into_iter().collect();
    if address.dad_failed {
        notes.push("duplicate, not used");
    }
    if address.tentative {
        notes.push("tentative");
    }
    if address.deprecated {
        notes.push("deprecated");
    }
    Line::new(
        Style::Code,
        format!("{}/{}", address.ip, address.prefix_length),
    )
    .note((!notes.is_empty()).then(|| notes.join(", ")))
}

pub(super) fn vlans(ports: &[PortVlans]) -> Table {
    let rows = ports
        .iter()
        .map(|port| {
            vec![
                Cell::name(&port.port),
                match port.pvid {
                    Some(id) => Cell::code(id),
                    None => Cell::text("none: untagged frames are dropped"),
                },
                Cell::maybe(ranges(&port.vlans, false)),
                Cell::maybe(ranges(&port.vlans, true)),
            ]
        })
        .collect();
    Table::new(
        &["port", "PVID", "leave tagged", "leave untagged"],
        "No bridge port has VLANs.",
        rows,
    )
}

/// Such as "2–4094" or "10, 20–22".
fn ranges(vlans: &[VlanRange], untagged: bool) -> Option<String> {
    let list: Vec<String> = vlans
        .iter()
        .filter(|v| v.untagged == untagged)
        .map(|v| {
            if v.first == v.last {
                v.first.to_string()
            } else {
                format!("{}–{}", v.first, v.last)
            }
        })
        .collect();
    (!list.is_empty()).then(|| list.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::facts::VlanRange;

    #[test]
    fn vlan_ranges_stay_ranges() {
        let range = |first, last, untagged| VlanRange {
            first,
            last,
            untagged,
        };
        let vlans = [range(1, 1, true), range(2, 4094, false)];
        assert_eq!(super::ranges(&vlans, false).as_deref(), Some("2–4094"));
        assert_eq!(super::ranges(&vlans, true).as_deref(), Some("1"));
        assert_eq!(super::ranges(&[], true), None);
    }
}
