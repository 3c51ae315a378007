//! Proofs of role. A port's method that takes `&Operator` cannot be called without one, and only
//! the functions here make them, from the person the server found signed in.

use leptos::prelude::*;
use leptos_axum::ResponseOptions;

use super::{NewSignIn, Person, Role};
use crate::error::AppError;

/// The request's signed-in person, put into context by the server. Absent when nobody is.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub person: Option<Person>,
    /// The cookie's token, to sign out with.
    pub token: Option<String>,
    /// Whether the cookie may say `Secure` and `__Host-`: over TLS, or behind a proxy that speaks it.
    pub secure: bool,
}

macro_rules! proof {
    ($(#[$doc:meta])* $name:ident, $role:expr, $get:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Person);

        impl $name {
            /// Who it is.
            #[must_use]
            pub const fn person(&self) -> &Person {
                &self.0
            }

            /// Proves a person's role.
            ///
            /// # Errors
            /// The person has a lesser role.
            pub fn prove(person: Person) -> Result<Self, AppError> {
                if person.role >= $role { Ok(Self(person)) } else { Err(AppError::Forbidden { needs: $role }) }
            }
        }

        /// Proof of the role from the request that is being served.
        ///
        /// # Errors
        /// Nobody is signed in, or somebody with a lesser role.
        pub fn $get() -> Result<$name, AppError> {
            $name::prove(signed_in().ok_or(AppError::NotSignedIn)?)
        }
    };
}

proof!(
    /// Somebody who may read.
    Viewer, Role::Viewer, viewer
);
proof!(
    /// Somebody who may run checks and diagnoses.
    Operator, Role::Operator, operator
);
proof!(
    /// Somebody who may do everything.
    Admin, Role::Admin, admin
);

/// Who is signed in, if anybody is.
#[must_use]
pub fn signed_in() -> Option<Person> {
    use_context::<SignedIn>().and_then(|s| s.person)
}

/// The token of the request's cookie.
pub(super) fn cookie_token() -> Option<String> {
    use_context::<SignedIn>().and_then(|s| s.token)
}

/// The cookie's name: with the prefix that binds it to this host wherever TLS allows it.
#[must_use]
pub const fn cookie_name(secure: bool) -> &'static str {
    if secure { "__Host-hopwise" } else { "hopwise" }
}

pub(super) fn set_cookie(sign_in: &NewSignIn) -> Result<(), AppError> {
    append_cookie(&sign_in.token, sign_in.lasts_seconds)
}

pub(super) fn clear_cookie() -> Result<(), AppError> {
    append_cookie("", 0)
}

fn append_cookie(value: &str, seconds: u64) -> Result<(), AppError> {
    let secure = use_context::<SignedIn>().is_some_and(|s| s.secure);
    append(format!(
        "{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{}",
        cookie_name(secure),
        if secure { "; Secure" } else { "" }
    ))
}

const INVITATION: &str = "hopwise-invitation";

/// A form without JavaScript gets no answer but a page: the new link waits for that page in a
/// cookie of its own, for a minute.
pub(super) fn hand_over_invitation(path: &str) -> Result<(), AppError> {
    if crate::error::is_plain_form() {
        append(format!(
            "{INVITATION}={path}; Path=/people; HttpOnly; SameSite=Strict; Max-Age=60"
        ))?;
    }
    Ok(())
}

/// Reads the link and forgets it.
pub(super) fn take_invitation(_by: &Admin) -> Result<Option<String>, AppError> {
    let prefix = format!("{INVITATION}=");
    let link = use_context::<http::request::Parts>().and_then(|parts| {
        parts
            .headers
            .get_all(http::header::COOKIE)
            .iter()
            .filter_map(|v| v.to_str().ok())
            .flat_map(|v| v.split(';'))
            .find_map(|c| c.trim().strip_prefix(&prefix).map(str::to_owned))
    });
    if link.is_some() {
        append(format!(
            "{INVITATION}=; Path=/people; HttpOnly; SameSite=Strict; Max-Age=0"
        ))?;
    }
    Ok(link.filter(|l| l.starts_with("/invitation/")))
}

fn append(cookie: String) -> Result<(), AppError> {
    let header = http::HeaderValue::from_str(&cookie).map_err(|e| AppError::Transport {
        message: e.to_string(),
    })?;
    if let Some(response) = use_context::<ResponseOptions>() {
        response.append_header(http::header::SET_COOKIE, header);
    }
    Ok(())
}
