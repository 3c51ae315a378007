//! What the interface needs of the sessions; the server implements it.

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use diagnosis::facts::GuestKind;
use diagnosis::ids::{HostId, SessionId, StepId, SymptomId, Vmid};
use diagnosis::session::Answer;
use leptos::prelude::*;

use super::{SessionForm, SessionPage, SessionRow, SymptomCard};
use crate::error::AppError;
use crate::people::{Operator, Viewer};

/// A guest as the form names it: `HOST/container/122`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestRef {
    pub host: HostId,
    pub kind: GuestKind,
    pub vmid: Vmid,
}

impl FromStr for GuestRef {
    type Err = AppError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || AppError::invalid("client", "Choose a guest from the list.");
        let mut parts = text.split('/');
        let (Some(host), Some(kind), Some(vmid), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        Ok(Self {
            host: host.parse().map_err(|_| bad())?,
            kind: match kind {
                "container" => GuestKind::Container,
                "virtual-machine" => GuestKind::VirtualMachine,
                _ => return Err(bad()),
            },
            vmid: Vmid(vmid.parse().map_err(|_| bad())?),
        })
    }
}

#[async_trait]
pub trait Sessions: Send + Sync {
    async fn symptoms(&self, by: &Viewer) -> Result<Vec<SymptomCard>, AppError>;
    async fn form(&self, by: &Viewer, symptom: &SymptomId) -> Result<SessionForm, AppError>;
    async fn start(
        &self,
        by: &Operator,
        symptom: &SymptomId,
        ends: Vec<(String, GuestRef)>,
    ) -> Result<SessionId, AppError>;
    async fn answer(
        &self,
        by: &Operator,
        id: SessionId,
        step: &StepId,
        answer: Answer,
    ) -> Result<(), AppError>;
    async fn stop(&self, by: &Operator, id: SessionId) -> Result<(), AppError>;
    async fn read(&self, by: &Viewer, id: SessionId) -> Result<SessionPage, AppError>;
    async fn list(
        &self,
        by: &Viewer,
        before: Option<SessionId>,
    ) -> Result<Vec<SessionRow>, AppError>;
}

pub(super) fn sessions() -> Result<Arc<dyn Sessions>, AppError> {
    use_context().ok_or_else(|| AppError::Transport {
        message: "the server gave no sessions".into(),
    })
}
