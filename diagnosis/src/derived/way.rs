//! Which route packets to an address take, as far as the route tables alone can say.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::address::{covers, family_of};
use crate::facts::Route;
use crate::verdict::Family;

/// The way to an address (or, without one, the way out of the subnet).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    pub state: WayState,
    pub gateway: Option<IpAddr>,
    pub device: Option<String>,
    /// The route's destination as printed, such as `default`.
    pub destination: Option<String>,
    /// The route's table, where it is not `main`.
    pub table: Option<String>,
    /// The route's kind and flags in words, where they keep it from being used.
    pub because: Option<String>,
    /// How many routes of this family lead over a gateway, wherever they lead and in whatever table.
    pub gateways: usize,
    /// The destinations of the main table's routes, as printed.
    pub destinations: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WayState {
    /// No route of any table covers it.
    None,
    /// One route, over one gateway.
    Gateway,
    /// One route, out of an interface without a gateway.
    Direct,
    /// Several gateways share the traffic: which one a packet takes cannot be told.
    Several,
    /// The best route throws packets away or is marked as dead.
    Unusable,
    /// Only tables other than `main` have one: whether it is used depends on the rules.
    OtherTable,
}

/// Finds the way by longest prefix, then metric (Linux: ip-route(8)), in the main table first.
/// Without a target, or with one of another family, it is the default route that is looked for.
#[must_use]
pub fn way(routes: &[Route], family: Family, target: Option<IpAddr>) -> Way {
    let target = target.filter(|t| family_of(*t) == family);
    let routes: Vec<&Route> = routes
        .iter()
        .filter(|r| r.family == family && r.table != "local" && !is_null_entry(r))
        .collect();
    let candidates = |main: bool| -> Vec<(u8, &Route)> {
        routes
            .iter()
            .filter(|r| is_main(r) == main)
            .filter_map(|r| Some((matching(r, target)?, *r)))
            .collect()
    };
    let nothing = Way {
        state: WayState::None,
        gateway: None,
        device: None,
        destination: None,
        table: None,
        because: None,
        gateways: routes.iter().filter(|r| r.gateway.is_some()).count(),
        destinations: routes
            .iter()
            .filter(|r| is_main(r))
            .map(|r| r.destination.clone())
            .collect(),
    };
    let main = best(candidates(true));
    let Some(first) = main.first() else {
        let other = best(candidates(false));
        return match other.first() {
            None => nothing,
            Some(route) => Way {
                state: WayState::OtherTable,
                table: Some(route.table.clone()),
                ..described(route, nothing)
            },
        };
    };
    let because = main.iter().find_map(|r| unusable(r));
    let state = if because.is_some() {
        WayState::Unusable
    } else if main
        .iter()
        .any(|r| (r.gateway, &r.device) != (first.gateway, &first.device))
    {
        WayState::Several
    } else if first.gateway.is_some() {
        WayState::Gateway
    } else {
        WayState::Direct
    };
    Way {
        state,
        because,
        ..described(first, nothing)
    }
}

fn described(route: &Route, way: Way) -> Way {
    Way {
        gateway: route.gateway,
        device: route.device.clone(),
        destination: Some(route.destination.clone()),
        ..way
    }
}

fn is_main(route: &Route) -> bool {
    matches!(route.table.as_str(), "main" | "254")
}

/// Kernels before 4.17 list an "unreachable default" of the highest metric for IPv6: it stands for
/// "no route" and is none.
fn is_null_entry(route: &Route) -> bool {
    route.kind == "unreachable" && route.metric == Some(u32::MAX)
}

/// The prefix length with which a route covers the target; for a default route, without a target, 0.
fn matching(route: &Route, target: Option<IpAddr>) -> Option<u8> {
    if matches!(
        route.kind.as_str(),
        "broadcast" | "local" | "multicast" | "anycast"
    ) {
        return None;
    }
    let (network, length) = match route.destination.as_str() {
        "default" => (None, 0),
        text => match text.split_once('/') {
            Some((network, length)) => (network.parse().ok(), length.parse().ok()?),
            None => {
                let ip: IpAddr = text.parse().ok()?;
                (Some(ip), if ip.is_ipv4() { 32 } else { 128 })
            }
        },
    };
    match target {
        None => (length == 0).then_some(0),
        Some(_) if length == 0 => Some(0),
        Some(target) => covers(network?, length, target).then_some(length),
    }
}

/// The routes the kernel would choose from: all of the longest prefix and, among them, the lowest metric.
fn best(candidates: Vec<(u8, &Route)>) -> Vec<&Route> {
    let rank = |(length, route): &(u8, &Route)| (u8::MAX - length, route.metric.unwrap_or(0));
    let Some(top) = candidates.iter().map(rank).min() else {
        return Vec::new();
    };
    candidates
        .into_iter()
        .filter(|c| rank(c) == top)
        .map(|(_, route)| route)
        .collect()
}

