//! Sessions: one diagnosis each, from the symptom to the conclusion.

#[cfg(feature = "ssr")]
mod port;
#[cfg(feature = "ssr")]
mod view;

use std::collections::BTreeMap;

use diagnosis::facts::Guest;
use diagnosis::ids::{HostId, OutputHash, SessionId, StepId, SymptomId};
use diagnosis::knowledge::Question;
use diagnosis::verdict::{Conclusion, Verdict};
use jiff::Timestamp;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::runs::{CommandView, OutputText};
use crate::wire::Reply;

#[cfg(feature = "ssr")]
pub use port::{GuestRef, Sessions};
#[cfg(feature = "ssr")]
use {
    crate::error::{answer, answer_form},
    crate::people,
    diagnosis::session::Answer,
};

/// A symptom to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymptomCard {
    pub symptom: SymptomId,
    pub title: String,
    pub summary: String,
    pub words: Vec<String>,
}

/// A session in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    /// The ends as people read them, such as "CT 122 (ct122) on pve2".
    pub ends: String,
    pub state: SessionState,
    /// The conclusion, or what it waits for, in one line.
    pub headline: String,
    pub started_by: String,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub started_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub changed_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionState {
    Running,
    Waiting,
    CauseFound,
    NoFaultFound,
    Inconclusive,
    Stopped,
}

impl SessionState {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waits for an answer",
            Self::CauseFound => "cause found",
            Self::NoFaultFound => "no fault found",
            Self::Inconclusive => "inconclusive",
            Self::Stopped => "stopped",
        }
    }
}

/// Everything a session's page shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionPage {
    pub id: SessionId,
    /// Rises with every change: what the page's event stream resumes after.
    pub version: i64,
    pub title: String,
    /// Such as "CT 122 (ct122) on pve2".
    pub ends: Vec<String>,
    /// The form for the same symptom and ends.
    pub again: String,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub started_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub changed_at: Timestamp,
    pub started_by: String,
    pub now: Now,
    pub trail: Vec<Stop>,
    pub evidence: Vec<EvidenceView>,
    pub commands: Vec<CommandView>,
    /// The beginnings of the outputs that evidence points to.
    pub outputs: BTreeMap<OutputHash, OutputText>,
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Now {
    Running,
    /// A person has to answer.
    Waiting {
        step: StepId,
        question: Question,
    },
    Concluded {
        conclusion: Conclusion,
        /// In the order in which it was ruled out.
        ruled_out: Vec<String>,
    },
    Stopped {
        reason: String,
    },
}

impl Now {
    /// Whether more is to come.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        matches!(self, Self::Running | Self::Waiting { .. })
    }
}

/// One place on the way a session took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    Question {
        title: String,
        /// What was answered, and by whom.
        answer: Option<(String, String)>,
    },
    Finding {
        title: String,
        verdict: Verdict,
        message: String,
        rules_out: Vec<String>,
    },
    /// A step whose commands run, or ran without a verdict yet.
    Step {
        title: String,
        commands: usize,
        running: usize,
        not_run: usize,
    },
}

/// A piece of evidence, with the command and the output it is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceView {
    pub says: String,
    /// The deciding words in the output.
    pub marks: Vec<String>,
    /// Which of the page's commands.
    pub command: Option<usize>,
    /// Which of the page's outputs.
    pub output: Option<OutputHash>,
}

/// What a person chooses an end from: every hypervisor with its guests, or why they are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestChoice {
    pub host: HostId,
    pub host_name: String,
    pub guests: Vec<Guest>,
    /// Why there are none to choose, where that needs a word.
    pub note: Option<String>,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::optional")]
    pub as_of: Option<Timestamp>,
}

/// The form that starts a session: the symptom, the ends to bind, the guests to choose from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForm {
    pub symptom: SymptomCard,
    /// Name and title of each end.
    pub ends: Vec<(String, String)>,
    pub choices: Vec<GuestChoice>,
}

/// The symptoms, as people say them.
#[server(endpoint = "list-symptoms", output = Reply)]
pub async fn list_symptoms() -> Result<Vec<SymptomCard>, AppError> {
    answer(async { port::sessions()?.symptoms(&people::viewer()?).await }.await)
}

/// The form for a symptom.
#[server(endpoint = "read-session-form", output = Reply)]
pub async fn read_session_form(symptom: SymptomId) -> Result<SessionForm, AppError> {
    answer(async { port::sessions()?.form(&people::viewer()?, &symptom).await }.await)
}

/// Starts a session and goes to its page. `client` is `HOST/KIND/VMID` as the form writes it.
#[server(endpoint = "start-session", output = Reply)]
pub async fn start_session(symptom: SymptomId, client: String) -> Result<SessionId, AppError> {
    let fields = [("symptom", symptom.as_str()), ("client", client.as_str())];
    answer_form::<StartSession, _>(
        "/sessions/new",
        &fields,
        async {
            let operator = people::operator()?;
            let client: GuestRef = client.parse()?;
            let id = port::sessions()?
                .start(&operator, &symptom, vec![("client".into(), client)])
                .await?;
            leptos_axum::redirect(&format!("/sessions/{id}"));
            Ok(id)
        }
        .await,
    )
}

/// Answers the question of a step. `unknown` present means "I don't know", whatever `value` says.
#[server(endpoint = "answer-question", output = Reply)]
pub async fn answer_question(
    session: SessionId,
    step: StepId,
    value: Option<String>,
    unknown: Option<String>,
) -> Result<(), AppError> {
    answer(
        async {
            let operator = people::operator()?;
            let given = match (
                unknown,
                value.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()),
            ) {
                (Some(_), _) => Answer::Unknown,
                (None, Some(value)) => Answer::Value(value),
                (None, None) => {
                    return Err(AppError::invalid(
                        "value",
                        "Enter an answer, or choose “I don’t know”.",
                    ));
                }
            };
            port::sessions()?
                .answer(&operator, session, &step, given)
                .await?;
            leptos_axum::redirect(&format!("/sessions/{session}"));
            Ok(())
        }
        .await,
    )
}

/// Ends a session without a conclusion.
#[server(endpoint = "stop-session", output = Reply)]
pub async fn stop_session(session: SessionId) -> Result<(), AppError> {
    answer(async { port::sessions()?.stop(&people::operator()?, session).await }.await)
}

/// A session as it stands.
#[server(endpoint = "read-session", output = Reply)]
pub async fn read_session(id: SessionId) -> Result<SessionPage, AppError> {
    answer(async { port::sessions()?.read(&people::viewer()?, id).await }.await)
}

/// The sessions that changed last, newest first; older than `before` where given.
#[server(endpoint = "list-sessions", output = Reply)]
pub async fn list_sessions(before: Option<SessionId>) -> Result<Vec<SessionRow>, AppError> {
    answer(async { port::sessions()?.list(&people::viewer()?, before).await }.await)
}
