//! A session: an append-only list of versioned events, and the state that is their fold. Texts and
//! verdicts are stored as they were rendered, so that a later edit of the knowledge rewrites nothing.

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::facts::GuestKind;
use crate::ids::{HostId, PackHash, PersonId, RunKey, SessionId, StepId, SymptomId, TreeId, Vmid};
use crate::knowledge::Question;
use crate::run::{Command, RunRecord};
use crate::verdict::{Conclusion, Finding};

/// The version that new events are written with.
pub const EVENT_VERSION: u16 = 1;

/// A guest as one end of a diagnosis, with the host it runs on. Names are as they were when bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundGuest {
    pub host: HostId,
    pub host_name: String,
    pub kind: GuestKind,
    pub vmid: Vmid,
    pub name: String,
}

impl BoundGuest {
    /// Such as "CT 122 (ct122) on pve2".
    #[must_use]
    pub fn label(&self) -> String {
        format!(
            "{} {} ({}) on {}",
            self.kind.short(),
            self.vmid,
            self.name,
            self.host_name
        )
    }
}

/// Who talks to whom in one diagnosis: ends by name, such as `client`.
pub type Ends = IndexMap<String, BoundGuest>;

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// One of the options, or a value of the question's type.
    Value(String),
    Unknown,
}

/// Who did something, with the name they had then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub id: PersonId,
    pub name: String,
}

/// A command that was sent to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHead {
    pub key: RunKey,
    pub step: StepId,
    pub title: String,
    pub host: HostId,
    pub host_name: String,
    pub command: Command,
}

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    Started {
        symptom: SymptomId,
        title: String,
        tree: TreeId,
        pack: PackHash,
        ends: Ends,
        by: Actor,
    },
    Asked {
        step: StepId,
        question: Question,
    },
    Answered {
        step: StepId,
        answer: Answer,
        label: String,
        by: Actor,
    },
    /// Commands are about to go to their hosts, in one batch a host.
    RunsStarted {
        runs: Vec<RunHead>,
    },
    RunDone {
        key: RunKey,
        record: RunRecord,
    },
    Found {
        finding: Finding,
    },
    Concluded {
        conclusion: Conclusion,
    },
    /// The server ended while these commands ran; they are run again, and this says so.
    Interrupted {
        keys: Vec<RunKey>,
    },
    /// The session cannot go on, for a reason that is not about the network.
    Stopped {
        reason: String,
    },
}

/// An event with its place in the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub seq: i64,
    pub at: Timestamp,
    pub version: u16,
    pub event: Event,
}

/// A command in a session, with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRun {
    pub head: RunHead,
    pub started_at: Timestamp,
    pub done: Option<RunRecord>,
    /// How often it was interrupted and started again.
    pub interrupted: u32,
}

/// A question, and its answer once there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub step: StepId,
    pub question: Question,
    pub answer: Option<Answered>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    pub answer: Answer,
    pub label: String,
    pub by: Actor,
    pub at: Timestamp,
}

/// What a session waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Commands run, or are about to.
    Running,
    /// A person has to answer the question of this step.
    Waiting {
        step: StepId,
    },
    Concluded,
    Stopped {
        reason: String,
    },
}

/// The state of a session: the fold of its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    /// The last event folded in.
    pub seq: i64,
    pub started_at: Timestamp,
    pub changed_at: Timestamp,
    pub symptom: SymptomId,
    pub title: String,
    pub tree: TreeId,
    pub pack: PackHash,
    pub ends: Ends,
    pub started_by: Actor,
    pub phase: Phase,
    pub questions: Vec<Asked>,
    pub runs: IndexMap<RunKey, SessionRun>,
    pub findings: Vec<Finding>,
    pub conclusion: Option<Conclusion>,
}

