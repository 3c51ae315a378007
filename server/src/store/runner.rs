//! One of several servers on one database is the runner: the one that holds an advisory lock.

use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{ACQUIRE_TIMEOUT, Store, StoreError};

/// "hopwise" in ASCII: the lock's number, of which there is one per database.
const RUNNER: i64 = 0x0068_6f70_7769_7365;

/// How often the lock's connection is asked whether it still stands.
const WATCHED_EVERY: Duration = Duration::from_secs(1);

/// This server is the runner while this lives. The lock belongs to its connection, so a server that
/// dies gives it back without doing anything.
#[derive(Debug)]
pub struct RunnerLock {
    lost: oneshot::Receiver<StoreError>,
    watch: JoinHandle<()>,
}

impl Store {
    /// Becomes the runner, unless another server is.
    ///
    /// # Errors
    /// The database is away.
    pub async fn try_become_runner(&self) -> Result<Option<RunnerLock>, StoreError> {
        let connecting = async {
            let mut connection = self.options.connect().await?;
            let held = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "held!""#, RUNNER)
                .fetch_one(&mut connection)
                .await?;
            Ok::<_, StoreError>((connection, held))
        };
        let (connection, held) = timeout(ACQUIRE_TIMEOUT, connecting)
            .await
            .map_err(|_| StoreError::no_connection())??;
        if !held {
            connection.close().await?;
            return Ok(None);
        }
        let (sender, lost) = oneshot::channel();
        let watch = tokio::spawn(async move {
            // Whoever gave the lock up does not wait for this.
            let _ = sender.send(until_lost(connection).await);
        });
        Ok(Some(RunnerLock { lost, watch }))
    }
}

/// Asks the connection on a task of its own: whoever waits for the loss also does other things, and
/// would begin to wait anew each time.
async fn until_lost(mut connection: PgConnection) -> StoreError {
    loop {
        sleep(WATCHED_EVERY).await;
        match timeout(ACQUIRE_TIMEOUT, connection.ping()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error.into(),
            Err(_) => return StoreError::no_connection(),
        }
    }
}

impl RunnerLock {
    /// Returns when the lock is lost: the database went away, and another server may become the
    /// runner. Whatever runs then must stop.
    pub async fn lost(&mut self) -> StoreError {
        if self.lost.is_terminated() {
            return StoreError::no_connection();
        }
        (&mut self.lost)
            .await
            .unwrap_or_else(|_| StoreError::no_connection())
    }

    /// Gives the lock back now, rather than some time after this is dropped.
    pub async fn release(mut self) {
        self.watch.abort();
        // Aborted as asked, or over already: the connection is closed either way.
        let _ = (&mut self.watch).await;
    }
}

impl Drop for RunnerLock {
    fn drop(&mut self) {
        // With the task goes the connection, and with that the lock.
        self.watch.abort();
    }
}
