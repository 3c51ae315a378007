//! A session in one row: a pure function of its fold, used when events are appended and again by
//! the test that rebuilds every row.

use app::sessions::SessionState;
use diagnosis::session::{Phase, Session};
use diagnosis::verdict::Conclusion;

/// What lists show of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub title: String,
    pub ends: String,
    pub state: SessionState,
    pub headline: String,
    pub started_by: String,
}

/// The summary of a session as it stands.
#[must_use]
pub fn summary(session: &Session) -> Summary {
    let one_line = |text: &str| super::row::text(text.trim()).replace(['\r', '\n'], " ");
    let ends: Vec<String> = session.ends.values().map(|e| e.label()).collect();
    let (state, headline) = standing(session);
    Summary {
        title: one_line(&session.title),
        ends: one_line(&ends.join(", ")),
        state,
        headline: one_line(&headline),
        started_by: one_line(&session.started_by.name),
    }
}

fn standing(session: &Session) -> (SessionState, String) {
    match (&session.phase, &session.conclusion) {
        (Phase::Stopped { reason }, _) => (SessionState::Stopped, reason.clone()),
        (Phase::Concluded, Some(conclusion)) => {
            let state = match conclusion {
                Conclusion::Cause { .. } => SessionState::CauseFound,
                Conclusion::NoFaultFound { .. } => SessionState::NoFaultFound,
                Conclusion::Inconclusive { .. } => SessionState::Inconclusive,
            };
            (state, conclusion.headline())
        }
        (Phase::Waiting { step }, _) => {
            let question = session.questions.iter().rev().find(|q| &q.step == step);
            let headline =
                question.map_or_else(|| step.to_string(), |q| q.question.question.clone());
            (SessionState::Waiting, headline)
        }
        // A session without a conclusion is not concluded, whatever its phase says.
        (Phase::Running | Phase::Concluded, _) => (SessionState::Running, running(session)),
    }
}

fn running(session: &Session) -> String {
    let mut open = session.runs.values().filter(|r| r.done.is_none());
    match (open.next(), open.count()) {
        (None, _) => "Decides what comes next".into(),
        (Some(run), 0) => format!("Runs “{}”", run.head.title),
        (Some(run), more) => format!("Runs “{}” and {more} more", run.head.title),
    }
}
