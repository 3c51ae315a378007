use server::store::{Store, StoreError};
use sqlx::{ConnectOptions, Executor};

use crate::postgres::{database, empty_database};

#[tokio::test]
async fn servers_that_start_at_once_change_the_schema_once() {
    let options = empty_database().await;
    let stores: Vec<Store> = (0..5).map(|_| Store::new(options.clone())).collect();
    for done in futures::future::join_all(stores.iter().map(Store::migrate)).await {
        done.unwrap();
    }
    assert_eq!(stores[0].hosts().await.unwrap(), []);
    stores[0].migrate().await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_the_lock_given_back() {
    let options = database().await;
    let mut connection = options.connect().await.unwrap();
    connection
        .execute("INSERT INTO _sqlx_migrations VALUES (9999, 'later', now(), true, '\\x00', 0)")
        .await
        .unwrap();
    let store = Store::new(options);
    for _ in 0..2 {
        let error = store.migrate().await.unwrap_err();
        assert!(matches!(error, StoreError::Newer { .. }));
        assert!(error.to_string().contains("change 9999"), "{error}");
    }
    connection
        .execute("DELETE FROM _sqlx_migrations WHERE version = 9999")
        .await
        .unwrap();
    store.migrate().await.unwrap();
    connection
        .execute("UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1")
        .await
        .unwrap();
    let error = store.migrate().await.unwrap_err();
    assert!(error.to_string().contains("another build"), "{error}");
}

#[tokio::test]
async fn every_constraint_and_index_has_a_name_of_ours() {
    let mut connection = database().await.connect().await.unwrap();
    let names: Vec<(String, String)> = sqlx::query_as(
        "SELECT conrelid::regclass::text, conname::text FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace AND contype <> 'n' AND conrelid::regclass::text <> '_sqlx_migrations'",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert!(names.len() > 20);
    for (table, name) in names {
        let ours = name.starts_with(&table)
            && ["_pkey", "_key", "_fkey", "_check"]
                .iter()
                .any(|end| name.ends_with(end));
        assert!(ours, "{table}: {name}");
    }
}
