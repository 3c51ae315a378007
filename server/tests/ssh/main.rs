//! The SSH edge against real shells, a real sshd, and servers that misbehave.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails says so by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod hostile;
mod openssh;
mod shells;
mod statuses;
