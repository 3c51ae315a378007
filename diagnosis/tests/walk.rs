//! Walks through the shipped tree over recorded outputs. The recordings (tests/fixtures/walk) are of a
//! guest 192.0.2.11 and 2001:db8:1::11 behind a router, with the target 198.51.100.20 and 2001:db8:2::20.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod common;

use std::collections::BTreeMap;

use common::{Scenario, Walked, walk};
use diagnosis::connection::ConnectionStatus;
use diagnosis::facts::GuestKind;
use diagnosis::run::{NotRun, Place, RunResult, RunStatus};
use diagnosis::verdict::{Conclusion, Family, Verdict};

const T4: &str = "198.51.100.20";
const T6: &str = "2001:db8:2::20";

/// Links, IPv4 recording, IPv6 recording, answer, and what comes out of it.
const SCENARIOS: &[(&str, &str, &str, &str, &str, &str)] = &[
    // The lab's CT 122 (iproute2 6.15, iputils 20240905).
    (
        "lab, healthy",
        "lab",
        "lab",
        "lab",
        "203.0.113.20",
        "no fault",
    ),
    (
        "healthy, IPv4 target",
        "healthy",
        "healthy",
        "healthy",
        T4,
        "no fault",
    ),
    (
        "healthy, IPv6 target",
        "healthy",
        "healthy",
        "healthy",
        T6,
        "no fault",
    ),
    (
        "healthy, no target",
        "healthy",
        "healthy",
        "healthy",
        "?",
        "no fault",
    ),
    (
        "healthy, one version only",
        "v4only",
        "healthy",
        "healthy",
        T4,
        "no fault",
    ),
    (
        "healthy, one version only, no target",
        "v4only",
        "healthy",
        "healthy",
        "?",
        "no fault",
    ),
    (
        "healthy, IPv6 only",
        "v6only",
        "healthy",
        "healthy",
        T6,
        "no fault",
    ),
    (
        "no default route",
        "v4only",
        "nodefault",
        "nodefault",
        T4,
        "no-default-route ip4",
    ),
    (
        "no default route, no target",
        "v4only",
        "nodefault",
        "nodefault",
        "?",
        "no-default-route ip4",
    ),
    (
        "no default route in both, IPv4 target",
        "healthy",
        "nodefault",
        "nodefault",
        T4,
        "no-default-route ip4",
    ),
    (
        "no default route in both, IPv6 target",
        "healthy",
        "nodefault",
        "nodefault",
        T6,
        "no-default-route ip6",
    ),
    (
        "no default route in both, no target",
        "healthy",
        "nodefault",
        "nodefault",
        "?",
        "no-default-route ip4",
    ),
    (
        "no default route for IPv4, IPv4 target",
        "healthy",
        "nodefault",
        "healthy",
        T4,
        "no-default-route ip4",
    ),
    (
        "no default route for IPv4, IPv6 target answers",
        "healthy",
        "nodefault",
        "healthy",
        T6,
        "no fault",
    ),
    (
        "no default route for IPv4, IPv6 target silent",
        "healthy",
        "nodefault",
        "beyond",
        T6,
        "open beyond the guest's subnet",
    ),
    (
        "no default route for IPv4, no target",
        "healthy",
        "nodefault",
        "healthy",
        "?",
        "open none for IPv4",
    ),
    (
        "no default route for IPv6, IPv6 target",
        "healthy",
        "healthy",
        "nodefault",
        T6,
        "no-default-route ip6",
    ),
    (
        "no default route for IPv6, IPv4 target",
        "healthy",
        "healthy",
        "nodefault",
        T4,
        "no fault",
    ),
    (
        "dead gateway, IPv4 target",
        "healthy",
        "deadgw",
        "deadgw",
        T4,
        "gateway-does-not-answer ip4",
    ),
    (
        "dead gateway, IPv6 target",
        "healthy",
        "deadgw",
        "deadgw",
        T6,
        "gateway-does-not-answer ip6",
    ),
    (
        "dead gateway, no target",
        "v4only",
        "deadgw",
        "deadgw",
        "?",
        "gateway-does-not-answer ip4",
    ),
    (
        "dead IPv4 gateway, IPv6 target answers",
        "healthy",
        "deadgw",
        "healthy",
        T6,
        "no fault",
    ),
    (
        "dead IPv6 gateway, IPv4 target silent",
        "healthy",
        "beyond",
        "deadgw",
        T4,
        "open beyond the guest's subnet",
    ),
    (
        "dead IPv6 gateway, no target",
        "healthy",
        "healthy",
        "deadgw",
        "?",
        "gateway-does-not-answer ip6",
    ),
    (
        "fault beyond",
        "healthy",
        "beyond",
        "beyond",
        T4,
        "open beyond the guest's subnet",
    ),
    (
        "gateway answers ARP only",
        "v4only",
        "silentgw",
        "silentgw",
        T4,
        "open the gateway is there",
    ),
    (
        "gateway answers ARP only, no target",
        "v4only",
        "silentgw",
        "silentgw",
        "?",
        "open the gateway is there",
    ),
    (
        "IPv6 target without an IPv6 address",
        "v4only",
        "healthy",
        "nodefault",
        T6,
        "open no usable IPv6 address",
    ),
    (
        "target in the own subnet",
        "healthy",
        "healthy",
        "healthy",
        "192.0.2.77",
        "open own subnet",
    ),
    (
        "target is loopback",
        "healthy",
        "healthy",
        "healthy",
        "127.0.0.1",
        "open own subnet",
    ),
];

