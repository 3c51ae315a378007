//! The one engine: `Walk::step` takes what happened and says what to do next. The server executes
//! its requests over SSH, replay feeds recorded results, tests feed values.

mod conclude;
mod context;
mod judge;
mod prepare;

pub(crate) use judge::named;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::ids::{RunKey, StepId};
use crate::knowledge::{Ask, Pack, ParserName, Question, Step, Target, Tree, Undetermined};
use crate::parse::{ParseError, parse};
use crate::run::{Command, RunResult, RunStatus};
use crate::session::{Answer, Ends};
use crate::template::Templates;
use crate::verdict::{Conclusion, Family, Finding, NotLooked};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Answer { step: StepId, answer: Answer },
    RunDone { key: RunKey, result: RunResult },
}

/// Something to do next. Requests of one step come together; those of one host form one batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Ask {
        step: StepId,
        question: Question,
    },
    /// Run this command on the host of this end.
    Check {
        key: RunKey,
        step: StepId,
        title: String,
        end: String,
        command: Command,
        parser: ParserName,
    },
    /// Recorded as it is; the walk has already gone on.
    Found(Finding),
    Conclude(Conclusion),
}

/// A walk through a tree, as a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    ends: Ends,
    stage: Stage,
    /// What was answered, by the name conditions read it by.
    answers: IndexMap<String, Answer>,
    results: IndexMap<RunKey, Held>,
    /// The names of calls that were prepared per family. A family without such a run has no facts under
    /// the name; the name itself is known.
    per_family: Vec<String>,
    findings: Vec<Finding>,
    gaps: Vec<Gap>,
}

/// Where the walk stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stage {
    Asking { step: StepId },
    Running { step: StepId, parts: Vec<Part> },
    Done,
}

/// One judgement of a step: the whole of it, or one IP version's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    family: Option<Family>,
    applies: bool,
    /// Runs without a result.
    waiting: Vec<RunKey>,
    /// Why this cannot be judged: what could not run, be read or be decided.
    problems: Vec<NotLooked>,
}

/// A run's facts, by the names of the step's call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Held {
    name: String,
    family: Option<Family>,
    facts: Facts,
    /// Whether the parser understood every line.
    whole: bool,
}

/// Something not looked at, and whether that was meant: a family that is not configured and an
/// answer nobody knows are, a command that could not run is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Gap {
    not_looked: NotLooked,
    meant: bool,
}

/// The input does not fit where the walk stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    #[error("the walk does not wait for an answer to “{0}”")]
    NotAsked(StepId),
    #[error("“{value}” is not an answer to this question: {expected}")]
    BadAnswer { value: String, expected: String },
    #[error("the walk does not wait for the run “{0}”")]
    NotRequested(RunKey),
    #[error("the knowledge has no step “{0}”")]
    NoStep(StepId),
    #[error("the end “{0}” is not bound")]
    EndNotBound(String),
}

impl Walk {
    /// Starts a walk with its ends bound.
    ///
    /// # Errors
    /// An end of the tree is not bound.
    pub fn start(pack: &Pack, tree: &Tree, ends: Ends) -> Result<(Self, Vec<Request>), WalkError> {
        if let Some(name) = tree.ends.keys().find(|name| !ends.contains_key(*name)) {
            return Err(WalkError::EndNotBound(name.clone()));
        }
        let mut walk = Self {
            ends,
            stage: Stage::Done,
            answers: IndexMap::new(),
            results: IndexMap::new(),
            per_family: Vec::new(),
            findings: Vec::new(),
            gaps: Vec::new(),
        };
        let mut requests = Vec::new();
        walk.enter(pack, tree, &tree.start, &mut requests)?;
        Ok((walk, requests))
    }

    /// Takes one input and gives the walk after it, with what to do next. Unknown or repeated
    /// inputs are refused and change nothing.
    ///
    /// # Errors
    /// The input does not fit where the walk stands.
    pub fn step(
        mut self,
        pack: &Pack,
        tree: &Tree,
        input: Input,
    ) -> Result<(Self, Vec<Request>), WalkError> {
        let mut requests = Vec::new();
        match input {
            Input::Answer { step, answer } => {
                self.answer(pack, tree, &step, answer, &mut requests)?;
            }
            Input::RunDone { key, result } => {
                self.run_done(pack, tree, &key, &result, &mut requests)?;
            }
        }
        Ok((self, requests))
    }

    /// The end of the walk has been reached.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Goes into a step, and on through every step that needs neither a person nor a command.
    fn enter(
        &mut self,
        pack: &Pack,
        tree: &Tree,
        step: &StepId,
        requests: &mut Vec<Request>,
    ) -> Result<(), WalkError> {
        let templates = Templates::shared();
        let mut id = step.clone();
        // The loader refuses cycles; the bound holds for a tree that did not come from it.
        for _ in 0..=tree.steps.len() {
            let step = tree
                .steps
                .get(&id)
                .ok_or_else(|| WalkError::NoStep(id.clone()))?;
            if let Some(ask) = &step.ask {
                requests.push(Request::Ask {
                    question: self.question(templates, step, ask),
                    step: id.clone(),
                });
                self.stage = Stage::Asking { step: id };
                return Ok(());
            }
            if !step.families.is_empty() {
                self.per_family
                    .extend(step.checks.iter().map(|c| c.name.clone()));
            }
            let parts = self.prepare(pack, templates, &id, step, requests);
            if parts.iter().any(|p| !p.waiting.is_empty()) {
                self.stage = Stage::Running { step: id, parts };
                return Ok(());
            }
            match self.judge(pack, templates, &id, step, parts, requests) {
                Some(next) => id = next,
                None => return Ok(()),
            }
        }
        Err(WalkError::NoStep(id))
    }

