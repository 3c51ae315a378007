//! HTTP: the pages, the server functions, the event streams, and what stands before them.

mod auth;
mod live;
mod observe;
mod outputs;
mod security;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::hosts::Hosts;
use app::people::{People, SignedIn};
use app::runs::Runs;
use app::sessions::Sessions;
use axum::Router;
use axum::extract::FromRef;
use axum::http::request::Parts;
use axum::middleware;
use axum::routing::get;
use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos_axum::{LeptosRoutes, generate_route_list};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::csrf::CsrfLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::trace::TraceLayer;

use crate::database::DatabaseState;
use crate::live::Live;
use crate::people::Accounts;
use crate::store::Store;

/// The largest form a person can send: a pasted output.
const BODY_LIMIT: usize = 2 << 20;

/// Everything the pages need. Cheap to clone.
#[derive(Clone)]
pub struct Site {
    pub options: LeptosOptions,
    /// The stylesheet's address, for the page that stands for all others while the database is away.
    pub stylesheet: String,
    pub store: Store,
    pub accounts: Arc<Accounts>,
    pub hosts: Arc<dyn Hosts>,
    pub runs: Arc<dyn Runs>,
    pub sessions: Arc<dyn Sessions>,
    pub live: Live,
    pub database: DatabaseState,
    pub metrics: PrometheusHandle,
    /// Whether browsers come over TLS.
    pub secure: bool,
    /// Whether a proxy stands in front: then every peer looks like loopback.
    pub behind_proxy: bool,
    pub stop: CancellationToken,
}

impl FromRef<Site> for LeptosOptions {
    fn from_ref(site: &Site) -> Self {
        site.options.clone()
    }
}

/// The options that the pages are rendered with; the site's folder holds what the browser loads.
#[must_use]
pub fn leptos_options(site: &std::path::Path, address: SocketAddr) -> LeptosOptions {
    let hashes: PathBuf = site.join("hash.txt");
    LeptosOptions::builder()
        .output_name("hopwise")
        .site_root(site.display().to_string())
        .site_pkg_dir("pkg")
        .site_addr(address)
        .hash_files(hashes.is_file())
        .hash_file(std::sync::Arc::<str>::from(hashes.display().to_string()))
        .build()
}

/// The stylesheet's address, with its hash where the files have one.
#[must_use]
pub fn stylesheet(site: &std::path::Path) -> String {
    let hashes = std::fs::read_to_string(site.join("hash.txt")).unwrap_or_default();
    let hash = hashes
        .lines()
        .find_map(|line| line.strip_prefix("css:"))
        .map(str::trim);
    hash.map_or_else(
        || "/pkg/hopwise.css".to_owned(),
        |hash| format!("/pkg/hopwise.{hash}.css"),
    )
}

/// All routes with everything that stands before them.
pub fn router(site: Site) -> Router {
    let context = {
        let site = site.clone();
        move || provide(&site)
    };
    let shell = {
        let options = site.options.clone();
        move || app::shell(options.clone())
    };
    let routes = generate_route_list(app::App);
    let pages = Router::new()
        .leptos_routes_with_context(&site, routes, context.clone(), shell)
        .fallback(leptos_axum::file_and_error_handler_with_context::<Site, _>(
            context,
            app::shell,
        ))
        .route("/live/{kind}/{id}", get(live::stream))
        .route("/outputs/{hash}/raw", get(outputs::download))
        .layer(middleware::from_fn_with_state(site.clone(), auth::sign_in))
        .layer(middleware::from_fn_with_state(
            site.clone(),
            auth::database_away,
        ))
        .layer(RequestBodyLimitLayer::new(BODY_LIMIT))
        .layer(CsrfLayer::new());
    Router::new()
        .route("/healthz", get(observe::alive))
        .route("/readyz", get(observe::ready))
        .route("/metrics", get(observe::metrics))
        .merge(pages)
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(
            site.clone(),
            security::headers,
        ))
        .layer(middleware::from_fn(observe::measure))
        .layer(CatchPanicLayer::new())
        .layer(TraceLayer::new_for_http())
        .with_state(site)
}

/// What pages and server functions find in their context: the ports, and who is signed in.
fn provide(site: &Site) {
    let people: Arc<dyn People> = site.accounts.clone();
    provide_context(people);
    provide_context(site.hosts.clone());
    provide_context(site.runs.clone());
    provide_context(site.sessions.clone());
    let signed_in = use_context::<Parts>()
        .and_then(|parts| parts.extensions.get::<SignedIn>().cloned())
        .unwrap_or(SignedIn {
            person: None,
            token: None,
            secure: site.secure,
        });
    provide_context(signed_in);
    security::content_policy();
}

/// How long open requests may take to end once the server is told to stop.
pub const GRACE: Duration = Duration::from_secs(5);
