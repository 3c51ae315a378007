//! Fixtures of several tool versions, and hostile ones. `tests/fixtures/tools` holds real outputs and
//! outputs in the tools' own formats with invented values.

use proptest::prelude::*;

use super::*;
use crate::facts::{GuestStatus, LinkKind, NeighbourState};
use crate::run::NotRun;
use crate::verdict::Family;

fn recorded(name: &str) -> RunResult {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let read = |end: &str| std::fs::read(folder.join(format!("{name}.{end}")));
    let exit = read("exit").map_or(0, |b| String::from_utf8(b).unwrap().trim().parse().unwrap());
    RunResult {
        status: RunStatus::Ran { exit },
        stdout: read("out").unwrap_or_else(|e| panic!("{name}: {e}")),
        stderr: read("err").unwrap_or_default(),
        took_ms: 1,
    }
}

fn text(exit: i32, stdout: &str, stderr: &str) -> RunResult {
    RunResult {
        status: RunStatus::Ran { exit },
        stdout: stdout.into(),
        stderr: stderr.into(),
        took_ms: 1,
    }
}

/// The facts of a fixture that must be understood whole.
macro_rules! whole {
    ($parser:ident, $facts:ident, $result:expr) => {{
        let parsed = parse(ParserName::$parser, &$result).unwrap();
        assert_eq!(parsed.unparsed, Vec::<String>::new());
        match parsed.facts {
            Facts::$facts(facts) => facts,
            other => panic!("{other:?}"),
        }
    }};
}

const VERSIONS: [&str; 6] = ["4.18.0", "5.4.0", "5.10.0", "6.1.0", "6.15.0", "7.1.0"];

/// `tests/fixtures/facts/PARSER/NAME.json` holds, checked by hand, what the parser makes of the output NAME.
#[test]
fn recorded_outputs_give_the_facts_written_beside_them() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/facts");
    let list = |path: &std::path::Path| -> Vec<std::path::PathBuf> {
        let mut entries: Vec<_> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        entries
    };
    for of_parser in list(&folder) {
        let name = of_parser.file_name().unwrap().to_str().unwrap();
        let parser: ParserName = name.parse().unwrap();
        for expected in list(&of_parser) {
            let fixture = expected.file_stem().unwrap().to_str().unwrap();
            let parsed = parse(parser, &recorded(&format!("tools/{fixture}")))
                .unwrap_or_else(|e| panic!("{name} {fixture}: {e}"));
            assert_eq!(parsed.facts.kind(), parser.facts(), "{name} {fixture}");
            let found =
                serde_json::json!({"facts": parsed.facts.value(), "unparsed": parsed.unparsed});
            let text = std::fs::read_to_string(&expected).unwrap();
            let wanted: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(found, wanted, "{name} {fixture}: {found:#}");
        }
    }
}

#[test]
fn addresses_read_the_same_in_every_version() {
    for version in VERSIONS {
        let links = whole!(
            IpAddr,
            Links,
            recorded(&format!("tools/ip-{version}-j-4-addr"))
        );
        assert_eq!(links.len(), 2, "{version}");
        let bridge = &links[1];
        assert_eq!(
            (bridge.name.as_str(), bridge.mtu),
            ("vmbr0", Some(1500)),
            "{version}"
        );
        assert!(bridge.admin_up && bridge.carrier);
        let address = &bridge.addresses[0];
        assert_eq!(address.ip.to_string(), "192.0.2.10");
        assert_eq!(address.prefix_length, 24);
        assert_eq!(links[0].kind, LinkKind::Loopback);
        let vxlan = whole!(
            IpAddr,
            Links,
            recorded(&format!("tools/ip-{version}-j-d-link-vxlan"))
        );
        assert_eq!(
            (vxlan[0].vni, &vxlan[0].kind),
            (Some(100), &LinkKind::Vxlan),
            "{version}"
        );
    }
}

