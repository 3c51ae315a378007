use diagnosis::facts::{Guest, GuestStatus, Platform};
use leptos::prelude::*;

use super::{maybe, mono, pairs, table, text};

pub(super) fn guests(guests: Vec<Guest>) -> AnyView {
    let rows = guests
        .into_iter()
        .map(|guest| {
            let status = match guest.status {
                GuestStatus::Running => "running".to_owned(),
                GuestStatus::Stopped => "stopped".to_owned(),
                GuestStatus::Other(word) => word,
            };
            vec![
                view! {
                    <b class="font-semibold num">{format!("{} {}", guest.kind.short(), guest.vmid)}</b>
                }
                .into_any(),
                mono(guest.name),
                text(status),
            ]
        })
        .collect();
    table(
        &["guest", "name", "status"],
        rows,
        "The host has no guests.",
    )
}

pub(super) fn platform(platform: Platform) -> AnyView {
    let tools = platform
        .expected_tools()
        .map(|tool| {
            let (class, path) = match &tool.path {
                Some(path) => ("block", path.clone()),
                None => ("block text-warn", "missing".to_owned()),
            };
            view! {
                <span class=class>
                    <code>{tool.name.clone()}</code>
                    " "
                    <span class="text-muted">{path}</span>
                </span>
            }
        })
        .collect_view()
        .into_any();
    let mut rows = vec![
        ("platform", text(platform.kind.name())),
        ("system", maybe(platform.os)),
        ("kernel", maybe(platform.kernel)),
        ("host name", maybe(platform.hostname)),
        ("CPUs", maybe(platform.cpus)),
    ];
    if platform.pve_version.is_some() {
        rows.push(("pveversion", maybe(platform.pve_version)));
    }
    if !platform.tools.is_empty() {
        rows.push(("tools", tools));
    }
    pairs(rows)
}
