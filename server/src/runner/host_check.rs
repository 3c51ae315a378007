//! A look at a host: the way to it hop by hop, what it is, which guests it has.

use std::sync::Arc;

use app::hosts::{GuestList, HostCheck};
use diagnosis::connection::{ConnectionStatus, HopStatus};
use diagnosis::facts::{Facts, Platform, PlatformKind};
use diagnosis::ids::{CheckId, HostId};
use diagnosis::knowledge::PlannedCommand;
use diagnosis::parse::{self, ParseError};
use diagnosis::run::{NotRun, RunResult, RunStatus};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::clock::now;
use crate::ssh::Target;
use crate::store::StoreError;
use crate::target::{TargetError, target_of};

/// The checks that tell what a host is and which guests it has.
const PLATFORM: &str = "platform";
const GUESTS: &str = "guests";

pub(super) async fn perform(
    shared: &Arc<Shared>,
    id: HostId,
    hold: &CancellationToken,
) -> Result<(), StoreError> {
    let Some((row, _)) = shared.store.host(id).await? else {
        return Ok(());
    };
    if !row.checking {
        return Ok(());
    }
    let earlier = row.check;
    let look = match target_of(&shared.store, id).await {
        Ok(target) => tokio::select! {
            // Not stored: the next runner looks again.
            () = hold.cancelled() => return Ok(()),
            look = look_at(shared, &target, hold) => look,
        },
        Err(TargetError::Store(error)) => return Err(error),
        Err(TargetError::Route(error)) => HostCheck {
            at: now(),
            hops: vec![HopStatus {
                hop: row.host.name.clone(),
                status: ConnectionStatus::Unreachable {
                    detail: error.to_string(),
                },
                took_ms: 0,
            }],
            read_at: None,
            platform: None,
            guests: GuestList::NotRun {
                reason: NotRun::Interrupted,
            },
        },
    };
    shared
        .store
        .end_host_check(id, &keep_known(look, earlier))
        .await
}

/// What an earlier look read stays known, with its age, where this one did not get that far.
fn keep_known(mut look: HostCheck, earlier: Option<HostCheck>) -> HostCheck {
    let connected = look
        .hops
        .last()
        .is_some_and(|hop| hop.status == ConnectionStatus::Connected);
    if !connected && let Some(earlier) = earlier {
        look.read_at = earlier.read_at;
        look.platform = earlier.platform;
        look.guests = earlier.guests;
    }
    look
}

async fn look_at(shared: &Arc<Shared>, target: &Target, hold: &CancellationToken) -> HostCheck {
    // A look asks the host anew: a connection that stands from before would hide a changed key.
    shared.transport.forget(target).await;
    let hops = shared.transport.probe(target).await;
    let status = hops
        .last()
        .map_or(ConnectionStatus::Connected, |hop| hop.status.clone());
    if status != ConnectionStatus::Connected {
        let guests = GuestList::NotRun {
            reason: NotRun::NoConnection { status },
        };
        return HostCheck {
            at: now(),
            hops,
            read_at: None,
            platform: None,
            guests,
        };
    }
    let platform_commands = shared
        .pack
        .commands_for(&CheckId::from(PLATFORM))
        .unwrap_or_default();
    let guest_commands = shared
        .pack
        .commands_for(&CheckId::from(GUESTS))
        .unwrap_or_default();
    let all: Vec<PlannedCommand> = platform_commands
        .iter()
        .chain(&guest_commands)
        .cloned()
        .collect();
    let results = collect(shared, target, &all, hold).await;
    let (of_platform, of_guests) = results.split_at(platform_commands.len().min(results.len()));
    let platform = platform(&platform_commands, of_platform);
    let guests = guests(platform.as_ref(), &guest_commands, of_guests);
    let at = now();
    HostCheck {
        at,
        hops,
        read_at: Some(at),
        platform,
        guests,
    }
}

/// Runs commands as one batch and gives their results in order.
async fn collect(
    shared: &Arc<Shared>,
    target: &Target,
    planned: &[PlannedCommand],
    hold: &CancellationToken,
) -> Vec<RunResult> {
    let commands: Vec<_> = planned.iter().map(|p| p.command.clone()).collect();
    let mut results: Vec<RunResult> = commands
        .iter()
        .map(|_| RunResult::not_run(NotRun::Interrupted))
        .collect();
    let (sender, mut receiver) = mpsc::channel(commands.len().max(1));
    let run = shared
        .transport
        .run(target, &commands, sender, hold.clone());
    let gather = async {
        while let Some((index, result)) = receiver.recv().await {
            if let Some(slot) = results.get_mut(index) {
                *slot = result;
            }
        }
    };
    tokio::join!(run, gather);
    results
}

fn platform(planned: &[PlannedCommand], results: &[RunResult]) -> Option<Platform> {
    let parts: Vec<Platform> = planned
        .iter()
        .zip(results)
        .filter_map(
            |(planned, result)| match parse::parse(planned.parser, result).ok()?.facts {
                Facts::Platform(part) => Some(part),
                _ => None,
            },
        )
        .collect();
    (!parts.is_empty()).then(|| parse::merge_platform(&parts))
}

/// The guests, unless the host is plainly no hypervisor. A list that could not be read is never an
/// empty one.
fn guests(
    platform: Option<&Platform>,
    planned: &[PlannedCommand],
    results: &[RunResult],
) -> GuestList {
    let mut guests = Vec::new();
    let mut missing = 0;
    for (planned, result) in planned.iter().zip(results) {
        match parse::parse(planned.parser, result) {
            Ok(parsed) => match parsed.facts {
                Facts::Guests(found) if parsed.unparsed.is_empty() => guests.extend(found),
                _ => {
                    let detail = parsed.unparsed.first().cloned().unwrap_or_default();
                    return GuestList::NotUnderstood {
                        detail: format!("{}: {detail}", planned.title),
                    };
                }
            },
            Err(ParseError::NotRun) => match &result.status {
                RunStatus::NotRun {
                    reason: NotRun::NotFound { .. },
                } => missing += 1,
                RunStatus::NotRun { reason } => {
                    return GuestList::NotRun {
                        reason: reason.clone(),
                    };
                }
                RunStatus::Ran { .. } => {
                    return GuestList::NotRun {
                        reason: NotRun::Interrupted,
                    };
                }
            },
            Err(error) => {
                return GuestList::NotUnderstood {
                    detail: error.to_string(),
                };
            }
        }
    }
    let hypervisor = platform.is_some_and(|p| p.kind == PlatformKind::ProxmoxVe);
    if missing == planned.len() && !hypervisor {
        return GuestList::NotAHypervisor;
    }
    guests.sort_by_key(|guest| guest.vmid);
    GuestList::Known { guests }
}
