//! The server and its database are killed at arbitrary moments while a batch runs: the next start is
//! clean, the run is marked interrupted, and nothing is stuck, here or on the host.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper that fails fails its test"
)]

#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use app::hosts::{Credential, NewHost};
use app::people::{Person, Role};
use app::runs::RunState;
use diagnosis::ids::{CheckId, HostId, PersonId, RunId};
use diagnosis::run::Command;
use server::clock::now;
use server::postgres::{Database, DatabaseOptions};
use server::store::{Store, StoreError};
use support::processes::{eventually, kill, with_mark};
use support::sshd::Sshd;
use uuid::Uuid;

/// Each kill comes at another moment of the batch.
const ROUNDS: u64 = 20;
const LIMIT: Duration = Duration::from_secs(60);

struct Hopwise {
    child: Child,
}

impl Hopwise {
    /// Starts the program and waits until it answers.
    fn start(state: &Path) -> Self {
        let mut child = Process::new(env!("CARGO_BIN_EXE_hopwise"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--log",
                "warn",
                "--state",
            ])
            .arg(state)
            .arg("--site")
            .arg(state)
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines
            .next()
            .expect("the server ended before it listened")
            .unwrap();
        assert!(first.starts_with("Listening on "), "{first}");
        // What it prints later must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Hopwise {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The postmaster of the state folder's cluster.
fn postmaster(state: &Path) -> i32 {
    let pid = std::fs::read_to_string(state.join("postgres/data/postmaster.pid")).unwrap();
    pid.lines().next().unwrap().trim().parse().unwrap()
}

/// A store's answer, once the database answers again.
async fn patiently<T>(mut ask: impl AsyncFnMut() -> Result<T, StoreError>) -> T {
    let started = Instant::now();
    loop {
        match ask().await {
            Ok(value) => return value,
            Err(StoreError::Unavailable { detail }) => {
                assert!(
                    started.elapsed() < LIMIT,
                    "the database did not come back: {detail}"
                );
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_the_next_start_is_clean() {
    let sshd = Sshd::start();
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let mut server = Hopwise::start(state);
    let options = DatabaseOptions {
        url: None,
        state_dir: state.to_owned(),
    };
    let database = Database::attach_or_open(options).await.unwrap();
    let store = Store::new(database.connect_options());

    let host = HostId(Uuid::now_v7());
    let nobody = PersonId(Uuid::nil());
    let hop = sshd.hop();
    let new = NewHost {
        name: "sshd".into(),
        address: hop.address.clone(),
        port: hop.port,
        user: hop.user.clone(),
        credential: Credential::KeyFile {
            path: sshd.key().display().to_string(),
        },
        jump: None,
    };
    patiently(async || store.add_host(host, &new, nobody, now()).await).await;
    patiently(async || {
        store
            .confirm_host_key(host, &sshd.host_key(), nobody, now())
            .await
    })
    .await;

    let by = Person {
        id: nobody,
        name: "test".into(),
        role: Role::Operator,
    };
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        let mark = format!("hopwise-crash-{}", Uuid::now_v7().simple());
        let commands: Vec<(String, Command)> = (0..3)
            .map(|n| {
                let script = format!("sleep {n}; sleep 1; : {mark}");
                (format!("command {n}"), Command::new(["sh", "-c", &script]))
            })
            .collect();
        let run = RunId(Uuid::now_v7());
        let check = CheckId::from("links-and-addresses");
        patiently(async || {
            store
                .start_run(run, host, &check, "slow", None, &commands, &by, now())
                .await
        })
        .await;

        // Spread over the batch's three seconds, and over what comes before its first command.
        tokio::time::sleep(Duration::from_millis((round * 7919) % 3000)).await;
        if round % 2 == 0 {
            server.kill();
            if round % 4 == 0 {
                kill(postmaster(state));
            }
            server = Hopwise::start(state);
        } else {
            kill(postmaster(state));
        }

        let started = Instant::now();
        let state_of_run = loop {
            let page = patiently(async || store.run(run).await).await.unwrap();
            if page.row.state != RunState::Running {
                break page.row.state;
            }
            assert!(started.elapsed() < LIMIT, "round {round}: the run is stuck");
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        assert!(
            matches!(state_of_run, RunState::Interrupted | RunState::Done),
            "round {round}: {state_of_run:?}"
        );
        interrupted += u32::from(state_of_run == RunState::Interrupted);
        eventually(
            Duration::from_secs(15),
            "the commands end on the host",
            || with_mark(&mark).is_empty(),
        )
        .await;

        // Nothing is in the way of the next thing that is asked for.
        let version = patiently(async || store.host(host).await).await.unwrap().1;
        assert!(
            patiently(async || store.begin_host_check(host, now()).await).await,
            "round {round}"
        );
        let started = Instant::now();
        while patiently(async || store.host(host).await)
            .await
            .unwrap()
            .0
            .checking
        {
            assert!(
                started.elapsed() < LIMIT,
                "round {round}: the look at the host is stuck"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(patiently(async || store.host(host).await).await.unwrap().1 > version);
    }
    // A batch takes three seconds and every kill comes before its end, so hardly any run was done.
    assert!(
        interrupted >= 15,
        "only {interrupted} of {ROUNDS} runs were interrupted"
    );

    let pid = rustix::process::Pid::from_raw(i32::try_from(server.child.id()).unwrap()).unwrap();
    let last = postmaster(state);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.child.wait().unwrap().success());
    assert!(
        !Path::new(&format!("/proc/{last}")).exists(),
        "the database outlived the server"
    );
}
