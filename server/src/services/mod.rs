//! The ports of the interface over the store. They write down what shall happen; the runner, in
//! this server or another one on the same database, does it.

mod hosts;
mod runs;
mod sessions;
mod text;

pub use hosts::HostService;
pub use runs::RunService;
pub use sessions::SessionService;
