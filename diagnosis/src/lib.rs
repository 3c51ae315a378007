//! What a diagnosis *is*: facts and the parsers that make them, the declarative trees and the walk
//! through them, verdicts, causes and conclusions. Values go in, values come out: nothing here does
//! IO, reads a clock or knows a random source. The types compile for the browser; the engine
//! (loader, parsers, walk) is behind the feature `engine`, which only the server turns on.

pub mod connection;
#[cfg(feature = "engine")]
pub mod derived;
pub mod facts;
pub mod ids;
pub mod knowledge;
#[cfg(feature = "engine")]
pub mod parse;
pub mod run;
pub mod session;
pub mod table;
#[cfg(feature = "engine")]
mod template;
pub mod verdict;
#[cfg(feature = "engine")]
pub mod walk;
