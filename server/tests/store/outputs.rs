use diagnosis::ids::OutputHash;
use jiff::{SignedDuration, Timestamp};
use server::store::{Store, StoreError};
use sqlx::{ConnectOptions, Executor};

use crate::postgres::{database, store};
use crate::samples::{at, run_done, runs_started, stored_session};

#[tokio::test]
async fn an_output_comes_back_byte_for_byte() {
    let store = store().await;
    // 10 MB that compress badly, by a linear congruence.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..10_000_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    for bytes in [
        Vec::new(),
        vec![0; 10_000_000],
        noise,
        vec![0xff, 0xfe, 0x00, 0x1b],
    ] {
        let hash = store.put_output(&bytes).await.unwrap();
        assert!(store.output(&hash).await.unwrap() == Some(bytes));
    }
    let empty =
        OutputHash::from("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(store.output(&empty).await.unwrap(), Some(Vec::new()));
}

#[tokio::test]
async fn what_is_no_hash_has_no_output() {
    let store = store().await;
    for text in [
        "",
        "x",
        "\0",
        "../etc/passwd",
        &"E".repeat(64),
        &"0".repeat(64),
    ] {
        assert_eq!(
            store.output(&OutputHash::from(text)).await.unwrap(),
            None,
            "{text:?}"
        );
    }
}

#[tokio::test]
async fn the_same_output_is_stored_once_also_at_once() {
    let options = database().await;
    let store = Store::new(options.clone());
    let puts = futures::future::join_all((0..10).map(|_| store.put_output(b"the same"))).await;
    let hashes: Vec<_> = puts.into_iter().map(Result::unwrap).collect();
    assert!(hashes.iter().all(|h| *h == hashes[0]));
    let mut connection = options.connect().await.unwrap();
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM outputs")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn a_damaged_output_is_not_shown_as_whole() {
    let options = database().await;
    let store = Store::new(options.clone());
    let hash = store.put_output(&[7; 5000]).await.unwrap();
    let mut connection = options.connect().await.unwrap();
    connection
        .execute("UPDATE outputs SET size = 4000")
        .await
        .unwrap();
    assert!(matches!(
        store.output(&hash).await,
        Err(StoreError::Corrupt { .. })
    ));
    connection
        .execute(r"UPDATE outputs SET body = '\x00'")
        .await
        .unwrap();
    assert!(matches!(
        store.output(&hash).await,
        Err(StoreError::Corrupt { .. })
    ));
}

#[tokio::test]
async fn only_old_outputs_that_nothing_refers_to_are_removed() {
    let store = store().await;
    let session = stored_session(&store).await;
    let kept = store.put_output(b"kept").await.unwrap();
    store
        .append(
            session,
            None,
            &[runs_started(&["a"]), run_done("a", Some(kept.clone()))],
            at(1),
        )
        .await
        .unwrap();
    let orphan = store.put_output(b"orphan").await.unwrap();
    let now = Timestamp::now();
    assert_eq!(
        store
            .remove_orphan_outputs(now - SignedDuration::from_hours(1))
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        store
            .remove_orphan_outputs(now + SignedDuration::from_hours(1))
            .await
            .unwrap(),
        1
    );
    assert_eq!(store.output(&orphan).await.unwrap(), None);
    assert_eq!(store.output(&kept).await.unwrap(), Some(b"kept".to_vec()));
}
