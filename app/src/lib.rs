//! The interface: pages, components, the server functions they call, and the ports the server
//! implements. This crate never sees SQL, SSH or tokio.

#![recursion_limit = "256"]

#[expect(unreachable_pub, reason = "the component macro makes its types public")]
mod app;
#[expect(unreachable_pub, reason = "the component macro makes its types public")]
mod components;
pub mod error;
#[expect(
    clippy::too_many_arguments,
    reason = "a form's fields are its server function's arguments"
)]
pub mod hosts;
#[expect(unreachable_pub, reason = "the component macro makes its types public")]
pub mod pages;
pub mod people;
pub mod runs;
pub mod sessions;
pub mod wire;

pub use app::{App, shell};
