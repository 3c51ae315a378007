use std::collections::BTreeMap;

use diagnosis::facts::Facts;
use diagnosis::ids::OutputHash;
use diagnosis::run::{Command, NotRun, Place, RunStatus};
use leptos::prelude::*;

use super::facts::FactsTable;
use super::{Mark, RawOutput, Sign, SignBadge, duration};
use crate::runs::{CommandResult, OutputText};

/// A command with what became of it: the same for a run and for a session.
#[component]
pub(crate) fn RunCommandPanel(
    title: String,
    host_name: String,
    command: Command,
    /// `None` while it runs.
    done: Option<Done>,
    /// What stands instead of "running" where it does not run any more.
    ended: Option<&'static str>,
) -> impl IntoView {
    let status = done.as_ref().map(|d| (d.status.clone(), d.took_ms));
    let limit = duration(command.time_limit_ms);
    view! {
        <article class="panel" aria-label=title.clone()>
            <header>
                <h3>{title.clone()}</h3>
                <span class="ml-auto flex items-center gap-2">
                    <RunStatusBadge status ended />
                </span>
            </header>
            <CommandLine host_name command />
            {match (done, ended) {
                (Some(done), _) => view! { <DoneView done title=title.clone() /> }.into_any(),
                (None, None) => {
                    view! {
                        <p class="px-3.5 py-3 text-sm text-muted" role="status">
                            {format!("Running. It ends by itself after {limit} at the latest.")}
                        </p>
                    }
                        .into_any()
                }
                (None, Some(_)) => {
                    view! {
                        <p class="px-3.5 py-3 text-sm text-muted">
                            "No result was kept. Run the check again."
                        </p>
                    }
                        .into_any()
                }
            }}
        </article>
    }
}

/// A result with the outputs that are at hand.
#[derive(Clone)]
pub(crate) struct Done {
    pub(crate) status: RunStatus,
    pub(crate) took_ms: u64,
    pub(crate) stdout: Option<(OutputHash, Option<OutputText>)>,
    pub(crate) stderr: Option<(OutputHash, Option<OutputText>)>,
    pub(crate) facts: Option<Facts>,
    pub(crate) no_facts: Option<String>,
    pub(crate) unparsed: Vec<String>,
}

impl Done {
    pub(crate) fn new(result: CommandResult, outputs: &BTreeMap<OutputHash, OutputText>) -> Self {
        let at_hand = |hash: Option<OutputHash>| {
            hash.map(|h| {
                let text = outputs.get(&h).cloned();
                (h, text)
            })
        };
        Self {
            status: result.status,
            took_ms: result.took_ms,
            stdout: at_hand(result.stdout),
            stderr: at_hand(result.stderr),
            facts: result.facts,
            no_facts: result.no_facts,
            unparsed: result.unparsed,
        }
    }
}

#[component]
fn RunStatusBadge(status: Option<(RunStatus, u64)>, ended: Option<&'static str>) -> impl IntoView {
    match status {
        None => match ended {
            None => view! { <SignBadge sign=Sign::Running word="running" /> }.into_any(),
            Some(word) => view! { <SignBadge sign=Sign::NotRun word=word /> }.into_any(),
        },
        Some((RunStatus::Ran { exit }, took)) => view! {
            <span class="text-xs text-muted num">{format!("exit {exit} · {}", duration(took))}</span>
        }
        .into_any(),
        Some((RunStatus::NotRun { reason }, _)) => {
            let word = format!("not run: {}", reason.name());
            view! { <SignBadge sign=Sign::NotRun word /> }.into_any()
        }
    }
}

/// `host$ command`, and where it runs when that is not the host itself.
#[component]
pub(crate) fn CommandLine(host_name: String, command: Command) -> impl IntoView {
    let place = match command.place {
        Place::Host => None,
        Place::Container { vmid } => Some(format!(
            "in the network of CT {vmid}, with the host's tools"
        )),
        Place::VirtualMachine { vmid } => Some(format!("in VM {vmid}, through its guest agent")),
    };
    view! {
        <p class="cmd px-3.5 pt-2.5 pb-2">
            <span class="text-muted">{host_name} "$ "</span>
            <span class="font-semibold">{command.display()}</span>
            {place.map(|p| view! { <span class="block font-sans text-muted">{p}</span> })}
        </p>
    }
}

