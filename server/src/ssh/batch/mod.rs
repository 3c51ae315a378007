//! A batch of commands as one script, and the frames that come back. Pure: text and bytes in, values
//! out.

pub mod frame;
mod guest;
mod outcome;
pub mod script;

pub use frame::{Corrupt, Decoder, Event, Frame, How};
pub use outcome::outcome;
pub use script::{EXEC, host_limit_ms, refusal, render, wire_cap};
