use diagnosis::connection::{ConnectionStatus, HopStatus};
use diagnosis::facts::Platform;
use leptos::prelude::*;

use super::{Mark, Sign, duration};
use crate::hosts::{GuestList, HostCheck, HostRow};

pub(crate) const fn connection_sign(status: &ConnectionStatus) -> Sign {
    match status {
        ConnectionStatus::Connected => Sign::Pass,
        ConnectionStatus::Refused
        | ConnectionStatus::HostKeyChanged { .. }
        | ConnectionStatus::AuthFailed { .. }
        | ConnectionStatus::CredentialUnusable { .. }
        | ConnectionStatus::ProtocolError { .. } => Sign::Fail,
        ConnectionStatus::Timeout { .. }
        | ConnectionStatus::Unreachable { .. }
        | ConnectionStatus::ResolveFailed { .. } => Sign::NotRun,
        ConnectionStatus::HostKeyUnknown { .. } => Sign::Unsure,
        ConnectionStatus::Penalised => Sign::Warn,
    }
}

/// The hop that decides: the first that failed, else the host itself.
pub(crate) fn decisive(check: &HostCheck) -> Option<&HopStatus> {
    check
        .hops
        .iter()
        .find(|h| h.status != ConnectionStatus::Connected)
        .or(check.hops.last())
}

/// Whether the last look got a login.
pub(crate) fn reached(row: &HostRow) -> bool {
    row.check
        .as_ref()
        .and_then(decisive)
        .is_some_and(|h| h.status == ConnectionStatus::Connected)
}

/// The mark and the word for a host.
pub(crate) fn host_state(row: &HostRow) -> (Sign, String) {
    let Some(check) = &row.check else {
        return if row.checking {
            (Sign::Running, "looking at it for the first time".into())
        } else {
            (Sign::Todo, "not looked at yet".into())
        };
    };
    let Some(hop) = decisive(check) else {
        return (Sign::Todo, "not looked at yet".into());
    };
    let sign = connection_sign(&hop.status);
    let lacks = check
        .platform
        .as_ref()
        .is_some_and(|p| p.expected_tools().any(|t| t.path.is_none()));
    match &hop.status {
        ConnectionStatus::Connected if check.platform.is_none() => {
            (Sign::Warn, "connected, but not read".into())
        }
        ConnectionStatus::Connected if lacks => {
            (Sign::Warn, format!("connected, {}", duration(hop.took_ms)))
        }
        ConnectionStatus::Connected => (sign, format!("connected, {}", duration(hop.took_ms))),
        ConnectionStatus::HostKeyUnknown { .. } => {
            (sign, format!("{}, waits for an admin", hop.status.name()))
        }
        other => (sign, other.name().to_owned()),
    }
}

/// A host's status: mark and word; "looking again" beside it while that goes on.
#[component]
pub(crate) fn HostStatus(row: HostRow) -> impl IntoView {
    let (sign, word) = host_state(&row);
    let again = row.checking && row.check.is_some();
    view! {
        <span class="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
            <span class="inline-flex items-center gap-1.5 font-medium">
                <Mark sign />
                {word}
            </span>
            {again
                .then(|| {
                    view! {
                        <span class="inline-flex items-center gap-1.5 text-muted text-xs">
                            <Mark sign=Sign::Running size=14 />
                            "looking again"
                        </span>
                    }
                })}
        </span>
    }
}

/// Such as "5 of 6, missing bridge".
pub(crate) fn tools_text(platform: &Platform) -> Option<String> {
    if platform.tools.is_empty() {
        return None;
    }
    let missing: Vec<&str> = platform
        .expected_tools()
        .filter(|t| t.path.is_none())
        .map(|t| t.name.as_str())
        .collect();
    let all = platform.expected_tools().count();
    Some(if missing.is_empty() {
        format!("{all} of {all}")
    } else {
        format!(
            "{} of {all}, missing {}",
            all - missing.len(),
            missing.join(", ")
        )
    })
}

/// The way to a host, hop by hop, with what to do about each that failed.
#[component]
pub(crate) fn HopList(hops: Vec<HopStatus>) -> impl IntoView {
    view! {
        <ol class="space-y-2.5">
            {hops
                .into_iter()
                .map(|hop| {
                    let connected = hop.status == ConnectionStatus::Connected;
                    view! {
                        <li class="flex gap-2">
                            <Mark sign=connection_sign(&hop.status) />
                            <div class="min-w-0 wrap-anywhere">
                                <p>
                                    <code>{hop.hop.clone()}</code>
                                    " "
                                    <b class="font-semibold">{hop.status.name()}</b>
                                    <span class="text-muted num">
                                        {format!(" after {}", duration(hop.took_ms))}
                                    </span>
                                </p>
                                {(!connected)
                                    .then(|| {
                                        view! {
                                            <p class="text-sm">{hop.status.sentence()}</p>
                                            {hop
                                                .status
                                                .advice()
                                                .map(|a| {
                                                    view! { <p class="text-sm text-muted">{a}</p> }
                                                })}
                                        }
                                    })}
                            </div>
                        </li>
                    }
                })
                .collect_view()}
        </ol>
    }
}

/// Why there is no list of guests, where that needs a word.
#[component]
pub(crate) fn GuestsNote(guests: GuestList) -> impl IntoView {
    let (sign, text) = match guests {
        GuestList::Known { .. } => return ().into_any(),
        GuestList::NotAHypervisor => (
            Sign::Todo,
            "Not a hypervisor whose guests Hopwise can list.".to_owned(),
        ),
        GuestList::NotRun { reason } => (
            Sign::NotRun,
            format!("The guests could not be listed: {}.", reason.sentence()),
        ),
        GuestList::NotUnderstood { detail } => (
            Sign::Warn,
            format!("The list of guests could not be understood: {detail}"),
        ),
    };
    view! {
        <p class="px-3.5 py-2.5 text-sm flex gap-2">
            <Mark sign />
            <span>{text}</span>
        </p>
    }
    .into_any()
}
