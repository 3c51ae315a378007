//! A walk from its session's events: what a restart, a second server and an answer's check stand on.

use std::collections::VecDeque;

use diagnosis::ids::SessionId;
use diagnosis::knowledge::{Pack, Tree};
use diagnosis::run::RunResult;
use diagnosis::session::{Entry, Event, Session};
use diagnosis::walk::{Input, Request, Walk};

use crate::store::{Store, StoreError};

/// A session with its walk, standing where the events leave it.
pub struct Rebuilt {
    pub session: Session,
    pub tree: Tree,
    pub walk: Walk,
    /// What the walk asks for that the events do not have yet, in its order.
    pub pending: VecDeque<Request>,
}

/// Walks the session's inputs again. The inner error says why the session cannot go on: the
/// knowledge has changed since, so its steps may mean something else.
///
/// # Errors
/// The store cannot be read, or holds what is no session.
pub async fn rebuild(
    store: &Store,
    pack: &Pack,
    id: SessionId,
    entries: &[Entry],
) -> Result<Result<Rebuilt, String>, StoreError> {
    let session = Session::fold(id, entries)?;
    if pack.hash.as_ref() != Some(&session.pack) {
        return Ok(Err(
            "The knowledge has changed since this session began, so it cannot go on. Start it again; what it found stays here."
                .into(),
        ));
    }
    let Some(tree) = pack.trees.get(&session.tree).cloned() else {
        return Ok(Err(format!(
            "The knowledge has no tree “{}” any more.",
            session.tree
        )));
    };
    let begun = Walk::start(pack, &tree, session.ends.clone());
    let (mut walk, requests) = match begun {
        Ok(begun) => begun,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut pending: VecDeque<Request> = requests.into();
    for entry in entries {
        let input = match &entry.event {
            Event::Answered { step, answer, .. } => Input::Answer {
                step: step.clone(),
                answer: answer.clone(),
            },
            Event::RunDone { key, record } => {
                let mut result = RunResult {
                    status: record.status.clone(),
                    stdout: Vec::new(),
                    stderr: Vec::new(),
                    took_ms: record.took_ms,
                };
                for (hash, bytes) in [
                    (&record.stdout, &mut result.stdout),
                    (&record.stderr, &mut result.stderr),
                ] {
                    if let Some(hash) = hash {
                        *bytes = store.output(hash).await?.ok_or(StoreError::NotFound {
                            what: "An output of the session",
                        })?;
                    }
                }
                drop_check(&mut pending, key);
                Input::RunDone {
                    key: key.clone(),
                    result,
                }
            }
            Event::Found { .. } | Event::Asked { .. } | Event::Concluded { .. } => {
                drop_recorded(&mut pending, &entry.event);
                continue;
            }
            Event::Started { .. }
            | Event::RunsStarted { .. }
            | Event::Interrupted { .. }
            | Event::Stopped { .. } => {
                continue;
            }
        };
        match walk.step(pack, &tree, input) {
            Ok((next, requests)) => {
                walk = next;
                pending.extend(requests);
            }
            Err(error) => {
                return Ok(Err(format!(
                    "Its events no longer fit the knowledge: {error}."
                )));
            }
        }
    }
    Ok(Ok(Rebuilt {
        session,
        tree,
        walk,
        pending,
    }))
}

/// The request whose result has come is not open any more.
fn drop_check(pending: &mut VecDeque<Request>, key: &diagnosis::ids::RunKey) {
    pending.retain(|request| !matches!(request, Request::Check { key: k, .. } if k == key));
}

/// The first request that this event recorded is not open any more.
fn drop_recorded(pending: &mut VecDeque<Request>, event: &Event) {
    let at = pending.iter().position(|request| {
        matches!(
            (request, event),
            (Request::Found(_), Event::Found { .. })
                | (Request::Ask { .. }, Event::Asked { .. })
                | (Request::Conclude(_), Event::Concluded { .. })
        )
    });
    if let Some(at) = at {
        pending.remove(at);
    }
}
