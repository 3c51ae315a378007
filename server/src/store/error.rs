//! What can go wrong with the store, and what people are told of it.

use app::error::AppError;
use diagnosis::session::FoldError;
use sqlx::error::DatabaseError;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{what} is not in the store")]
    NotFound { what: &'static str },
    /// A rule of the schema, or a state that has moved on; the message is for people.
    #[error("{message} ({constraint})")]
    Conflict {
        constraint: &'static str,
        message: String,
    },
    /// The database is away: not started, restarting, or all connections are taken.
    #[error("the database is away: {detail}")]
    Unavailable { detail: String },
    /// Something was written by a newer program than this one.
    #[error("{detail}")]
    Newer { detail: String },
    /// A row that cannot be read as what it should be.
    #[error("{what} cannot be read: {detail}")]
    Corrupt { what: String, detail: String },
    #[error("the schema could not be changed: {0}")]
    Migration(#[source] sqlx::migrate::MigrateError),
    #[error("the database refused: {0}")]
    Other(#[source] sqlx::Error),
}

/// The session has events after the one the caller knew.
pub(super) const MOVED_ON: &str = "sessions_moved_on";

impl StoreError {
    /// Whether this is a conflict with that constraint.
    #[must_use]
    pub fn is_conflict(&self, name: &str) -> bool {
        matches!(self, Self::Conflict { constraint, .. } if *constraint == name)
    }

    /// Whether a session has moved on since the caller read it.
    #[must_use]
    pub fn has_moved_on(&self) -> bool {
        self.is_conflict(MOVED_ON)
    }

    pub(super) fn corrupt(what: impl Into<String>, detail: impl ToString) -> Self {
        Self::Corrupt {
            what: what.into(),
            detail: detail.to_string(),
        }
    }

    pub(super) fn conflict(constraint: &'static str, message: impl Into<String>) -> Self {
        Self::Conflict {
            constraint,
            message: message.into(),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Self::Unavailable {
                detail: error.to_string(),
            },
            sqlx::Error::Io(error) => Self::Unavailable {
                detail: error.to_string(),
            },
            sqlx::Error::Tls(error) => Self::Unavailable {
                detail: error.to_string(),
            },
            sqlx::Error::Database(error) => refused(error),
            sqlx::Error::ColumnDecode { index, source } => {
                Self::corrupt(format!("column {index}"), source)
            }
            other => Self::Other(other),
        }
    }
}

fn refused(error: Box<dyn DatabaseError>) -> StoreError {
    if let Some((constraint, message)) = error.constraint().and_then(sentence) {
        return StoreError::conflict(constraint, message);
    }
    // Postgres' error codes, appendix A of its manual: 08 connection, 28 login refused, 3D no such
    // database, 53 out of resources, 57P ended by an administrator or still starting, 58 system.
    let away = error.code().is_some_and(|code| {
        ["08", "28", "3D", "53", "57P", "58"]
            .iter()
            .any(|class| code.starts_with(class))
    });
    if away {
        StoreError::Unavailable {
            detail: error.to_string(),
        }
    } else {
        StoreError::Other(sqlx::Error::Database(error))
    }
}

/// The named constraints that people can run into.
fn sentence(constraint: &str) -> Option<(&'static str, &'static str)> {
    Some(match constraint {
        "hosts_name_key" => ("hosts_name_key", "Another host has this name."),
        "hosts_jump_fkey" => (
            "hosts_jump_fkey",
            "The host to go through is not here any more.",
        ),
        "runs_host_fkey" => ("runs_host_fkey", "The host is not here any more."),
        "people_name_key" => (
            "people_name_key",
            "Somebody has this name. Choose another one.",
        ),
        _ => return None,
    })
}

impl From<FoldError> for StoreError {
    fn from(error: FoldError) -> Self {
        match error {
            FoldError::Newer { .. } => Self::Newer {
                detail: error.to_string(),
            },
            other => Self::corrupt("the session", other),
        }
    }
}

/// The one place where a cause of the store's is logged.
impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => Self::NotFound { what: what.into() },
            StoreError::Conflict {
                constraint,
                message,
            } => match constraint {
                "hosts_name_key" | "people_name_key" => Self::invalid("name", message),
                "hosts_jump_fkey" => Self::invalid("jump", message),
                _ => Self::Conflict { message },
            },
            StoreError::Unavailable { detail } => {
                tracing::warn!(%detail, "the database is away");
                Self::Unavailable {
                    message: "The database does not answer. Hopwise tries again by itself.".into(),
                }
            }
            error @ (StoreError::Newer { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Migration(_)
            | StoreError::Other(_)) => {
                let reference = uuid::Uuid::new_v4().simple().to_string();
                tracing::error!(%reference, error = &error as &dyn std::error::Error, "the store failed");
                Self::Internal { reference }
            }
        }
    }
}
