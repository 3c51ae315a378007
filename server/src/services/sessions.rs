use std::collections::BTreeMap;
use std::sync::Arc;

use app::error::AppError;
use app::hosts::{GuestList, HostRow};
use app::people::{Operator, Person, Viewer};
use app::sessions::{
    GuestChoice, GuestRef, SessionForm, SessionPage, SessionRow, Sessions, SymptomCard,
};
use async_trait::async_trait;
use diagnosis::ids::{PackHash, SessionId, StepId, SymptomId};
use diagnosis::knowledge::{Pack, Symptom, Tree};
use diagnosis::session::{Actor, Answer, BoundGuest, Ends, Event, Phase, Session};
use diagnosis::walk::{Input, WalkError};
use uuid::Uuid;

use super::text::output_text;
use crate::clock::now;
use crate::runner::{Rebuilt, rebuild};
use crate::store::Store;

/// Bytes of each output that evidence on a page shows.
const EVIDENCE_SHOWN: u64 = 16 << 10;
/// Sessions a page of the list has.
const PAGE: u32 = 50;

/// The `Sessions` port.
pub struct SessionService {
    store: Store,
    pack: Arc<Pack>,
}

impl SessionService {
    #[must_use]
    pub const fn new(store: Store, pack: Arc<Pack>) -> Self {
        Self { store, pack }
    }

    fn symptom(&self, id: &SymptomId) -> Result<(&Symptom, &Tree), AppError> {
        self.pack
            .symptoms
            .get(id)
            .and_then(|symptom| Some((symptom, self.pack.trees.get(&symptom.tree)?)))
            .ok_or_else(|| AppError::NotFound {
                what: format!("The symptom “{id}”"),
            })
    }

    async fn session(&self, id: SessionId) -> Result<Session, AppError> {
        self.store.session(id).await?.ok_or_else(not_here)
    }
}

#[async_trait]
impl Sessions for SessionService {
    async fn symptoms(&self, _: &Viewer) -> Result<Vec<SymptomCard>, AppError> {
        Ok(self.pack.symptoms.values().map(card).collect())
    }

    async fn form(&self, _: &Viewer, symptom: &SymptomId) -> Result<SessionForm, AppError> {
        let (symptom, tree) = self.symptom(symptom)?;
        let choices = self
            .store
            .hosts()
            .await?
            .iter()
            .filter_map(choice)
            .collect();
        let ends = tree
            .ends
            .iter()
            .map(|(name, end)| (name.clone(), end.title.clone()))
            .collect();
        Ok(SessionForm {
            symptom: card(symptom),
            ends,
            choices,
        })
    }

    async fn start(
        &self,
        by: &Operator,
        symptom: &SymptomId,
        ends: Vec<(String, GuestRef)>,
    ) -> Result<SessionId, AppError> {
        let (symptom, tree) = self.symptom(symptom)?;
        let hosts = self.store.hosts().await?;
        let mut bound = Ends::new();
        for name in tree.ends.keys() {
            let (_, guest) = ends
                .iter()
                .find(|(given, _)| given == name)
                .ok_or_else(|| AppError::invalid(name, "Choose a guest from the list."))?;
            bound.insert(name.clone(), bind(&hosts, guest, name)?);
        }
        let id = SessionId(Uuid::now_v7());
        let event = Event::Started {
            symptom: symptom.symptom.clone(),
            title: symptom.title.clone(),
            tree: tree.tree.clone(),
            pack: self.pack.hash.clone().unwrap_or_else(|| PackHash::from("")),
            ends: bound,
            by: actor(by.person()),
        };
        self.store.start_session(id, &event, now()).await?;
        Ok(id)
    }

    async fn answer(
        &self,
        by: &Operator,
        id: SessionId,
        step: &StepId,
        answer: Answer,
    ) -> Result<(), AppError> {
        let entries = self.store.entries(id, 0).await?;
        if entries.is_empty() {
            return Err(not_here());
        }
        let Rebuilt {
            session,
            tree,
            walk,
            ..
        } = rebuild(&self.store, &self.pack, id, &entries)
            .await?
            .map_err(|why| AppError::Conflict { message: why })?;
        let Some(asked) = session
            .questions
            .iter()
            .rev()
            .find(|asked| &asked.step == step)
        else {
            return Err(AppError::NotFound {
                what: "This question".into(),
            });
        };
        if asked.answer.is_some() {
            return Err(AppError::Conflict {
                message: "Somebody has answered this question already.".into(),
            });
        }
        let label = match &answer {
            Answer::Unknown => "I don’t know".to_owned(),
            Answer::Value(value) => asked
                .question
                .options
                .iter()
                .find(|option| &option.value == value)
                .map_or_else(|| value.clone(), |option| option.label.clone()),
        };
        let input = Input::Answer {
            step: step.clone(),
            answer: answer.clone(),
        };
        match walk.step(&self.pack, &tree, input) {
            Ok(_) => {}
            Err(WalkError::BadAnswer { value, expected }) => {
                return Err(AppError::invalid(
                    "value",
                    format!("“{value}” is not {expected}."),
                ));
            }
            Err(other) => {
                return Err(AppError::Conflict {
                    message: other.to_string(),
                });
            }
        }
        let event = Event::Answered {
            step: step.clone(),
            answer,
            label,
            by: actor(by.person()),
        };
        // Refused where somebody else came first: the page then shows what they did.
        self.store
            .append(id, Some(session.seq), &[event], now())
            .await?;
        Ok(())
    }