    fn question(&self, templates: &Templates, step: &Step, ask: &Ask) -> Question {
        let context = self.context(None);
        let text = |t: &str| {
            templates
                .render(t, &context)
                .unwrap_or_else(|_| t.to_owned())
        };
        Question {
            title: text(&step.title),
            question: text(&ask.question),
            why: text(&step.why),
            options: ask.options.clone(),
            kind: ask.kind,
            placeholder: ask.placeholder.clone(),
            if_unknown: text(&ask.if_unknown),
        }
    }

    fn answer(
        &mut self,
        pack: &Pack,
        tree: &Tree,
        id: &StepId,
        answer: Answer,
        requests: &mut Vec<Request>,
    ) -> Result<(), WalkError> {
        if !matches!(&self.stage, Stage::Asking { step } if step == id) {
            return Err(WalkError::NotAsked(id.clone()));
        }
        let step = tree
            .steps
            .get(id)
            .ok_or_else(|| WalkError::NoStep(id.clone()))?;
        let Some(ask) = &step.ask else {
            return Err(WalkError::NotAsked(id.clone()));
        };
        let mut next = ask.then.clone();
        let answer = match answer {
            Answer::Unknown => {
                self.gap(step.title.clone(), ask.if_unknown.clone(), true);
                Answer::Unknown
            }
            Answer::Value(value) => {
                let option = ask.options.iter().find(|o| o.value == value);
                if let Some(goto) = option.and_then(|o| o.goto.clone()) {
                    next = goto;
                }
                let typed = || ask.kind.and_then(|kind| kind.canonical(value.trim()));
                match option.map(|o| o.value.clone()).or_else(typed) {
                    Some(value) => Answer::Value(value),
                    None => {
                        return Err(WalkError::BadAnswer {
                            value,
                            expected: expected(ask),
                        });
                    }
                }
            }
        };
        self.answers.insert(ask.name.clone(), answer);
        self.enter(pack, tree, &next, requests)
    }

    fn run_done(
        &mut self,
        pack: &Pack,
        tree: &Tree,
        key: &RunKey,
        result: &RunResult,
        requests: &mut Vec<Request>,
    ) -> Result<(), WalkError> {
        let not_requested = || WalkError::NotRequested(key.clone());
        let Stage::Running { step: id, parts } = &mut self.stage else {
            return Err(not_requested());
        };
        let part = parts
            .iter_mut()
            .find(|p| p.waiting.contains(key))
            .ok_or_else(not_requested)?;
        let step = tree
            .steps
            .get(id)
            .ok_or_else(|| WalkError::NoStep(id.clone()))?;
        let call = step
            .checks
            .iter()
            .find(|c| prepare::run_key(id, &c.name, part.family) == *key)
            .ok_or_else(not_requested)?;
        let check = pack.checks.get(&call.check).ok_or_else(not_requested)?;
        part.waiting.retain(|k| k != key);
        let parsed = match check.parse {
            Some(parser) => parse(parser, result).map_err(|e| why(result, &e)),
            None => Err("the check has no parser".into()),
        };
        let label = self.ends.get(&call.on).map_or("", |e| e.name.as_str());
        let what = prepare::what(&check.title, label, part.family);
        match parsed {
            Ok(parsed) => {
                let whole = parsed.unparsed.is_empty();
                self.results.insert(
                    key.clone(),
                    Held {
                        name: call.name.clone(),
                        family: part.family,
                        facts: parsed.facts,
                        whole,
                    },
                );
                if !whole {
                    let why = format!(
                        "{} of its lines were not understood, the first “{}”",
                        parsed.unparsed.len(),
                        parsed.unparsed.first().map_or("", String::as_str)
                    );
                    self.gap(what, why, false);
                }
            }
            Err(why) => part.problems.push(NotLooked { what, why }),
        }
        let Stage::Running { step: id, parts } = &self.stage else {
            return Err(not_requested());
        };
        if parts.iter().any(|p| !p.waiting.is_empty()) {
            return Ok(());
        }
        let (id, parts) = (id.clone(), parts.clone());
        match self.judge(pack, Templates::shared(), &id, step, parts, requests) {
            Some(next) => self.enter(pack, tree, &next, requests),
            None => Ok(()),
        }
    }

    /// Records something that was not looked at, once.
    fn gap(&mut self, what: String, why: String, meant: bool) {
        let gap = Gap {
            not_looked: NotLooked { what, why },
            meant,
        };
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }
}

/// What a question accepts, in words.
fn expected(ask: &Ask) -> String {
    let options: Vec<&str> = ask.options.iter().map(|o| o.label.as_str()).collect();
    match (ask.kind, options.is_empty()) {
        (Some(kind), true) => kind.expected().into(),
        (Some(kind), false) => format!("{}, or {}", options.join(", "), kind.expected()),
        (None, _) => options.join(", "),
    }
}

/// Why a run gave no facts, in one clause.
fn why(result: &RunResult, error: &ParseError) -> String {
    match &result.status {
        RunStatus::NotRun { reason } => reason.sentence(),
        RunStatus::Ran { .. } => error.to_string(),
    }
}

/// Where a step goes that could not be judged and does not say itself where.
fn nowhere(reason: &str) -> Target {
    Target::Undetermined(Undetermined {
        reason: reason.to_owned(),
        next: Vec::new(),
    })
}
