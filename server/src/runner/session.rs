//! A session as it goes on: the walk says what to do next, this does it, and every result is stored
//! before the next step.

use std::collections::VecDeque;
use std::sync::Arc;

use diagnosis::ids::{HostId, RunKey, SessionId};
use diagnosis::knowledge::ParserName;
use diagnosis::run::{Command, NotRun, RunResult};
use diagnosis::session::{Event, Phase, RunHead, Session};
use diagnosis::walk::{Input, Request};
use futures::stream::{FuturesUnordered, StreamExt};
use indexmap::IndexMap;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::check_run::keep;
use super::rebuild::{Rebuilt, rebuild};
use crate::clock::now;
use crate::store::StoreError;
use crate::target::{TargetError, target_of};

/// A command of the walk on its way to a host.
struct Planned {
    head: RunHead,
    parser: ParserName,
}

/// Goes on with a session until it waits for a person or has ended.
pub(super) async fn perform(
    shared: &Arc<Shared>,
    id: SessionId,
    wake: &Notify,
    hold: &CancellationToken,
) -> Result<(), StoreError> {
    let entries = shared.store.entries(id, 0).await?;
    if entries.is_empty() {
        return Ok(());
    }
    let session = Session::fold(id, &entries)?;
    if matches!(session.phase, Phase::Concluded | Phase::Stopped { .. }) {
        return Ok(());
    }
    let mut rebuilt = match rebuild(&shared.store, &shared.pack, id, &entries).await? {
        Ok(rebuilt) => rebuilt,
        Err(reason) => return append(shared, id, &[Event::Stopped { reason }]).await,
    };
    let open = rebuilt.session.open_runs();
    if !open.is_empty() {
        tracing::info!(session = %id, runs = open.len(), "commands were interrupted; running them again");
        append(shared, id, &[Event::Interrupted { keys: open }]).await?;
    }
    loop {
        let Step {
            mut events,
            planned,
        } = sort(&mut rebuilt);
        if !planned.is_empty() {
            events.push(Event::RunsStarted {
                runs: planned.values().map(|p| p.head.clone()).collect(),
            });
        }
        if !events.is_empty() {
            append(shared, id, &events).await?;
        }
        if planned.is_empty() {
            return Ok(());
        }
        if !execute(shared, id, &mut rebuilt, planned, wake, hold).await? {
            return Ok(());
        }
    }
}

/// What the walk asks for, sorted by what is done with it.
struct Step {
    /// Recorded at once.
    events: Vec<Event>,
    planned: IndexMap<RunKey, Planned>,
}

fn sort(rebuilt: &mut Rebuilt) -> Step {
    let mut step = Step {
        events: Vec::new(),
        planned: IndexMap::new(),
    };
    for request in std::mem::take(&mut rebuilt.pending) {
        match request {
            Request::Found(finding) => step.events.push(Event::Found { finding }),
            Request::Ask {
                step: name,
                question,
            } => step.events.push(Event::Asked {
                step: name,
                question,
            }),
            Request::Conclude(conclusion) => step.events.push(Event::Concluded { conclusion }),
            Request::Check {
                key,
                step: name,
                title,
                end,
                command,
                parser,
            } => {
                let Some(end) = rebuilt.session.ends.get(&end) else {
                    continue;
                };
                let head = RunHead {
                    key: key.clone(),
                    step: name,
                    title,
                    host: end.host,
                    host_name: end.host_name.clone(),
                    command,
                };
                step.planned.insert(key, Planned { head, parser });
            }
        }
    }
    step
}

