//! Reads knowledge and refuses, with its place, whatever could go wrong later.

mod commands;
mod document;
mod names;
mod places;
mod reads;
#[cfg(test)]
mod tests;
mod tree;
mod yaml;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use sha2::{Digest, Sha256};

use crate::ids::{CauseId, CheckId, CollectorId, PackHash, SymptomId, TreeId};
use crate::knowledge::{Cause, Check, Collector, Inside, ParserName, Symptom, Tree};
use crate::run::{Command, Place};
use document::Document;
use places::Places;

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

/// A document with where its parts stand.
struct Placed<T> {
    value: T,
    places: Places,
}

/// Everything read, before and while its names are checked.
#[derive(Default)]
struct Draft {
    symptoms: IndexMap<SymptomId, Placed<Symptom>>,
    trees: IndexMap<TreeId, Placed<Tree>>,
    collectors: IndexMap<CollectorId, Placed<Collector>>,
    checks: IndexMap<CheckId, Placed<Check>>,
    causes: IndexMap<CauseId, Placed<Cause>>,
    errors: Vec<LoadError>,
}

impl Pack {
    /// Loads and checks knowledge.
    ///
    /// # Errors
    /// Every fault found, each with file, line and column.
    pub fn load(sources: &[Source<'_>]) -> Result<Self, Vec<LoadError>> {
        let mut draft = Draft::default();
        for source in sources {
            match document::read(source) {
                Ok(documents) => {
                    for (document, places) in documents {
                        draft.add(document, places);
                    }
                }
                Err(error) => draft.errors.push(error),
            }
        }
        // A file that could not be read would make every name in it dangle.
        if draft.errors.is_empty() {
            draft.check();
        }
        if draft.errors.is_empty() {
            Ok(Self {
                symptoms: values(draft.symptoms),
                trees: values(draft.trees),
                collectors: values(draft.collectors),
                checks: values(draft.checks),
                causes: values(draft.causes),
                hash: Some(hash(sources)),
            })
        } else {
            let mut errors = draft.errors;
            errors.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
            errors.dedup();
            Err(errors)
        }
    }

    /// What a check runs on a host by itself: its collectors' commands, or its own if it takes no
    /// parameters and runs on the host. `None` for a check the pack does not have; empty for one that
    /// needs a tree to call it.
    #[must_use]
    pub fn commands_for(&self, check: &CheckId) -> Option<Vec<PlannedCommand>> {
        let check = self.checks.get(check)?;
        let own = check
            .parse
            .filter(|_| check.parameters.is_empty() && check.inside == Inside::Host)
            .map(|parser| {
                let command = Command {
                    argv: check.run.clone(),
                    place: Place::Host,
                    safety: check.safety,
                    time_limit_ms: check.time_limit.milliseconds,
                    output_cap: check.output_cap,
                };
                PlannedCommand {
                    title: check.title.clone(),
                    command,
                    parser,
                }
            });
        let collected = check
            .collects
            .iter()
            .filter_map(|id| self.collectors.get(id))
            .map(|c| PlannedCommand {
                title: c.title.clone(),
                command: c.command(),
                parser: c.parse,
            });
        Some(own.into_iter().chain(collected).collect())
    }
}

/// A command that is ready to run, with the parser for its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCommand {
    pub title: String,
    pub command: Command,
    pub parser: ParserName,
}

impl Collector {
    /// The command of this collector on a host.
    #[must_use]
    pub fn command(&self) -> Command {
        Command {
            argv: self.run.clone(),
            place: Place::Host,
            safety: self.safety,
            time_limit_ms: self.time_limit.milliseconds,
            output_cap: self.output_cap,
        }
    }
}

fn values<K: std::hash::Hash + Eq, T>(map: IndexMap<K, Placed<T>>) -> IndexMap<K, T> {
    map.into_iter().map(|(k, v)| (k, v.value)).collect()
}

/// Over the files in the order of their names, so that the order they were found in does not matter.
/// Lengths keep one file's end apart from the next one's beginning.
fn hash(sources: &[Source<'_>]) -> PackHash {
    let mut hasher = Sha256::new();
    let sorted: BTreeMap<&str, &str> = sources.iter().map(|s| (s.name, s.text)).collect();
    for part in sorted.iter().flat_map(|(name, text)| [*name, *text]) {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    PackHash(
        hasher
            .finalize()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect(),
    )
}

impl Draft {
    fn add(&mut self, document: Document, places: Places) {
        fn put<K: std::hash::Hash + Eq + Clone + std::fmt::Display, T>(
            map: &mut IndexMap<K, Placed<T>>,
            errors: &mut Vec<LoadError>,
            (kind, id): (&str, K),
            value: T,
            places: Places,
        ) {
            if let Some(first) = map.get(&id) {
                let message = format!("the {kind} “{id}” is already in {}", first.places.start());
                errors.push(places.error(&[kind], message));
            } else if !is_name(&id.to_string()) {
                let message = format!(
                    "“{id}” is not a name: lower-case letters, digits and hyphens, beginning with a letter"
                );
                errors.push(places.error(&[kind], message));
            } else {
                map.insert(id, Placed { value, places });
            }
        }
        let errors = &mut self.errors;
        match document {
            Document::Symptom(s) => put(
                &mut self.symptoms,
                errors,
                ("symptom", s.symptom.clone()),
                s,
                places,
            ),
            Document::Tree(t) => put(&mut self.trees, errors, ("tree", t.tree.clone()), t, places),
            Document::Collector(c) => put(
                &mut self.collectors,
                errors,
                ("collect", c.collect.clone()),
                c,
                places,
            ),
            Document::Check(c) => put(
                &mut self.checks,
                errors,
                ("check", c.check.clone()),
                c,
                places,
            ),
            Document::Cause(c) => put(
                &mut self.causes,
                errors,
                ("cause", c.cause.clone()),
                c,
                places,
            ),
        }
    }

    fn check(&mut self) {
        names::check(self);
        commands::check(self);
        tree::check(self);
    }
}

/// Whether a name is one: it becomes part of run keys and addresses of pages.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}
