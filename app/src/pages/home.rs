use leptos::prelude::*;
use leptos_meta::Title;

use crate::components::{
    AsyncView, Mark, SessionRowItem, Sign, SymptomCardLink, host_state, plural, reached,
};
use crate::hosts::{HostRow, list_hosts};
use crate::people::Role;
use crate::sessions::{SessionRow, SymptomCard, list_sessions, list_symptoms};
use crate::wire::remote;

#[component]
pub(crate) fn HomePage() -> impl IntoView {
    let symptoms = remote(|| (), |()| list_symptoms());
    let sessions = remote(|| (), |()| list_sessions(None));
    let hosts = remote(|| (), |()| list_hosts());
    view! {
        <Title text="What is going wrong?" />
        <div class="page grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_340px] items-start">
            <div>
                <h1 class="text-2xl font-semibold mb-3">"What is going wrong?"</h1>
                <AsyncView
                    resource=symptoms
                    render=|symptoms, _| view! { <Symptoms symptoms /> }
                />
            </div>
            <div class="space-y-4">
                <AsyncView
                    resource=sessions
                    render=|sessions, _| view! { <Sessions sessions /> }
                />
                <AsyncView
                    resource=hosts
                    render=|hosts, role| view! { <Hosts hosts role /> }
                />
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn Symptoms(symptoms: Vec<SymptomCard>) -> impl IntoView {
    view! {
        <ul class="grid gap-2.5 sm:grid-cols-2 xl:grid-cols-3">
            {symptoms
                .into_iter()
                .map(|card| view! { <li class="flex"><SymptomCardLink card /></li> })
                .collect_view()}
        </ul>
        <p class="text-sm text-muted mt-4 measure">
            "Choose what you see. You then say at which guest, and Hopwise reads what it needs from the guest’s hypervisor. It changes nothing."
        </p>
    }
}

#[component]
fn Sessions(sessions: Vec<SessionRow>) -> impl IntoView {
    let none = sessions.is_empty();
    view! {
        <section class="panel" aria-labelledby="go-on">
            <header>
                <h2 id="go-on">"Go on"</h2>
                <a class="txtlink text-sm ml-auto" href="/sessions">
                    "All sessions"
                </a>
            </header>
            {if none {
                view! {
                    <p class="px-3.5 py-3 text-sm text-muted">
                        "No diagnosis yet. It begins with a symptom."
                    </p>
                }
                    .into_any()
            } else {
                view! {
                    <ul class="rows">
                        {sessions
                            .into_iter()
                            .take(6)
                            .map(|row| view! { <SessionRowItem row /> })
                            .collect_view()}
                    </ul>
                }
                    .into_any()
            }}
        </section>
    }
}

/// How many hosts answer, and each that does not.
#[component]
fn Hosts(hosts: Vec<HostRow>, role: Role) -> impl IntoView {
    let answer = hosts.iter().filter(|h| reached(h)).count();
    let all = hosts.len();
    let mark = if answer > 0 { Sign::Pass } else { Sign::NotRun };
    let others: Vec<HostRow> = hosts.into_iter().filter(|h| !reached(h)).collect();
    view! {
        <section class="panel" aria-labelledby="hosts-title">
            <header>
                <h2 id="hosts-title">"Hosts"</h2>
                <a class="txtlink text-sm ml-auto" href="/hosts">
                    "All hosts"
                </a>
            </header>
            {if all == 0 {
                view! { <NoHosts role /> }.into_any()
            } else {
                view! {
                    <ul class="px-3.5 py-2.5 space-y-1.5 text-sm">
                        <li class="flex gap-2">
                            <Mark sign=mark />
                            <span>
                                {format!("{answer} of {} answered when last asked", plural(all, "host", "hosts"))}
                            </span>
                        </li>
                        {others
                            .into_iter()
                            .map(|row| {
                                let (sign, word) = host_state(&row);
                                view! {
                                    <li class="flex gap-2">
                                        <Mark sign />
                                        <span class="min-w-0 wrap-anywhere">
                                            <a
                                                class="font-semibold"
                                                href=format!("/hosts/{}", row.host.id)
                                            >
                                                {row.host.name.clone()}
                                            </a>
                                            {format!(": {word}")}
                                        </span>
                                    </li>
                                }
                            })
                            .collect_view()}
                    </ul>
                }
                    .into_any()
            }}
        </section>
    }
}

#[component]
fn NoHosts(role: Role) -> impl IntoView {
    view! {
        <div class="px-3.5 py-3 text-sm space-y-2">
            <p>
                "No hosts yet. Hopwise looks at guests through their hypervisors, so it needs an SSH login to at least one of them."
            </p>
            {if role == Role::Admin {
                view! {
                    <p>
                        <a class="btn btn-primary btn-sm" href="/hosts/new">
                            "Add a host"
                        </a>
                    </p>
                }
                    .into_any()
            } else {
                view! { <p class="text-muted">"An admin can add one."</p> }.into_any()
            }}
        </div>
    }
}
