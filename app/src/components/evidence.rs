use std::collections::{BTreeMap, HashSet};

use diagnosis::ids::OutputHash;
use diagnosis::run::RunStatus;
use diagnosis::session::Session;
use diagnosis::verdict::{Conclusion, Evidence};
use leptos::prelude::*;

use super::raw::{RawLines, excerpt};
use super::run_command::{CommandLine, NotRunNote};
use super::{RawOutput, duration};
use crate::runs::OutputText;

/// The evidence to show: the conclusion's, else that of the findings so far, each piece once.
fn collect(session: &Session) -> Vec<Evidence> {
    let of_conclusion = match &session.conclusion {
        Some(Conclusion::Cause { evidence, .. }) => evidence.as_slice(),
        Some(Conclusion::NoFaultFound { .. } | Conclusion::Inconclusive { .. }) | None => &[],
    };
    let mut seen = HashSet::new();
    let all: Vec<Evidence> = if of_conclusion.is_empty() {
        session
            .findings
            .iter()
            .flat_map(|f| f.evidence.clone())
            .collect()
    } else {
        of_conclusion.to_vec()
    };
    all.into_iter()
        .filter(|e| seen.insert((e.run.clone(), e.says.clone())))
        .collect()
}

/// What the session rests on: command and host, what it shows, the deciding words in the raw text.
#[component]
pub(crate) fn EvidencePanel(
    session: Session,
    outputs: BTreeMap<OutputHash, OutputText>,
) -> impl IntoView {
    let evidence = collect(&session);
    if evidence.is_empty() {
        return ().into_any();
    }
    let title = if session.conclusion.is_some() {
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
                    let run = session.runs.get(&piece.run).cloned();
                    let output = run
                        .as_ref()
                        .and_then(|r| r.done.as_ref())
                        .and_then(|d| choose(&piece.marks, d.stdout.as_ref(), d.stderr.as_ref(), &outputs));
                    view! { <Piece piece run output /> }
                })
                .collect_view()}
        </section>
    }
    .into_any()
}

/// The output that has the marks: usually stdout, sometimes the error output.
fn choose(
    marks: &[String],
    stdout: Option<&OutputHash>,
    stderr: Option<&OutputHash>,
    outputs: &BTreeMap<OutputHash, OutputText>,
) -> Option<OutputText> {
    let stdout = stdout.and_then(|h| outputs.get(h));
    let stderr = stderr.and_then(|h| outputs.get(h));
    let has = |o: &&OutputText| {
        marks
            .iter()
            .any(|m| !m.is_empty() && o.text.contains(m.as_str()))
    };
    stdout
        .filter(has)
        .or_else(|| stderr.filter(has))
        .or(stdout)
        .or(stderr)
        .cloned()
}

#[component]
fn Piece(
    piece: Evidence,
    run: Option<diagnosis::session::SessionRun>,
    output: Option<OutputText>,
) -> impl IntoView {
    let Some(run) = run else {
        return view! { <p class="px-3.5 py-2.5 text-sm border-t border-rule">{piece.says}</p> }
            .into_any();
    };
    let lines = output
        .as_ref()
        .map(|o| excerpt(&o.text, &piece.marks))
        .unwrap_or_default();
    let found = !lines.is_empty();
    let label = format!("Deciding lines of {}", run.head.title);
    let (meta, not_run) = match run.done.as_ref().map(|d| (&d.status, d.took_ms)) {
        Some((RunStatus::Ran { exit }, took)) => {
            (Some(format!("exit {exit} · {}", duration(took))), None)
        }
        Some((RunStatus::NotRun { reason }, _)) => (None, Some(reason.clone())),
        None => (None, None),
    };
    view! {
        <div class="evidence">
            <CommandLine host_name=run.head.host_name.clone() command=run.head.command.clone() />
            {meta.map(|m| view! { <p class="px-3.5 pb-1.5 text-xs text-muted num text-right">{m}</p> })}
            {not_run.map(|reason| view! { <NotRunNote reason /> })}
            {found.then(|| view! { <RawLines lines label wrap=true /> })}
            <p class="note mx-3.5 my-2.5">{piece.says}</p>
            {output
                .map(|output| {
                    view! {
                        <details class="border-t border-rule">
                            <summary class="px-3.5 py-2 text-sm">"The whole output"</summary>
                            <RawOutput
                                output
                                marks=piece.marks
                                label=format!("Output of {}", run.head.title)
                            />
                        </details>
                    }
                })}
        </div>
    }
    .into_any()
}
