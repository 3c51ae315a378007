//! The store, the accounts and the private cluster, on a real PostgreSQL.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper that fails fails its test"
)]

#[path = "../support/postgres.rs"]
mod postgres;

mod cli;
mod cluster;
mod hosts;
mod live;
mod outputs;
mod people;
mod runs;
mod samples;
mod schema;
mod sessions;
