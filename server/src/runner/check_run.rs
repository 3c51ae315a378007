//! A check run on one host from its page.

use std::sync::Arc;

use app::runs::RunState;
use diagnosis::ids::{OutputHash, RunId};
use diagnosis::knowledge::ParserName;
use diagnosis::parse::{self, ParseError};
use diagnosis::run::{RunRecord, RunResult};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::clock::now;
use crate::store::{Store, StoreError};
use crate::target::{TargetError, target_of};

/// Marks every run that is open as interrupted: the server that ran it is gone.
pub(super) async fn interrupt_open(shared: &Arc<Shared>) -> Result<usize, StoreError> {
    let open = shared.store.open_runs().await?;
    for run in &open {
        shared
            .store
            .finish_run(*run, RunState::Interrupted, now())
            .await?;
    }
    Ok(open.len())
}

pub(super) async fn perform(
    shared: &Arc<Shared>,
    id: RunId,
    wake: &Notify,
    hold: &CancellationToken,
) -> Result<(), StoreError> {
    let Some(stored) = shared.store.run(id).await? else {
        return Ok(());
    };
    if stored.row.state != RunState::Running {
        return Ok(());
    }
    let planned = shared.pack.commands_for(&stored.check).unwrap_or_default();
    // Where the knowledge has changed since, an output is kept, but not read by the wrong parser.
    let parser = |index: usize| {
        let planned = planned.get(index)?;
        let asked = stored.commands.get(index)?;
        (planned.command == asked.command).then_some(planned.parser)
    };
    let commands: Vec<_> = stored.commands.iter().map(|c| c.command.clone()).collect();
    let target = match target_of(&shared.store, stored.host).await {
        Ok(target) => target,
        Err(TargetError::Store(error)) => return Err(error),
        Err(TargetError::Route(_)) => {
            shared
                .store
                .finish_run(id, RunState::Interrupted, now())
                .await?;
            return Ok(());
        }
    };
    let cancel = hold.child_token();
    let (sender, mut receiver) = mpsc::channel(commands.len().max(1));
    let run = shared
        .transport
        .run(&target, &commands, sender, cancel.clone());
    let store_results = async {
        loop {
            tokio::select! {
                result = receiver.recv() => {
                    let Some((index, result)) = result else { return Ok::<(), StoreError>(()) };
                    if hold.is_cancelled() {
                        // The server is ending; the next one marks the run interrupted.
                        continue;
                    }
                    let result = keep(&shared.store, parser(index), result).await?;
                    shared.store.finish_command(id, index, &result).await?;
                }
                () = wake.notified() => {
                    let state = shared.store.run(id).await?.map(|run| run.row.state);
                    if state != Some(RunState::Running) {
                        cancel.cancel();
                    }
                }
            }
        }
    };
    let ((), stored) = tokio::join!(run, store_results);
    stored?;
    if !hold.is_cancelled() {
        shared.store.finish_run(id, RunState::Done, now()).await?;
    }
    Ok(())
}

/// Stores a result's outputs and reads its facts.
pub(super) async fn keep(
    store: &Store,
    parser: Option<ParserName>,
    result: RunResult,
) -> Result<RunRecord, StoreError> {
    let stdout = keep_output(store, &result.stdout).await?;
    let stderr = keep_output(store, &result.stderr).await?;
    let (facts, unparsed, no_facts) = match parser.map(|parser| parse::parse(parser, &result)) {
        None => (
            None,
            Vec::new(),
            Some("this program has no parser for it any more".to_owned()),
        ),
        Some(Ok(parsed)) => (Some(parsed.facts), parsed.unparsed, None),
        Some(Err(ParseError::NotRun)) => (None, Vec::new(), None),
        Some(Err(error)) => (None, Vec::new(), Some(error.to_string())),
    };
    Ok(RunRecord {
        status: result.status,
        took_ms: result.took_ms,
        stdout,
        stderr,
        facts,
        no_facts,
        unparsed,
    })
}

/// Stores an output, unless there is none.
async fn keep_output(store: &Store, bytes: &[u8]) -> Result<Option<OutputHash>, StoreError> {
    if bytes.is_empty() {
        Ok(None)
    } else {
        store.put_output(bytes).await.map(Some)
    }
}
