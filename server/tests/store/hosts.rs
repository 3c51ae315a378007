use diagnosis::ids::HostId;
use server::store::StoreError;
use sqlx::ConnectOptions;
use uuid::Uuid;

use crate::postgres::{database, store};
use crate::samples::{at, host_check, host_key, new_host, somebody, stored_host};

#[tokio::test]
async fn a_host_is_read_as_it_was_entered() {
    let store = store().await;
    let jump = stored_host(&store, "jump").await;
    let id = HostId(Uuid::now_v7());
    let new = new_host("Ärger", Some(jump));
    store
        .add_host(id, &new, somebody().id, at(0))
        .await
        .unwrap();
    let (row, version) = store.host(id).await.unwrap().unwrap();
    assert_eq!(
        (row.host.name.as_str(), row.host.port, row.host.jump),
        ("Ärger", 22, Some(jump))
    );
    assert_eq!(
        (row.jump_name.as_deref(), row.host.credential),
        (Some("jump"), new.credential)
    );
    assert_eq!((row.checking, row.check, version), (false, None, 1));
    let names: Vec<String> = store
        .hosts()
        .await
        .unwrap()
        .into_iter()
        .map(|r| r.host.name)
        .collect();
    assert_eq!(names, ["jump", "Ärger"]);
    assert_eq!(store.host(HostId(Uuid::nil())).await.unwrap(), None);
}

#[tokio::test]
async fn names_are_unique_whatever_their_case() {
    let store = store().await;
    stored_host(&store, "Äpve1").await;
    let error = store
        .add_host(
            HostId(Uuid::now_v7()),
            &new_host("äPVE1", None),
            somebody().id,
            at(0),
        )
        .await
        .unwrap_err();
    assert!(error.is_conflict("hosts_name_key"), "{error}");
}

#[tokio::test]
async fn a_jump_host_must_be_there() {
    let store = store().await;
    let gone = HostId(Uuid::now_v7());
    let error = store
        .add_host(
            HostId(Uuid::now_v7()),
            &new_host("a", Some(gone)),
            somebody().id,
            at(0),
        )
        .await
        .unwrap_err();
    assert!(error.is_conflict("hosts_jump_fkey"), "{error}");
}

#[tokio::test]
async fn a_jump_host_stays_while_another_needs_it() {
    let store = store().await;
    let jump = stored_host(&store, "jump").await;
    let behind = HostId(Uuid::now_v7());
    store
        .add_host(
            behind,
            &new_host("behind", Some(jump)),
            somebody().id,
            at(0),
        )
        .await
        .unwrap();
    let error = store.remove_host(jump).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Conflict { message, .. } if message.contains("“behind”")),
        "{error}"
    );
    store.remove_host(behind).await.unwrap();
    store.remove_host(jump).await.unwrap();
    assert!(matches!(
        store.remove_host(jump).await,
        Err(StoreError::NotFound { .. })
    ));
}

#[tokio::test]
async fn one_look_at_a_time() {
    let store = store().await;
    let id = stored_host(&store, "a").await;
    let looks = (0..10).map(|_| store.begin_host_check(id, at(1)));
    let begun = futures::future::join_all(looks).await;
    assert_eq!(
        begun.into_iter().filter(|b| *b.as_ref().unwrap()).count(),
        1
    );
    assert!(store.host(id).await.unwrap().unwrap().0.checking);
    store.end_host_check(id, &host_check()).await.unwrap();
    let (row, version) = store.host(id).await.unwrap().unwrap();
    assert_eq!(
        (row.checking, row.check, version),
        (false, Some(host_check()), 3)
    );
    assert!(matches!(
        store.begin_host_check(HostId(Uuid::nil()), at(1)).await,
        Err(StoreError::NotFound { .. })
    ));
}

#[tokio::test]
async fn a_look_that_died_does_not_hold_up_the_next() {
    let store = store().await;
    let id = stored_host(&store, "a").await;
    assert!(store.begin_host_check(id, at(0)).await.unwrap());
    assert!(!store.begin_host_check(id, at(299)).await.unwrap());
    assert!(store.begin_host_check(id, at(301)).await.unwrap());
}

#[tokio::test]
async fn a_new_key_replaces_the_old_which_stays_on_record() {
    let options = database().await;
    let store = server::store::Store::new(options.clone());
    let id = stored_host(&store, "a").await;
    let by = somebody().id;
    assert_eq!(store.host_keys(id).await.unwrap(), []);
    store
        .confirm_host_key(id, &host_key('x'), by, at(1))
        .await
        .unwrap();
    store
        .confirm_host_key(id, &host_key('x'), by, at(2))
        .await
        .unwrap();
    store
        .confirm_host_key(id, &host_key('y'), by, at(3))
        .await
        .unwrap();
    assert_eq!(store.host_keys(id).await.unwrap(), [host_key('y')]);
    let mut connection = options.connect().await.unwrap();
    let history: Vec<(String, Uuid, bool)> = sqlx::query_as(
        "SELECT fingerprint, confirmed_by, replaced_at IS NULL FROM host_keys ORDER BY confirmed_at",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert_eq!(
        history,
        [
            ("SHA256:x".into(), by.0, false),
            ("SHA256:y".into(), by.0, true)
        ]
    );
}

#[tokio::test]
async fn two_who_confirm_at_once_leave_one_key() {
    let store = store().await;
    let id = stored_host(&store, "a").await;
    let keys: Vec<_> = ('a'..='j').map(host_key).collect();
    let confirmations = keys
        .iter()
        .map(|key| store.confirm_host_key(id, key, somebody().id, at(1)));
    for done in futures::future::join_all(confirmations).await {
        done.unwrap();
    }
    assert_eq!(store.host_keys(id).await.unwrap().len(), 1);
}
