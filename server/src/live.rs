//! Changes as they happen: one listener to the database a server, many streams to browsers.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::store::{Change, Store};

/// Streams that fall further behind than this are told to read the newest state instead.
const BACKLOG: usize = 1024;

/// Hands every change to whoever listens. Cheap to clone.
#[derive(Clone)]
pub struct Live {
    sender: Arc<broadcast::Sender<Signal>>,
}

/// What a listener hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Changed(Change),
    /// Changes may have been missed: read the state again.
    Reread,
}

impl Live {
    /// Starts to listen; reconnects by itself until `stop`.
    #[must_use]
    pub fn start(store: Store, stop: CancellationToken) -> Self {
        let live = Self {
            sender: Arc::new(broadcast::channel(BACKLOG).0),
        };
        let sender = live.sender.clone();
        tokio::spawn(async move {
            while !stop.is_cancelled() {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = follow(&store, &sender) => {}
                }
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(Duration::from_millis(500)) => {}
                }
            }
        });
        live
    }

    /// From now on, every change.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Signal> {
        self.sender.subscribe()
    }
}

/// Follows the database until the connection ends. Whoever listens rereads first: changes may have
/// come while nobody followed.
async fn follow(store: &Store, sender: &broadcast::Sender<Signal>) {
    let changes = match store.listen().await {
        Ok(changes) => changes,
        Err(error) => {
            tracing::debug!(%error, "cannot listen for changes yet");
            return;
        }
    };
    let mut changes = std::pin::pin!(changes);
    // Nobody listening is not an error.
    let _ = sender.send(Signal::Reread);
    while let Some(change) = changes.next().await {
        match change {
            Ok(change) => {
                let _ = sender.send(Signal::Changed(change));
            }
            Err(error) => {
                tracing::warn!(%error, "lost the connection that tells of changes; connecting again");
                return;
            }
        }
    }
}
