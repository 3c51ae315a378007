//! What a person is told when something did not work: what happened and what to do. The cause is
//! logged once, on the server, where the error is made into this.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use server_fn::error::{FromServerFnError, ServerFnErrorErr};

use crate::people::Role;
use crate::wire::Wire;

/// An error as it crosses from the server functions to the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
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
    type Encoder = Wire;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(m) | ServerFnErrorErr::MissingArg(m) => Self::Invalid {
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
    if let Err(error) = &result
        && !is_plain_form()
    {
        set_status(error);
    }
    result
}

/// Gives the response the status that says the same as the error.
#[cfg(feature = "ssr")]
pub(crate) fn set_status(error: &AppError) {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(status) = http::StatusCode::from_u16(error.status())
    {
        response.set_status(status);
    }
}

/// A form sent without JavaScript. Its answer is a redirect back to the page, which carries the
/// error; any other status would leave the person on an empty page.
#[cfg(feature = "ssr")]
pub(crate) fn is_plain_form() -> bool {
    use_context::<http::request::Parts>().is_some_and(|parts| {
        parts.method == http::Method::POST
            && parts
                .headers
                .get(http::header::ACCEPT)
                .and_then(|v| v.to_str().ok())
                .is_some_and(|v| v.contains("text/html"))
    })
}

/// As `answer`, for a form whose page should have its fields filled in again when it comes back
/// with an error and there is no JavaScript: they travel in the address. Never for passwords.
#[cfg(feature = "ssr")]
pub fn answer_form<F: server_fn::ServerFn<Error = AppError>, T>(
    page: &str,
    fields: &[(&str, &str)],
    result: Result<T, AppError>,
) -> Result<T, AppError> {
    if let Err(error) = &result
        && is_plain_form()
    {
        // Only a whole address can be extended; its beginning is cut off again.
        const HERE: &str = "http://here";
        let url = server_fn::error::ServerFnUrlError::new(F::PATH, error.clone())
            .to_url(&format!("{HERE}{page}"));
        if let Ok(mut url) = url {
            for (name, value) in fields.iter().filter(|(_, v)| !v.is_empty()) {
                url.query_pairs_mut().append_pair(name, value);
            }
            leptos_axum::redirect(url.as_str().trim_start_matches(HERE));
        }
    }
    answer(result)
}
