//! Keeps the cluster's server running until it is to stop.

use std::fs::File;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::cluster::Cluster;
use super::processes::signal;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A server that ran this long had no trouble starting.
const STEADY: Duration = Duration::from_secs(60);

/// Watches the server, starts it again when it dies, and stops it when told to or when whoever could
/// tell is gone. The lock is held to the end.
pub(super) async fn keep_running(
    cluster: Cluster,
    mut child: Child,
    mut stop: oneshot::Receiver<()>,
    lock: File,
) {
    let mut pause = FIRST_PAUSE;
    'running: loop {
        let started = Instant::now();
        tokio::select! {
            _ = &mut stop => break 'running,
            status = child.wait() => {
                let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                tracing::error!(%status, "the database died; starting it again");
            }
        }
        if started.elapsed() > STEADY {
            pause = FIRST_PAUSE;
        }
        child = loop {
            tokio::select! {
                _ = &mut stop => return drop(lock),
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
            // A start is not cut off halfway: it would leave a server that nobody watches.
            match cluster.start().await {
                Ok(child) => break child,
                Err(error) => tracing::error!(%error, "the database does not start"),
            }
        };
    }
    end(child).await;
    drop(lock);
}

/// "Fast" first, which ends connections and writes everything down; "immediate" if that takes too
/// long, which the next start recovers from.
async fn end(mut child: Child) {
    let pid = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Some(pid) = pid {
        for (how, limit) in [(Signal::INT, 30), (Signal::QUIT, 10)] {
            signal(pid, how);
            if let Ok(status) = timeout(Duration::from_secs(limit), child.wait()).await {
                let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                tracing::info!(%status, "the database is stopped");
                return;
            }
            tracing::warn!(seconds = limit, "the database does not stop");
        }
    }
    if let Err(error) = child.kill().await {
        tracing::warn!(%error, "the database could not be killed");
    }
}
