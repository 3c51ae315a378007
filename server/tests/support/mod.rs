//! Real things that tests talk to: OpenSSH's sshd as a child, an SSH server in this process that
//! behaves as badly as it is told, and sockets that do not speak SSH at all.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(unreachable_pub, reason = "shared between test programs")]

pub mod peer;
pub mod processes;
pub mod raw;
pub mod sshd;

use std::time::Duration;

use diagnosis::connection::{ConnectionStatus, HopStatus};
use diagnosis::run::{Command, RunResult, RunStatus};
use server::ssh::{Hop, Ssh, SshOptions, Target, Transport};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Limits short enough for tests.
pub fn options() -> SshOptions {
    SshOptions {
        connect_limit: Duration::from_secs(5),
        auth_limit: Duration::from_secs(5),
        auth_back_off: Duration::ZERO,
        ..SshOptions::default()
    }
}

pub fn ssh() -> Ssh {
    Ssh::new(options())
}

pub fn target(hops: impl IntoIterator<Item = Hop>) -> Target {
    Target {
        hops: hops.into_iter().collect(),
    }
}

/// A command of `sh -c`, for tests only: the product has no such thing.
pub fn shell(script: &str) -> Command {
    Command::new(["sh", "-c", script])
}

/// Runs a batch and gives the results in the order of the commands; checks that each has exactly one.
pub async fn run(ssh: &Ssh, target: &Target, batch: &[Command]) -> Vec<RunResult> {
    run_until(ssh, target, batch, CancellationToken::new()).await
}

pub async fn run_until(
    ssh: &Ssh,
    target: &Target,
    batch: &[Command],
    cancel: CancellationToken,
) -> Vec<RunResult> {
    let (sender, mut receiver) = mpsc::channel(batch.len().max(1));
    let mut results = vec![None; batch.len()];
    ssh.run(target, batch, sender, cancel).await;
    while let Some((index, result)) = receiver.recv().await {
        assert!(results[index].is_none(), "two results for command {index}");
        results[index] = Some(result);
    }
    results
        .into_iter()
        .enumerate()
        .map(|(i, r)| r.unwrap_or_else(|| panic!("no result for command {i}")))
        .collect()
}

pub fn ran(result: &RunResult) -> String {
    assert!(
        matches!(result.status, RunStatus::Ran { exit: 0 }),
        "{:?} {}",
        result.status,
        String::from_utf8_lossy(&result.stderr)
    );
    String::from_utf8_lossy(&result.stdout).into_owned()
}

pub fn reason(result: &RunResult) -> &'static str {
    match &result.status {
        RunStatus::Ran { .. } => "ran",
        RunStatus::NotRun { reason } => reason.name(),
    }
}

pub fn last(statuses: &[HopStatus]) -> &ConnectionStatus {
    &statuses.last().expect("a status").status
}
