use std::collections::BTreeMap;

use diagnosis::ids::OutputHash;
use leptos::prelude::*;

use super::raw::{RawLines, excerpt};
use super::run_command::{CommandLine, NotRunNote};
use super::{RawOutput, duration};
use crate::runs::{CommandView, Outcome, OutputText};
use crate::sessions::EvidenceView;

/// What the session rests on: command and host, what it shows, the deciding words in the raw text.
#[component]
pub(crate) fn EvidencePanel(
    evidence: Vec<EvidenceView>,
    commands: Vec<CommandView>,
    outputs: BTreeMap<OutputHash, OutputText>,
    /// Nothing more is to come.
    complete: bool,
) -> impl IntoView {
    if evidence.is_empty() {
        return ().into_any();
    }
    let title = if complete {
        "Evidence"
    } else {
        "Evidence so far"
    };
    view! {
        <section class="panel" aria-labelledby="evidence-title">
            <header>
                <h2 id="evidence-title">{title}</h2>
            </header>
            {evidence
                .into_iter()
                .map(|piece| {
                    let command = piece.command.and_then(|index| commands.get(index));
                    let output = piece.output.as_ref().and_then(|hash| outputs.get(hash));
                    view! {
                        <Piece
                            says=piece.says
                            marks=piece.marks
                            command=command.cloned()
                            output=output.cloned()
                        />
                    }
                })
                .collect_view()}
        </section>
    }
    .into_any()
}

#[component]
fn Piece(
    says: String,
    marks: Vec<String>,
    command: Option<CommandView>,
    output: Option<OutputText>,
) -> impl IntoView {
    let Some(command) = command else {
        return view! { <p class="px-3.5 py-2.5 text-sm border-t border-rule">{says}</p> }
            .into_any();
    };
    let lines = output
        .as_ref()
        .map(|o| excerpt(&o.text, &marks))
        .unwrap_or_default();
    let found = !lines.is_empty();
    let label = format!("Deciding lines of {}", command.title);
    let whole = format!("Output of {}", command.title);
    let (meta, not_run) = match command.result.as_ref().map(|r| (&r.outcome, r.took_ms)) {
        Some((Outcome::Ran { exit }, took)) => {
            (Some(format!("exit {exit} · {}", duration(took))), None)
        }
        Some((
            Outcome::NotRun {
                sentence, advice, ..
            },
            _,
        )) => (None, Some((sentence.clone(), advice.clone()))),
        None => (None, None),
    };
    view! {
        <div class="evidence">
            <CommandLine host_name=command.host_name command=command.command place=command.place />
            {meta.map(|m| view! { <p class="px-3.5 pb-1.5 text-xs text-muted num text-right">{m}</p> })}
            {not_run.map(|(sentence, advice)| view! { <NotRunNote sentence advice /> })}
            {found.then(|| view! { <RawLines lines label wrap=true /> })}
            <p class="note mx-3.5 my-2.5">{says}</p>
            {output
                .map(|output| {
                    view! {
                        <details class="border-t border-rule">
                            <summary class="px-3.5 py-2 text-sm">"The whole output"</summary>
                            <RawOutput output marks label=whole />
                        </details>
                    }
                })}
        </div>
    }
    .into_any()
}
