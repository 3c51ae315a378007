use diagnosis::verdict::{Conclusion, NotLooked};
use leptos::prelude::*;

use super::{Mark, Sign, SignBadge};

/// How the diagnosis ended: the sentence first, then why, then what was not looked at.
#[component]
pub(crate) fn ConclusionPanel(conclusion: Conclusion, ruled_out: Vec<String>) -> impl IntoView {
    let not_looked = conclusion.not_looked().to_vec();
    let head = match conclusion {
        Conclusion::Cause { title, place, family, explanation, remedy, evidence, .. } => view! {
            <SignBadge sign=Sign::Fail word="Cause found" />
            <h2 class="cause">{title}</h2>
            <p class="font-medium wrap-anywhere">
                {place} {family.map(|f| format!(" ({})", f.name()))}
            </p>
            <p class="measure mt-2">{explanation}</p>
            <h3 class="sub">"What to do"</h3>
            <p class="measure whitespace-pre-line">{remedy}</p>
            {(!evidence.is_empty())
                .then(|| {
                    view! {
                        <h3 class="sub">"What it rests on"</h3>
                        <ul class="facts-for">
                            {evidence
                                .into_iter()
                                .map(|e| view! { <li>{e.says}</li> })
                                .collect_view()}
                        </ul>
                    }
                })}
        }
        .into_any(),
        Conclusion::NoFaultFound { checked, .. } => view! {
            <SignBadge sign=Sign::Pass word="No fault found" />
            <h2 class="cause">"No fault found on this path"</h2>
            <p class="measure">
                "Everything below was looked at and was in order just now. A fault that comes and goes can hide between two looks: run it again while it happens."
            </p>
            <h3 class="sub">"What was checked"</h3>
            <ul class="facts-for">
                {checked.into_iter().map(|what| view! { <li>{what}</li> }).collect_view()}
            </ul>
        }
        .into_any(),
        Conclusion::Inconclusive { reason, next, .. } => view! {
            <SignBadge sign=Sign::Unsure word="Inconclusive" />
            <h2 class="cause">"No cause can be named"</h2>
            <p class="measure">"Because " {reason.trim_end_matches('.').to_owned()} "."</p>
            {(!next.is_empty())
                .then(|| {
                    view! {
                        <h3 class="sub">"What to do next"</h3>
                        <ol class="list-decimal pl-5 space-y-1">
                            {next.into_iter().map(|n| view! { <li>{n}</li> }).collect_view()}
                        </ol>
                    }
                })}
        }
        .into_any(),
    };
    view! {
        <section class="panel" aria-label="Conclusion" data-testid="conclusion">
            <div class="p-4 lg:p-5">{head}</div>
            <div class="halves">
                <div>
                    <h3 class="sub mt-0">"Ruled out"</h3>
                    {if ruled_out.is_empty() {
                        view! { <p class="text-muted">"Nothing was ruled out."</p> }.into_any()
                    } else {
                        view! {
                            <ul class="list-disc pl-5 space-y-1 text-muted">
                                {ruled_out.into_iter().map(|what| view! { <li>{what}</li> }).collect_view()}
                            </ul>
                        }
                            .into_any()
                    }}
                </div>
                <div>
                    <h3 class="sub mt-0">"Not looked at"</h3>
                    <NotLookedList not_looked />
                </div>
            </div>
        </section>
    }
}

#[component]
fn NotLookedList(not_looked: Vec<NotLooked>) -> impl IntoView {
    if not_looked.is_empty() {
        return view! {
            <p class="text-muted">"Nothing on this tree's way was left out."</p>
        }
        .into_any();
    }
    view! {
        <ul class="space-y-1.5">
            {not_looked
                .into_iter()
                .map(|n| {
                    view! {
                        <li class="flex gap-2">
                            <Mark sign=Sign::NotRun />
                            <span class="min-w-0 wrap-anywhere">
                                {n.what} <span class="text-muted">{format!(": {}", n.why)}</span>
                            </span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
    .into_any()
}
