//! The pages, one file each.

mod home;
mod host;
mod host_new;
mod hosts;
mod invitation;
mod not_found;
mod output;
mod people;
mod run;
mod session;
mod session_new;
mod sessions;
mod sign_in;
mod unavailable;

pub(crate) use home::HomePage;
pub(crate) use host::HostPage;
pub(crate) use host_new::NewHostPage;
pub(crate) use hosts::HostsPage;
pub(crate) use invitation::InvitationPage;
pub(crate) use not_found::NotFoundPage;
pub(crate) use output::OutputPage;
pub(crate) use people::PeoplePage;
pub(crate) use run::RunPage;
pub(crate) use session::SessionPage;
pub(crate) use session_new::NewSessionPage;
pub(crate) use sessions::SessionsPage;
pub(crate) use sign_in::SignInPage;
pub use unavailable::unavailable;

use std::str::FromStr;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::error::AppError;

/// The identifier in the page's address; an address with anything else leads nowhere.
fn id_of<T: FromStr>(name: &str, what: &str) -> Result<T, AppError> {
    use_params_map()
        .with(|p| p.get(name))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| AppError::NotFound { what: what.into() })
}
