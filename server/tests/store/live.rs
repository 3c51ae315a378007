use std::time::Duration;

use app::runs::RunState;
use diagnosis::ids::{CheckId, RunId};
use futures::StreamExt;
use server::store::{Change, News, Store, StoreError, Topic};
use sqlx::{ConnectOptions, Executor};
use tokio::time::timeout;
use uuid::Uuid;

use crate::postgres::{database, store};
use crate::samples::{at, found, host_key, somebody, started, stored_host, stored_session};

#[tokio::test]
async fn every_change_is_announced_with_its_version() {
    let options = database().await;
    let (store, other) = (Store::new(options.clone()), Store::new(options));
    let mut changes = std::pin::pin!(other.listen().await.unwrap());
    let host = stored_host(&store, "a").await;
    store.begin_host_check(host, at(1)).await.unwrap();
    store
        .confirm_host_key(host, &host_key('x'), somebody().id, at(1))
        .await
        .unwrap();
    let run = RunId(Uuid::now_v7());
    store
        .start_run(
            run,
            host,
            &CheckId::from("x"),
            "x",
            None,
            &[],
            &somebody(),
            at(1),
        )
        .await
        .unwrap();
    store.finish_run(run, RunState::Done, at(2)).await.unwrap();
    let session = stored_session(&store).await;
    // Neither a failed change nor one that changes nothing is announced.
    assert!(
        store
            .append(session, None, &[started("x")], at(1))
            .await
            .is_err()
    );
    store
        .confirm_host_key(host, &host_key('x'), somebody().id, at(1))
        .await
        .unwrap();
    store
        .append(session, None, &[found(), found()], at(1))
        .await
        .unwrap();
    store.remove_host(host).await.unwrap();
    let expected = [
        (Topic::Host(host), News::Version(1)),
        (Topic::Host(host), News::Version(2)),
        (Topic::Host(host), News::Version(3)),
        (Topic::Run(run), News::Version(1)),
        (Topic::Host(host), News::Version(4)),
        (Topic::Run(run), News::Version(2)),
        (Topic::Host(host), News::Version(5)),
        (Topic::Session(session), News::Version(1)),
        (Topic::Session(session), News::Version(3)),
        (Topic::Run(run), News::Gone),
        (Topic::Host(host), News::Gone),
    ];
    for (topic, news) in expected {
        let change = timeout(Duration::from_secs(5), changes.next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        assert_eq!(change, Change { topic, news });
    }
    assert_eq!(
        store.news(Topic::Session(session)).await.unwrap(),
        News::Version(3)
    );
    assert_eq!(store.news(Topic::Host(host)).await.unwrap(), News::Gone);
}

#[test]
fn topics_are_written_as_they_are_read() {
    let id = Uuid::now_v7();
    for text in [
        format!("host/{id}"),
        format!("run/{id}"),
        format!("session/{id}"),
    ] {
        assert_eq!(text.parse::<Topic>().unwrap().to_string(), text);
    }
    for text in ["", "host", "host/", "person/x", "host/x/1"] {
        assert!(text.parse::<Topic>().is_err(), "{text}");
    }
}

#[tokio::test]
async fn a_lost_connection_ends_the_stream_with_an_error() {
    let options = database().await;
    let store = Store::new(options.clone());
    let mut changes = std::pin::pin!(store.listen().await.unwrap());
    let mut admin = options.connect().await.unwrap();
    admin
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await
        .unwrap();
    let end = timeout(Duration::from_secs(5), changes.next())
        .await
        .unwrap()
        .unwrap();
    assert!(
        matches!(end, Err(StoreError::Unavailable { .. })),
        "{end:?}"
    );
    assert!(changes.next().await.is_none());
    assert!(store.listen().await.is_ok());
}

#[tokio::test]
async fn one_server_is_the_runner_until_its_connection_ends() {
    let options = database().await;
    let (one, two) = (Store::new(options.clone()), Store::new(options.clone()));
    let mut lock = one.try_become_runner().await.unwrap().unwrap();
    assert!(two.try_become_runner().await.unwrap().is_none());
    let mut admin = options.connect().await.unwrap();
    admin
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks
             WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        )
        .await
        .unwrap();
    timeout(Duration::from_secs(6), lock.lost()).await.unwrap();
    let next = two.try_become_runner().await.unwrap().unwrap();
    next.release().await;
    // The server sees the closed connection a moment later.
    for _ in 0..50 {
        if one.try_become_runner().await.unwrap().is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the lock was not given back");
}

#[tokio::test]
async fn a_database_that_is_away_is_said_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        Store::new(sqlx::postgres::PgConnectOptions::new_without_pgpass().socket(dir.path()));
    let begun = std::time::Instant::now();
    for error in [
        store.ping().await.unwrap_err(),
        store.migrate().await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    }
    assert!(matches!(
        store.try_become_runner().await,
        Err(StoreError::Unavailable { .. })
    ));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn all_connections_taken_is_no_fault_of_the_database() {
    let store = store().await;
    store.ping().await.unwrap();
    store.close().await;
    assert!(matches!(
        store.ping().await,
        Err(StoreError::Unavailable { .. })
    ));
}
