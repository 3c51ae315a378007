//! The store: everything that is kept, in Postgres. All SQL of the program is here, one file per
//! aggregate. Times come in as parameters; ids are made by the callers.

mod error;
mod hosts;
mod live;
mod outputs;
pub(crate) mod people;
mod row;
mod runner;
mod runs;
mod sessions;
mod summary;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use diagnosis::ids::SessionId;
use diagnosis::session::Session;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

pub use error::StoreError;
pub use live::{Change, News, Topic};
pub use runner::RunnerLock;
pub use runs::{StoredCommand, StoredRun};
pub use summary::{Summary, summary};

static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// How long a request waits for a connection before it is told that the database is away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_CONNECTIONS: u32 = 16;

/// Access to everything that is kept. Cheap to clone; all clones share one pool.
#[derive(Clone, Debug)]
pub struct Store {
    pool: PgPool,
    options: PgConnectOptions,
    /// Folds of sessions that were appended to lately, so that an append reads only what is new.
    folds: Arc<Mutex<HashMap<SessionId, Session>>>,
}

impl Store {
    /// A store over that database. Connects when something is first asked of it, so a database that
    /// is away does not keep the server from starting.
    #[must_use]
    pub fn new(options: PgConnectOptions) -> Self {
        let options = options.application_name("hopwise");
        let pool = PgPoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(options.clone());
        Self {
            pool,
            options,
            folds: Arc::default(),
        }
    }

    /// Brings the schema up to this program's. One server at a time does it; the others wait.
    ///
    /// # Errors
    /// `Newer` when the schema is of a newer program, which nothing is changed in.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // A connection of its own: sqlx keeps its advisory lock when a migration fails, and only
        // closing the connection gives it back.
        let mut connection = tokio::time::timeout(ACQUIRE_TIMEOUT, self.options.connect())
            .await
            .map_err(|_| StoreError::no_connection())??;
        let outcome = migrate(&mut connection).await;
        connection.close().await?;
        outcome
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// It does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query_scalar!(r#"SELECT 1 AS "one!""#)
            .fetch_one(&self.pool)
            .await?;
        Ok(())
    }

    /// Closes all connections, so that the database can stop at once.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

async fn migrate(connection: &mut PgConnection) -> Result<(), StoreError> {
    match MIGRATIONS.run_direct(None, connection, false).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(version)) => Err(StoreError::Newer {
            detail: format!(
                "the database's schema has change {version}, this program knows changes up to {}; \
                 start a newer hopwise, or restore a backup made before it was upgraded",
                MIGRATIONS.iter().map(|m| m.version).max().unwrap_or(0)
            ),
        }),
        Err(MigrateError::VersionMismatch(version)) => Err(StoreError::Newer {
            detail: format!(
                "change {version} of the database's schema is not the one this program knows; \
                 the database was made by another build of hopwise"
            ),
        }),
        Err(MigrateError::Execute(error)) => Err(error.into()),
        Err(error) => Err(StoreError::Migration(error)),
    }
}