#[test]
fn empty_objects_mean_nothing_and_a_failed_tool_is_not_an_empty_list() {
    let links = whole!(
        IpAddr,
        Links,
        recorded("tools/ip-4.18.0-j-4-addr-dev-without-address")
    );
    assert!(links.is_empty());
    for version in VERSIONS {
        let error = parse(
            ParserName::IpAddr,
            &recorded(&format!("tools/ip-{version}-j-nosuchdev")),
        )
        .unwrap_err();
        assert_eq!(
            error,
            ParseError::ToolFailed {
                exit: 1,
                message: "Device \"nosuch0\" does not exist.".into()
            }
        );
    }
    let error = parse(
        ParserName::IpRoute,
        &recorded("tools/ip-4.18.0-j-route-get-is-text"),
    )
    .unwrap_err();
    assert!(matches!(error, ParseError::NotUnderstood { .. }), "{error}");
}

#[test]
fn a_hypervisors_links_have_their_kinds_and_masters() {
    let links = whole!(
        IpAddr,
        Links,
        recorded("tools/ip-6.15.0-j-d-addr-hypervisor")
    );
    let link = |name: &str| links.iter().find(|l| l.name == name).unwrap();
    assert_eq!(link("vmbr1").kind, LinkKind::Bridge);
    assert_eq!(link("vmbr1").vlan_filtering, Some(true));
    assert_eq!(link("bond0").kind, LinkKind::Bond);
    assert_eq!(link("nic1").master.as_deref(), Some("bond0"));
    assert_eq!(link("vmbr1.20").kind, LinkKind::Vlan);
    assert_eq!(
        (link("vmbr1.20").vlan_id, link("vmbr1.20").lower.as_deref()),
        (Some(20), Some("vmbr1"))
    );
    assert_eq!(link("veth122i0").kind, LinkKind::Veth);
    // A veth's other end is in another namespace.
    assert_eq!(link("veth122i0").lower, None);
}

#[test]
fn an_interface_is_cut_at_the_at_sign() {
    let out = r#"[{"ifindex":5,"ifname":"veth122i0@if2","flags":["UP"],"link":"eth9","linkinfo":{"info_kind":"veth"},"addr_info":[{"family":"inet6","local":"2001:db8::1","prefixlen":64,"scope":"global","dadfailed":true,"tentative":true},{}]}]"#;
    let links = whole!(IpAddr, Links, text(0, out, ""));
    assert_eq!(
        (links[0].name.as_str(), &links[0].lower),
        ("veth122i0", &None)
    );
    assert!(links[0].addresses[0].dad_failed && links[0].addresses[0].tentative);
    assert!(!links[0].carrier);
}

#[test]
fn vlans_read_the_same_keyed_by_port_listed_and_compressed() {
    let old = whole!(
        BridgeVlan,
        Vlans,
        recorded("tools/bridge-vlan-json-iproute2-4.14-keyed-by-port")
    );
    assert_eq!((old[0].port.as_str(), old[0].pvid), ("nic0", Some(1)));
    assert_eq!(old[0].vlans.len(), 2);
    assert!(old[0].vlans[0].untagged && !old[0].vlans[1].untagged);
    let new = whole!(
        BridgeVlan,
        Vlans,
        recorded("tools/bridge-vlan-json-iproute2-ge4.19")
    );
    assert_eq!(new[1], old[1]);
    let ranges = whole!(
        BridgeVlan,
        Vlans,
        recorded("tools/bridge-vlan-json-iproute2-compressed")
    );
    assert_eq!(
        (ranges[0].vlans[1].first, ranges[0].vlans[1].last),
        (2, 4094)
    );
    let lab = whole!(
        BridgeVlan,
        Vlans,
        recorded("tools/bridge-6.15.0-compressvlans")
    );
    let port = lab.iter().find(|p| p.port == "veth122i0").unwrap();
    assert_eq!(port.pvid, Some(10));
    for version in ["4.18.0", "5.10.0", "6.1.0", "7.1.0"] {
        let none = whole!(
            BridgeVlan,
            Vlans,
            recorded(&format!("tools/bridge-{version}-j-vlan-novf"))
        );
        assert!(none.iter().all(|p| p.vlans.is_empty()), "{version}");
    }
    // Uncompressed, each VLAN has an entry; neighbours with equal flags are one range.
    let out = r#"[{"ifname":"p","vlans":[{"vlan":2},{"vlan":3},{"vlan":5},{"vlan":9,"vlanEnd":4},{"vlan":70000}]}]"#;
    let parsed = parse(ParserName::BridgeVlan, &text(0, out, "")).unwrap();
    assert_eq!(parsed.unparsed.len(), 2);
    let Facts::Vlans(ports) = parsed.facts else {
        panic!()
    };
    let ranges: Vec<_> = ports[0].vlans.iter().map(|v| (v.first, v.last)).collect();
    assert_eq!(ranges, [(2, 3), (5, 5)]);
}

