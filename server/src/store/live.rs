//! Who else looks at it: every change names, in its own transaction, what changed and its version.
//! Only ids travel; whoever listens reads the rest.

use std::fmt;
use std::str::FromStr;

use diagnosis::ids::{HostId, RunId, SessionId};
use futures::Stream;
use sqlx::postgres::{PgConnection, PgListener};

use super::{Store, StoreError};

const CHANNEL: &str = "hopwise";

/// Something that pages follow; written `host/UUID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    Host(HostId),
    Run(RunId),
    Session(SessionId),
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(id) => write!(f, "host/{id}"),
            Self::Run(id) => write!(f, "run/{id}"),
            Self::Session(id) => write!(f, "session/{id}"),
        }
    }
}

/// The text names no topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a topic is written host/ID, run/ID or session/ID")]
pub struct NotATopic;

impl FromStr for Topic {
    type Err = NotATopic;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, id) = text.split_once('/').ok_or(NotATopic)?;
        match kind {
            "host" => id.parse().map(Self::Host),
            "run" => id.parse().map(Self::Run),
            "session" => id.parse().map(Self::Session),
            _ => return Err(NotATopic),
        }
        .map_err(|_| NotATopic)
    }
}

/// What became of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It has reached this version.
    Version(i64),
    /// It was removed.
    Gone,
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "{version}"),
            Self::Gone => f.write_str("gone"),
        }
    }
}

/// One topic's news; written `host/UUID/7` or `host/UUID/gone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub topic: Topic,
    pub news: News,
}

impl FromStr for Change {
    type Err = NotATopic;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (topic, news) = text.rsplit_once('/').ok_or(NotATopic)?;
        Ok(Self {
            topic: topic.parse()?,
            news: match news {
                "gone" => News::Gone,
                version => News::Version(version.parse().map_err(|_| NotATopic)?),
            },
        })
    }
}

/// Says it to all servers, once the transaction is committed.
pub(super) async fn announce(
    connection: &mut PgConnection,
    topic: Topic,
    news: News,
) -> Result<(), StoreError> {
    sqlx::query!(
        r#"SELECT pg_notify($1, $2) AS "none: ()""#,
        CHANNEL,
        format!("{topic}/{news}")
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}

impl Store {
    /// The changes from now on. The stream ends after an error; what happened while nobody listened
    /// is not said again, so whoever listens anew asks for the versions.
    ///
    /// # Errors
    /// The database is away.
    pub async fn listen(
        &self,
    ) -> Result<impl Stream<Item = Result<Change, StoreError>> + Send + use<>, StoreError> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        // Reconnecting silently would lose changes; the caller has to know.
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        Ok(futures::stream::unfold(
            Some(listener),
            |listener| async move {
                let mut listener = listener?;
                loop {
                    match listener.try_recv().await {
                        Ok(Some(notice)) => match notice.payload().parse() {
                            Ok(change) => return Some((Ok(change), Some(listener))),
                            Err(NotATopic) => {
                                tracing::warn!(payload = notice.payload(), "an unknown notice");
                            }
                        },
                        Ok(None) => {
                            let away = StoreError::Unavailable {
                                detail: "the connection that listens was lost".into(),
                            };
                            return Some((Err(away), None));
                        }
                        Err(error) => return Some((Err(error.into()), None)),
                    }
                }
            },
        ))
    }

    /// What a topic has come to by now: what a page's stream compares with. A session's version is its
    /// `seq`.
    ///
    /// # Errors
    /// The database is away.
    pub async fn news(&self, topic: Topic) -> Result<News, StoreError> {
        let version = match topic {
            Topic::Host(id) => {
                sqlx::query_scalar!("SELECT version FROM hosts WHERE id = $1", id.0)
                    .fetch_optional(&self.pool)
                    .await?
            }
            Topic::Run(id) => {
                sqlx::query_scalar!("SELECT version FROM runs WHERE id = $1", id.0)
                    .fetch_optional(&self.pool)
                    .await?
            }
            Topic::Session(id) => {
                sqlx::query_scalar!("SELECT seq FROM sessions WHERE id = $1", id.0)
                    .fetch_optional(&self.pool)
                    .await?
            }
        };
        Ok(version.map_or(News::Gone, News::Version))
    }
}
