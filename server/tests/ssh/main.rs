//! The SSH edge against real shells, a real sshd, and servers that misbehave.

#[path = "../support/mod.rs"]
mod support;

mod hostile;
mod openssh;
mod shells;
mod statuses;