fn scenario(
    row: &(
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    ),
) -> Scenario {
    let (name, links, v4, v6, target, _) = *row;
    Scenario::new(name, links, v4, v6, target)
}

/// A conclusion in the words of the table above.
fn says(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::Cause { cause, family, .. } => {
            format!("{cause} {}", family.map_or("-", Family::key))
        }
        Conclusion::NoFaultFound { .. } => "no fault".into(),
        Conclusion::Inconclusive { reason, .. } => format!("open {reason}"),
    }
}

fn fits(conclusion: &Conclusion, expect: &str) -> bool {
    let got = says(conclusion);
    match expect.strip_prefix("open ") {
        Some(words) => got.starts_with("open ") && got.contains(words),
        None => got == expect,
    }
}

#[test]
fn every_scenario_ends_as_it_must() {
    let pack = common::pack();
    for row in SCENARIOS {
        let walked = walk(&pack, &scenario(row));
        let conclusion = walked.conclusion.expect(row.0);
        assert!(
            fits(&conclusion, row.5),
            "{}: {} instead of {}\n{conclusion:#?}\n{:#?}",
            row.0,
            says(&conclusion),
            row.5,
            walked.findings
        );
    }
}

/// A result that is gone or unreadable: why.
fn spoilt() -> Vec<(&'static str, RunResult)> {
    let ran = |exit: i32, stdout: &[u8]| RunResult {
        status: RunStatus::Ran { exit },
        stdout: stdout.to_vec(),
        stderr: Vec::new(),
        took_ms: 1,
    };
    vec![
        (
            "host cut off",
            RunResult::not_run(NotRun::NoConnection {
                status: ConnectionStatus::Timeout { after_ms: 5000 },
            }),
        ),
        ("exit 1 and nothing", ran(1, b"")),
        ("not JSON, not text", ran(0, b"\xff\xfe\x00 garbage {")),
        ("another shape", ran(0, b"{\"a\": 1}")),
        ("a list of the unknown", ran(0, b"[1, \"x\", {\"y\": 2}]")),
    ]
}

