//! The server: HTTP, accounts, SSH, the runner and the store, behind the interface's ports.

pub mod people;
pub mod postgres;
pub mod store;
