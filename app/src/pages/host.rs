use diagnosis::connection::ConnectionStatus;
use diagnosis::ids::HostId;
use diagnosis::table::Table;
use leptos::prelude::*;
use leptos_meta::Title;

use super::id_of;
use crate::components::{
    AsyncView, At, FactsTable, FormError, GuestsNote, HopList, HostKeyPanel, HostStatus, LiveNote,
    Mark, Refetch, RefreshWithoutScript, RunRowItem, Sign, Submit, error_of, use_live,
};
use crate::hosts::{
    CheckHost, CheckOffer, ConfirmHostKey, Credential, GuestList, HostCheck, HostPage as Page,
    RemoveHost, read_host,
};
use crate::people::Role;
use crate::runs::{RunRow, StartRun};
use crate::wire::remote;

/// The page's calls; made once, so that what they gave outlives a refetch.
#[derive(Clone, Copy)]
struct Actions {
    check: ServerAction<CheckHost>,
    confirm: ServerAction<ConfirmHostKey>,
    remove: ServerAction<RemoveHost>,
    run: ServerAction<StartRun>,
}

#[component]
pub(crate) fn HostPage() -> impl IntoView {
    let actions = Actions {
        check: ServerAction::new(),
        confirm: ServerAction::new(),
        remove: ServerAction::new(),
        run: ServerAction::new(),
    };
    let refetch = Refetch::new();
    let page = remote(
        move || (id_of::<HostId>("id", "This host"), refetch.turn()),
        move |(id, _)| async move {
            let page = match id {
                Ok(id) => read_host(id).await,
                Err(error) => Err(error),
            };
            refetch.done();
            page
        },
    );
    Effect::new(move |before: Option<(usize, usize)>| {
        let now = (
            actions.check.version().get(),
            actions.confirm.version().get(),
        );
        if before.is_some_and(|b| b != now) {
            refetch.ask();
        }
        now
    });
    let state = use_live(
        move || {
            page.with(|p| match p {
                Some(Ok(p)) => Some((format!("/live/host/{}", p.row.host.id), p.version)),
                _ => None,
            })
        },
        refetch,
    );
    view! {
        <div class="page">
            <LiveNote state />
            <AsyncView resource=page render=move |page, role| view! { <View page role actions /> } />
        </div>
    }
    .into_any()
}

#[component]
fn View(page: Page, role: Role, actions: Actions) -> impl IntoView {
    let row = page.row.clone();
    let host = row.host.clone();
    let running = row.checking;
    let way = match &row.jump_name {
        Some(jump) => format!("{}@{}:{} via {jump}", host.user, host.address, host.port),
        None => format!("{}@{}:{}", host.user, host.address, host.port),
    };
    let login = match &host.credential {
        Credential::KeyFile { path } => format!("key {path}"),
        Credential::Agent {
            fingerprint: Some(f),
        } => format!("agent’s key {f}"),
        Credential::Agent { fingerprint: None } => "the agent’s only key".to_owned(),
    };
    let refused = (role < Role::Operator).then(|| "Needs the role operator.".to_owned());
    view! {
        <Title text=host.name.clone() />
        <RefreshWithoutScript when=running />
        <div class="page-head">
            <div class="min-w-0">
                <p class="crumb">
                    <a href="/hosts">"Hosts"</a>
                </p>
                <h1 class="text-xl font-semibold wrap-anywhere">{host.name.clone()}</h1>
                <p class="text-xs text-muted dot-sep wrap-anywhere">
                    <span class="mono">{way}</span>
                    <span>{login}</span>
                </p>
            </div>
            <div class="ml-auto flex items-center gap-3 flex-wrap" role="status" data-testid="host-status">
                <HostStatus row=row.clone() />
            </div>
            <ActionForm action=actions.check attr:class="flex gap-2 flex-wrap">
                <input type="hidden" name="id" value=host.id.to_string() />
                <Submit
                    label="Look again"
                    class="btn btn-plain btn-sm"
                    pending=actions.check.pending()
                    refused=refused
                />
            </ActionForm>
        </div>
        <FormError error=error_of(actions.check) />
        <div class="grid gap-3 lg:grid-cols-[minmax(0,1fr)_392px] items-start">
            <div class="space-y-3 min-w-0">
                {match row.check.clone() {
                    Some(check) => {
                        view! {
                            <Looked
                                check
                                host=host.id
                                host_name=host.name.clone()
                                platform=page.platform
                                guest_table=page.guests
                                role
                                actions
                            />
                        }
                            .into_any()
                    }
                    None => view! { <NotLookedYet running /> }.into_any(),
                }}
            </div>
            <div class="space-y-3 min-w-0">
                <Checks checks=page.checks host=host.id role actions />
                <Runs runs=page.runs />
                {(role == Role::Admin)
                    .then(|| view! { <Remove host=host.id name=host.name.clone() actions /> })}
            </div>
        </div>
    }
}

#[component]
fn NotLookedYet(running: bool) -> impl IntoView {
    view! {
        <section class="panel p-4 flex gap-2">
            {if running {
                view! {
                    <Mark sign=Sign::Running />
                    <p>
                        "Looking at it for the first time: the way to it, what it is, its guests. That takes a few seconds, longer where nothing answers."
                    </p>
                }
                    .into_any()
            } else {
                view! {
                    <Mark sign=Sign::Todo />
                    <p>"Nobody has looked at it yet."</p>
                }
                    .into_any()
            }}
        </section>
    }
}

