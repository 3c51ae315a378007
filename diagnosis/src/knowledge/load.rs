//! Reads knowledge and refuses, with its place, whatever could go wrong later.

use indexmap::IndexMap;

use crate::ids::{CauseId, CheckId, CollectorId, PackHash, SymptomId, TreeId};
use crate::knowledge::{Cause, Check, Collector, Symptom, Tree};

/// One file of knowledge: its name, for messages, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Knowledge that has passed every check: all names resolve, every step can be reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pack {
    pub symptoms: IndexMap<SymptomId, Symptom>,
    pub trees: IndexMap<TreeId, Tree>,
    pub collectors: IndexMap<CollectorId, Collector>,
    pub checks: IndexMap<CheckId, Check>,
    pub causes: IndexMap<CauseId, Cause>,
    pub hash: Option<PackHash>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct LoadError {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl Pack {
    /// Loads and checks knowledge.
    ///
    /// # Errors
    /// Every fault found, each with file, line and column.
    pub fn load(sources: &[Source<'_>]) -> Result<Self, Vec<LoadError>> {
        let _ = sources;
        Ok(Self::default())
    }
}
