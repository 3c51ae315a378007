use leptos::prelude::*;

use super::{At, Mark, Sign};
use crate::runs::RunRow;
use crate::sessions::{SessionRow, SymptomCard};

/// A session in a list.
#[component]
pub(crate) fn SessionRowItem(row: SessionRow) -> impl IntoView {
    let says_more =
        !row.headline.is_empty() && !row.headline.eq_ignore_ascii_case(row.state.name());
    view! {
        <li class="row">
            <Mark sign=Sign::from(row.state) />
            <div class="min-w-0">
                <a class="row-link" href=format!("/sessions/{}", row.id)>
                    {row.title}
                </a>
                <p class="text-sm wrap-anywhere">{row.ends}</p>
                <p class="text-xs text-muted wrap-anywhere">
                    <b class="font-medium text-ink">{row.state.name()}</b>
                    {says_more.then(|| format!(": {}", row.headline))}
                </p>
                <p class="text-xs text-muted dot-sep">
                    <At time=row.changed_at />
                    <span>{format!("by {}", row.started_by)}</span>
                </p>
            </div>
        </li>
    }
}

/// A run in a list.
#[component]
pub(crate) fn RunRowItem(row: RunRow) -> impl IntoView {
    view! {
        <li class="row">
            <Mark sign=Sign::from(row.state) />
            <div class="min-w-0">
                <a class="row-link" href=format!("/runs/{}", row.id)>
                    {row.title}
                </a>
                <p class="text-xs text-muted dot-sep">
                    <span>{row.state.name()}</span>
                    <At time=row.started_at />
                    <span>{format!("by {}", row.started_by)}</span>
                </p>
            </div>
        </li>
    }
}

const BREAKS_BEYOND: &str = r#"<path d="M4 10h40" class="line"/><circle cx="4" cy="10" r="3.5" fill="currentColor"/><circle cx="28" cy="10" r="3.5" fill="currentColor"/><path d="M46 6l8 8M54 6l-8 8" class="line cross"/><path d="M57 10h11" class="line" stroke-dasharray="2 4"/><circle cx="68" cy="10" r="3.5" class="hollow"/>"#;
const PATH: &str = r#"<path d="M4 10h64" class="line" stroke-dasharray="2 4"/><circle cx="4" cy="10" r="3.5" fill="currentColor"/><circle cx="68" cy="10" r="3.5" class="hollow"/>"#;

/// A symptom to choose, with a drawing of what gets through.
#[component]
pub(crate) fn SymptomCardLink(card: SymptomCard) -> impl IntoView {
    let id = card.symptom.as_str();
    let drawing = if id.contains("beyond") || id.contains("subnet") {
        BREAKS_BEYOND
    } else {
        PATH
    };
    view! {
        <a class="symptom" href=format!("/sessions/new?symptom={}", super::async_view::escape(id))>
            <svg class="pict" viewBox="0 0 72 20" aria-hidden="true" inner_html=drawing></svg>
            <span class="h">{card.title}</span>
            <span class="s">{card.summary}</span>
        </a>
    }
}
