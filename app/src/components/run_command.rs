use std::collections::BTreeMap;

use diagnosis::ids::OutputHash;
use leptos::prelude::*;

use super::{FactsTable, Mark, RawOutput, Sign, SignBadge, duration};
use crate::runs::{CommandView, Outcome, OutputText, ResultView};

/// A command with what became of it: the same for a run and for a session.
#[component]
pub(crate) fn RunCommandPanel(
    command: CommandView,
    /// The outputs that are at hand.
    outputs: BTreeMap<OutputHash, OutputText>,
    /// What stands instead of "running" where it does not run any more.
    ended: Option<&'static str>,
) -> impl IntoView {
    let status = command
        .result
        .as_ref()
        .map(|r| (r.outcome.clone(), r.took_ms));
    let limit = duration(command.time_limit_ms);
    let title = command.title;
    view! {
        <article class="panel" aria-label=title.clone()>
            <header>
                <h3>{title.clone()}</h3>
                <span class="ml-auto flex items-center gap-2">
                    <RunStatusBadge status ended />
                </span>
            </header>
            <CommandLine host_name=command.host_name command=command.command place=command.place />
            {match (command.result, ended) {
                (Some(result), _) => view! { <Result result outputs title=title.clone() /> }.into_any(),
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

#[component]
fn RunStatusBadge(status: Option<(Outcome, u64)>, ended: Option<&'static str>) -> impl IntoView {
    match status {
        None => match ended {
            None => view! { <SignBadge sign=Sign::Running word="running" /> }.into_any(),
            Some(word) => view! { <SignBadge sign=Sign::NotRun word=word /> }.into_any(),
        },
        Some((Outcome::Ran { exit }, took)) => view! {
            <span class="text-xs text-muted num">{format!("exit {exit} · {}", duration(took))}</span>
        }
        .into_any(),
        Some((Outcome::NotRun { name, .. }, _)) => {
            let word = format!("not run: {name}");
            view! { <SignBadge sign=Sign::NotRun word /> }.into_any()
        }
    }
}

/// `host$ command`, and where it runs when that is not the host itself.
#[component]
pub(crate) fn CommandLine(
    host_name: String,
    command: String,
    place: Option<String>,
) -> impl IntoView {
    view! {
        <p class="cmd px-3.5 pt-2.5 pb-2">
            <span class="text-muted">{host_name} "$ "</span>
            <span class="font-semibold">{command}</span>
            {place.map(|p| view! { <span class="block font-sans text-muted">{p}</span> })}
        </p>
    }
}

/// Why a command did not run, said where its output would be.
#[component]
pub(crate) fn NotRunNote(sentence: String, advice: Option<String>) -> impl IntoView {
    view! {
        <div class="px-3.5 py-2.5 flex gap-2 text-sm">
            <Mark sign=Sign::NotRun />
            <div class="min-w-0 wrap-anywhere">
                <p class="font-semibold">{format!("Not run: {sentence}.")}</p>
                {advice.map(|a| view! { <p class="text-muted">{a}</p> })}
            </div>
        </div>
    }
}

#[component]
fn Result(
    result: ResultView,
    outputs: BTreeMap<OutputHash, OutputText>,
    title: String,
) -> impl IntoView {
    let ResultView {
        outcome,
        facts,
        no_facts,
        unparsed,
        ..
    } = result;
    let not_run = match outcome {
        Outcome::NotRun {
            sentence, advice, ..
        } => Some((sentence, advice)),
        Outcome::Ran { .. } => None,
    };
    let at_hand = |hash: Option<OutputHash>| {
        hash.map(|hash| {
            let text = outputs.get(&hash).cloned();
            (hash, text)
        })
    };
    let (stdout, stderr) = (at_hand(result.stdout), at_hand(result.stderr));
    view! {
        {not_run.map(|(sentence, advice)| view! { <NotRunNote sentence advice /> })}
        {facts.map(|table| view! { <FactsTable table caption=title.clone() /> })}
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