/// Why a list of events is not a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    #[error("session {0} has no events")]
    Empty(SessionId),
    #[error("session {0} does not begin with its start")]
    NoStart(SessionId),
    #[error("session {session} jumps from event {after} to {found}")]
    Gap {
        session: SessionId,
        after: i64,
        found: i64,
    },
    #[error(
        "session {session}, event {seq}: written by version {version}, newer than this program"
    )]
    Newer {
        session: SessionId,
        seq: i64,
        version: u16,
    },
}

impl Session {
    /// Folds a session's events, which must be all of them, in order, from 1.
    ///
    /// # Errors
    /// Says where the list is not a session's.
    pub fn fold(id: SessionId, entries: &[Entry]) -> Result<Self, FoldError> {
        let (first, rest) = entries.split_first().ok_or(FoldError::Empty(id))?;
        let Event::Started {
            symptom,
            title,
            tree,
            pack,
            ends,
            by,
        } = &first.event
        else {
            return Err(FoldError::NoStart(id));
        };
        let mut session = Self {
            id,
            seq: first.seq,
            started_at: first.at,
            changed_at: first.at,
            symptom: symptom.clone(),
            title: title.clone(),
            tree: tree.clone(),
            pack: pack.clone(),
            ends: ends.clone(),
            started_by: by.clone(),
            phase: Phase::Running,
            questions: Vec::new(),
            runs: IndexMap::new(),
            findings: Vec::new(),
            conclusion: None,
        };
        for entry in rest {
            session.apply(entry)?;
        }
        Ok(session)
    }

    /// Folds one more event in.
    ///
    /// # Errors
    /// The event is not the next one, or was written by a newer program.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), FoldError> {
        if entry.seq != self.seq + 1 {
            return Err(FoldError::Gap {
                session: self.id,
                after: self.seq,
                found: entry.seq,
            });
        }
        if entry.version > EVENT_VERSION {
            return Err(FoldError::Newer {
                session: self.id,
                seq: entry.seq,
                version: entry.version,
            });
        }
        self.seq = entry.seq;
        self.changed_at = entry.at;
        match &entry.event {
            Event::Started { .. } => return Err(FoldError::NoStart(self.id)),
            Event::Asked { step, question } => {
                self.questions.push(Asked {
                    step: step.clone(),
                    question: question.clone(),
                    answer: None,
                });
                self.phase = Phase::Waiting { step: step.clone() };
            }
            Event::Answered {
                step,
                answer,
                label,
                by,
            } => {
                if let Some(asked) = self.questions.iter_mut().rev().find(|a| &a.step == step) {
                    asked.answer = Some(Answered {
                        answer: answer.clone(),
                        label: label.clone(),
                        by: by.clone(),
                        at: entry.at,
                    });
                }
                self.phase = Phase::Running;
            }
            Event::RunsStarted { runs } => {
                for head in runs {
                    let interrupted = self.runs.get(&head.key).map_or(0, |r| r.interrupted);
                    self.runs.insert(
                        head.key.clone(),
                        SessionRun {
                            head: head.clone(),
                            started_at: entry.at,
                            done: None,
                            interrupted,
                        },
                    );
                }
                self.phase = Phase::Running;
            }
            Event::RunDone { key, record } => {
                if let Some(run) = self.runs.get_mut(key) {
                    run.done = Some(record.clone());
                }
            }
            Event::Found { finding } => self.findings.push(finding.clone()),
            Event::Concluded { conclusion } => {
                self.conclusion = Some(conclusion.clone());
                self.phase = Phase::Concluded;
            }
            Event::Interrupted { keys } => {
                for key in keys {
                    if let Some(run) = self.runs.get_mut(key) {
                        run.interrupted += 1;
                    }
                }
            }
            Event::Stopped { reason } => {
                self.phase = Phase::Stopped {
                    reason: reason.clone(),
                }
            }
        }
        Ok(())
    }

    /// Commands that were started and have no result: after a restart, those that were interrupted.
    #[must_use]
    pub fn open_runs(&self) -> Vec<RunKey> {
        self.runs
            .iter()
            .filter(|(_, r)| r.done.is_none())
            .map(|(k, _)| k.clone())
            .collect()
    }
}