/// Runs the commands, one batch a host, hosts side by side. Each result is stored together with what
/// follows from it. False: the session has been stopped, or the server ends.
async fn execute(
    shared: &Arc<Shared>,
    id: SessionId,
    rebuilt: &mut Rebuilt,
    planned: IndexMap<RunKey, Planned>,
    wake: &Notify,
    hold: &CancellationToken,
) -> Result<bool, StoreError> {
    let cancel = hold.child_token();
    let mut by_host: IndexMap<HostId, Vec<(RunKey, Command)>> = IndexMap::new();
    for planned in planned.values() {
        by_host
            .entry(planned.head.host)
            .or_default()
            .push((planned.head.key.clone(), planned.head.command.clone()));
    }
    let (sender, mut results) = mpsc::channel::<(RunKey, RunResult)>(planned.len().max(1));
    let mut batches: FuturesUnordered<_> = by_host
        .into_iter()
        .map(|(host, batch)| run_batch(shared, host, batch, sender.clone(), cancel.clone()))
        .collect();
    drop(sender);
    let mut stopped = false;
    let outcome = loop {
        tokio::select! {
            Some(ended) = batches.next() => if let Err(error) = ended { break Err(error) },
            result = results.recv() => {
                let Some((key, result)) = result else { break Ok(()) };
                if hold.is_cancelled() || stopped {
                    continue;
                }
                let Some(planned) = planned.get(&key) else { continue };
                if let Err(error) = take(shared, id, rebuilt, planned, key, result).await {
                    break Err(error);
                }
            }
            () = wake.notified() => {
                let session = match shared.store.session(id).await {
                    Ok(session) => session,
                    Err(error) => break Err(error),
                };
                if session.is_none_or(|s| matches!(s.phase, Phase::Stopped { .. } | Phase::Concluded)) {
                    stopped = true;
                    cancel.cancel();
                }
            }
        }
    };
    if outcome.is_err() {
        cancel.cancel();
    }
    // The transport ends the commands on the hosts before it returns.
    results.close();
    while batches.next().await.is_some() {}
    outcome.map(|()| !stopped && !hold.is_cancelled())
}

/// Stores one result, with the findings, the question or the conclusion that follow from it: in one
/// transaction, so that no end of the server can fall between.
async fn take(
    shared: &Arc<Shared>,
    id: SessionId,
    rebuilt: &mut Rebuilt,
    planned: &Planned,
    key: RunKey,
    result: RunResult,
) -> Result<(), StoreError> {
    let mut events = vec![Event::RunDone {
        key: key.clone(),
        record: keep(&shared.store, Some(planned.parser), result.clone()).await?,
    }];
    match rebuilt
        .walk
        .clone()
        .step(&shared.pack, &rebuilt.tree, Input::RunDone { key, result })
    {
        Ok((walk, requests)) => {
            rebuilt.walk = walk;
            let (checks, recorded): (VecDeque<_>, VecDeque<_>) = requests
                .into_iter()
                .partition(|r| matches!(r, Request::Check { .. }));
            rebuilt.pending.extend(recorded);
            events.extend(sort(rebuilt).events);
            rebuilt.pending = checks;
        }
        Err(error) => events.push(Event::Stopped {
            reason: format!("The walk cannot go on: {error}."),
        }),
    }
    append(shared, id, &events).await
}

/// One host's batch. Whatever happens, every command gets a result.
async fn run_batch(
    shared: &Arc<Shared>,
    host: HostId,
    batch: Vec<(RunKey, Command)>,
    results: mpsc::Sender<(RunKey, RunResult)>,
    cancel: CancellationToken,
) -> Result<(), StoreError> {
    let (keys, commands): (Vec<RunKey>, Vec<Command>) = batch.into_iter().unzip();
    let target = match target_of(&shared.store, host).await {
        Ok(target) => target,
        Err(TargetError::Store(error)) => return Err(error),
        Err(TargetError::Route(error)) => {
            for key in keys {
                let status = diagnosis::connection::ConnectionStatus::Unreachable {
                    detail: error.to_string(),
                };
                let _ = results
                    .send((key, RunResult::not_run(NotRun::NoConnection { status })))
                    .await;
            }
            return Ok(());
        }
    };
    let (sender, mut receiver) = mpsc::channel(commands.len().max(1));
    let run = shared.transport.run(&target, &commands, sender, cancel);
    let forward = async {
        while let Some((index, result)) = receiver.recv().await {
            if let Some(key) = keys.get(index) {
                // Nobody takes results any more once the session has ended.
                let _ = results.send((key.clone(), result)).await;
            }
        }
    };
    tokio::join!(run, forward);
    Ok(())
}

async fn append(shared: &Arc<Shared>, id: SessionId, events: &[Event]) -> Result<(), StoreError> {
    shared
        .store
        .append(id, None, events, now())
        .await
        .map(|_| ())
}
