//! Processes that an earlier server left behind. Every process of a cluster has the cluster's folder
//! as its working directory, which a recycled process number does not have.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

use super::DatabaseError;

/// The processes of the cluster in that folder.
pub(super) fn in_cluster(data: &Path) -> Vec<Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
            (cwd == data).then(|| Pid::from_raw(pid)).flatten()
        })
        .collect()
}

/// The first line of `postmaster.pid`: the cluster's first process, while it runs.
fn postmaster(data: &Path) -> Option<Pid> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    Pid::from_raw(text.lines().next()?.trim().parse().ok()?)
}

/// Ends what is left of an earlier run of the cluster and removes its marks. The caller holds the
/// lock, so nobody else is starting it.
pub(super) async fn clear(data: &Path, socket_dir: &Path) -> Result<(), DatabaseError> {
    let left = in_cluster(data);
    if !left.is_empty() {
        let first = postmaster(data).filter(|p| left.contains(p));
        match first {
            Some(first) => {
                tracing::info!(
                    pid = first.as_raw_nonzero().get(),
                    "an earlier Hopwise left its database running; stopping it"
                );
                // "Fast": ends the connections, writes everything down.
                signal(first, Signal::INT);
            }
            // Without their first process the others end by themselves, soon.
            None => tracing::info!("waiting for the last processes of the database"),
        }
        if !gone_within(data, Duration::from_secs(30)).await {
            // "Immediate": ends at once; the next start recovers from the write-ahead log.
            in_cluster(data)
                .into_iter()
                .for_each(|p| signal(p, Signal::QUIT));
            if !gone_within(data, Duration::from_secs(10)).await {
                in_cluster(data)
                    .into_iter()
                    .for_each(|p| signal(p, Signal::KILL));
            }
            if !gone_within(data, Duration::from_secs(10)).await
                && let Some(pid) = in_cluster(data).first()
            {
                return Err(DatabaseError::Leftover {
                    pid: pid.as_raw_nonzero().get(),
                    dir: data.to_path_buf(),
                });
            }
        }
    }
    // PostgreSQL takes these for signs of a running cluster when their process number is in use
    // again by another program, as after a reboot. Nothing runs here: they say nothing any more.
    for stale in [
        data.join("postmaster.pid"),
        socket_dir.join(".s.PGSQL.5432"),
        socket_dir.join(".s.PGSQL.5432.lock"),
    ] {
        match fs::remove_file(&stale) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(DatabaseError::io("removing", stale)(error)),
        }
    }
    Ok(())
}

async fn gone_within(data: &Path, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    loop {
        if in_cluster(data).is_empty() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// A process that is gone already needs no signal.
pub(super) fn signal(pid: Pid, signal: Signal) {
    if let Err(error) = kill_process(pid, signal) {
        tracing::debug!(%error, pid = pid.as_raw_nonzero().get(), "a signal found no process");
    }
}
