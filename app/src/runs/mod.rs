//! Checks run on one host outside a session, and the raw outputs of everything that ran.

#[cfg(feature = "ssr")]
mod port;
#[cfg(feature = "ssr")]
mod view;

use diagnosis::ids::{CheckId, HostId, OutputHash, RunId};
use diagnosis::table::Table;
use jiff::Timestamp;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::wire::Reply;

#[cfg(feature = "ssr")]
pub use port::Runs;
#[cfg(feature = "ssr")]
use {crate::error::answer, crate::people};

/// Where a run of a check stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    Running,
    /// Every command has its result, though it may be "not run".
    Done,
    /// The server ended while it ran.
    Interrupted,
    /// Somebody stopped it.
    Cancelled,
}

impl RunState {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    pub id: RunId,
    pub title: String,
    pub state: RunState,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub started_at: Timestamp,
    pub started_by: String,
}

/// A run with its commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPage {
    pub row: RunRow,
    pub check: CheckId,
    pub host: HostId,
    pub host_name: String,
    pub why: Option<String>,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::optional")]
    pub finished_at: Option<Timestamp>,
    /// Rises with every change: what the page's event stream resumes after.
    pub version: i64,
    pub commands: Vec<CommandView>,
}

/// A command with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandView {
    pub title: String,
    pub host_name: String,
    /// As people read it; nothing runs this text.
    pub command: String,
    /// Where it runs when that is not the host itself.
    pub place: Option<String>,
    pub time_limit_ms: u64,
    /// How often it was interrupted and started again.
    pub interrupted: u32,
    /// `None` while it runs, or when it was interrupted.
    pub result: Option<ResultView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultView {
    pub outcome: Outcome,
    pub took_ms: u64,
    pub stdout: Option<OutputHash>,
    pub stderr: Option<OutputHash>,
    pub facts: Option<Table>,
    /// Why there are no facts though the command ran.
    pub no_facts: Option<String>,
    pub unparsed: Vec<String>,
}

/// Whether a command ran to its end; a run status as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Ran {
        exit: i32,
    },
    NotRun {
        name: String,
        sentence: String,
        advice: Option<String>,
    },
}

impl ResultView {
    #[must_use]
    pub const fn ran(&self) -> bool {
        matches!(self.outcome, Outcome::Ran { .. })
    }
}

/// A raw output, made fit for a page: what is not printable is shown as its escape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputText {
    pub text: String,
    /// Bytes that were kept.
    pub bytes: u64,
    /// Bytes of them that `text` stands for.
    pub shown: u64,
    /// Some bytes were not UTF-8 or were control characters.
    pub escaped: bool,
}

/// Runs a check on a host and goes to the run's page.
#[server(endpoint = "start-run", output = Reply)]
pub async fn start_run(host: HostId, check: String) -> Result<RunId, AppError> {
    answer(
        async {
            let id = port::runs()?
                .start(&people::operator()?, host, &check)
                .await?;
            leptos_axum::redirect(&format!("/runs/{id}"));
            Ok(id)
        }
        .await,
    )
}

/// A run with what is known of it so far.
#[server(endpoint = "read-run", output = Reply)]
pub async fn read_run(id: RunId) -> Result<RunPage, AppError> {
    answer(async { port::runs()?.read(&people::viewer()?, id).await }.await)
}

/// Stops a run; its commands are ended on the host.
#[server(endpoint = "cancel-run", output = Reply)]
pub async fn cancel_run(id: RunId) -> Result<(), AppError> {
    answer(async { port::runs()?.cancel(&people::operator()?, id).await }.await)
}

/// A raw output, at most `most` bytes of it.
#[server(endpoint = "read-output", output = Reply)]
pub async fn read_output(hash: OutputHash, most: u64) -> Result<OutputText, AppError> {
    answer(async { port::runs()?.output(&people::viewer()?, &hash, most).await }.await)
}
