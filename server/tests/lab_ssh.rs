//! The SSH edge on the lab's hosts. Needs the lab: `lab/lab up`, found by the lab's own `LAB_DIR` and `LAB_SSH_PORT`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails says so by panicking"
)]

mod support;

use std::path::PathBuf;

use diagnosis::connection::ConnectionStatus;
use diagnosis::ids::Vmid;
use diagnosis::run::{Command, NotRun, Place, RunStatus};
use server::ssh::{Credential, Hop, Transport, parse_host_key};
use support::raw::closed_port;
use support::{last, ran, reason, run, ssh, target};

fn lab() -> PathBuf {
    std::env::var_os("LAB_DIR").map_or_else(|| "/var/cache/hopwise-lab".into(), PathBuf::from)
}

fn port() -> u16 {
    std::env::var("LAB_SSH_PORT").map_or(2222, |port| port.parse().expect("LAB_SSH_PORT is a port"))
}

/// A host of the lab, with the keys that its known_hosts file gives for its address.
fn host(address: &str) -> Hop {
    let file = lab().join("known_hosts");
    let known = std::fs::read_to_string(&file)
        .unwrap_or_else(|e| panic!("the lab is not up ({}: {e}): lab/lab up", file.display()));
    let confirmed: Vec<_> = known
        .lines()
        .filter_map(|line| {
            let (names, key) = line.split_once(' ')?;
            names
                .split(',')
                .any(|n| n == format!("[{address}]:{}", port()))
                .then(|| parse_host_key(key))?
        })
        .collect();
    assert!(
        !confirmed.is_empty(),
        "no key for {address} in {}",
        file.display()
    );
    Hop {
        address: address.into(),
        port: port(),
        user: "root".into(),
        credential: Credential::KeyFile(lab().join("key")),
        confirmed,
    }
}

fn pve2() -> Hop {
    host("127.0.1.2")
}

fn in_container(vmid: u32, argv: &[&str]) -> Command {
    let mut command = Command::new(argv.iter().copied());
    command.place = Place::Container { vmid: Vmid(vmid) };
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_containers_routes_are_read_with_the_hosts_tools() {
    let batch = [
        in_container(122, &["ip", "-j", "route"]),
        Command::new(["ip", "-j", "route"]),
    ];
    let results = run(&ssh(), &target([pve2()]), &batch).await;
    let routes =
        |i: usize| serde_json::from_str::<serde_json::Value>(&ran(&results[i])).expect("ip's JSON");
    assert!(!routes(0).as_array().expect("a list").is_empty());
    assert_ne!(
        routes(0),
        routes(1),
        "the container's routes, not the host's"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_is_not_there_is_no_result() {
    let results = run(
        &ssh(),
        &target([pve2()]),
        &[in_container(9999, &["ip", "route"])],
    )
    .await;
    assert!(
        matches!(&results[0].status, RunStatus::NotRun { reason: NotRun::GuestUnreachable { detail } } if detail.contains("9999")),
        "{results:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_containers_says_what_it_lacks() {
    let results = run(
        &ssh(),
        &target([host("127.0.1.3")]),
        &[in_container(122, &["ip", "route"])],
    )
    .await;
    assert_eq!(reason(&results[0]), "not-found", "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_of_the_lab_where_nothing_listens_is_refused() {
    let hop = Hop {
        port: closed_port().await,
        ..pve2()
    };
    assert_eq!(
        last(&ssh().probe(&target([hop])).await),
        &ConnectionStatus::Refused
    );
}
