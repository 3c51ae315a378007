use diagnosis::facts::{Guest, GuestKind, GuestStatus};
use diagnosis::ids::SymptomId;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::components::{AsyncView, At, FormError, Mark, Sign, Submit, error_of, kept};
use crate::error::AppError;
use crate::people::Role;
use crate::sessions::{GuestChoice, SessionForm, StartSession, read_session_form};
use crate::wire::remote;

#[component]
pub(crate) fn NewSessionPage() -> impl IntoView {
    let query = use_query_map();
    let form = remote(
        move || query.with(|q| q.get("symptom")).unwrap_or_default(),
        |symptom| async move {
            if symptom.is_empty() {
                return Err(AppError::NotFound {
                    what: "A symptom without a name".into(),
                });
            }
            read_session_form(SymptomId(symptom)).await
        },
    );
    let action = ServerAction::<StartSession>::new();
    view! {
        <div class="page-narrow">
            <p class="crumb">
                <a href="/">"Diagnose"</a>
            </p>
            <AsyncView
                resource=form
                render=move |form, role| view! { <Form form role action /> }
            />
        </div>
    }
    .into_any()
}

#[component]
fn Form(form: SessionForm, role: Role, action: ServerAction<StartSession>) -> impl IntoView {
    let error = error_of(action);
    let refused = (role < Role::Operator).then(|| "Needs the role operator.".to_owned());
    let any = form.choices.iter().any(|c| !c.guests.is_empty());
    let no_hosts = form.choices.is_empty();
    let end = form
        .ends
        .first()
        .map_or_else(|| "At which guest?".to_owned(), |(_, title)| title.clone());
    let chosen = kept("client");
    view! {
        <Title text=form.symptom.title.clone() />
        <h1 class="text-xl font-semibold">{form.symptom.title.clone()}</h1>
        <p class="text-muted measure mb-3">{form.symptom.summary.clone()}</p>
        {no_hosts
            .then(|| {
                view! {
                    <section class="panel p-4 space-y-2">
                        <h2 class="text-lg font-semibold">"No hypervisor to look through yet"</h2>
                        <p>
                            "Guests are listed by the hosts they run on. Add at least one of those hosts first."
                        </p>
                        <a class="txtlink" href="/hosts">
                            "Hosts"
                        </a>
                    </section>
                }
            })}
        {(!no_hosts)
            .then(|| {
                view! {
                    <ActionForm action attr:class="panel">
                        <input type="hidden" name="symptom" value=form.symptom.symptom.to_string() />
                        <fieldset>
                            <legend class="px-4 pt-3 pb-1 font-semibold float-left w-full">
                                {end}
                            </legend>
                            <div class="clear-both">
                                {form
                                    .choices
                                    .into_iter()
                                    .map(|choice| {
                                        view! { <Choice choice chosen=chosen.clone() /> }
                                    })
                                    .collect_view()}
                            </div>
                        </fieldset>
                        <div class="border-t border-rule p-4 space-y-3">
                            <FormError error />
                            <div class="flex flex-wrap items-center gap-3">
                                {any
                                    .then(|| {
                                        view! {
                                            <Submit
                                                label="Begin"
                                                pending=action.pending()
                                                refused=refused
                                            />
                                            <span class="text-sm text-muted">
                                                "Reads and probes only; nothing is changed. A few pings leave the guest."
                                            </span>
                                        }
                                    })}
                                {(!any)
                                    .then(|| {
                                        view! {
                                            <p class="text-sm text-muted">
                                                "None of the hosts lists a guest. Look at the hosts again, then reload this page."
                                            </p>
                                        }
                                    })}
                            </div>
                        </div>
                    </ActionForm>
                }
            })}
    }
}

/// The guests of one hypervisor.
#[component]
fn Choice(choice: GuestChoice, chosen: String) -> impl IntoView {
    let host = choice.host;
    let as_of = choice.as_of;
    view! {
        <section class="choice" aria-label=format!("Guests of {}", choice.host_name)>
            <h2 class="text-sm font-semibold flex flex-wrap gap-x-2">
                <a href=format!("/hosts/{host}")>{choice.host_name.clone()}</a>
                {as_of
                    .map(|at| {
                        view! {
                            <span class="text-xs font-normal text-muted">
                                "as of " <At time=at />
                            </span>
                        }
                    })}
            </h2>
            {choice
                .note
                .map(|note| {
                    view! {
                        <p class="text-sm flex gap-2 my-1">
                            <Mark sign=Sign::NotRun />
                            <span>{note}</span>
                        </p>
                    }
                })}
            <ul class="guest-list">
                {choice
                    .guests
                    .into_iter()
                    .map(|guest| {
                        let value = format!("{host}/{}/{}", kind(&guest), guest.vmid);
                        let checked = value == chosen;
                        view! { <GuestOption guest value checked /> }
                    })
                    .collect_view()}
            </ul>
        </section>
    }
}

#[component]
fn GuestOption(guest: Guest, value: String, checked: bool) -> impl IntoView {
    let stopped = match &guest.status {
        GuestStatus::Running => None,
        GuestStatus::Stopped => Some("stopped".to_owned()),
        GuestStatus::Other(word) => Some(word.clone()),
    };
    view! {
        <li>
            <label class="guest">
                <input
                    type="radio"
                    class="radio radio-sm"
                    name="client"
                    value=value
                    checked=checked
                    required
                />
                <span class="min-w-0 wrap-anywhere">
                    <span class="num">{format!("{} {}", guest.kind.short(), guest.vmid)}</span>
                    " "
                    <span class="text-muted">{guest.name}</span>
                    {stopped.map(|s| view! { <span class="tag ml-2">{s}</span> })}
                </span>
            </label>
        </li>
    }
}

const fn kind(guest: &Guest) -> &'static str {
    match guest.kind {
        GuestKind::Container => "container",
        GuestKind::VirtualMachine => "virtual-machine",
    }
}
