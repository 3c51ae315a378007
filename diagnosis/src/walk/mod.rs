//! The one engine: `Walk::step` takes what happened and says what to do next. The server executes
//! its requests over SSH, replay feeds recorded results, tests feed values.

use serde::{Deserialize, Serialize};

use crate::ids::{RunKey, StepId};
use crate::knowledge::{Pack, Question, Tree};
use crate::run::{Command, RunResult};
use crate::session::{Answer, Ends};
use crate::verdict::{Conclusion, Finding};

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
    },
    /// Recorded as it is; the walk has already gone on.
    Found(Finding),
    Conclude(Conclusion),
}

/// A walk through a tree, as a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    ends: Ends,
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
        let _ = (pack, tree);
        Ok((Self { ends }, Vec::new()))
    }

    /// Takes one input and gives the walk after it, with what to do next. Unknown or repeated
    /// inputs are refused and change nothing.
    ///
    /// # Errors
    /// The input does not fit where the walk stands.
    pub fn step(
        self,
        pack: &Pack,
        tree: &Tree,
        input: Input,
    ) -> Result<(Self, Vec<Request>), WalkError> {
        let _ = (pack, tree, input);
        Ok((self, Vec::new()))
    }
}
