//! From what is stored to what a page shows.

use diagnosis::run::{Command, RunRecord, RunStatus};

use super::{CommandView, Outcome, ResultView};

impl CommandView {
    /// A command with what became of it, if anything did yet.
    #[must_use]
    pub fn new(
        title: String,
        host_name: String,
        command: &Command,
        record: Option<RunRecord>,
    ) -> Self {
        Self {
            title,
            host_name,
            command: command.display(),
            place: command.place.words(),
            time_limit_ms: command.time_limit_ms,
            interrupted: 0,
            result: record.map(ResultView::from),
        }
    }
}

impl From<RunRecord> for ResultView {
    fn from(record: RunRecord) -> Self {
        Self {
            outcome: record.status.into(),
            took_ms: record.took_ms,
            stdout: record.stdout,
            stderr: record.stderr,
            facts: record.facts.map(|facts| facts.table()),
            no_facts: record.no_facts,
            unparsed: record.unparsed,
        }
    }
}

impl From<RunStatus> for Outcome {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Ran { exit } => Self::Ran { exit },
            RunStatus::NotRun { reason } => Self::NotRun {
                name: reason.name().to_owned(),
                sentence: reason.sentence(),
                advice: reason.advice().map(str::to_owned),
            },
        }
    }
}
