use std::collections::BTreeMap;

use diagnosis::facts::GuestKind;
use diagnosis::ids::{OutputHash, SessionId};
use diagnosis::session::{Phase, Session, SessionRun};
use leptos::prelude::*;
use leptos_meta::Title;

use super::id_of;
use crate::components::{
    AsyncView, At, ConclusionPanel, Done, EvidencePanel, FormError, LiveNote, Mark, QuestionPanel,
    Refetch, RefreshWithoutScript, RunCommandPanel, Sign, SignBadge, StepTrail, Submit, duration,
    error_of, plural, use_live,
};
use crate::people::Role;
use crate::runs::{CommandResult, OutputText};
use crate::sessions::{AnswerQuestion, SessionPage as Page, StopSession, read_session};

#[derive(Clone, Copy)]
struct Actions {
    answer: ServerAction<AnswerQuestion>,
    stop: ServerAction<StopSession>,
}

#[component]
pub(crate) fn SessionPage() -> impl IntoView {
    let actions = Actions {
        answer: ServerAction::new(),
        stop: ServerAction::new(),
    };
    let refetch = Refetch::new();
    let page = Resource::new(
        move || (id_of::<SessionId>("id", "This session"), refetch.turn()),
        move |(id, _)| async move {
            let page = match id {
                Ok(id) => read_session(id).await,
                Err(error) => Err(error),
            };
            refetch.done();
            page
        },
    );
    Effect::new(move |before: Option<(usize, usize)>| {
        let now = (actions.answer.version().get(), actions.stop.version().get());
        if before.is_some_and(|b| b != now) {
            refetch.ask();
        }
        now
    });
    let lost = use_live(
        move || {
            page.with(|p| match p {
                Some(Ok(p)) if goes_on(&p.session) => {
                    Some((format!("/live/session/{}", p.session.id), p.session.seq))
                }
                _ => None,
            })
        },
        refetch,
    );
    view! {
        <div class="page">
            <LiveNote lost />
            <AsyncView resource=page render=move |page, role| view! { <View page role actions /> } />
        </div>
    }
    .into_any()
}

const fn goes_on(session: &Session) -> bool {
    matches!(session.phase, Phase::Running | Phase::Waiting { .. })
}

#[component]
fn View(page: Page, role: Role, actions: Actions) -> impl IntoView {
    let Page { session, outputs } = page;
    let ends: Vec<String> = session.ends.values().map(|e| e.label()).collect();
    let subject = ends.join(", ");
    let running = session.phase == Phase::Running;
    let open = goes_on(&session);
    let concluded = session.conclusion.is_some();
    view! {
        <Title text=format!("{}: {subject}", session.title) />
        <RefreshWithoutScript when=running />
        <div class="page-head">
            <div class="min-w-0">
                <p class="text-xs text-muted dot-sep">
                    <At time=session.started_at />
                    <span>{format!("by {}", session.started_by.name)}</span>
                    {concluded
                        .then(|| {
                            let ms = session.changed_at.duration_since(session.started_at).as_millis();
                            let took = duration(u64::try_from(ms).unwrap_or_default());
                            view! { <span>{format!("concluded after {took}")}</span> }
                        })}
                </p>
                <h1 class="text-xl font-semibold">{session.title.clone()}</h1>
                <p class="text-sm wrap-anywhere">{subject.clone()}</p>
            </div>
            <div class="ml-auto flex flex-wrap items-center gap-2">
                {(open && role >= Role::Operator)
                    .then(|| {
                        view! {
                            <ActionForm action=actions.stop attr:class="flex gap-2">
                                <input type="hidden" name="session" value=session.id.to_string() />
                                <Submit
                                    label="Stop the session"
                                    class="btn btn-plain btn-sm"
                                    pending=actions.stop.pending()
                                />
                            </ActionForm>
                        }
                    })}
                {(concluded && role >= Role::Operator)
                    .then(|| {
                        view! {
                            <a class="btn btn-plain btn-sm" href=again(&session)>
                                "Check again"
                            </a>
                        }
                    })}
            </div>
        </div>
        <FormError error=error_of(actions.stop) />
        <div class="session-grid">
            <div class="session-main">
                <Now session=session.clone() role actions />
                <Commands session=session.clone() outputs=outputs.clone() />
            </div>
            <div class="session-evidence">
                <EvidencePanel session=session.clone() outputs />
            </div>
            <div class="session-trail">
                <StepTrail session />
            </div>
        </div>
    }
}

/// The form for the same symptom, with the same guest chosen.
fn again(session: &Session) -> String {
    let guest = session.ends.values().next().map(|end| {
        let kind = match end.kind {
            GuestKind::Container => "container",
            GuestKind::VirtualMachine => "virtual-machine",
        };
        format!("&client={}/{kind}/{}", end.host, end.vmid)
    });
    format!(
        "/sessions/new?symptom={}{}",
        session.symptom,
        guest.unwrap_or_default()
    )
}

