use app::runs::RunState;
use diagnosis::ids::{CheckId, HostId, RunId};
use diagnosis::run::Command;
use server::store::{Store, StoreError};
use uuid::Uuid;

use crate::postgres::store;
use crate::samples::{NASTY, at, command_result, somebody, stored_host};

async fn stored_run(store: &Store, host: HostId, second: i64) -> RunId {
    let id = RunId(Uuid::now_v7());
    let commands = [
        ("Links".to_owned(), Command::new(["ip", "-j", "-d", "addr"])),
        (
            "VLANs".to_owned(),
            Command::new(["bridge", "-j", "vlan", "show", NASTY]),
        ),
    ];
    store
        .start_run(
            id,
            host,
            &CheckId::from("links"),
            "Links",
            Some("Why"),
            &commands,
            &somebody(),
            at(second),
        )
        .await
        .unwrap();
    id
}

#[tokio::test]
async fn a_run_is_stored_command_by_command() {
    let store = store().await;
    let host = stored_host(&store, "pve1").await;
    let id = stored_run(&store, host, 1).await;
    assert_eq!(store.open_runs().await.unwrap(), [id]);
    let hash = store.put_output(NASTY.as_bytes()).await.unwrap();
    let result = command_result(Some(hash));
    assert!(store.finish_command(id, 1, &result).await.unwrap());
    let page = store.run(id).await.unwrap().unwrap();
    assert_eq!(
        (page.host, page.host_name.as_str(), page.version),
        (host, "pve1", 2)
    );
    assert_eq!(
        (page.row.state, page.finished_at),
        (RunState::Running, None)
    );
    assert_eq!(page.commands[0].result, None);
    assert_eq!(page.commands[1].result, Some(result));
    assert_eq!(page.commands[1].command.argv[4], NASTY);

    store.finish_run(id, RunState::Done, at(9)).await.unwrap();
    let page = store.run(id).await.unwrap().unwrap();
    assert_eq!(
        (page.row.state, page.finished_at, page.version),
        (RunState::Done, Some(at(9)), 3)
    );
    assert_eq!(store.open_runs().await.unwrap(), []);
}

#[tokio::test]
async fn a_result_counts_once_and_only_while_the_run_goes_on() {
    let store = store().await;
    let host = stored_host(&store, "pve1").await;
    let id = stored_run(&store, host, 1).await;
    let first = command_result(None);
    let mut second = first.clone();
    second.took_ms = 99;
    assert!(store.finish_command(id, 0, &first).await.unwrap());
    assert!(!store.finish_command(id, 0, &second).await.unwrap());
    assert!(!store.finish_command(id, 7, &second).await.unwrap());
    store
        .finish_run(id, RunState::Cancelled, at(2))
        .await
        .unwrap();
    store.finish_run(id, RunState::Done, at(3)).await.unwrap();
    assert!(!store.finish_command(id, 1, &second).await.unwrap());
    let page = store.run(id).await.unwrap().unwrap();
    assert_eq!((page.row.state, page.version), (RunState::Cancelled, 3));
    assert_eq!(page.commands[0].result, Some(first));
    assert_eq!(page.commands[1].result, None);
}

#[tokio::test]
async fn a_result_whose_output_is_not_stored_is_refused() {
    let store = store().await;
    let host = stored_host(&store, "pve1").await;
    let id = stored_run(&store, host, 1).await;
    let result = command_result(Some("0".repeat(64).as_str().into()));
    assert!(matches!(
        store.finish_command(id, 0, &result).await,
        Err(StoreError::Other(_))
    ));
    assert_eq!(store.run(id).await.unwrap().unwrap().version, 1);
}

#[tokio::test]
async fn a_hosts_runs_come_newest_first_and_go_with_it() {
    let store = store().await;
    let host = stored_host(&store, "pve1").await;
    let runs = [
        stored_run(&store, host, 1).await,
        stored_run(&store, host, 2).await,
        stored_run(&store, host, 3).await,
    ];
    let listed: Vec<RunId> = store
        .runs_of_host(host, 2)
        .await
        .unwrap()
        .into_iter()
        .map(|r| r.id)
        .collect();
    assert_eq!(listed, [runs[2], runs[1]]);
    // The host's page lists its runs, so its version rises with them.
    assert_eq!(store.host(host).await.unwrap().unwrap().1, 4);
    store.remove_host(host).await.unwrap();
    assert_eq!(store.run(runs[0]).await.unwrap(), None);
    let refused = store
        .start_run(
            RunId(Uuid::now_v7()),
            host,
            &CheckId::from("x"),
            "x",
            None,
            &[],
            &somebody(),
            at(4),
        )
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })));
}

#[tokio::test]
async fn runs_end_while_their_host_is_removed() {
    let store = store().await;
    for round in 0..10 {
        let host = stored_host(&store, &format!("pve{round}")).await;
        let mut runs = Vec::new();
        for second in 0..4 {
            runs.push(stored_run(&store, host, second).await);
        }
        let ends = futures::future::join_all(
            runs.iter()
                .map(|id| store.finish_run(*id, RunState::Done, at(9))),
        );
        let (ends, removed) = tokio::join!(ends, store.remove_host(host));
        removed.unwrap();
        for end in ends {
            assert!(!matches!(end, Err(StoreError::Other(_))), "{end:?}");
        }
    }
}
