use diagnosis::ids::StepId;
use diagnosis::run::RunStatus;
use diagnosis::session::{Asked, Phase, Session, SessionRun};
use diagnosis::verdict::{Conclusion, Finding};
use jiff::Timestamp;
use leptos::prelude::*;

use super::{At, Mark, Sign, VerdictBadge, plural};

/// One place on the way.
enum Stop {
    Question(Asked),
    Finding(Finding),
    /// A step whose commands run, or ran without a verdict yet.
    Step(StepId, Vec<SessionRun>),
}

/// The way a session took, in the order in which it went. Findings carry no time of their own: they
/// stand where their step's commands began.
fn way(session: &Session) -> Vec<Stop> {
    let began = |step: &StepId| {
        session
            .runs
            .values()
            .filter(|r| &r.head.step == step)
            .map(|r| r.started_at)
            .min()
    };
    let mut stops: Vec<(Timestamp, Stop)> = Vec::new();
    for asked in &session.questions {
        let at = asked.answer.as_ref().map_or(session.changed_at, |a| a.at);
        stops.push((at, Stop::Question(asked.clone())));
    }
    let mut before = session.started_at;
    for finding in &session.findings {
        let of_evidence = finding
            .evidence
            .iter()
            .filter_map(|e| session.runs.get(&e.run))
            .map(|r| r.started_at)
            .max();
        let at = began(&finding.step)
            .or(of_evidence)
            .unwrap_or(before)
            .max(before);
        before = at;
        stops.push((at, Stop::Finding(finding.clone())));
    }
    let mut open: Vec<(StepId, Timestamp, Vec<SessionRun>)> = Vec::new();
    for run in session.runs.values() {
        if session.findings.iter().any(|f| f.step == run.head.step) {
            continue;
        }
        match open.iter_mut().find(|(step, ..)| step == &run.head.step) {
            Some((_, _, runs)) => runs.push(run.clone()),
            None => open.push((run.head.step.clone(), run.started_at, vec![run.clone()])),
        }
    }
    stops.extend(
        open.into_iter()
            .map(|(step, at, runs)| (at, Stop::Step(step, runs))),
    );
    // Stable: what has the same time stays in the order of questions, findings, open steps.
    stops.sort_by_key(|(at, _)| *at);
    stops.into_iter().map(|(_, stop)| stop).collect()
}

/// The path taken: each step with its verdict and what it ruled out, questions with answer and who.
#[component]
pub(crate) fn StepTrail(session: Session) -> impl IntoView {
    let ends: Vec<String> = session.ends.values().map(|e| e.label()).collect();
    let end = match (&session.conclusion, &session.phase) {
        (Some(Conclusion::Cause { title, .. }), _) => Some((Sign::Fail, title.clone(), "end-fail")),
        (Some(Conclusion::NoFaultFound { .. }), _) => {
            Some((Sign::Pass, "No fault found".to_owned(), ""))
        }
        (Some(Conclusion::Inconclusive { .. }), _) => {
            Some((Sign::Unsure, "Inconclusive".to_owned(), ""))
        }
        (None, Phase::Stopped { reason }) => Some((Sign::NotRun, format!("Stopped: {reason}"), "")),
        (None, Phase::Running | Phase::Waiting { .. } | Phase::Concluded) => None,
    };
    let open = end.is_none();
    view! {
        <nav class="panel" aria-label="Path taken">
            <header>
                <h2>"Path taken"</h2>
            </header>
            <ol class="trail py-1.5">
                <li>
                    <Mark sign=Sign::Pass />
                    <span class="t">{session.title.clone()}</span>
                    {ends
                        .into_iter()
                        .map(|end| view! { <span class="r">{end}</span> })
                        .collect_view()}
                </li>
                {way(&session)
                    .into_iter()
                    .map(|stop| match stop {
                        Stop::Question(asked) => view! { <QuestionStop asked /> }.into_any(),
                        Stop::Finding(finding) => view! { <FindingStop finding /> }.into_any(),
                        Stop::Step(step, runs) => view! { <StepStop step runs /> }.into_any(),
                    })
                    .collect_view()}
                {end
                    .map(|(sign, title, class)| {
                        view! {
                            <li class=class>
                                <Mark sign />
                                <span class="t">{title}</span>
                                <span class="r">
                                    <At time=session.changed_at />
                                </span>
                            </li>
                        }
                    })}
                {open
                    .then(|| {
                        view! {
                            <li class="todo">
                                <Mark sign=Sign::Todo />
                                <span class="t">"Conclusion"</span>
                            </li>
                        }
                    })}
            </ol>
        </nav>
    }
}

#[component]
fn QuestionStop(asked: Asked) -> impl IntoView {
    match asked.answer {
        Some(answered) => view! {
            <li>
                <Mark sign=Sign::Pass />
                <span class="t">{asked.question.title}</span>
                <span class="r">
                    <b class="font-medium text-ink">{answered.label}</b>
                    {format!(", said {}", answered.by.name)}
                </span>
            </li>
        }
        .into_any(),
        None => view! {
            <li aria-current="step">
                <Mark sign=Sign::Asks />
                <span class="t">{asked.question.title}</span>
                <span class="r">"waits for an answer"</span>
            </li>
        }
        .into_any(),
    }
}

#[component]
fn FindingStop(finding: Finding) -> impl IntoView {
    let family = finding.family.map(|f| format!(" ({})", f.name()));
    view! {
        <li>
            <Mark sign=Sign::from(&finding.verdict) />
            <span class="t">{finding.title} {family}</span>
            <span class="r">
                <VerdictBadge verdict=finding.verdict />
            </span>
            <span class="r">{finding.message}</span>
            {(!finding.rules_out.is_empty())
                .then(|| {
                    view! {
                        <span class="x">"rules out " <s>{finding.rules_out.join(" ")}</s></span>
                    }
                })}
        </li>
    }
}

#[component]
fn StepStop(step: StepId, runs: Vec<SessionRun>) -> impl IntoView {
    let waiting = runs.iter().filter(|r| r.done.is_none()).count();
    let not_run = runs
        .iter()
        .filter(|r| {
            r.done
                .as_ref()
                .is_some_and(|d| matches!(d.status, RunStatus::NotRun { .. }))
        })
        .count();
    let (sign, note) = if waiting > 0 {
        (
            Sign::Running,
            format!("{} running", plural(waiting, "command", "commands")),
        )
    } else if not_run > 0 {
        (
            Sign::NotRun,
            format!("{} not run", plural(not_run, "command", "commands")),
        )
    } else {
        (
            Sign::Pass,
            format!("{} read", plural(runs.len(), "command", "commands")),
        )
    };
    let title = runs
        .first()
        .map_or_else(|| step.to_string(), |r| r.head.title.clone());
    view! {
        <li aria-current=(waiting > 0).then_some("step")>
            <Mark sign />
            <span class="t">{title}</span>
            <span class="r">{note}</span>
        </li>
    }
}
