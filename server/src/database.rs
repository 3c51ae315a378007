//! Whether the database is there: watched all the time, so that pages say so at once and recover by
//! themselves.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::store::{Store, StoreError};

/// The database's state, as the watcher last saw it. Cheap to clone.
#[derive(Clone)]
pub struct DatabaseState {
    receiver: watch::Receiver<Option<Arc<str>>>,
}

impl DatabaseState {
    /// Why the database cannot be used right now; `None` when it can.
    #[must_use]
    pub fn away(&self) -> Option<String> {
        self.receiver.borrow().as_deref().map(str::to_owned)
    }

    /// Waits until the database can be used, or `stop`.
    pub async fn ready(&self, stop: &CancellationToken) {
        let mut receiver = self.receiver.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            _ = receiver.wait_for(Option::is_none) => {}
        }
    }

    /// Watches from now on. The schema is brought up to date before the database counts as there.
    ///
    /// # Errors
    /// A schema newer than this program: nothing here could mend that.
    pub async fn watch(store: Store, stop: CancellationToken) -> Result<Self, StoreError> {
        let (sender, receiver) = watch::channel(Some(Arc::from("it is starting")));
        let mut migrated = match store.migrate().await {
            Ok(()) => {
                sender.send_replace(None);
                true
            }
            Err(error @ StoreError::Newer { .. }) => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "the database is away; trying again");
                sender.send_replace(Some(error.to_string().into()));
                false
            }
        };
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                }
                let seen = if migrated {
                    store.ping().await
                } else {
                    store.migrate().await
                };
                migrated |= seen.is_ok();
                let why: Option<Arc<str>> = seen.err().map(|error| error.to_string().into());
                sender.send_if_modified(|state| {
                    match (&why, &state) {
                        (Some(why), None) => tracing::warn!(%why, "the database is away"),
                        (None, Some(_)) => tracing::info!("the database is there"),
                        _ => {}
                    }
                    let changed = *state != why;
                    *state = why;
                    changed
                });
            }
        });
        Ok(Self { receiver })
    }
}