    async fn stop(&self, by: &Operator, id: SessionId) -> Result<(), AppError> {
        let session = self.session(id).await?;
        if matches!(session.phase, Phase::Concluded | Phase::Stopped { .. }) {
            return Ok(());
        }
        let event = Event::Stopped {
            reason: format!("{} stopped it.", by.person().name),
        };
        self.store.append(id, None, &[event], now()).await?;
        Ok(())
    }

    async fn read(&self, _: &Viewer, id: SessionId) -> Result<SessionPage, AppError> {
        let session = self.session(id).await?;
        let mut outputs = BTreeMap::new();
        let evidence = session
            .findings
            .iter()
            .flat_map(|finding| &finding.evidence)
            .chain(
                session
                    .conclusion
                    .iter()
                    .flat_map(diagnosis::verdict::Conclusion::evidence),
            );
        for evidence in evidence {
            let Some(done) = session
                .runs
                .get(&evidence.run)
                .and_then(|run| run.done.as_ref())
            else {
                continue;
            };
            for hash in done.stdout.iter().chain(&done.stderr) {
                if outputs.contains_key(hash) {
                    continue;
                }
                if let Some(bytes) = self.store.output(hash).await? {
                    outputs.insert(hash.clone(), output_text(&bytes, EVIDENCE_SHOWN));
                }
            }
        }
        Ok(SessionPage::new(&session, outputs))
    }

    async fn list(
        &self,
        _: &Viewer,
        before: Option<SessionId>,
    ) -> Result<Vec<SessionRow>, AppError> {
        Ok(self.store.sessions(before, PAGE).await?)
    }
}

fn card(symptom: &Symptom) -> SymptomCard {
    SymptomCard {
        symptom: symptom.symptom.clone(),
        title: symptom.title.clone(),
        summary: symptom.summary.clone(),
        words: symptom.words.clone(),
    }
}

/// What a host offers to choose from. Hosts that are no hypervisors offer nothing and are left out.
fn choice(row: &HostRow) -> Option<GuestChoice> {
    let (guests, note) = match row.check.as_ref().map(|check| &check.guests) {
        Some(GuestList::NotAHypervisor) => return None,
        Some(GuestList::Known { guests }) if guests.is_empty() => (
            Vec::new(),
            Some("This hypervisor has no guests.".to_owned()),
        ),
        Some(GuestList::Known { guests }) => (guests.clone(), None),
        Some(GuestList::NotRun { reason }) => (
            Vec::new(),
            Some(format!("Its guests are not known: {}.", reason.sentence())),
        ),
        Some(GuestList::NotUnderstood { detail }) => (
            Vec::new(),
            Some(format!("Its list of guests could not be read: {detail}.")),
        ),
        None if row.checking => (Vec::new(), Some("Hopwise is looking at it now.".to_owned())),
        None => (
            Vec::new(),
            Some("Nobody has looked at it yet: open its page and check it.".to_owned()),
        ),
    };
    Some(GuestChoice {
        host: row.host.id,
        host_name: row.host.name.clone(),
        guests,
        note,
        as_of: row.check.as_ref().and_then(|check| check.read_at),
    })
}

fn bind(hosts: &[HostRow], guest: &GuestRef, field: &str) -> Result<BoundGuest, AppError> {
    let gone = || {
        AppError::invalid(
            field,
            "This guest is not in its hypervisor’s list any more. Choose again.",
        )
    };
    let row = hosts
        .iter()
        .find(|row| row.host.id == guest.host)
        .ok_or_else(gone)?;
    let Some(GuestList::Known { guests }) = row.check.as_ref().map(|check| &check.guests) else {
        return Err(gone());
    };
    let known = guests
        .iter()
        .find(|g| g.vmid == guest.vmid && g.kind == guest.kind)
        .ok_or_else(gone)?;
    Ok(BoundGuest {
        host: row.host.id,
        host_name: row.host.name.clone(),
        kind: known.kind,
        vmid: known.vmid,
        name: known.name.clone(),
    })
}

fn actor(person: &Person) -> Actor {
    Actor {
        id: person.id,
        name: person.name.clone(),
    }
}

fn not_here() -> AppError {
    AppError::NotFound {
        what: "This session".into(),
    }
}
