//! The private cluster. Each test has one of its own, which it stops.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use server::postgres::{Account, Database, DatabaseError, DatabaseOptions};
use server::store::{Store, StoreError};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::samples::stored_host;

/// A state folder as root's are: nobody else may enter it, yet.
fn state() -> TempDir {
    let dir = tempfile::Builder::new()
        .prefix("hopwise-state-")
        .tempdir_in("/tmp")
        .unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    dir
}

fn options(state_dir: &Path) -> DatabaseOptions {
    DatabaseOptions {
        url: None,
        state_dir: state_dir.into(),
    }
}

async fn open(state_dir: &Path) -> Database {
    Database::open(options(state_dir)).await.unwrap()
}

async fn error(state_dir: &Path) -> DatabaseError {
    Database::open(options(state_dir)).await.err().unwrap()
}

fn data(state_dir: &Path) -> PathBuf {
    state_dir.join("postgres/data")
}

fn postmaster(state_dir: &Path) -> Pid {
    let text = fs::read_to_string(data(state_dir).join("postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap()).unwrap()
}

fn runs(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}

/// Processes whose working directory is the cluster's.
fn processes(state_dir: &Path) -> usize {
    let data = fs::canonicalize(data(state_dir)).unwrap();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|e| fs::read_link(e.path().join("cwd")).is_ok_and(|cwd| cwd == data))
        .count()
}

#[tokio::test]
async fn a_cluster_is_made_stopped_and_found_again() {
    let state = state();
    let database = open(state.path()).await;
    let store = Store::new(database.connect_options());
    store.migrate().await.unwrap();
    let host = stored_host(&store, "pve1").await;

    let account = Account::for_cluster(&data(state.path())).unwrap();
    for (place, mode) in [
        ("postgres", 0o700),
        ("postgres/data", 0o700),
        ("postgres/socket", 0o700),
    ] {
        let found = fs::metadata(state.path().join(place)).unwrap();
        assert_eq!(
            (found.uid(), found.permissions().mode() & 0o777),
            (account.uid, mode),
            "{place}"
        );
    }
    assert_ne!(account.uid, 0);
    // No port, and nobody else on the socket.
    let socket = state.path().join("postgres/socket");
    let settings = fs::read_to_string(data(state.path()).join("postmaster.opts")).unwrap();
    assert!(settings.contains(r#""listen_addresses=""#), "{settings}");
    let mut stranger = Command::new("/usr/bin/env");
    stranger
        .args(["ls", socket.to_str().unwrap()])
        .stderr(Stdio::null())
        .stdout(Stdio::null());
    if rustix::process::geteuid().is_root() {
        stranger.uid(65534).gid(65534);
        assert!(!stranger.status().unwrap().success());
    }

    // A second server is refused; a command beside the server uses its cluster.
    let refused = error(state.path()).await;
    assert!(matches!(refused, DatabaseError::InUse { .. }), "{refused}");
    let beside = Database::attach_or_open(options(state.path()))
        .await
        .unwrap();
    assert!(
        Store::new(beside.connect_options())
            .host(host)
            .await
            .unwrap()
            .is_some()
    );
    beside.stop().await;
    store.ping().await.unwrap();

    let pid = postmaster(state.path());
    database.stop().await;
    assert!(!runs(pid));
    assert_eq!(processes(state.path()), 0);
    assert!(matches!(
        store.ping().await,
        Err(StoreError::Unavailable { .. })
    ));

    // The store connects again by itself.
    let database = Database::attach_or_open(options(state.path()))
        .await
        .unwrap();
    assert!(store.host(host).await.unwrap().is_some());
    database.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_postmaster_is_started_again() {
    let state = state();
    let database = open(state.path()).await;
    let store = Store::new(database.connect_options());
    store.migrate().await.unwrap();
    let host = stored_host(&store, "pve1").await;
    for _ in 0..3 {
        let killed = postmaster(state.path());
        kill_process(killed, Signal::KILL).unwrap();
        let begun = Instant::now();
        loop {
            if store.host(host).await.is_ok_and(|h| h.is_some())
                && postmaster(state.path()) != killed
            {
                break;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "the database did not come back"
            );
            sleep(Duration::from_millis(50)).await;
        }
    }
    database.stop().await;
    assert_eq!(processes(state.path()), 0);
}

/// What `kill -9` of the server leaves: no lock, and a cluster that goes on.
fn abandoned(state_dir: &Path) -> Pid {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let database = runtime.block_on(async {
        let database = open(state_dir).await;
        Store::new(database.connect_options())
            .migrate()
            .await
            .unwrap();
        database
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    std::mem::forget(database);
    postmaster(state_dir)
}

#[test]
fn a_cluster_that_a_killed_server_left_is_stopped_and_started() {
    let state = state();
    let left = abandoned(state.path());
    assert!(runs(left));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let database = open(state.path()).await;
        assert_ne!(postmaster(state.path()), left);
        Store::new(database.connect_options())
            .hosts()
            .await
            .unwrap();
        database.stop().await;
        assert_eq!(processes(state.path()), 0);
    });
}

#[test]
fn marks_that_name_a_stranger_do_not_hold_up_the_start() {
    let state = state();
    let left = abandoned(state.path());
    // Everything is killed, as when the machine loses power; then the number is somebody else's.
    kill_process(left, Signal::KILL).unwrap();
    let begun = Instant::now();
    while processes(state.path()) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut stranger = Command::new("/bin/sleep");
    stranger.arg("60");
    Account::for_cluster(&data(state.path()))
        .unwrap()
        .run_as(&mut stranger);
    let mut stranger = stranger.spawn().unwrap();
    for mark in [
        data(state.path()).join("postmaster.pid"),
        state.path().join("postgres/socket/.s.PGSQL.5432.lock"),
    ] {
        let text = fs::read_to_string(&mark).unwrap();
        let rest = text.split_once('\n').unwrap().1;
        fs::write(&mark, format!("{}\n{rest}", stranger.id())).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let database = open(state.path()).await;
        Store::new(database.connect_options())
            .hosts()
            .await
            .unwrap();
        database.stop().await;
    });
    assert!(
        stranger.try_wait().unwrap().is_none(),
        "the stranger was ended"
    );
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_has_it_elsewhere() {
    let state = state();
    let long = state.path().join("x".repeat(100));
    // The other user passes through both.
    fs::set_permissions(state.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let database = open(&long).await;
    let store = Store::new(database.connect_options());
    store.ping().await.unwrap();
    let beside = Database::attach_or_open(options(&long)).await.unwrap();
    Store::new(beside.connect_options()).ping().await.unwrap();
    let socket = database.connect_options().get_socket().unwrap().clone();
    assert!(socket.as_os_str().len() < 60, "{}", socket.display());
    assert_eq!(
        fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
        0o700
    );
    database.stop().await;
    fs::remove_dir_all(socket).unwrap();
}

#[tokio::test]
async fn a_cluster_of_another_version_says_what_to_do() {
    let state = state();
    let data = data(state.path());
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("PG_VERSION"), "9\n").unwrap();
    let text = error(state.path()).await.to_string();
    for part in [
        "made by PostgreSQL 9",
        "apt install postgresql-9",
        "HOPWISE_PG_BIN",
        "pg_dump",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn a_cluster_that_cannot_be_made_says_why() {
    let state = state();
    let root = state.path().join("postgres");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("lock"), "").unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o500)).unwrap();
    let error = error(state.path()).await;
    assert!(matches!(error, DatabaseError::Create { .. }), "{error}");
    assert!(error.to_string().contains("Permission denied"), "{error}");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
    // Nothing half made stays in the way.
    open(state.path()).await.stop().await;
}

#[tokio::test]
async fn a_cluster_that_does_not_start_shows_the_end_of_its_log() {
    let state = state();
    open(state.path()).await.stop().await;
    let settings = data(state.path()).join("postgresql.conf");
    let mut text = fs::read_to_string(&settings).unwrap();
    text.push_str("\nno_such_setting = on\n");
    fs::write(&settings, text).unwrap();
    let error = error(state.path()).await;
    assert!(matches!(error, DatabaseError::Start { .. }), "{error}");
    assert!(error.to_string().contains("no_such_setting"), "{error}");
    assert_eq!(processes(state.path()), 0);
}

#[tokio::test]
async fn a_folder_out_of_reach_is_named() {
    let outside = state();
    let inside = outside.path().join("state");
    fs::create_dir(&inside).unwrap();
    let opened = Database::open(options(&inside)).await;
    if rustix::process::geteuid().is_root() {
        let error = opened.err().unwrap();
        assert!(matches!(error, DatabaseError::OutOfReach { .. }), "{error}");
        assert!(error.to_string().contains("/var/lib/hopwise"));
    } else {
        // Nobody else has to get there.
        opened.unwrap().stop().await;
    }
}

#[tokio::test]
async fn a_url_is_read_and_nothing_started() {
    let state = state();
    let url = |text: &str| DatabaseOptions {
        url: Some(text.into()),
        state_dir: state.path().into(),
    };
    let database = Database::open(url("postgres://u:p@192.0.2.1/n"))
        .await
        .unwrap();
    assert_eq!(database.connect_options().get_host(), "192.0.2.1");
    database.stop().await;
    for (text, expected) in [
        ("mysql://x", "not PostgreSQL's"),
        ("postgres://x:y/z", "cannot be read"),
        ("", "not"),
    ] {
        let error = Database::open(url(text)).await.err().unwrap().to_string();
        assert!(
            error.contains(expected) && error.contains("postgres://USER"),
            "{error}"
        );
    }
    assert!(!state.path().join("postgres").exists());
}
