//! Server-sent events: one stream a page, which says "there is something newer". What it is, the
//! page asks for itself; so a lost event costs nothing, and a stream resumes after any version. What
//! was removed says `gone` once.

use std::convert::Infallible;
use std::time::Duration;

use app::people::SignedIn;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;

use super::Site;
use crate::live::Signal;
use crate::store::{News, Topic};

#[derive(Deserialize)]
pub(super) struct After {
    after: Option<i64>,
}

/// The stream of one topic's versions after `?after=` (or `Last-Event-ID`).
pub(super) async fn stream(
    State(site): State<Site>,
    Extension(signed_in): Extension<SignedIn>,
    Path((kind, id)): Path<(String, String)>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Response {
    if signed_in.person.is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let Ok(topic) = format!("{kind}/{id}").parse::<Topic>() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let last = headers
        .get("last-event-id")
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.parse().ok());
    let after = last.or(query.after).unwrap_or(0);
    Sse::new(versions(site, topic, after))
        .keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
        .into_response()
}

fn versions(site: Site, topic: Topic, after: i64) -> impl Stream<Item = Result<Event, Infallible>> {
    let changes = site.live.subscribe();
    // Subscribed first, so that nothing falls between the first look and the first change.
    futures::stream::unfold(
        (site, changes, after, true),
        move |(site, mut changes, after, mut look)| async move {
            loop {
                let news = if look {
                    // Unreadable for now: the next change, or a listener that comes back, says it.
                    site.store.news(topic).await.ok()
                } else {
                    let signal = tokio::select! {
                        () = site.stop.cancelled() => return None,
                        signal = changes.recv() => signal,
                    };
                    match signal {
                        Ok(Signal::Changed(change)) => {
                            (change.topic == topic).then_some(change.news)
                        }
                        Ok(Signal::Reread) | Err(RecvError::Lagged(_)) => {
                            look = true;
                            continue;
                        }
                        Err(RecvError::Closed) => return None,
                    }
                };
                look = false;
                match news {
                    Some(News::Version(version)) if version > after => {
                        let event = Event::default()
                            .id(version.to_string())
                            .data(version.to_string());
                        return Some((Ok(event), (site, changes, version, false)));
                    }
                    Some(News::Gone) if after < i64::MAX => {
                        let event = Event::default().data(News::Gone.to_string());
                        return Some((Ok(event), (site, changes, i64::MAX, false)));
                    }
                    Some(News::Version(_) | News::Gone) | None => {}
                }
            }
        },
    )
}
