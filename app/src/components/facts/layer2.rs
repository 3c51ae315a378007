use diagnosis::facts::{Address, AddressScope, Link, LinkKind, PortVlans, VlanRange};
use leptos::prelude::*;

use super::{maybe, mono, table, text};

pub(super) fn links(links: Vec<Link>) -> AnyView {
    let rows = links
        .into_iter()
        .map(|link| {
            vec![
                view! { <b class="mono font-semibold">{link.name.clone()}</b> }.into_any(),
                text(kind(&link)),
                state(&link),
                maybe(link.mtu),
                maybe(link.mac.as_ref()),
                maybe(belongs(&link)),
                addresses(link.addresses),
            ]
        })
        .collect();
    table(
        &[
            "interface",
            "kind",
            "state",
            "MTU",
            "MAC",
            "part of",
            "addresses",
        ],
        rows,
        "No interfaces were listed.",
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

fn state(link: &Link) -> AnyView {
    let words = match (link.admin_up, link.carrier) {
        (true, true) => "up",
        (true, false) => "on, no carrier",
        (false, _) => "switched off",
    };
    view! {
        <span>
            {words} <span class="block mono text-muted">{link.state.clone()}</span>
        </span>
    }
    .into_any()
}

fn belongs(link: &Link) -> Option<String> {
    match (&link.master, &link.lower) {
        (Some(master), Some(lower)) => Some(format!("{master}, on {lower}")),
        (Some(master), None) => Some(master.clone()),
        (None, Some(lower)) => Some(format!("on {lower}")),
        (None, None) => None,
    }
}

fn addresses(addresses: Vec<Address>) -> AnyView {
    if addresses.is_empty() {
        return maybe(None::<String>);
    }
    addresses
        .into_iter()
        .map(|a| {
            let scope = match &a.scope {
                AddressScope::Global => None,
                AddressScope::Link => Some("link".to_owned()),
                AddressScope::Host => Some("host".to_owned()),
                AddressScope::Other(name) => Some(name.clone()),
            };
            let mut notes: Vec<String> = scope.into_iter().collect();
            if a.dad_failed {
                notes.push("duplicate, not used".into());
            }
            if a.tentative {
                notes.push("tentative".into());
            }
            if a.deprecated {
                notes.push("deprecated".into());
            }
            view! {
                <span class="block">
                    <span class="mono">{format!("{}/{}", a.ip, a.prefix_length)}</span>
                    {(!notes.is_empty())
                        .then(|| {
                            view! { <span class="text-muted text-xs">" " {notes.join(", ")}</span> }
                        })}
                </span>
            }
        })
        .collect_view()
        .into_any()
}

pub(super) fn vlans(ports: Vec<PortVlans>) -> AnyView {
    let rows = ports
        .into_iter()
        .map(|port| {
            vec![
                view! { <b class="mono font-semibold">{port.port.clone()}</b> }.into_any(),
                match port.pvid {
                    Some(id) => mono(id),
                    None => text("none: untagged frames are dropped"),
                },
                maybe(ranges(&port.vlans, false)),
                maybe(ranges(&port.vlans, true)),
            ]
        })
        .collect();
    table(
        &["port", "PVID", "leave tagged", "leave untagged"],
        rows,
        "No bridge port has VLANs.",
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
    use diagnosis::facts::VlanRange;

    #[test]
    fn vlan_ranges_stay_ranges() {
        let vlans = [
            VlanRange {
                first: 1,
                last: 1,
                untagged: true,
            },
            VlanRange {
                first: 2,
                last: 4094,
                untagged: false,
            },
        ];
        assert_eq!(super::ranges(&vlans, false).as_deref(), Some("2–4094"));
        assert_eq!(super::ranges(&vlans, true).as_deref(), Some("1"));
        assert_eq!(super::ranges(&[], true), None);
    }
}