/// Why a route does not carry packets, in words.
fn unusable(route: &Route) -> Option<String> {
    if route.kind != "unicast" {
        return Some(format!("it is of the kind “{}”", route.kind));
    }
    let flag = route
        .flags
        .iter()
        .find(|f| matches!(f.as_str(), "dead" | "linkdown" | "unresolved"))?;
    Some(format!("it is marked “{flag}”"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> Route {
        let mut words = text.split(' ');
        let mut route = Route {
            family: Family::Ip4,
            destination: words.next().unwrap().to_owned(),
            gateway: None,
            device: Some("eth0".into()),
            source: None,
            table: "main".into(),
            kind: "unicast".into(),
            protocol: None,
            metric: None,
            flags: vec![],
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap().to_owned();
            match word {
                "via" => route.gateway = Some(value().parse().unwrap()),
                "metric" => route.metric = Some(value().parse().unwrap()),
                "table" => route.table = value(),
                "kind" => route.kind = value(),
                "v6" => route.family = Family::Ip6,
                flag => route.flags.push(flag.to_owned()),
            }
        }
        route
    }

    #[test]
    fn the_longest_prefix_then_the_lowest_metric_decides() {
        use WayState::*;
        let net = "192.0.2.0/24";
        // Routes, target; state and gateway of the way.
        type Case<'a> = (&'a [&'a str], Option<&'a str>, WayState, Option<&'a str>);
        let cases: &[Case<'_>] = &[
            (&[net], Some("198.51.100.9"), None, Option::None),
            (&[net], Option::None, None, Option::None),
            (
                &[net, "default via 192.0.2.1"],
                Some("198.51.100.9"),
                Gateway,
                Some("192.0.2.1"),
            ),
            (
                &["0.0.0.0/0 via 192.0.2.1"],
                Option::None,
                Gateway,
                Some("192.0.2.1"),
            ),
            (
                &["default via 192.0.2.1", "198.51.100.0/24 via 192.0.2.2"],
                Some("198.51.100.9"),
                Gateway,
                Some("192.0.2.2"),
            ),
            (
                &["198.51.100.0/24 via 192.0.2.2"],
                Option::None,
                None,
                Option::None,
            ),
            (
                &["default via 192.0.2.1 metric 100", "default via 192.0.2.2"],
                Some("198.51.100.9"),
                Gateway,
                Some("192.0.2.2"),
            ),
            (
                &["default via 192.0.2.1", "default via 192.0.2.2"],
                Some("198.51.100.9"),
                Several,
                Some("192.0.2.1"),
            ),
            (&["default"], Some("198.51.100.9"), Direct, Option::None),
            (
                &["default via 192.0.2.1 linkdown"],
                Some("198.51.100.9"),
                Unusable,
                Some("192.0.2.1"),
            ),
            (
                &[
                    "default via 192.0.2.1",
                    "default via 192.0.2.2 dead linkdown",
                ],
                Some("198.51.100.9"),
                Unusable,
                Some("192.0.2.1"),
            ),
            (
                &["default kind blackhole"],
                Some("198.51.100.9"),
                Unusable,
                Option::None,
            ),
            (
                &["default via 192.0.2.1 table 100"],
                Some("198.51.100.9"),
                OtherTable,
                Some("192.0.2.1"),
            ),
            (
                &["0.0.0.0/1 via 192.0.2.1"],
                Some("10.0.0.1"),
                Gateway,
                Some("192.0.2.1"),
            ),
            (
                &["default via fe80::1"],
                Some("10.0.0.1"),
                Gateway,
                Some("fe80::1"),
            ),
            (
                &["default v6 via fe80::1"],
                Some("10.0.0.1"),
                None,
                Option::None,
            ),
            (
                &["default kind unreachable metric 4294967295"],
                Option::None,
                None,
                Option::None,
            ),
            (
                &["203.0.113.255 kind broadcast"],
                Some("203.0.113.255"),
                None,
                Option::None,
            ),
            (
                &["default via 192.0.2.1"],
                Some("2001:db8::1"),
                Gateway,
                Some("192.0.2.1"),
            ),
        ];
        for (routes, target, state, gateway) in cases {
            let routes: Vec<Route> = routes.iter().map(|r| route(r)).collect();
            let way = way(&routes, Family::Ip4, target.map(|t| t.parse().unwrap()));
            assert_eq!(way.state, *state, "{routes:?} {target:?}");
            assert_eq!(
                way.gateway,
                gateway.map(|g| g.parse().unwrap()),
                "{routes:?} {target:?}"
            );
        }
    }
}
