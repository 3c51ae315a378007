use leptos::prelude::*;
use leptos_meta::Title;

use crate::components::{
    AsyncView, At, HostStatus, Refetch, RefreshWithoutScript, plural, reached, tools_text,
};
use crate::hosts::{GuestList, HostRow, list_hosts};
use crate::people::Role;
use crate::wire::remote;

#[component]
pub(crate) fn HostsPage() -> impl IntoView {
    let refetch = Refetch::new();
    let hosts = remote(
        move || refetch.turn(),
        move |_| async move {
            let hosts = list_hosts().await;
            refetch.done();
            hosts
        },
    );
    // The list has no stream of its own: it is asked again while a host is being looked at.
    Effect::new(move |_| {
        let checking = hosts.with(|h| {
            h.as_ref()
                .and_then(|h| h.as_ref().ok())
                .is_some_and(|h| h.iter().any(|row| row.checking))
        });
        if checking {
            set_timeout(move || refetch.ask(), std::time::Duration::from_secs(2));
        }
    });
    view! {
        <Title text="Hosts" />
        <div class="page">
            <AsyncView
                resource=hosts
                render=|hosts, role| view! { <HostTable hosts role /> }
            />
        </div>
    }
    .into_any()
}

#[component]
fn HostTable(hosts: Vec<HostRow>, role: Role) -> impl IntoView {
    let answer = hosts.iter().filter(|h| reached(h)).count();
    let all = hosts.len();
    let checking = hosts.iter().any(|h| h.checking);
    view! {
        <RefreshWithoutScript when=checking />
        <div class="page-head">
            <h1 class="text-xl font-semibold">"Hosts"</h1>
            {(all > 0)
                .then(|| {
                    view! {
                        <p class="text-sm text-muted">
                            {format!("{answer} of {} answered when last asked", plural(all, "host", "hosts"))}
                        </p>
                    }
                })}
            <div class="ml-auto">
                {if role == Role::Admin {
                    view! {
                        <a class="btn btn-primary btn-sm" href="/hosts/new">
                            "Add a host"
                        </a>
                    }
                        .into_any()
                } else {
                    view! { <p class="text-xs text-muted">"Only an admin can add hosts."</p> }
                        .into_any()
                }}
            </div>
        </div>
        {if all == 0 {
            view! {
                <section class="panel p-5 measure space-y-2">
                    <h2 class="text-lg font-semibold">"No hosts yet"</h2>
                    <p>
                        "Begin with a hypervisor: Hopwise logs in over SSH with a key you name, shows you the host’s own key to confirm, and then lists its guests. Nothing is installed on it and nothing is changed."
                    </p>
                </section>
            }
                .into_any()
        } else {
            view! {
                <section class="panel">
                    <table class="table table-stack">
                        <thead>
                            <tr>
                                <th scope="col">"host"</th>
                                <th scope="col">"connection"</th>
                                <th scope="col">"platform"</th>
                                <th scope="col">"tools"</th>
                                <th scope="col">"guests"</th>
                                <th scope="col">"looked at"</th>
                            </tr>
                        </thead>
                        <tbody>
                            {hosts
                                .into_iter()
                                .map(|row| view! { <HostLine row /> })
                                .collect_view()}
                        </tbody>
                    </table>
                </section>
            }
                .into_any()
        }}
    }
}

#[component]
fn HostLine(row: HostRow) -> impl IntoView {
    let host = row.host.clone();
    let check = row.check.clone();
    let platform = check.as_ref().and_then(|c| c.platform.clone());
    let guests = check.as_ref().map(|c| match &c.guests {
        GuestList::Known { guests } => guests.len().to_string(),
        GuestList::NotAHypervisor => "not a hypervisor".into(),
        GuestList::NotRun { .. } => "not read".into(),
        GuestList::NotUnderstood { .. } => "not understood".into(),
    });
    let way = match &row.jump_name {
        Some(jump) => format!("{}@{}:{} via {jump}", host.user, host.address, host.port),
        None => format!("{}@{}:{}", host.user, host.address, host.port),
    };
    view! {
        <tr>
            <td data-l="host">
                <a class="row-link" href=format!("/hosts/{}", host.id)>
                    {host.name.clone()}
                </a>
                <span class="block mono text-muted text-xs break-all">{way}</span>
            </td>
            <td data-l="connection">
                <HostStatus row=row.clone() />
            </td>
            <td data-l="platform">
                <span>
                    {platform
                        .as_ref()
                        .map_or_else(
                            || "unknown".to_owned(),
                            |p| p.os.clone().unwrap_or_else(|| p.kind.name().to_owned()),
                        )}
                    <span class="block mono text-muted text-xs">
                        {platform.as_ref().and_then(|p| p.kernel.clone())}
                    </span>
                </span>
            </td>
            <td data-l="tools">
                <span>{platform.as_ref().and_then(tools_text).unwrap_or_else(|| "–".into())}</span>
            </td>
            <td data-l="guests">
                <span class="num">{guests.unwrap_or_else(|| "–".into())}</span>
            </td>
            <td data-l="looked at">
                <span class="text-muted text-xs">
                    {match check {
                        Some(check) => view! { <At time=check.at /> }.into_any(),
                        None => "not yet".into_any(),
                    }}
                </span>
            </td>
        </tr>
    }
}