#[test]
fn routes_read_the_same_in_every_version() {
    for version in VERSIONS {
        let routes = whole!(
            IpRoute,
            Routes,
            recorded(&format!("tools/ip-{version}-j-route"))
        );
        assert_eq!(routes.len(), 3, "{version}");
        let default = &routes[0];
        assert_eq!(default.destination, "default");
        assert_eq!(default.gateway, Some("192.0.2.1".parse().unwrap()));
        assert_eq!(
            (default.table.as_str(), default.kind.as_str()),
            ("main", "unicast")
        );
        assert_eq!(routes[1].source, Some("192.0.2.10".parse().unwrap()));
        assert!(routes.iter().all(|r| r.family == Family::Ip4));
    }
}

#[test]
fn every_next_hop_is_a_route_and_tables_are_kept_apart() {
    let routes = whole!(IpRoute, Routes, recorded("tools/ip-6.1.0-j-p-odd-routes4"));
    let defaults: Vec<(&str, String, Option<u32>)> = routes
        .iter()
        .filter(|r| r.destination == "default")
        .map(|r| (r.table.as_str(), r.gateway.unwrap().to_string(), r.metric))
        .collect();
    assert_eq!(
        defaults,
        [
            ("100", "192.0.2.3".into(), None),
            ("main", "192.0.2.1".into(), None),
            ("main", "192.0.2.2".into(), None),
            ("main", "192.0.2.4".into(), Some(500)),
        ]
    );
    let route = |destination: &str| {
        routes
            .iter()
            .find(|r| r.destination == destination)
            .unwrap()
    };
    assert_eq!(route("203.0.113.0/24").kind, "blackhole");
    // IPv4 over an IPv6 next hop is still an IPv4 route.
    assert_eq!(route("10.9.0.0/16").family, Family::Ip4);
    assert!(route("10.9.0.0/16").gateway.unwrap().is_ipv6());
    let six = whole!(IpRoute, Routes, recorded("tools/ip-6.1.0-j-p-odd-routes6"));
    assert!(six.iter().all(|r| r.family == Family::Ip6));
    assert_eq!(six.iter().filter(|r| r.destination == "default").count(), 3);
    assert!(
        six.iter()
            .any(|r| r.kind == "multicast" && r.table == "local")
    );
}

#[test]
fn a_route_that_cannot_be_read_is_kept_and_never_loses_its_gateway() {
    let bad = r#"{"dst":"default","gateway":"nonsense","dev":"eth0"},{"dev":"eth0"},7,{"dst":"10.0.0.0/8","dev":"eth0","nexthops":[]}"#;
    let good = r#"{"dst":"192.0.2.0/24","dev":"eth0"}"#;
    let parsed = parse(
        ParserName::IpRoute,
        &text(0, &format!("[{good},{bad}]"), ""),
    )
    .unwrap();
    assert_eq!(parsed.unparsed.len(), 4);
    assert!(matches!(&parsed.facts, Facts::Routes(r) if r.len() == 1));
    // Nothing understood is not an empty table.
    let error = parse(ParserName::IpRoute, &text(0, &format!("[{bad}]"), "")).unwrap_err();
    assert!(
        matches!(
            error,
            ParseError::NotUnderstood {
                parser: "ip-route",
                ..
            }
        ),
        "{error}"
    );
    let point_to_point = whole!(
        IpRoute,
        Routes,
        text(
            0,
            r#"[{"dst":"default","dev":"wg0","metric":1024,"pref":"medium"}]"#,
            ""
        )
    );
    assert_eq!(point_to_point[0].family, Family::Ip6);
}

#[test]
fn neighbours_without_an_answer_have_no_mac() {
    for version in VERSIONS {
        let neighbours = whole!(
            IpNeigh,
            Neighbours,
            recorded(&format!("tools/ip-{version}-j-neigh"))
        );
        let of = |ip: &str| neighbours.iter().find(|n| n.ip.to_string() == ip).unwrap();
        assert_eq!(
            of("192.0.2.21").states,
            [NeighbourState::Failed],
            "{version}"
        );
        assert_eq!(of("192.0.2.21").mac, None);
        assert_eq!(of("192.0.2.99").states, [NeighbourState::Incomplete]);
        assert_eq!(of("192.0.2.20").mac.as_deref(), Some("02:00:00:00:02:20"));
    }
}

