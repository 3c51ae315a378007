//! What the interface needs of the runs; the server implements it.

use std::sync::Arc;

use async_trait::async_trait;
use diagnosis::ids::{HostId, OutputHash, RunId};
use leptos::prelude::*;

use super::{OutputText, RunPage};
use crate::error::AppError;
use crate::people::{Operator, Viewer};

#[async_trait]
pub trait Runs: Send + Sync {
    async fn start(&self, by: &Operator, host: HostId, check: &str) -> Result<RunId, AppError>;
    async fn read(&self, by: &Viewer, id: RunId) -> Result<RunPage, AppError>;
    async fn cancel(&self, by: &Operator, id: RunId) -> Result<(), AppError>;
    async fn output(
        &self,
        by: &Viewer,
        hash: &OutputHash,
        most: u64,
    ) -> Result<OutputText, AppError>;
}

pub(super) fn runs() -> Result<Arc<dyn Runs>, AppError> {
    use_context().ok_or_else(|| AppError::Transport {
        message: "the server gave no runs".into(),
    })
}
