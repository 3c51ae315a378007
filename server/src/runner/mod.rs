//! The runner does what the store says shall happen: host checks, runs, sessions. Of several
//! servers on one database, one is the runner; it holds an advisory lock, so that when it dies the
//! database itself lets the next one take over.

mod check_run;
mod host_check;
mod rebuild;
mod session;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use diagnosis::knowledge::Pack;
use futures::FutureExt;
use jiff::SignedDuration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use rebuild::{Rebuilt, rebuild};

use crate::clock::now;
use crate::database::DatabaseState;
use crate::live::{Live, Signal};
use crate::ssh::Transport;
use crate::store::{Store, StoreError, Topic};

/// An output is stored before the row that refers to it; one without such a row for this long was
/// left by a server that ended in between, or by a host that was removed.
const ORPHANS_LAST: SignedDuration = SignedDuration::from_hours(24);

/// What the jobs share.
pub(crate) struct Shared {
    pub store: Store,
    pub transport: Arc<dyn Transport>,
    pub pack: Arc<Pack>,
}

/// A job that is under way, and the way to tell it that something changed.
struct Job {
    wake: Arc<Notify>,
}

/// Runs whatever the store says shall run, until it is told to stop.
pub struct Runner {
    shared: Arc<Shared>,
    live: Live,
    database: DatabaseState,
    jobs: Arc<Mutex<HashMap<Topic, Job>>>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Runner {
    #[must_use]
    pub fn new(
        store: Store,
        transport: Arc<dyn Transport>,
        pack: Arc<Pack>,
        live: Live,
        database: DatabaseState,
        stop: CancellationToken,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                transport,
                pack,
            }),
            live,
            database,
            jobs: Arc::default(),
            tracker: TaskTracker::new(),
            stop,
        }
    }

    /// Becomes the runner when no other is, works while the lock holds, and tries again after.
    pub async fn run(self) {
        while !self.stop.is_cancelled() {
            self.database.ready(&self.stop).await;
            match self.shared.store.try_become_runner().await {
                Ok(Some(lock)) => {
                    tracing::info!("this server is the runner");
                    self.work(lock).await;
                }
                Ok(None) => tracing::debug!("another server is the runner"),
                Err(error) => tracing::warn!(%error, "cannot become the runner yet"),
            }
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
        }
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Follows the changes while the lock holds. Jobs end with it: another server may begin them anew.
    async fn work(&self, mut lock: crate::store::RunnerLock) {
        let hold = self.stop.child_token();
        let mut signals = self.live.subscribe();
        if let Err(error) = self.recover(&hold).await {
            tracing::warn!(%error, "could not take up what was left; trying again");
            return;
        }
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                error = lock.lost() => {
                    tracing::warn!(%error, "lost the runner's lock");
                    break;
                }
                signal = signals.recv() => match signal {
                    Ok(Signal::Changed(change)) => self.wake(change.topic, &hold),
                    Ok(Signal::Reread) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                        if let Err(error) = self.begin_open(&hold).await {
                            tracing::warn!(%error, "could not look for open work");
                            break;
                        }
                    }
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => break,
                }
            }
        }
        hold.cancel();
        // Every job ends within the time its transport needs to end the commands on the host.
        self.tracker.close();
        self.tracker.wait().await;
        self.tracker.reopen();
        lock.release().await;
    }

    /// Takes up what an earlier runner left: its runs are marked interrupted, its sessions go on,
    /// its looks at hosts begin again.
    async fn recover(&self, hold: &CancellationToken) -> Result<(), StoreError> {
        let interrupted = check_run::interrupt_open(&self.shared).await?;
        if interrupted > 0 {
            tracing::info!(interrupted, "runs were interrupted when the server ended");
        }
        let removed = self
            .shared
            .store
            .remove_orphan_outputs(now() - ORPHANS_LAST)
            .await?;
        if removed > 0 {
            tracing::info!(removed, "removed outputs that nothing refers to");
        }
        self.begin_open(hold).await
    }

    /// Begins everything that is open and not under way.
    async fn begin_open(&self, hold: &CancellationToken) -> Result<(), StoreError> {
        for row in self
            .shared
            .store
            .hosts()
            .await?
            .into_iter()
            .filter(|row| row.checking)
        {
            self.wake(Topic::Host(row.host.id), hold);
        }
        for run in self.shared.store.open_runs().await? {
            self.wake(Topic::Run(run), hold);
        }
        for session in self.shared.store.unfinished_sessions().await? {
            self.wake(Topic::Session(session), hold);
        }
        Ok(())
    }

    /// Tells the topic's job that something changed, or begins one.
    fn wake(&self, topic: Topic, hold: &CancellationToken) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let wake = match jobs.entry(topic) {
            Entry::Occupied(job) => {
                job.get().wake.notify_one();
                return;
            }
            Entry::Vacant(empty) => {
                let wake = Arc::new(Notify::new());
                empty.insert(Job { wake: wake.clone() });
                wake
            }
        };
        drop(jobs);
        let shared = self.shared.clone();
        let jobs = self.jobs.clone();
        let hold = hold.clone();
        self.tracker.spawn(async move {
            loop {
                let work = std::panic::AssertUnwindSafe(perform(&shared, topic, &wake, &hold))
                    .catch_unwind();
                match work.await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::warn!(%topic, %error, "a job could not go on"),
                    Err(_) => tracing::error!(%topic, "a job panicked; what it had stored stays"),
                }
                // A change that came after the job's last look must not be lost: while the map is
                // locked, either the wake-up is seen here, or the next one begins a new job.
                let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
                if hold.is_cancelled() || wake.notified().now_or_never().is_none() {
                    jobs.remove(&topic);
                    return;
                }
            }
        });
    }
}

/// Does what is open for one topic; nothing, where nothing is.
async fn perform(
    shared: &Arc<Shared>,
    topic: Topic,
    wake: &Notify,
    hold: &CancellationToken,
) -> Result<(), StoreError> {
    match topic {
        Topic::Host(id) => host_check::perform(shared, id, hold).await,
        Topic::Run(id) => check_run::perform(shared, id, wake, hold).await,
        Topic::Session(id) => session::perform(shared, id, wake, hold).await,
    }
}
