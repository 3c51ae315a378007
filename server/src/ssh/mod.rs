//! The edge where commands meet SSH. Everything above deals in [`Target`]s, commands and results;
//! nothing above knows a channel, a shell or a frame.

mod target;

use async_trait::async_trait;
use diagnosis::connection::HopStatus;
use diagnosis::run::{Command, RunResult};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use target::{ChainError, Credential, Hop, Target};

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
