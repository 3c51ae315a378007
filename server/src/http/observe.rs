//! Health and metrics.

use std::net::SocketAddr;
use std::time::Instant;

use app::people::SignedIn;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::CookieJar;

use super::Site;

/// The process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// The process answers and has its database.
pub(super) async fn ready(State(site): State<Site>) -> Response {
    match site.database.away() {
        None => "ready\n".into_response(),
        Some(why) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the database is away: {why}\n"),
        )
            .into_response(),
    }
}

/// Prometheus' text format: for loopback, and for people who are signed in. Behind a proxy every
/// peer looks like loopback, so there only the sign-in counts.
pub(super) async fn metrics(
    State(site): State<Site>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    jar: CookieJar,
) -> Response {
    let local = peer.ip().is_loopback() && !site.behind_proxy;
    let person = match jar.get(app::people::cookie_name(site.secure)) {
        Some(cookie) if !local => site.accounts.person_of(cookie.value()).await.ok().flatten(),
        _ => None,
    };
    let signed_in = SignedIn {
        person,
        token: None,
        secure: site.secure,
    };
    if !local && signed_in.person.is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4")],
        site.metrics.render(),
    )
        .into_response()
}

/// Counts and times every request by its route, never by its address: ids would make a series each.
pub(super) async fn measure(request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let begin = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics::counter!("hopwise_http_requests_total", "route" => route.clone(), "status" => status)
        .increment(1);
    metrics::histogram!("hopwise_http_request_seconds", "route" => route)
        .record(begin.elapsed().as_secs_f64());
    response
}
