//! The interface: pages, components, the server functions they call, and the ports the server
//! implements. This crate never sees SQL, SSH or tokio.

#![recursion_limit = "256"]

mod app;
mod components;
pub mod error;
pub mod hosts;
pub mod pages;
pub mod people;
pub mod runs;
pub mod sessions;

pub use app::{App, shell};