#[test]
fn pings_count_what_went_and_what_came() {
    // name, target, sent, received, no route, errors, average in µs
    let cases = [
        (
            "ping-iputils20221126-df-ok",
            Some("198.51.100.20"),
            2,
            2,
            false,
            0,
        ),
        (
            "ping-iputils20221126-O-D",
            Some("192.0.2.1"),
            2,
            2,
            false,
            0,
        ),
        (
            "ping-iputils20221126-interval-flood",
            Some("192.0.2.1"),
            5,
            5,
            false,
            0,
        ),
        (
            "ping-iputils20221126-timeout-100loss",
            Some("198.51.100.20"),
            2,
            0,
            false,
            0,
        ),
        (
            "ping-iputils20221126-adminprohib",
            Some("198.51.100.20"),
            2,
            0,
            false,
            2,
        ),
        (
            "ping-iputils20221126-host-unreach",
            Some("192.0.2.88"),
            4,
            0,
            false,
            4,
        ),
        (
            "ping-iputils20221126-fragneeded",
            Some("198.51.100.20"),
            3,
            0,
            false,
            3,
        ),
        (
            "ping-iputils20221126-fragneeded-second",
            Some("198.51.100.20"),
            1,
            0,
            false,
            1,
        ),
        (
            "ping-iputils20221126-local-toolong",
            Some("192.0.2.1"),
            1,
            0,
            false,
            1,
        ),
        ("ping-iputils20221126-netunreach", None, 0, 0, true, 1),
        ("repro-nogw-ping", None, 0, 0, true, 1),
        ("repro-gwdead-ping", Some("198.51.100.9"), 4, 0, false, 3),
        ("ping-iputils20240905", Some("203.0.113.20"), 3, 3, false, 0),
    ];
    for (name, target, sent, received, no_route, errors) in cases {
        let ping = whole!(Ping, Ping, recorded(&format!("tools/{name}")));
        assert_eq!(
            ping.target.map(|t| t.to_string()).as_deref(),
            target,
            "{name}"
        );
        assert_eq!(
            (ping.sent, ping.received, ping.no_route),
            (sent, received, no_route),
            "{name}"
        );
        assert_eq!(ping.errors.len(), errors, "{name}: {:?}", ping.errors);
        assert_eq!(ping.rtt_average_us.is_some(), received > 0, "{name}");
    }
    let ping = whole!(Ping, Ping, recorded("tools/ping-iputils20240905"));
    assert_eq!(ping.rtt_average_us, Some(806));
    let six = whole!(Ping, Ping, recorded("walk/healthy-gw6"));
    assert!(six.target.unwrap().is_ipv6());
    assert_eq!(six.received, 3);
    let error = parse(
        ParserName::Ping,
        &recorded("tools/ping-iputils20221126-badname"),
    )
    .unwrap_err();
    assert!(
        matches!(error, ParseError::ToolFailed { exit: 2, .. }),
        "{error}"
    );
    // Before 2018 the message had no "ping: " before it.
    let old = whole!(Ping, Ping, text(2, "", "connect: Network is unreachable\n"));
    assert!(old.no_route);
    // busybox: other words, the same counts.
    let busybox = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=0.1 ms\n\n--- 192.0.2.1 ping statistics ---\n1 packets transmitted, 1 packets received, 0% packet loss\nround-trip min/avg/max = 0.100/0.100/0.100 ms\n";
    assert_eq!(whole!(Ping, Ping, text(0, busybox, "")).received, 1);
}

