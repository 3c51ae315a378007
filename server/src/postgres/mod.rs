//! The database's server: a private PostgreSQL cluster that lives and ends with Hopwise, or the
//! server of a URL.
//!
//! The private cluster is in `STATE/postgres`:
//!
//! | place | what it is |
//! |---|---|
//! | `lock` | held by the one server that runs the cluster |
//! | `data` | the cluster, only readable to the user it runs as |
//! | `socket` | its Unix socket; elsewhere when this path is too long for one |
//! | `hba.conf`, `ident.conf` | who may log in: this user and root, by the socket's peer credentials |
//! | `log`, `log.1` | what PostgreSQL says |
//!
//! There is no password and no TCP port. PostgreSQL refuses to run as root, so under root it runs
//! as the user `hopwise`, or `postgres` where there is none.

mod account;
mod binaries;
mod cluster;
mod error;
mod layout;
mod processes;
mod supervisor;

use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use account::Account;
pub use binaries::{Binaries, PG_BIN};
pub use error::DatabaseError;

use cluster::Cluster;
use layout::Layout;

/// Which database.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// The server to use, as `postgres://…`. Without one, a private cluster is.
    pub url: Option<String>,
    /// Where Hopwise keeps its state.
    pub state_dir: PathBuf,
}

/// The database's server, for as long as this lives. Dropped without [`Database::stop`], a private
/// cluster may go on running; the next start takes care of it.
#[derive(Debug)]
pub struct Database {
    options: PgConnectOptions,
    keeper: Option<Keeper>,
}

#[derive(Debug)]
struct Keeper {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Database {
    /// Makes the database's server ready. A private cluster is created when it is not there yet,
    /// started, and started again whenever it dies. A URL is only read: its server may come later.
    ///
    /// # Errors
    /// Says what is missing and what to do. Another Hopwise that runs the cluster is
    /// [`DatabaseError::InUse`].
    pub async fn open(options: DatabaseOptions) -> Result<Self, DatabaseError> {
        if let Some(url) = options.url {
            return Self::of_url(&url);
        }
        let layout = Layout::prepare(&options.state_dir)?;
        let lock = layout.lock()?.ok_or_else(|| DatabaseError::InUse {
            dir: layout.root.clone(),
        })?;
        Self::keep(layout, lock).await
    }

    /// Like [`Database::open`], but uses the cluster of a Hopwise that runs: for commands given
    /// beside the server.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub async fn attach_or_open(options: DatabaseOptions) -> Result<Self, DatabaseError> {
        if let Some(url) = options.url {
            return Self::of_url(&url);
        }
        let layout = Layout::prepare(&options.state_dir)?;
        match layout.lock()? {
            Some(lock) => Self::keep(layout, lock).await,
            None => Ok(Self {
                options: cluster::connect_options(&layout.running_socket_dir()?),
                keeper: None,
            }),
        }
    }

    async fn keep(layout: Layout, lock: File) -> Result<Self, DatabaseError> {
        let cluster = Cluster::ready(layout).await?;
        let child = cluster.start().await?;
        let options = cluster.connect_options();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(supervisor::keep_running(cluster, child, stopped, lock));
        Ok(Self {
            options,
            keeper: Some(Keeper { stop, task }),
        })
    }

    fn of_url(url: &str) -> Result<Self, DatabaseError> {
        // sqlx reads addresses of other databases too, as if they were PostgreSQL's.
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
        {
            return Err(DatabaseError::Scheme);
        }
        let options = PgConnectOptions::from_str(url).map_err(DatabaseError::Url)?;
        Ok(Self {
            options,
            keeper: None,
        })
    }

    /// How to connect to it.
    #[must_use]
    pub fn connect_options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// Stops a private cluster; connections that are still open are ended. The server of a URL, or
    /// one that was attached to, goes on.
    pub async fn stop(self) {
        if let Some(keeper) = self.keeper {
            let _ = keeper.stop.send(());
            if let Err(error) = keeper.task.await {
                tracing::error!(%error, "the database's keeper failed");
            }
        }
    }
}
