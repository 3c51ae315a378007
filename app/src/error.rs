//! What a person is told when something did not work: what happened and what to do. The cause is
//! logged once, on the server, where the error is made into this.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use server_fn::codec::JsonEncoding;
use server_fn::error::{FromServerFnError, ServerFnErrorErr};

use crate::people::Role;

/// An error as it crosses from the server functions to the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "kebab-case")]
pub enum AppError {
    #[error("Sign in first.")]
    NotSignedIn,
    #[error("This needs the role “{needs}”. Ask an admin.")]
    Forbidden { needs: Role },
    #[error("{what} is not here. It may have been removed.")]
    NotFound { what: String },
    /// What was entered cannot be used; `field` is the form field's name.
    #[error("{message}")]
    Invalid { field: String, message: String },
    /// The state does not allow it (any more).
    #[error("{message}")]
    Conflict { message: String },
    /// Too many tries.
    #[error("Too many tries. Wait {seconds} s.")]
    TooMany { seconds: u64 },
    /// A part the server needs is away; it is tried again by itself.
    #[error("{message}")]
    Unavailable { message: String },
    /// The details are in the server's log under this number.
    #[error("Something went wrong on the server. Its log has the details under {reference}.")]
    Internal { reference: String },
    /// The call itself failed: no connection to the server, or an answer that is not one.
    #[error("The server did not answer as expected: {message}")]
    Transport { message: String },
}

impl AppError {
    /// The HTTP status that says the same.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::NotSignedIn => 401,
            Self::Forbidden { .. } => 403,
            Self::NotFound { .. } => 404,
            Self::Invalid { .. } => 422,
            Self::Conflict { .. } => 409,
            Self::TooMany { .. } => 429,
            Self::Unavailable { .. } => 503,
            Self::Internal { .. } | Self::Transport { .. } => 500,
        }
    }

    /// An error about one field of a form.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }
}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(m)
            | ServerFnErrorErr::MissingArg(m)
            | ServerFnErrorErr::Deserialization(m) => Self::Invalid {
                field: String::new(),
                message: format!("The form is not complete: {m}"),
            },
            other => Self::Transport {
                message: other.to_string(),
            },
        }
    }
}

/// Gives the answer its HTTP status. Every server function passes its result through here. A form
/// posted without JavaScript keeps its redirect: the error travels in the address instead.
#[cfg(feature = "ssr")]
pub fn answer<T>(result: Result<T, AppError>) -> Result<T, AppError> {
    let plain_form = use_context::<http::request::Parts>().is_some_and(|parts| {
        parts.method == http::Method::POST
            && parts
                .headers
                .get(http::header::ACCEPT)
                .and_then(|accept| accept.to_str().ok())
                .is_some_and(|accept| accept.contains("text/html"))
    });
    if let Err(error) = &result
        && !plain_form
        && let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(status) = http::StatusCode::from_u16(error.status())
    {
        response.set_status(status);
    }
    result
}