#[test]
fn arping_goes_by_its_counts_not_by_its_exit_status() {
    let cases = [
        ("tools/arping-dad-dup", "192.0.2.30", 1, 1, 1),
        ("tools/arping-dad-free", "192.0.2.77", 2, 0, 0),
        ("tools/repro-dupip-arping", "192.0.2.12", 2, 3, 3),
        ("tools/repro-arpflux-arping-fixed", "192.0.2.12", 2, 2, 2),
        ("tools/arping-iputils20240905", "10.10.10.1", 3, 3, 3),
        ("walk/deadgw-arp4", "192.0.2.1", 3, 0, 0),
    ];
    for (name, target, sent, received, replies) in cases {
        let arp = whole!(Arping, Arp, recorded(name));
        assert_eq!(arp.target.unwrap().to_string(), target, "{name}");
        assert_eq!(
            (arp.sent, arp.received, arp.replies.len()),
            (sent, received, replies),
            "{name}"
        );
    }
    let habets = "ARPING 192.0.2.1\n60 bytes from 02:00:00:00:03:04 (192.0.2.1): index=0 time=5.4 msec\n\n--- 192.0.2.1 statistics ---\n1 packets transmitted, 1 packets received,   0% unanswered (0 extra)\n";
    let error = parse(ParserName::Arping, &text(0, habets, "")).unwrap_err();
    assert!(matches!(error, ParseError::NotUnderstood { .. }), "{error}");
    let down = parse(
        ParserName::Arping,
        &text(2, "", "arping: Interface \"eth0\" is down\n"),
    )
    .unwrap_err();
    assert!(
        matches!(down, ParseError::ToolFailed { exit: 2, .. }),
        "{down}"
    );
}

#[test]
fn guests_keep_their_names_whatever_stands_in_them() {
    let lab = whole!(PctList, Guests, recorded("tools/pct-list-lab"));
    let names: Vec<&str> = lab.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["web", "ct122", "ct292"]);

    let out = "VMID       Status     Lock         Name                \n\
               101        running                 web                 \n\
               102        stopped    backup       db                  \n\
               103        stopped                 backup              \n\
               104        stopped    snapshot                         \n\
               105        running                                     \n\
               106        running                 $(reboot)           \n\
               107        frozen                  two words           \n\
               nonsense\n";
    let parsed = parse(ParserName::PctList, &text(0, out, "")).unwrap();
    assert_eq!(parsed.unparsed, ["nonsense"]);
    let Facts::Guests(guests) = parsed.facts else {
        panic!()
    };
    let names: Vec<&str> = guests.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(
        names,
        ["web", "db", "backup", "", "", "$(reboot)", "two words"]
    );
    assert_eq!(guests[1].status, GuestStatus::Stopped);
    assert_eq!(guests[6].status, GuestStatus::Other("frozen".into()));
    assert!(whole!(PctList, Guests, text(0, "", "")).is_empty());
    assert!(parse(ParserName::PctList, &text(0, "hello\n", "")).is_err());
    assert!(
        parse(
            ParserName::PctList,
            &text(255, "", "ipcc_send_rec failed\n")
        )
        .is_err()
    );

    let out = "      VMID NAME                 STATUS     MEM(MB)    BOOTDISK(GB) PID       \n\
               \x20      100 fw                   running    2048              32.00 1234      \n\
               \x20      101 VM 101               stopped    512                0.00 0         \n\
               \x20      102 a-name-longer-than-twenty-characters running    2048   32.00 99\n";
    let guests = whole!(QmList, Guests, text(0, out, ""));
    let names: Vec<&str> = guests.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(
        names,
        ["fw", "VM 101", "a-name-longer-than-twenty-characters"]
    );
    assert_eq!(guests[0].status, GuestStatus::Running);
}