/// Where the session stands: a question, commands under way, the conclusion, or why it stopped.
#[component]
fn Now(session: Session, role: Role, actions: Actions) -> impl IntoView {
    match session.phase.clone() {
        Phase::Waiting { step } => {
            match session.questions.iter().rev().find(|q| q.step == step).cloned() {
                Some(asked) => view! {
                    <QuestionPanel session=session.id asked action=actions.answer role />
                }
                .into_any(),
                None => ().into_any(),
            }
        }
        Phase::Running => view! { <Running session /> }.into_any(),
        Phase::Concluded => view! { <ConclusionPanel session /> }.into_any(),
        Phase::Stopped { reason } => view! {
            <section class="panel p-4 lg:p-5">
                <SignBadge sign=Sign::NotRun word="Stopped" />
                <h2 class="text-xl font-semibold mt-2">"No conclusion"</h2>
                <p class="measure">{reason}</p>
                <p class="measure text-muted mt-2">
                    "What was read before is kept below. It names no cause and rules nothing out by itself."
                </p>
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Running(session: Session) -> impl IntoView {
    let open: Vec<SessionRun> = session
        .runs
        .values()
        .filter(|r| r.done.is_none())
        .cloned()
        .collect();
    let all = session.runs.len();
    let done = all - open.len();
    let longest = open.iter().map(|r| r.head.command.time_limit_ms).max();
    let mut hosts: Vec<String> = open.iter().map(|r| r.head.host_name.clone()).collect();
    hosts.dedup();
    let doing = if hosts.is_empty() {
        "Deciding what to look at next".to_owned()
    } else {
        format!("Reading {}", hosts.join(" and "))
    };
    view! {
        <section class="panel p-4 lg:p-5" aria-label="Running">
            <div class="flex flex-wrap gap-x-4 items-center mb-2" role="status">
                <SignBadge sign=Sign::Running word=doing />
                <span class="text-sm text-muted num ml-auto">
                    {format!("{done} of {} so far", plural(all, "command", "commands"))}
                </span>
            </div>
            <progress
                class="bar"
                max=all.max(1).to_string()
                value=done.to_string()
                aria-label="Commands done"
            ></progress>
            <ul class="mt-3 space-y-1.5">
                {open
                    .into_iter()
                    .map(|run| {
                        let again = (run.interrupted > 0)
                            .then_some(" Interrupted before, started again.");
                        view! {
                            <li class="flex gap-2 text-sm">
                                <Mark sign=Sign::Running />
                                <span class="min-w-0 wrap-anywhere">
                                    {run.head.title} " "
                                    <code class="text-muted">{run.head.command.display()}</code>
                                    {again}
                                </span>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
            {longest
                .map(|ms| {
                    view! {
                        <p class="text-sm text-muted mt-3">
                            {format!(
                                "Each command ends by itself, the slowest after {} at the latest. A probe that waits for an answer takes its whole time when none comes.",
                                duration(ms),
                            )}
                        </p>
                    }
                })}
        </section>
    }
}

/// Everything that ran, folded: command, host, status, facts, raw output.
#[component]
fn Commands(session: Session, outputs: BTreeMap<OutputHash, OutputText>) -> impl IntoView {
    if session.runs.is_empty() {
        return ().into_any();
    }
    let stopped = !goes_on(&session);
    let total = session.runs.len();
    let not_run = session
        .runs
        .values()
        .filter(|r| {
            r.done
                .as_ref()
                .is_some_and(|d| matches!(d.status, diagnosis::run::RunStatus::NotRun { .. }))
        })
        .count();
    view! {
        <details class="panel">
            <summary class="px-3.5 py-2.5">
                <span class="font-semibold text-sm">"Everything that was run"</span>
                <span class="text-sm text-muted">
                    {format!("{}, {not_run} not run", plural(total, "command", "commands"))}
                </span>
            </summary>
            <div class="space-y-3 p-3 border-t border-rule bg-page">
                {session
                    .runs
                    .values()
                    .cloned()
                    .map(|run| {
                        let done = run
                            .done
                            .map(|d| Done::new(
                                CommandResult {
                                    status: d.status,
                                    took_ms: d.took_ms,
                                    stdout: d.stdout,
                                    stderr: d.stderr,
                                    facts: d.facts,
                                    no_facts: None,
                                    unparsed: d.unparsed,
                                },
                                &outputs,
                            ));
                        let head = run.head;
                        view! {
                            <RunCommandPanel
                                title=head.title
                                host_name=head.host_name
                                command=head.command
                                done
                                ended=stopped.then_some("no result")
                            />
                        }
                    })
                    .collect_view()}
            </div>
        </details>
    }
    .into_any()
}
