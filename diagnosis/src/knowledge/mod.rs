//! The knowledge: symptoms, trees, collectors, checks and causes, as declared in YAML. The types
//! compile everywhere; the loader, which checks everything it can before anything runs, is part of
//! the engine.

#[cfg(feature = "engine")]
mod load;
mod parsers;
mod types;
mod value;

#[cfg(feature = "engine")]
pub use load::{LoadError, Pack, PlannedCommand, Source};
pub use parsers::{ParserName, UnknownParser};
pub use types::*;