#[test]
fn a_platform_is_put_together_from_what_could_be_read() {
    let read = |parser, result| match parse(parser, &result).unwrap().facts {
        Facts::Platform(platform) => platform,
        other => panic!("{other:?}"),
    };
    let parts = [
        read(
            ParserName::OsRelease,
            text(
                0,
                "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n",
                "",
            ),
        ),
        read(ParserName::Uname, text(0, "Linux pve2 6.14.8-2-pve\n", "")),
        read(ParserName::Nproc, text(0, "8\n", "")),
        read(
            ParserName::PveVersion,
            text(
                0,
                "pve-manager/9.0.3/025864202ebb6109 (running kernel: 6.14.8-2-pve)\n",
                "",
            ),
        ),
        read(ParserName::Tools, text(0, "ip /usr/sbin/ip\narping \n", "")),
    ];
    let platform = merge_platform(&parts);
    assert_eq!(platform.kind, crate::facts::PlatformKind::ProxmoxVe);
    assert_eq!(platform.os.as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
    assert_eq!(
        (platform.hostname.as_deref(), platform.cpus),
        (Some("pve2"), Some(8))
    );
    assert_eq!(platform.tools[1].path, None);
    let plain = merge_platform(&parts[1..2]);
    assert_eq!(
        (plain.kind, plain.cpus),
        (crate::facts::PlatformKind::Linux, None)
    );
}

#[test]
fn what_did_not_run_has_no_facts_whatever_was_printed() {
    for parser in ParserName::ALL.iter().copied() {
        let mut result = recorded("tools/ip-6.1.0-j-route");
        result.status = RunStatus::NotRun {
            reason: NotRun::Truncated { cap: 10 },
        };
        assert_eq!(parse(parser, &result), Err(ParseError::NotRun));
        for exit in [126, 127] {
            let result = text(exit, "[]", "sh: 1: ip: not found");
            assert!(
                matches!(parse(parser, &result), Err(ParseError::ToolFailed { .. })),
                "{parser:?} {exit}"
            );
        }
        // Silence with a failure is never an empty list.
        assert!(parse(parser, &text(1, "", "")).is_err(), "{parser:?}");
    }
}

/// A valid output of each parser, to be mutated.
fn valid(parser: ParserName) -> RunResult {
    match parser {
        ParserName::IpAddr => recorded("tools/ip-6.15.0-j-d-addr-hypervisor"),
        ParserName::BridgeVlan => recorded("tools/bridge-vlan-json-iproute2-4.14-keyed-by-port"),
        ParserName::IpRoute => recorded("tools/ip-6.1.0-j-p-odd-routes4"),
        ParserName::IpNeigh => recorded("tools/ip-6.1.0-j-neigh"),
        ParserName::Ping => recorded("tools/ping-iputils20221126-fragneeded"),
        ParserName::Arping => recorded("tools/repro-dupip-arping"),
        ParserName::PctList => text(
            0,
            "VMID       Status     Lock         Name                \n101        running    backup       wéb\n",
            "",
        ),
        ParserName::QmList => text(
            0,
            "      VMID NAME                 STATUS     MEM(MB)    BOOTDISK(GB) PID       \n       100 fw                   running    2048              32.00 1234      \n",
            "",
        ),
        ParserName::OsRelease => text(0, "PRETTY_NAME=\"x\"\n", ""),
        ParserName::Uname => text(0, "Linux a b\n", ""),
        ParserName::Nproc => text(0, "4\n", ""),
        ParserName::PveVersion => text(0, "pve-manager/9.0.3/0 (running kernel: 6)\n", ""),
        ParserName::Tools => text(0, "ip /sbin/ip\n", ""),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_bytes_make_a_parser_panic(
        index in 0..ParserName::ALL.len(),
        exit in prop::sample::select(vec![0, 1, 2, 255]),
        stdout in prop::collection::vec(any::<u8>(), 0..200),
        stderr in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let _ = parse(ParserName::ALL[index], &RunResult { status: RunStatus::Ran { exit }, stdout, stderr, took_ms: 0 });
    }

    #[test]
    fn no_mutation_of_a_valid_output_makes_a_parser_panic(
        index in 0..ParserName::ALL.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..12),
        cut in any::<prop::sample::Index>(),
        cut_it in any::<bool>(),
    ) {
        let mut result = valid(ParserName::ALL[index]);
        for (at, byte, how) in edits {
            if result.stdout.is_empty() {
                break;
            }
            let at = at.index(result.stdout.len());
            match how {
                0 => result.stdout[at] = byte,
                1 => { result.stdout.remove(at); }
                2 => result.stdout.insert(at, byte),
                _ => { let copy = result.stdout[at..].to_vec(); result.stdout.extend(copy.into_iter().take(64)); }
            }
        }
        if cut_it && !result.stdout.is_empty() {
            let at = cut.index(result.stdout.len());
            result.stdout.truncate(at);
        }
        let _ = parse(ParserName::ALL[index], &result);
    }
}

#[test]
fn the_valid_outputs_are_valid() {
    for parser in ParserName::ALL.iter().copied() {
        let parsed = parse(parser, &valid(parser)).unwrap();
        assert!(
            parsed.unparsed.is_empty(),
            "{parser:?}: {:?}",
            parsed.unparsed
        );
    }
}
