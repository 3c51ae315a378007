//! One of several servers on one database is the runner: the one that holds an advisory lock.

use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Connection};

use super::{ACQUIRE_TIMEOUT, Store, StoreError};

/// "hopwise" in ASCII: the lock's number, of which there is one per database.
const RUNNER: i64 = 0x0068_6f70_7769_7365;

/// This server is the runner while this lives. The lock belongs to its connection, so a server that
/// dies gives it back without doing anything.
#[derive(Debug)]
pub struct RunnerLock {
    connection: PgConnection,
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
        let (connection, held) = tokio::time::timeout(ACQUIRE_TIMEOUT, connecting)
            .await
            .map_err(|_| StoreError::Unavailable {
                detail: "no connection in time".into(),
            })??;
        if held {
            Ok(Some(RunnerLock { connection }))
        } else {
            connection.close().await?;
            Ok(None)
        }
    }
}

impl RunnerLock {
    /// Returns when the lock is lost: the database went away, and another server may become the
    /// runner. Whatever runs then must stop.
    pub async fn lost(&mut self) -> StoreError {
        loop {
            tokio::time::sleep(Duration::from_secs(2)).await;
            match tokio::time::timeout(ACQUIRE_TIMEOUT, self.connection.ping()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error.into(),
                Err(_) => {
                    return StoreError::Unavailable {
                        detail: "the runner's connection does not answer".into(),
                    };
                }
            }
        }
    }

    /// Gives the lock back at once.
    pub async fn release(self) {
        if let Err(error) = self.connection.close().await {
            tracing::debug!(%error, "the runner's connection was gone already");
        }
    }
}
