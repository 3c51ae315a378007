use std::sync::Arc;

use app::error::AppError;
use app::people::{Operator, Viewer};
use app::runs::{CommandView, OutputText, RunPage, RunState, Runs};
use async_trait::async_trait;
use diagnosis::ids::{CheckId, HostId, OutputHash, RunId};
use diagnosis::knowledge::Pack;
use uuid::Uuid;

use super::text::output_text;
use crate::clock::now;
use crate::store::Store;

/// The `Runs` port.
pub struct RunService {
    store: Store,
    pack: Arc<Pack>,
}

impl RunService {
    #[must_use]
    pub const fn new(store: Store, pack: Arc<Pack>) -> Self {
        Self { store, pack }
    }
}

#[async_trait]
impl Runs for RunService {
    async fn start(&self, by: &Operator, host: HostId, check: &str) -> Result<RunId, AppError> {
        let check_id = CheckId::from(check);
        let check = self
            .pack
            .checks
            .get(&check_id)
            .filter(|check| check.parameters.is_empty())
            .ok_or_else(|| AppError::NotFound {
                what: format!("The check “{check_id}”"),
            })?;
        let commands: Vec<_> = self
            .pack
            .commands_for(&check_id)
            .unwrap_or_default()
            .into_iter()
            .map(|planned| (planned.title, planned.command))
            .collect();
        let id = RunId(Uuid::now_v7());
        self.store
            .start_run(
                id,
                host,
                &check_id,
                &check.title,
                check.why.as_deref(),
                &commands,
                by.person(),
                now(),
            )
            .await?;
        Ok(id)
    }

    async fn read(&self, _: &Viewer, id: RunId) -> Result<RunPage, AppError> {
        let run = self
            .store
            .run(id)
            .await?
            .ok_or_else(|| AppError::NotFound {
                what: "This run".into(),
            })?;
        let commands = run
            .commands
            .into_iter()
            .map(|c| CommandView::new(c.title, run.host_name.clone(), &c.command, c.result))
            .collect();
        Ok(RunPage {
            row: run.row,
            check: run.check,
            host: run.host,
            host_name: run.host_name,
            why: run.why,
            finished_at: run.finished_at,
            version: run.version,
            commands,
        })
    }

    async fn cancel(&self, _: &Operator, id: RunId) -> Result<(), AppError> {
        // The runner sees the change and ends the commands on the host.
        self.store
            .finish_run(id, RunState::Cancelled, now())
            .await?;
        Ok(())
    }

    async fn output(
        &self,
        _: &Viewer,
        hash: &OutputHash,
        most: u64,
    ) -> Result<OutputText, AppError> {
        let bytes = self
            .store
            .output(hash)
            .await?
            .ok_or_else(|| AppError::NotFound {
                what: "This output".into(),
            })?;
        Ok(output_text(&bytes, most))
    }
}
