use std::collections::BTreeMap;

use diagnosis::ids::{OutputHash, SessionId};
use leptos::prelude::*;
use leptos_meta::Title;

use super::id_of;
use crate::components::{
    AsyncView, At, ConclusionPanel, EvidencePanel, FormError, LiveNote, Mark, QuestionPanel,
    Refetch, RefreshWithoutScript, RunCommandPanel, Sign, SignBadge, StepTrail, Submit, duration,
    error_of, plural, use_live,
};
use crate::people::Role;
use crate::runs::{CommandView, OutputText};
use crate::sessions::{AnswerQuestion, Now, SessionPage as Page, StopSession, read_session};
use crate::wire::remote;

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
    let page = remote(
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
    let state = use_live(
        move || {
            page.with(|p| match p {
                Some(Ok(p)) if p.now.goes_on() => {
                    Some((format!("/live/session/{}", p.id), p.version))
                }
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
    let subject = page.ends.join(", ");
    let running = page.now == Now::Running;
    let open = page.now.goes_on();
    let concluded = matches!(page.now, Now::Concluded { .. });
    let now = stands(&page, role, actions);
    view! {
        <Title text=format!("{}: {subject}", page.title) />
        <RefreshWithoutScript when=running />
        <div class="page-head">
            <div class="min-w-0">
                <p class="text-xs text-muted dot-sep">
                    <At time=page.started_at />
                    <span>{format!("by {}", page.started_by)}</span>
                    {concluded
                        .then(|| {
                            let ms = page.changed_at.duration_since(page.started_at).as_millis();
                            let took = duration(u64::try_from(ms).unwrap_or_default());
                            view! { <span>{format!("concluded after {took}")}</span> }
                        })}
                </p>
                <h1 class="text-xl font-semibold">{page.title.clone()}</h1>
                <p class="text-sm wrap-anywhere">{subject.clone()}</p>
            </div>
            <div class="ml-auto flex flex-wrap items-center gap-2">
                {(open && role >= Role::Operator)
                    .then(|| {
                        view! {
                            <ActionForm action=actions.stop attr:class="flex gap-2">
                                <input type="hidden" name="session" value=page.id.to_string() />
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
                            <a class="btn btn-plain btn-sm" href=page.again>
                                "Check again"
                            </a>
                        }
                    })}
            </div>
        </div>
        <FormError error=error_of(actions.stop) />
        <div class="session-grid">
            <div class="session-main">
                {now}
                <Commands
                    commands=page.commands.clone()
                    outputs=page.outputs.clone()
                    stopped=!open
                />
            </div>
            <div class="session-evidence">
                <EvidencePanel
                    evidence=page.evidence
                    commands=page.commands
                    outputs=page.outputs
                    complete=concluded
                />
            </div>
            <div class="session-trail">
                <StepTrail
                    title=page.title
                    ends=page.ends
                    trail=page.trail
                    now=page.now
                    changed_at=page.changed_at
                />
            </div>
        </div>
    }
}

/// Where the session stands: a question, commands under way, the conclusion, or why it stopped.
fn stands(page: &Page, role: Role, actions: Actions) -> AnyView {
    match page.now.clone() {
        Now::Waiting { step, question } => {
            view! { <QuestionPanel session=page.id step question action=actions.answer role /> }
                .into_any()
        }
        Now::Running => view! { <Running commands=page.commands.clone() /> }.into_any(),
        Now::Concluded {
            conclusion,
            ruled_out,
        } => view! { <ConclusionPanel conclusion ruled_out /> }.into_any(),
        Now::Stopped { reason } => view! {
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
fn Running(commands: Vec<CommandView>) -> impl IntoView {
    let all = commands.len();
    let open: Vec<CommandView> = commands
        .into_iter()
        .filter(|c| c.result.is_none())
        .collect();
    let done = all - open.len();
    let longest = open.iter().map(|c| c.time_limit_ms).max();
    let mut hosts: Vec<&str> = open.iter().map(|c| c.host_name.as_str()).collect();
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
                    .map(|command| {
                        let again = (command.interrupted > 0)
                            .then_some(" Interrupted before, started again.");
                        view! {
                            <li class="flex gap-2 text-sm">
                                <Mark sign=Sign::Running />
                                <span class="min-w-0 wrap-anywhere">
                                    {command.title} " "
                                    <code class="text-muted">{command.command}</code>
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
fn Commands(
    commands: Vec<CommandView>,
    outputs: BTreeMap<OutputHash, OutputText>,
    /// Nothing runs any more.
    stopped: bool,
) -> impl IntoView {
    if commands.is_empty() {
        return ().into_any();
    }
    let total = commands.len();
    let not_run = commands
        .iter()
        .filter(|c| c.result.as_ref().is_some_and(|r| !r.ran()))
        .count();
    let ended = stopped.then_some("no result");
    view! {
        <details class="panel">
            <summary class="px-3.5 py-2.5">
                <span class="font-semibold text-sm">"Everything that was run"</span>
                <span class="text-sm text-muted">
                    {format!("{}, {not_run} not run", plural(total, "command", "commands"))}
                </span>
            </summary>
            <div class="space-y-3 p-3 border-t border-rule bg-page">
                {commands
                    .into_iter()
                    .map(|command| {
                        view! { <RunCommandPanel command outputs=outputs.clone() ended /> }
                    })
                    .collect_view()}
            </div>
        </details>
    }
    .into_any()
}