/// What the last look found: a key to confirm first, then the way, the platform and the guests.
#[component]
fn Looked(
    check: HostCheck,
    host: HostId,
    host_name: String,
    platform: Option<Table>,
    guest_table: Option<Table>,
    role: Role,
    actions: Actions,
) -> impl IntoView {
    let hops = check.hops.len();
    let key = check
        .hops
        .iter()
        .enumerate()
        .find_map(|(i, hop)| match hop.status {
            ConnectionStatus::HostKeyUnknown { .. } | ConnectionStatus::HostKeyChanged { .. } => {
                Some((hop.status.clone(), (i + 1 < hops).then(|| hop.hop.clone())))
            }
            _ => None,
        });
    let at = check.at;
    let guests = check.guests.clone();
    let connected = check
        .hops
        .iter()
        .all(|h| h.status == ConnectionStatus::Connected);
    view! {
        {key
            .map(|(status, elsewhere)| {
                view! {
                    <HostKeyPanel
                        host
                        host_name=host_name.clone()
                        status
                        action=actions.confirm
                        role
                        elsewhere
                    />
                }
            })}
        <section class="panel" aria-labelledby="way-title">
            <header>
                <h2 id="way-title">"The way to it"</h2>
                <span class="ml-auto text-xs text-muted">
                    "looked at " <At time=at />
                </span>
            </header>
            <div class="p-3.5">
                <HopList hops=check.hops />
            </div>
        </section>
        {(connected && platform.is_none())
            .then(|| {
                view! {
                    <section class="panel p-3.5 flex gap-2">
                        <Mark sign=Sign::Warn />
                        <p>
                            "The login works, but what kind of host it is could not be read. Look again; if it stays, log in by hand and see whether the shell answers."
                        </p>
                    </section>
                }
            })}
        {platform
            .map(|table| {
                view! {
                    <section class="panel" aria-labelledby="platform-title">
                        <header>
                            <h2 id="platform-title">"What it is"</h2>
                        </header>
                        <FactsTable table caption="what it is".to_owned() />
                    </section>
                }
            })}
        {connected.then(|| view! { <Guests guests table=guest_table /> })}
    }
}

#[component]
fn Guests(guests: GuestList, table: Option<Table>) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="guests-title">
            <header>
                <h2 id="guests-title">"Guests"</h2>
            </header>
            <GuestsNote guests />
            {table.map(|table| view! { <FactsTable table caption="guests".to_owned() /> })}
        </section>
    }
}

#[component]
fn Checks(checks: Vec<CheckOffer>, host: HostId, role: Role, actions: Actions) -> impl IntoView {
    let none = checks.is_empty();
    view! {
        <section class="panel" aria-labelledby="checks-title">
            <header>
                <h2 id="checks-title">"Run a check"</h2>
            </header>
            <div class="px-3.5">
                <FormError error=error_of(actions.run) />
            </div>
            {none
                .then(|| {
                    view! {
                        <p class="px-3.5 py-3 text-sm text-muted">
                            "There is no check for a host of this kind."
                        </p>
                    }
                })}
            {checks
                .into_iter()
                .map(|offer| {
                    let refused = (role < Role::Operator)
                        .then(|| "Needs the role operator.".to_owned());
                    view! {
                        <ActionForm action=actions.run attr:class="offer">
                            <input type="hidden" name="host" value=host.to_string() />
                            <input type="hidden" name="check" value=offer.check />
                            <h3 class="font-semibold">{offer.title.clone()}</h3>
                            {offer.why.map(|w| view! { <p class="text-sm text-muted">{w}</p> })}
                            <ul class="my-2">
                                {offer
                                    .commands
                                    .into_iter()
                                    .map(|c| view! { <li class="cmd">{c}</li> })
                                    .collect_view()}
                            </ul>
                            <div class="flex flex-wrap gap-2">
                                <Submit
                                    label=format!("Run {}", offer.title)
                                    class="btn btn-plain btn-sm h-auto min-h-8"
                                    pending=actions.run.pending()
                                    refused=refused
                                />
                            </div>
                        </ActionForm>
                    }
                })
                .collect_view()}
        </section>
    }
}

#[component]
fn Runs(runs: Vec<RunRow>) -> impl IntoView {
    let none = runs.is_empty();
    view! {
        <section class="panel" aria-labelledby="runs-title">
            <header>
                <h2 id="runs-title">"Earlier runs"</h2>
            </header>
            {if none {
                view! { <p class="px-3.5 py-3 text-sm text-muted">"None yet."</p> }.into_any()
            } else {
                view! {
                    <ul class="rows">
                        {runs.into_iter().map(|row| view! { <RunRowItem row /> }).collect_view()}
                    </ul>
                }
                    .into_any()
            }}
        </section>
    }
}

#[component]
fn Remove(host: HostId, name: String, actions: Actions) -> impl IntoView {
    view! {
        <details class="panel">
            <summary class="px-3.5 py-2.5 text-sm">"Remove this host"</summary>
            <ActionForm action=actions.remove attr:class="px-3.5 pb-3.5 space-y-3 text-sm">
                <input type="hidden" name="id" value=host.to_string() />
                <p>
                    "Its runs and its confirmed key go with it. Sessions keep what they have read. The machine itself is not touched."
                </p>
                <FormError error=error_of(actions.remove) />
                <label class="flex gap-2 items-start">
                    <input type="checkbox" class="checkbox checkbox-sm" required />
                    <span>{format!("Yes, remove {name} from Hopwise.")}</span>
                </label>
                <Submit
                    label="Remove"
                    class="btn btn-danger btn-sm"
                    pending=actions.remove.pending()
                />
            </ActionForm>
        </details>
    }
}
