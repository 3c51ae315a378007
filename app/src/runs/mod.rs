//! Checks run on one host outside a session, and the raw outputs of everything that ran.

#[cfg(feature = "ssr")]
mod port;

use diagnosis::facts::Facts;
use diagnosis::ids::{CheckId, HostId, OutputHash, RunId};
use diagnosis::run::{Command, RunStatus};
use jiff::Timestamp;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;

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
    pub finished_at: Option<Timestamp>,
    /// Rises with every change: what the page's event stream resumes after.
    pub version: i64,
    pub commands: Vec<RunCommand>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunCommand {
    pub title: String,
    pub command: Command,
    /// `None` while it runs, or when it was interrupted.
    pub result: Option<CommandResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    pub status: RunStatus,
    pub took_ms: u64,
    pub stdout: Option<OutputHash>,
    pub stderr: Option<OutputHash>,
    pub facts: Option<Facts>,
    /// Why there are no facts though the command ran.
    pub no_facts: Option<String>,
    pub unparsed: Vec<String>,
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
#[server(endpoint = "start-run")]
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
#[server(endpoint = "read-run")]
pub async fn read_run(id: RunId) -> Result<RunPage, AppError> {
    answer(async { port::runs()?.read(&people::viewer()?, id).await }.await)
}

/// Stops a run; its commands are ended on the host.
#[server(endpoint = "cancel-run")]
pub async fn cancel_run(id: RunId) -> Result<(), AppError> {
    answer(async { port::runs()?.cancel(&people::operator()?, id).await }.await)
}

/// A raw output, at most `most` bytes of it.
#[server(endpoint = "read-output")]
pub async fn read_output(hash: OutputHash, most: u64) -> Result<OutputText, AppError> {
    answer(async { port::runs()?.output(&people::viewer()?, &hash, most).await }.await)
}
