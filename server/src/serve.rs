//! The server, put together: database, ports, runner, HTTP. Binding and serving are apart, so that a
//! test's server is a few lines on port 0.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use app::error::AppError;
use axum_server::Handle;
use diagnosis::knowledge::Pack;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::now;
use crate::config::{Config, ConfigError, Protection};
use crate::database::DatabaseState;
use crate::http::{GRACE, Site, leptos_options, router, stylesheet};
use crate::live::Live;
use crate::people::Accounts;
use crate::postgres::{Database, DatabaseError, DatabaseOptions};
use crate::runner::Runner;
use crate::services::{HostService, RunService, SessionService};
use crate::ssh::{Ssh, SshOptions};
use crate::store::{Store, StoreError};
use crate::tls::{self, TlsError};

/// Why the server did not start, or did not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Accounts(#[from] AppError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot listen on {address}: {source}. {advice}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
        advice: &'static str,
    },
    #[error("serving: {0}")]
    Serve(#[source] io::Error),
}

/// A server that listens and does not answer yet.
pub struct Server {
    config: Config,
    listener: TcpListener,
    address: SocketAddr,
    database: Database,
    site: Site,
    runner: Runner,
    accounts: Arc<Accounts>,
    fingerprint: Option<String>,
    certificate: Option<(std::path::PathBuf, std::path::PathBuf)>,
    stop: CancellationToken,
}

impl Server {
    /// Starts everything but the answers.
    ///
    /// # Errors
    /// Says what is wrong and what to do.
    pub async fn bind(
        config: Config,
        pack: Arc<Pack>,
        metrics: PrometheusHandle,
    ) -> Result<Self, ServeError> {
        if !config.site.is_dir() {
            return Err(ConfigError::NoSite(config.site).into());
        }
        // The port first: it fails at once where another server has it, before any database starts.
        let listener = TcpListener::bind(config.listen).map_err(|source| ServeError::Listen {
            address: config.listen,
            advice: listen_advice(&source),
            source,
        })?;
        let address = listener.local_addr().map_err(ServeError::Serve)?;
        listener.set_nonblocking(true).map_err(ServeError::Serve)?;

        let database = Database::open(DatabaseOptions {
            url: config.database_url.clone(),
            state_dir: config.state.clone(),
        })
        .await?;
        let certificate = match &config.protection {
            Protection::Loopback | Protection::Proxy => None,
            Protection::GeneratedCertificate => Some(tls::generated(&config.state, address)?),
            Protection::Certificate { chain, key } => Some((chain.clone(), key.clone())),
        };
        let fingerprint = certificate
            .as_ref()
            .map(|(chain, _)| tls::fingerprint(chain))
            .transpose()?;

        let stop = CancellationToken::new();
        let store = Store::new(database.connect_options());
        let watched = DatabaseState::watch(store.clone(), stop.clone()).await?;
        let live = Live::start(store.clone(), stop.clone());
        let accounts = Arc::new(Accounts::new(store.clone(), Arc::new(now))?);
        let runner = Runner::new(
            store.clone(),
            Arc::new(Ssh::new(SshOptions::default())),
            pack.clone(),
            live.clone(),
            watched.clone(),
            stop.clone(),
        );
        let site = Site {
            options: leptos_options(&config.site, address),
            stylesheet: stylesheet(&config.site),
            accounts: accounts.clone(),
            hosts: Arc::new(HostService::new(store.clone(), pack.clone())),
            runs: Arc::new(RunService::new(store.clone(), pack.clone())),
            sessions: Arc::new(SessionService::new(store.clone(), pack)),
            store,
            live,
            database: watched,
            metrics,
            secure: config.protection.secure(),
            behind_proxy: config.protection == Protection::Proxy,
            stop: stop.clone(),
        };
        Ok(Self {
            config,
            listener,
            address,
            database,
            site,
            runner,
            accounts,
            fingerprint,
            certificate,
            stop,
        })
    }

    /// The address it listens on, with the port it got.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What people open, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        self.config.public_url.clone().unwrap_or_else(|| {
            let scheme = if self.certificate.is_some() {
                "https"
            } else {
                "http"
            };
            format!("{scheme}://{}", self.address)
        })
    }

    /// The fingerprint of the certificate, where Hopwise speaks TLS.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// A one-time link for the first admin, while there is none.
    ///
    /// # Errors
    /// The database is away.
    pub async fn first_admin_link(&self) -> Result<Option<String>, AppError> {
        Ok(self
            .accounts
            .first_admin_link()
            .await?
            .map(|path| format!("{}{path}", self.url())))
    }

    /// Ends the server when cancelled: open answers get a few seconds, then the database stops.
    #[must_use]
    pub fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Answers until told to stop.
    ///
    /// # Errors
    /// The listener or the certificate failed.
    pub async fn serve(self) -> Result<(), ServeError> {
        let service = router(self.site).into_make_service_with_connect_info::<SocketAddr>();
        let runner = tokio::spawn(self.runner.run());
        let handle = Handle::new();
        tokio::spawn({
            let (handle, stop) = (handle.clone(), self.stop.clone());
            async move {
                stop.cancelled().await;
                handle.graceful_shutdown(Some(GRACE));
            }
        });
        let served = match &self.certificate {
            Some((chain, key)) => {
                let tls = tls::load(chain, key).await?;
                axum_server::from_tcp_rustls(self.listener, tls)
                    .map_err(ServeError::Serve)?
                    .handle(handle)
                    .serve(service)
                    .await
            }
            None => {
                axum_server::from_tcp(self.listener)
                    .map_err(ServeError::Serve)?
                    .handle(handle)
                    .serve(service)
                    .await
            }
        };
        self.stop.cancel();
        if let Err(error) = runner.await {
            tracing::error!(%error, "the runner ended badly");
        }
        self.database.stop().await;
        served.map_err(ServeError::Serve)
    }
}

fn listen_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "Something listens there already: stop it, or choose another port with --listen"
        }
        io::ErrorKind::PermissionDenied => {
            "Ports under 1024 need root: choose another with --listen"
        }
        io::ErrorKind::AddrNotAvailable => {
            "This machine does not have that address: choose another with --listen"
        }
        _ => "Choose another address with --listen",
    }
}
