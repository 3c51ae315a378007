//! Accounts: who somebody is and what they may do.

#[cfg(feature = "ssr")]
mod port;
#[cfg(feature = "ssr")]
mod proof;

use std::fmt;
use std::str::FromStr;

use diagnosis::ids::PersonId;
use jiff::Timestamp;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::wire::Reply;

#[cfg(feature = "ssr")]
pub use port::{NewSignIn, People};
#[cfg(feature = "ssr")]
pub use proof::{
    Admin, Operator, SignedIn, Viewer, admin, cookie_name, operator, signed_in, viewer,
};

/// What somebody may do. Each role may do what the one before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Reads everything.
    Viewer,
    /// Runs checks and diagnoses.
    Operator,
    /// Adds hosts and people, confirms keys, applies fixes.
    Admin,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = AppError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|r| r.name() == text)
            .ok_or_else(|| AppError::invalid("role", "Choose viewer, operator or admin."))
    }
}

/// Somebody with an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: PersonId,
    pub name: String,
    pub role: Role,
}

/// A person in the list of people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonRow {
    pub person: Person,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub created_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::optional")]
    pub last_seen_at: Option<Timestamp>,
}

/// An invitation that has not been used yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub role: Role,
    pub created_by: String,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub expires_at: Timestamp,
}

/// The page of people: accounts and open invitations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeoplePage {
    pub people: Vec<PersonRow>,
    pub invitations: Vec<Invitation>,
}

/// Who is signed in, if anybody is.
#[server(endpoint = "current-person", output = Reply)]
pub async fn current_person() -> Result<Option<Person>, AppError> {
    Ok(signed_in())
}

/// What an invitation link is worth, before it is used.
#[server(endpoint = "read-invitation", output = Reply)]
pub async fn read_invitation(token: String) -> Result<Role, AppError> {
    crate::error::answer(port::people()?.invitation(&token).await)
}

/// Uses a one-time link: makes the account and signs in. Sends the browser to the home page.
#[server(endpoint = "accept-invitation", output = Reply)]
pub async fn accept_invitation(
    token: String,
    name: String,
    password: String,
    password_again: String,
) -> Result<(), AppError> {
    let fields = [("name", name.as_str())];
    crate::error::answer_form::<AcceptInvitation, _>(
        &format!("/invitation/{token}"),
        &fields,
        async {
            if password != password_again {
                return Err(AppError::invalid(
                    "password_again",
                    "The two passwords differ.",
                ));
            }
            let sign_in = port::people()?.accept(&token, &name, &password).await?;
            proof::set_cookie(&sign_in)?;
            leptos_axum::redirect("/");
            Ok(())
        }
        .await,
    )
}

/// Signs in and sends the browser where it wanted to go.
#[server(endpoint = "sign-in", output = Reply)]
pub async fn sign_in(name: String, password: String, next: Option<String>) -> Result<(), AppError> {
    let fields = [
        ("name", name.as_str()),
        ("next", next.as_deref().unwrap_or_default()),
    ];
    crate::error::answer_form::<SignIn, _>(
        "/sign-in",
        &fields,
        async {
            let sign_in = port::people()?.sign_in(&name, &password).await?;
            proof::set_cookie(&sign_in)?;
            leptos_axum::redirect(&local_path(next.as_deref()));
            Ok(())
        }
        .await,
    )
}

/// Signs out here; other browsers stay signed in.
#[server(endpoint = "sign-out", output = Reply)]
pub async fn sign_out() -> Result<(), AppError> {
    crate::error::answer(
        async {
            if let Some(token) = proof::cookie_token() {
                port::people()?.sign_out(&token).await?;
            }
            proof::clear_cookie()?;
            leptos_axum::redirect("/sign-in");
            Ok(())
        }
        .await,
    )
}

/// The accounts and open invitations.
#[server(endpoint = "list-people", output = Reply)]
pub async fn list_people() -> Result<PeoplePage, AppError> {
    crate::error::answer(async { port::people()?.list(&admin()?).await }.await)
}

/// Makes a one-time link for a new account; shown once, to the admin who made it.
#[server(endpoint = "invite-person", output = Reply)]
pub async fn invite_person(role: String) -> Result<String, AppError> {
    crate::error::answer(
        async {
            let path = port::people()?.invite(&admin()?, role.parse()?).await?;
            proof::hand_over_invitation(&path)?;
            Ok(path)
        }
        .await,
    )
}

/// The link that was just made by a form without JavaScript; it can be read once.
#[server(endpoint = "take-invitation", output = Reply)]
pub async fn take_invitation() -> Result<Option<String>, AppError> {
    crate::error::answer(async { proof::take_invitation(&admin()?) }.await)
}

/// Changes what somebody may do.
#[server(endpoint = "set-role", output = Reply)]
pub async fn set_role(person: PersonId, role: String) -> Result<(), AppError> {
    crate::error::answer(
        async {
            port::people()?
                .set_role(&admin()?, person, role.parse()?)
                .await
        }
        .await,
    )
}

/// Removes an account and its sign-ins. What the person did stays in the sessions.
#[server(endpoint = "remove-person", output = Reply)]
pub async fn remove_person(person: PersonId) -> Result<(), AppError> {
    crate::error::answer(async { port::people()?.remove(&admin()?, person).await }.await)
}

/// A path on this server, or the home page: a sign-in must not send people elsewhere.
#[cfg(any(feature = "ssr", test))]
fn local_path(next: Option<&str>) -> String {
    match next {
        Some(path)
            if path.starts_with('/')
                && !path.starts_with("//")
                && !path.contains(['\\', '\r', '\n', '\t', '\0']) =>
        {
            path.to_owned()
        }
        _ => "/".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::local_path;

    #[test]
    fn sign_in_leads_only_to_paths_of_this_server() {
        for (next, expected) in [
            (Some("/sessions/1?x=2"), "/sessions/1?x=2"),
            (Some("//evil.example/"), "/"),
            (Some("/\\evil.example"), "/"),
            (Some("https://evil.example"), "/"),
            (Some("/\n//evil.example"), "/"),
            (Some("/\t/evil.example"), "/"),
            (None, "/"),
        ] {
            assert_eq!(local_path(next), expected);
        }
    }
}