/// No missing result may make a cause that the rest does not prove, and none may pass. A cause that is
/// still named is one that the whole scenario proves too, with the same evidence and without the missing run.
#[test]
fn no_missing_result_proves_or_passes_anything() {
    let pack = common::pack();
    let mut tried = 0;
    for row in SCENARIOS {
        let whole = walk(&pack, &scenario(row));
        for key in &whole.asked {
            for (how, result) in spoilt() {
                let mut scenario = scenario(row);
                scenario.instead.insert(key.clone(), result);
                let walked = walk(&pack, &scenario);
                let conclusion = walked.conclusion.unwrap();
                let context = format!("{}, {key} {how}: {conclusion:#?}", row.0);
                tried += 1;
                match &conclusion {
                    Conclusion::NoFaultFound { .. } => panic!("passed: {context}"),
                    Conclusion::Cause {
                        family,
                        evidence,
                        not_looked,
                        ..
                    } => {
                        // Where both IP versions are broken, the one that is left may be named.
                        let proved = whole.findings.iter().any(|f| {
                            f.verdict == Verdict::Fail
                                && f.family == *family
                                && f.evidence == *evidence
                        });
                        assert!(
                            proved && row.5.contains(says(&conclusion).split(' ').next().unwrap()),
                            "another cause: {context}"
                        );
                        assert!(
                            evidence.iter().all(|e| e.run.as_str() != key),
                            "unproved: {context}"
                        );
                        assert!(!not_looked.is_empty(), "hidden: {context}");
                    }
                    Conclusion::Inconclusive { not_looked, .. } => {
                        assert!(!not_looked.is_empty(), "hidden: {context}");
                    }
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn a_host_that_is_cut_off_gives_no_cause_and_names_what_could_not_run() {
    let pack = common::pack();
    for result in [
        RunResult::not_run(NotRun::NoConnection {
            status: ConnectionStatus::Refused,
        }),
        RunResult::not_run(NotRun::GuestUnreachable {
            detail: "CT 122 is stopped".into(),
        }),
    ] {
        let mut scenario = Scenario::new("cut off", "healthy", "nodefault", "nodefault", T4);
        scenario.everything = Some(result);
        let walked = walk(&pack, &scenario);
        let conclusion = walked.conclusion.unwrap();
        assert!(
            matches!(conclusion, Conclusion::Inconclusive { .. }),
            "{conclusion:#?}"
        );
        assert_eq!(
            conclusion.not_looked()[0].what,
            "Addresses of the guest (ct122)"
        );
        assert!(
            walked
                .findings
                .iter()
                .all(|f| matches!(f.verdict, Verdict::Inconclusive { .. }))
        );
    }
}

#[test]
fn arping_missing_leaves_the_dead_gateway_unproved() {
    let pack = common::pack();
    let mut scenario = Scenario::new("", "v4only", "deadgw", "deadgw", T4);
    scenario.instead.insert(
        "probe/gateway_arp/ip4".into(),
        RunResult::not_run(NotRun::NotFound {
            program: "arping".into(),
        }),
    );
    let conclusion = walk(&pack, &scenario).conclusion.unwrap();
    assert!(
        matches!(&conclusion, Conclusion::Inconclusive { .. }),
        "{conclusion:#?}"
    );
    assert!(
        conclusion
            .not_looked()
            .iter()
            .any(|n| n.why == "arping is not installed on the host"),
        "{conclusion:#?}"
    );
}

#[test]
fn a_cause_comes_with_place_words_and_the_deciding_lines() {
    let pack = common::pack();
    let walked = walk(
        &pack,
        &Scenario::new("", "v4only", "nodefault", "nodefault", T4),
    );
    let Some(Conclusion::Cause {
        title,
        place,
        explanation,
        remedy,
        evidence,
        not_looked,
        ..
    }) = walked.conclusion
    else {
        panic!("no cause");
    };
    assert_eq!(title, "No default route");
    assert_eq!(place, "CT 122 (ct122) on pve2");
    assert!(
        explanation.starts_with("ct122 has no IPv4 default route"),
        "{explanation}"
    );
    assert!(remedy.contains("Gateway (IPv4)"), "{remedy}");
    let runs: Vec<&str> = evidence.iter().map(|e| e.run.as_str()).collect();
    assert_eq!(runs, ["routes/routes/ip4", "probe/target/ip4"]);
    for one in &evidence {
        let raw = common::raw(&walked.results[one.run.as_str()]);
        for mark in &one.marks {
            assert!(raw.contains(mark), "{mark} is not in {raw}");
        }
    }
    assert_eq!(not_looked.len(), 1, "{not_looked:?}");
    assert_eq!(not_looked[0].what, "IPv6");
    assert!(
        not_looked[0].why.contains("not configured"),
        "{not_looked:?}"
    );
}

#[test]
fn every_mark_of_every_scenario_is_in_the_raw_output() {
    let pack = common::pack();
    let mut shown = 0;
    for row in SCENARIOS {
        let walked = walk(&pack, &scenario(row));
        for finding in &walked.findings {
            assert!(
                !finding.message.contains('{'),
                "{}: {}",
                row.0,
                finding.message
            );
            for evidence in &finding.evidence {
                let raw = common::raw(&walked.results[evidence.run.as_str()]);
                // One of several states is printed; the others are not shown.
                assert!(
                    evidence.marks.is_empty()
                        || evidence.marks.iter().any(|m| raw.contains(m.as_str())),
                    "{}: {:?} not in {raw}",
                    row.0,
                    evidence.marks
                );
                shown += 1;
            }
        }
    }
    assert!(shown > 50, "{shown}");
}

#[test]
fn an_unknown_address_is_named_as_not_looked_at() {
    let pack = common::pack();
    let conclusion = walk(
        &pack,
        &Scenario::new("", "v4only", "healthy", "healthy", "?"),
    )
    .conclusion
    .unwrap();
    let not_looked = conclusion.not_looked();
    assert_eq!(
        not_looked[0].what, "An address beyond the subnet",
        "{conclusion:#?}"
    );
}

#[test]
fn odd_route_tables_never_make_a_cause() {
    let pack = common::pack();
    let default = "\"dst\": \"default\",\n        \"gateway\": \"192.0.2.1\",\n        \"dev\": \"eth0\",\n        \"flags\": [ ]";
    let dead = common::text("walk/deadgw-routes4.out");
    assert!(dead.contains(default));
    for (name, with) in [
        ("linkdown", default.replace("[ ]", "[ \"linkdown\" ]")),
        ("dead", default.replace("[ ]", "[ \"dead\",\"linkdown\" ]")),
        ("blackhole", "\"type\": \"blackhole\",\n        \"dst\": \"default\",\n        \"flags\": [ ]".into()),
        ("other table", default.replace("\"flags\"", "\"table\": \"100\",\n        \"flags\"")),
        ("no gateway", default.replace("\"gateway\": \"192.0.2.1\",\n", "")),
        ("two", format!("{default}\n    }},{{\n        {}", default.replace("2.1", "2.2"))),
        ("multipath", "\"dst\": \"default\", \"flags\": [ ], \"nexthops\": [ {\"gateway\": \"192.0.2.1\", \"dev\": \"eth0\", \"weight\": 1, \"flags\": [ ]}, {\"gateway\": \"192.0.2.2\", \"dev\": \"eth0\", \"weight\": 1, \"flags\": [ ]} ]".into()),
        ("an unreadable route", "\"dst\": 7".into()),
        ("an unreadable gateway", default.replace("192.0.2.1", "somewhere")),
    ] {
        for target in [T4, "?"] {
            let mut scenario = Scenario::new(name, "v4only", "deadgw", "deadgw", target);
            scenario.instead.insert(
                "routes/routes/ip4".into(),
                common::ran(0, dead.replace(default, &with).as_bytes()),
            );
            let conclusion = walk(&pack, &scenario).conclusion.unwrap();
            assert!(matches!(conclusion, Conclusion::Inconclusive { .. }), "{name} {target}: {conclusion:#?}");
        }
    }
}

#[test]
fn a_partly_understood_route_table_does_not_miss_a_default_route() {
    let pack = common::pack();
    let routes =
        common::text("walk/nodefault-routes4.out").replacen("[ {", "[ {\"weird\": 1},{", 1);
    let mut scenario = Scenario::new("", "v4only", "nodefault", "nodefault", T4);
    scenario.instead.insert(
        "routes/routes/ip4".into(),
        common::ran(0, routes.as_bytes()),
    );
    let conclusion = walk(&pack, &scenario).conclusion.unwrap();
    assert!(
        matches!(conclusion, Conclusion::Inconclusive { .. }),
        "{conclusion:#?}"
    );
    assert!(
        conclusion
            .not_looked()
            .iter()
            .any(|n| n.why.contains("not understood"))
    );
}

#[test]
fn names_from_hosts_and_people_stay_data() {
    let pack = common::pack();
    let mut scenario = Scenario::new("", "v4only", "healthy", "healthy", T4);
    scenario.guest = "$(reboot) {{ 7 * 7 }}".into();
    let walked = walk(&pack, &scenario);
    assert!(
        walked
            .commands
            .values()
            .all(|c| !c.display().contains("reboot"))
    );
    assert!(
        walked
            .findings
            .iter()
            .any(|f| f.message.contains("$(reboot) {{ 7 * 7 }}"))
    );
    // An interface called "-j" would be an option of ping: it is refused before it is an argument.
    let mut scenario = Scenario::new("", "v4only", "healthy", "healthy", T4);
    scenario.instead.insert(
        "routes/routes/ip4".into(),
        common::ran(
            0,
            common::text("walk/healthy-routes4.out")
                .replace("eth0", "-j")
                .as_bytes(),
        ),
    );
    let walked = walk(&pack, &scenario);
    assert!(!walked.commands.contains_key("probe/gateway/ip4"));
    let conclusion = walked.conclusion.unwrap();
    assert!(
        matches!(conclusion, Conclusion::Inconclusive { .. }),
        "{conclusion:#?}"
    );
    assert!(
        conclusion
            .not_looked()
            .iter()
            .any(|n| n.why.contains("“-j”")),
        "{conclusion:#?}"
    );
}

#[test]
fn commands_are_the_declared_ones() {
    let pack = common::pack();
    let walked = walk(
        &pack,
        &Scenario::new("", "healthy", "healthy", "healthy", T4),
    );
    let lines: BTreeMap<&str, String> = walked
        .commands
        .iter()
        .map(|(k, c)| (k.as_str(), c.display()))
        .collect();
    assert_eq!(lines["addresses/links"], "ip -j -d addr");
    assert_eq!(
        lines["routes/routes/ip6"],
        "ip -j -p -6 route show table all"
    );
    assert_eq!(
        lines["probe/gateway/ip4"],
        "ping -n -c 3 -i 0.3 -W 1 -I eth0 192.0.2.1"
    );
    assert_eq!(
        lines["probe/gateway_arp/ip4"],
        "arping -b -c 3 -w 3 -I eth0 192.0.2.1"
    );
    assert_eq!(
        lines["probe/target/ip4"],
        "ping -n -c 3 -i 0.3 -W 1 198.51.100.20"
    );
    assert!(
        !lines.contains_key("probe/target/ip6") && !lines.contains_key("probe/gateway_arp/ip6")
    );
    for command in walked.commands.values() {
        assert!(
            matches!(command.place, Place::Container { .. }),
            "{command:?}"
        );
    }
    let mut scenario = Scenario::new("", "healthy", "healthy", "healthy", T4);
    scenario.kind = GuestKind::VirtualMachine;
    let walked: Walked = walk(&pack, &scenario);
    assert!(
        walked
            .commands
            .values()
            .all(|c| matches!(c.place, Place::VirtualMachine { .. }))
    );
}

mod inputs {
    use super::*;
    use diagnosis::ids::{RunKey, StepId, TreeId};
    use diagnosis::session::Answer;
    use diagnosis::walk::{Input, Request, Walk, WalkError};

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let pack = common::pack();
        let tree = &pack.trees[&TreeId::from("local-subnet-only")];
        let scenario = Scenario::new("", "healthy", "healthy", "healthy", T4);
        assert!(matches!(
            Walk::start(&pack, tree, Default::default()),
            Err(WalkError::EndNotBound(end)) if end == "client"
        ));
        let (walk, requests) = Walk::start(&pack, tree, scenario.ends()).unwrap();
        assert!(matches!(&requests[..], [Request::Ask { .. }]));
        let step = StepId::from("which-address");
        let answer = |value: &str| Input::Answer {
            step: step.clone(),
            answer: Answer::Value(value.into()),
        };
        for bad in ["", "example.org", "192.0.2.1/24", "192.0.2.1; reboot", "-f"] {
            let error = walk.clone().step(&pack, tree, answer(bad)).unwrap_err();
            assert!(
                matches!(error, WalkError::BadAnswer { .. }),
                "{bad}: {error}"
            );
        }
        let run = |key: &str| Input::RunDone {
            key: RunKey::from(key),
            result: common::ran(0, b"[]"),
        };
        assert!(matches!(
            walk.clone().step(&pack, tree, run("addresses/links")),
            Err(WalkError::NotRequested(_))
        ));
        let (walk, requests) = walk.step(&pack, tree, answer(" 198.51.100.20 ")).unwrap();
        assert!(matches!(&requests[..], [Request::Check { .. }]));
        assert!(matches!(
            walk.clone().step(&pack, tree, answer(T4)),
            Err(WalkError::NotAsked(_))
        ));
        assert!(matches!(
            walk.clone().step(&pack, tree, run("addresses/gone")),
            Err(WalkError::NotRequested(_))
        ));
        // A walk is a value: what is stored goes on where it stood.
        let stored = serde_json::to_string(&walk).unwrap();
        let again: Walk = serde_json::from_str(&stored).unwrap();
        assert_eq!(again, walk);
        let links = common::recorded("walk/healthy-links");
        let input = || Input::RunDone {
            key: RunKey::from("addresses/links"),
            result: links.clone(),
        };
        let (next, requests) = again.step(&pack, tree, input()).unwrap();
        assert_eq!(
            (next.clone(), requests),
            walk.step(&pack, tree, input()).unwrap()
        );
        assert!(matches!(
            next.step(&pack, tree, input()),
            Err(WalkError::NotRequested(_))
        ));
    }
}
