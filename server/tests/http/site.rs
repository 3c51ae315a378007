//! A whole site without a runner: nothing here needs a host.

use std::net::SocketAddr;
use std::sync::Arc;

use app::people::{People, Role};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, Response, StatusCode, header};
use jiff::SignedDuration;
use metrics_exporter_prometheus::PrometheusBuilder;
use server::clock::now;
use server::database::DatabaseState;
use server::http::{Site, leptos_options, router};
use server::knowledge;
use server::live::Live;
use server::people::Accounts;
use server::services::{HostService, RunService, SessionService};
use server::store::Store;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::postgres;

pub struct TestSite {
    pub store: Store,
    router: Router,
    accounts: Arc<Accounts>,
    stop: CancellationToken,
}

impl TestSite {
    pub async fn start() -> Self {
        Self::over(postgres::store().await).await
    }

    /// A site over any database, even one that is not there.
    pub async fn over(store: Store) -> Self {
        let pack = knowledge::embedded().unwrap();
        let stop = CancellationToken::new();
        let accounts = Arc::new(Accounts::new(store.clone(), Arc::new(now)).unwrap());
        let site = Site {
            options: leptos_options(
                std::path::Path::new("/nowhere"),
                SocketAddr::from(([127, 0, 0, 1], 1)),
            ),
            stylesheet: "/pkg/hopwise.css".into(),
            store: store.clone(),
            accounts: accounts.clone(),
            hosts: Arc::new(HostService::new(store.clone(), pack.clone())),
            runs: Arc::new(RunService::new(store.clone(), pack.clone())),
            sessions: Arc::new(SessionService::new(store.clone(), pack)),
            live: Live::start(store.clone(), stop.clone()),
            database: DatabaseState::watch(store.clone(), stop.clone())
                .await
                .unwrap(),
            metrics: PrometheusBuilder::new().build_recorder().handle(),
            secure: false,
            behind_proxy: false,
            stop: stop.clone(),
        };
        Self {
            store,
            router: router(site),
            accounts,
            stop,
        }
    }

    /// A new person with that role, signed in: the cookie.
    pub async fn sign_in_as(&self, role: Role) -> String {
        let path = self
            .accounts
            .new_link(role, "a test", SignedDuration::from_mins(1))
            .await
            .unwrap();
        let token = path.rsplit('/').next().unwrap();
        let name = format!("{role} {}", uuid::Uuid::new_v4());
        let sign_in = self
            .accounts
            .accept(token, &name, "a long password")
            .await
            .unwrap();
        format!("hopwise={}", sign_in.token)
    }

    /// Calls a server function as the pages' own script does.
    pub async fn call(&self, name: &str, arguments: &str, cookie: Option<&str>) -> StatusCode {
        let request = request(Method::POST, &format!("/api/{name}"), cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_LENGTH, arguments.len())
            .header("sec-fetch-site", "same-origin")
            .body(Body::from(arguments.to_owned()))
            .unwrap();
        self.send(request).await.status()
    }

    /// Opens a page as a browser does.
    pub async fn get(&self, path: &str, cookie: Option<&str>) -> Response<Body> {
        let request = request(Method::GET, path, cookie)
            .header(header::ACCEPT, "text/html")
            .body(Body::empty());
        self.send(request.unwrap()).await
    }

    pub async fn send(&self, mut request: Request<Body>) -> Response<Body> {
        let peer = SocketAddr::from(([127, 0, 0, 1], 2));
        request.extensions_mut().insert(ConnectInfo(peer));
        self.router.clone().oneshot(request).await.unwrap()
    }
}

impl Drop for TestSite {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn request(method: Method, path: &str, cookie: Option<&str>) -> axum::http::request::Builder {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "127.0.0.1");
    match cookie {
        Some(cookie) => request.header(header::COOKIE, cookie),
        None => request,
    }
}

pub async fn text(response: Response<Body>) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), 8 << 20)
        .await
        .unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
