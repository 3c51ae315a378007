use jiff::Timestamp;
use leptos::prelude::*;

use super::{At, Mark, Sign, VerdictBadge, plural};
use crate::sessions::{Now, Stop};
use diagnosis::verdict::{Conclusion, Verdict};

/// The path taken: each step with its verdict and what it ruled out, questions with answer and who.
#[component]
pub(crate) fn StepTrail(
    title: String,
    ends: Vec<String>,
    trail: Vec<Stop>,
    now: Now,
    changed_at: Timestamp,
) -> impl IntoView {
    let end = match now {
        Now::Concluded { conclusion, .. } => Some(match conclusion {
            Conclusion::Cause { title, .. } => (Sign::Fail, title, "end-fail"),
            Conclusion::NoFaultFound { .. } => (Sign::Pass, "No fault found".to_owned(), ""),
            Conclusion::Inconclusive { .. } => (Sign::Unsure, "Inconclusive".to_owned(), ""),
        }),
        Now::Stopped { reason } => Some((Sign::NotRun, format!("Stopped: {reason}"), "")),
        Now::Running | Now::Waiting { .. } => None,
    };
    let end = match end {
        Some((sign, title, class)) => view! {
            <li class=class>
                <Mark sign />
                <span class="t">{title}</span>
                <span class="r">
                    <At time=changed_at />
                </span>
            </li>
        }
        .into_any(),
        None => view! {
            <li class="todo">
                <Mark sign=Sign::Todo />
                <span class="t">"Conclusion"</span>
            </li>
        }
        .into_any(),
    };
    view! {
        <nav class="panel" aria-label="Path taken">
            <header>
                <h2>"Path taken"</h2>
            </header>
            <ol class="trail py-1.5">
                <li>
                    <Mark sign=Sign::Pass />
                    <span class="t">{title}</span>
                    {ends
                        .into_iter()
                        .map(|end| view! { <span class="r">{end}</span> })
                        .collect_view()}
                </li>
                {trail
                    .into_iter()
                    .map(|stop| match stop {
                        Stop::Question { title, answer } => question(title, answer),
                        Stop::Finding { title, verdict, message, rules_out } => {
                            finding(title, verdict, message, &rules_out)
                        }
                        Stop::Step { title, commands, running, not_run } => {
                            step(title, commands, running, not_run)
                        }
                    })
                    .collect_view()}
                {end}
            </ol>
        </nav>
    }
}

fn question(title: String, answer: Option<(String, String)>) -> AnyView {
    match answer {
        Some((label, by)) => view! {
            <li>
                <Mark sign=Sign::Pass />
                <span class="t">{title}</span>
                <span class="r">
                    <b class="font-medium text-ink">{label}</b>
                    {format!(", said {by}")}
                </span>
            </li>
        }
        .into_any(),
        None => view! {
            <li aria-current="step">
                <Mark sign=Sign::Asks />
                <span class="t">{title}</span>
                <span class="r">"waits for an answer"</span>
            </li>
        }
        .into_any(),
    }
}

fn finding(title: String, verdict: Verdict, message: String, rules_out: &[String]) -> AnyView {
    view! {
        <li>
            <Mark sign=Sign::from(&verdict) />
            <span class="t">{title}</span>
            <span class="r">
                <VerdictBadge verdict />
            </span>
            <span class="r">{message}</span>
            {(!rules_out.is_empty())
                .then(|| {
                    view! {
                        <span class="x">"rules out " <s>{rules_out.join(" ")}</s></span>
                    }
                })}
        </li>
    }
    .into_any()
}

fn step(title: String, commands: usize, running: usize, not_run: usize) -> AnyView {
    let (sign, count, word) = if running > 0 {
        (Sign::Running, running, "running")
    } else if not_run > 0 {
        (Sign::NotRun, not_run, "not run")
    } else {
        (Sign::Pass, commands, "read")
    };
    let note = format!("{} {word}", plural(count, "command", "commands"));
    view! {
        <li aria-current=(running > 0).then_some("step")>
            <Mark sign />
            <span class="t">{title}</span>
            <span class="r">{note}</span>
        </li>
    }
    .into_any()
}
