use std::net::IpAddr;

use crate::facts::{Address, AddressScope, Link};
use crate::verdict::Family;

/// The IP version of an address.
#[must_use]
pub const fn family_of(ip: IpAddr) -> Family {
    match ip {
        IpAddr::V4(_) => Family::Ip4,
        IpAddr::V6(_) => Family::Ip6,
    }
}

/// Whether an address can be the aim of traffic that leaves a subnet: not loopback, link-local
/// (RFC 3927, RFC 4291), multicast, broadcast or unspecified.
#[must_use]
pub const fn beyond_a_subnet(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            !(ip.is_loopback()
                || ip.is_link_local()
                || ip.is_multicast()
                || ip.is_broadcast()
                || ip.is_unspecified())
        }
        IpAddr::V6(ip) => {
            !(ip.is_loopback()
                || ip.is_unicast_link_local()
                || ip.is_multicast()
                || ip.is_unspecified()
                || ip.to_ipv4_mapped().is_some())
        }
    }
}

fn of_family(links: &[Link], family: Family) -> impl Iterator<Item = &Address> {
    links
        .iter()
        .filter(|l| l.admin_up)
        .flat_map(|l| &l.addresses)
        .filter(move |a| family_of(a.ip) == family)
        .filter(|a| beyond_a_subnet(a.ip) && a.scope != AddressScope::Host)
}

/// The addresses that can speak beyond their subnet, on interfaces that are switched on. One whose
/// duplicate address detection failed cannot.
#[must_use]
pub fn global_addresses(links: &[Link], family: Family) -> Vec<Address> {
    of_family(links, family)
        .filter(|a| !a.dad_failed)
        .cloned()
        .collect()
}

/// The addresses the kernel does not use because another machine answered for them.
#[must_use]
pub fn refused_addresses(links: &[Link], family: Family) -> Vec<Address> {
    of_family(links, family)
        .filter(|a| a.dad_failed)
        .cloned()
        .collect()
}

/// Whether an address lies in the subnet of one of these interfaces' own addresses.
#[must_use]
pub fn on_link(links: &[Link], ip: IpAddr) -> bool {
    links
        .iter()
        .flat_map(|l| &l.addresses)
        .any(|a| covers(a.ip, a.prefix_length, ip))
}

/// Whether a prefix covers an address of the same family.
pub(super) fn covers(network: IpAddr, length: u8, ip: IpAddr) -> bool {
    let (network, ip, width) = match (network, ip) {
        (IpAddr::V4(n), IpAddr::V4(i)) => {
            (u128::from(u32::from(n)), u128::from(u32::from(i)), 32_u8)
        }
        (IpAddr::V6(n), IpAddr::V6(i)) => (u128::from(n), u128::from(i), 128),
        _ => return false,
    };
    match width.checked_sub(length) {
        Some(host) => {
            let shift = |v: u128| v.checked_shr(u32::from(host)).unwrap_or(0);
            shift(network) == shift(ip)
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_covers_its_addresses_only() {
        let cases = [
            ("192.0.2.0", 24, "192.0.2.255", true),
            ("192.0.2.0", 24, "192.0.3.0", false),
            ("192.0.2.7", 32, "192.0.2.7", true),
            ("192.0.2.7", 32, "192.0.2.6", false),
            ("0.0.0.0", 0, "255.255.255.255", true),
            ("0.0.0.0", 0, "2001:db8::1", false),
            ("2001:db8::", 32, "2001:db8:ffff::1", true),
            ("::", 0, "2001:db8::1", true),
            ("192.0.2.0", 33, "192.0.2.0", false),
        ];
        for (network, length, ip, expect) in cases {
            assert_eq!(
                covers(network.parse().unwrap(), length, ip.parse().unwrap()),
                expect,
                "{network}/{length} {ip}"
            );
        }
    }
}
