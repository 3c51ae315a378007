//! The knowledge that ships loads, and says what it must.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod common;

use diagnosis::ids::CheckId;

#[test]
fn the_shipped_knowledge_loads() {
    let pack = common::pack();
    assert_eq!(pack.symptoms.len(), 1);
    assert_eq!(pack.hash.as_ref().unwrap().as_str().len(), 64);
}

#[test]
fn a_host_page_gets_a_checks_commands() {
    let pack = common::pack();
    let commands = pack
        .commands_for(&CheckId::from("links-and-addresses"))
        .unwrap();
    let lines: Vec<String> = commands.iter().map(|c| c.command.display()).collect();
    assert_eq!(
        lines,
        ["ip -j -d addr", "bridge -j -compressvlans vlan show"]
    );
    assert!(pack.commands_for(&CheckId::from("gone")).is_none());
    // A probe of a guest has no command of its own for a host's page.
    assert!(
        pack.commands_for(&CheckId::from("ping-gateway"))
            .unwrap()
            .is_empty()
    );
}