/// Why a command did not run, said where its output would be.
#[component]
pub(crate) fn NotRunNote(reason: NotRun) -> impl IntoView {
    let advice = match &reason {
        NotRun::NoConnection { status } => status.advice(),
        NotRun::NotFound { .. } => {
            Some("Install it on the host, or go on without: what it would have shown stays open.")
        }
        NotRun::Denied { .. } => {
            Some("The user Hopwise logs in with lacks the rights for this command.")
        }
        NotRun::TimedOut { .. } => {
            Some("The command was ended on the host. Run it by hand to see where it hangs.")
        }
        NotRun::GuestUnreachable { .. } => Some("Start the guest, then run it again."),
        NotRun::Truncated { .. }
        | NotRun::Signalled { .. }
        | NotRun::Cancelled
        | NotRun::Interrupted => None,
    };
    view! {
        <div class="px-3.5 py-2.5 flex gap-2 text-sm">
            <Mark sign=Sign::NotRun />
            <div class="min-w-0 wrap-anywhere">
                <p class="font-semibold">{format!("Not run: {}.", reason.sentence())}</p>
                {advice.map(|a| view! { <p class="text-muted">{a}</p> })}
            </div>
        </div>
    }
}

#[component]
fn DoneView(done: Done, title: String) -> impl IntoView {
    let Done {
        status,
        stdout,
        stderr,
        facts,
        no_facts,
        unparsed,
        ..
    } = done;
    let not_run = match status {
        RunStatus::NotRun { reason } => Some(reason),
        RunStatus::Ran { .. } => None,
    };
    view! {
        {not_run.map(|reason| view! { <NotRunNote reason /> })}
        {facts.map(|facts| view! { <FactsTable facts caption=title.clone() /> })}
        {no_facts
            .map(|why| {
                view! {
                    <p class="px-3.5 py-2 text-sm flex gap-2">
                        <Mark sign=Sign::Warn />
                        <span>{format!("No facts were read from the output: {why}")}</span>
                    </p>
                }
            })}
        {(!unparsed.is_empty())
            .then(|| {
                view! {
                    <div class="px-3.5 py-2 border-t border-rule">
                        <p class="text-sm flex gap-2">
                            <Mark sign=Sign::Warn />
                            <span>
                                {format!(
                                    "{} not understood; the table may lack what {} say{}.",
                                    super::plural(unparsed.len(), "line was", "lines were"),
                                    if unparsed.len() == 1 { "it" } else { "they" },
                                    if unparsed.len() == 1 { "s" } else { "" },
                                )}
                            </span>
                        </p>
                        <pre class="raw-short" tabindex="0">
                            {unparsed.join("\n")}
                        </pre>
                    </div>
                }
            })}
        {stdout.map(|output| view! { <OutputDetails name="Raw output" output title=title.clone() /> })}
        {stderr
            .map(|output| {
                view! { <OutputDetails name="Error output (stderr)" output title=title.clone() /> }
            })}
    }
}

/// A raw output one click away: here where the page has it, else on its own page.
#[component]
fn OutputDetails(
    name: &'static str,
    output: (OutputHash, Option<OutputText>),
    title: String,
) -> impl IntoView {
    let (hash, text) = output;
    let href = format!("/outputs/{hash}");
    match text {
        Some(output) => {
            let whole = output.shown == output.bytes;
            view! {
                <details class="border-t border-rule">
                    <summary class="px-3.5 py-2 text-sm">
                        {name} <span class="text-muted num">{format!("{} bytes", output.bytes)}</span>
                    </summary>
                    <RawOutput output label=format!("{name}: {title}") />
                    {(!whole)
                        .then(|| {
                            view! {
                                <p class="px-3.5 py-2 text-sm">
                                    <a class="txtlink" href=href>
                                        "More of it"
                                    </a>
                                </p>
                            }
                        })}
                </details>
            }
            .into_any()
        }
        None => view! {
            <p class="border-t border-rule px-3.5 py-2 text-sm">
                <a class="txtlink" href=href>
                    {name}
                </a>
            </p>
        }
        .into_any(),
    }
}
