//! What the interface needs of the accounts; the server implements it.

use std::sync::Arc;

use async_trait::async_trait;
use diagnosis::ids::PersonId;
use leptos::prelude::*;

use super::{Admin, PeoplePage, Role};
use crate::error::AppError;

/// A new sign-in: the token for the cookie, of which only a hash is stored.
#[derive(Clone)]
pub struct NewSignIn {
    pub token: String,
    pub lasts_seconds: u64,
}

#[async_trait]
pub trait People: Send + Sync {
    /// The role a one-time link gives.
    async fn invitation(&self, token: &str) -> Result<Role, AppError>;
    /// Uses a one-time link: the account, signed in.
    async fn accept(&self, token: &str, name: &str, password: &str) -> Result<NewSignIn, AppError>;
    async fn sign_in(&self, name: &str, password: &str) -> Result<NewSignIn, AppError>;
    async fn sign_out(&self, token: &str) -> Result<(), AppError>;
    async fn list(&self, by: &Admin) -> Result<PeoplePage, AppError>;
    /// The path of a new one-time link, such as `/invitation/TOKEN`.
    async fn invite(&self, by: &Admin, role: Role) -> Result<String, AppError>;
    /// Refused for the last admin.
    async fn set_role(&self, by: &Admin, person: PersonId, role: Role) -> Result<(), AppError>;
    /// Refused for the last admin.
    async fn remove(&self, by: &Admin, person: PersonId) -> Result<(), AppError>;
}

pub(super) fn people() -> Result<Arc<dyn People>, AppError> {
    use_context().ok_or_else(|| AppError::Transport {
        message: "the server gave no accounts".into(),
    })
}
