//! The pages and server functions over a real database, without a network in between.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper that fails fails its test"
)]

#[path = "../support/postgres.rs"]
#[allow(dead_code, reason = "each test program uses its part")]
mod postgres;

mod functions;
mod pages;
mod site;
