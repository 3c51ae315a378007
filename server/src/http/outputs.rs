//! Raw outputs as files: what a host printed, byte for byte, never shown as anything but text.

use app::people::SignedIn;
use axum::extract::{Extension, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use diagnosis::ids::OutputHash;

use super::Site;

pub(super) async fn download(
    State(site): State<Site>,
    Extension(signed_in): Extension<SignedIn>,
    Path(hash): Path<String>,
) -> Response {
    if signed_in.person.is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match site.store.output(&OutputHash(hash.clone())).await {
        Ok(Some(bytes)) => (
            [
                (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
                (
                    header::CONTENT_DISPOSITION,
                    format!("attachment; filename=\"output-{}.txt\"", short(&hash)),
                ),
                (
                    header::CACHE_CONTROL,
                    "private, max-age=86400, immutable".to_owned(),
                ),
            ],
            bytes,
        )
            .into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => {
            tracing::error!(%error, "reading an output");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// The hash's first characters, and only hexadecimal ones: it goes into a header.
fn short(hash: &str) -> String {
    hash.chars()
        .filter(char::is_ascii_hexdigit)
        .take(12)
        .collect()
}
