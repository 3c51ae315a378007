//! The edge where commands meet SSH. Everything above deals in [`Target`]s, commands and results;
//! nothing above knows a channel, a shell or a frame.

pub mod batch;
mod connect;
mod connection;
mod credential;
mod exec;
mod known;
mod line;
mod options;
mod pool;
mod target;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use diagnosis::connection::{ConnectionStatus, HopStatus};
use diagnosis::run::{Command, NotRun, RunResult};
use russh::Channel;
use russh::client::Msg;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use connection::{Connection, OpenError};
use exec::Batch;
pub use known::{host_key, parse_host_key};
pub use options::SshOptions;
use pool::Pool;
pub use target::{Credential, Hop, Target};

/// Runs commands on hosts.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Connects hop by hop and tells how each went; stops at the first that fails. Leaves a pooled
    /// connection when all is well.
    async fn probe(&self, target: &Target) -> Vec<HopStatus>;

    /// Runs a batch in one exec. Sends exactly one result per command, by its index, as each
    /// finishes, whatever happens to the connection or to `cancel`.
    async fn run(
        &self,
        target: &Target,
        batch: &[Command],
        results: mpsc::Sender<(usize, RunResult)>,
        cancel: CancellationToken,
    );

    /// Forgets pooled connections to a host and what is remembered about it, after its key, address
    /// or login changed. Connections through it are forgotten too.
    async fn forget(&self, target: &Target);
}

/// Commands over SSH, with one connection per way kept open while it is used.
pub struct Ssh {
    pool: Arc<Pool>,
}

impl Ssh {
    #[must_use]
    pub fn new(options: SshOptions) -> Self {
        Self {
            pool: Arc::new(Pool::new(options)),
        }
    }

    /// Runs the batch and answers for every command through it.
    async fn run_batch(&self, target: &Target, batch: &mut Batch<'_>, cancel: &CancellationToken) {
        // A pooled connection can turn out dead when a channel is opened. Nothing was sent then, so the
        // batch goes over a fresh one, once.
        for last in [false, true] {
            // Until a channel is open nothing runs that a cancelled batch would have to end.
            let opening = async {
                let connection = self.pool.get(&target.hops).await?;
                let limit = self.pool.options().connect_limit;
                let opened = open_to_keep(Arc::clone(&connection), limit).await;
                Ok((connection, opened))
            };
            let (connection, opened) = tokio::select! {
                biased;
                () = cancel.cancelled() => return batch.settle(&NotRun::Cancelled),
                opened = opening => match opened {
                    Ok(opened) => opened,
                    Err(statuses) => return batch.settle(&no_connection(statuses)),
                },
            };
            match opened {
                Ok((channel, permit)) => {
                    let (halves, trusted) = batch.run(channel, cancel).await;
                    connection.touch();
                    // The results are out; closing may take its time, and keeps its place meanwhile.
                    let (pool, hops) = (Arc::clone(&self.pool), target.hops.clone());
                    tokio::spawn(async move {
                        if !exec::close(halves, trusted).await {
                            tracing::warn!(
                                "a host did not end its channel; the next batch connects anew"
                            );
                            pool.let_go(&hops, &connection).await;
                        }
                        connection.touch();
                        drop(permit);
                    });
                    return;
                }
                Err(OpenError::Refused(why)) => {
                    return batch.settle(&NotRun::NoConnection {
                        status: ConnectionStatus::ProtocolError {
                            detail: format!("the host opens no session for us ({why})"),
                        },
                    });
                }
                Err(OpenError::Dead) => {
                    self.pool.discard(&target.hops, &connection).await;
                    if last {
                        return batch.settle(&NotRun::Interrupted);
                    }
                }
            }
        }
    }
}

/// Opens a channel in its own task: when the caller gives up meanwhile, the channel is closed again and
/// does not stay on the host's count.
async fn open_to_keep(
    connection: Arc<Connection>,
    limit: Duration,
) -> Result<(Channel<Msg>, OwnedSemaphorePermit), OpenError> {
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        let opened = connection.open(limit).await;
        if let Err(Ok((channel, permit))) = sender.send(opened) {
            // Nothing runs in it yet, so sshd frees it as soon as it reads this.
            let _ = channel.close().await;
            drop(permit);
        }
    });
    receiver.await.unwrap_or(Err(OpenError::Dead))
}

fn no_connection(statuses: Vec<HopStatus>) -> NotRun {
    let status = statuses.into_iter().last().map_or_else(
        || ConnectionStatus::ProtocolError {
            detail: "the way to the host is empty".into(),
        },
        |hop| hop.status,
    );
    NotRun::NoConnection { status }
}

#[async_trait]
impl Transport for Ssh {
    async fn probe(&self, target: &Target) -> Vec<HopStatus> {
        for last in [false, true] {
            let connection = match self.pool.get(&target.hops).await {
                Ok(connection) => connection,
                Err(statuses) => return statuses,
            };
            // The pooled one may have died since; its statuses would tell of the past.
            if last || connection.answers(self.pool.options().connect_limit).await {
                return connection.statuses.clone();
            }
            self.pool.discard(&target.hops, &connection).await;
        }
        Vec::new()
    }

    async fn run(
        &self,
        target: &Target,
        batch: &[Command],
        results: mpsc::Sender<(usize, RunResult)>,
        cancel: CancellationToken,
    ) {
        // A slow receiver must not hold up the connection, which others share. What waits here is
        // bounded: one result per command, each within its cap.
        let (unhurried, mut waiting) = mpsc::unbounded_channel();
        let work = async move {
            let mut batch = Batch::new(batch, unhurried);
            if batch.is_empty() {
                return;
            }
            self.run_batch(target, &mut batch, &cancel).await;
            batch.settle(&NotRun::Interrupted);
        };
        let forward = async move {
            while let Some(result) = waiting.recv().await {
                // Nobody listens any more: the commands still run to their end.
                let _ = results.send(result).await;
            }
        };
        tokio::join!(work, forward);
    }

    async fn forget(&self, target: &Target) {
        if let Some(hop) = target.hops.last() {
            self.pool.forget(hop);
        }
    }
}
