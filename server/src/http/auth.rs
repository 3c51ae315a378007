//! Who asks: the person behind the cookie. And what they see while the database is away.

use app::error::AppError;
use app::people::{SignedIn, cookie_name};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum_extra::extract::CookieJar;

use super::Site;

/// Puts the signed-in person into the request. A cookie that is not (or no longer) worth anything
/// is nobody.
pub(super) async fn sign_in(
    State(site): State<Site>,
    jar: CookieJar,
    mut request: Request,
    next: Next,
) -> Response {
    if is_asset(request.uri().path()) {
        return next.run(request).await;
    }
    let token = jar
        .get(cookie_name(site.secure))
        .map(|cookie| cookie.value().to_owned());
    let person = match &token {
        None => None,
        Some(token) => match site.accounts.person_of(token).await {
            Ok(person) => person,
            Err(error) => {
                return away(
                    &site,
                    request.headers(),
                    request.uri().path(),
                    &error.to_string(),
                );
            }
        },
    };
    request.extensions_mut().insert(SignedIn {
        person,
        token,
        secure: site.secure,
    });
    next.run(request).await
}

/// Answers at once while the database is away, instead of letting every page wait for it.
pub(super) async fn database_away(
    State(site): State<Site>,
    request: Request,
    next: Next,
) -> Response {
    match site.database.away() {
        Some(why) if !is_asset(request.uri().path()) => {
            away(&site, request.headers(), request.uri().path(), &why)
        }
        _ => next.run(request).await,
    }
}

/// Files that the pages load; they say nothing about anybody.
fn is_asset(path: &str) -> bool {
    path.starts_with("/pkg/") || path == "/favicon.svg"
}

/// 503, as a page that reloads itself or as an error a server function's caller understands.
fn away(site: &Site, headers: &HeaderMap, path: &str, why: &str) -> Response {
    let page = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    let mut response = if page && !path.starts_with("/live/") {
        let mut page = Html(app::pages::unavailable(&site.stylesheet)).into_response();
        page.headers_mut().insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'"),
        );
        page
    } else {
        Json(AppError::Unavailable {
            message: format!("The database is away: {why}. Hopwise tries again by itself."),
        })
        .into_response()
    };
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}
