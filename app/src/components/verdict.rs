use diagnosis::verdict::Verdict;
use leptos::prelude::*;

use crate::runs::RunState;
use crate::sessions::SessionState;

/// What a mark says. Each has its own shape, so that it can be told without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Pass,
    Warn,
    Fail,
    Unsure,
    NotRun,
    Running,
    Asks,
    Todo,
}

impl Sign {
    const fn class(self) -> &'static str {
        match self {
            Self::Pass => "vi vi-pass",
            Self::Warn => "vi vi-warn",
            Self::Fail => "vi vi-fail",
            Self::Unsure => "vi vi-unsure",
            Self::NotRun | Self::Todo => "vi vi-off",
            Self::Running => "vi vi-run vi-turns",
            Self::Asks => "vi vi-run",
        }
    }

    const fn badge_class(self) -> &'static str {
        match self {
            Self::Pass => "v v-box v-pass",
            Self::Warn => "v v-box v-warn",
            Self::Fail => "v v-box v-fail",
            Self::Unsure => "v v-box v-unsure",
            Self::NotRun | Self::Todo => "v v-box v-off",
            Self::Running | Self::Asks => "v v-box v-run",
        }
    }

    const fn drawing(self) -> &'static str {
        match self {
            Self::Pass => {
                r#"<circle cx="8" cy="8" r="7" fill="currentColor"/><path d="M4.6 8.3l2.3 2.3 4.5-4.8" class="cut"/>"#
            }
            Self::Warn => {
                r#"<path d="M8 1.2 15.3 14.4H.7z" fill="currentColor" stroke="currentColor" stroke-linejoin="round"/><path d="M8 5.6v4.2M8 12v.2" class="cut"/>"#
            }
            Self::Fail => {
                r#"<path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="currentColor"/><path d="M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" class="cut"/>"#
            }
            Self::Unsure => {
                r#"<path d="M8 .9 15.1 8 8 15.1.9 8z" fill="currentColor"/><path d="M6.3 6.6a1.75 1.75 0 1 1 2.5 1.6c-.6.3-.8.6-.8 1.1M8 11.2v.1" class="cut"/>"#
            }
            Self::NotRun => {
                r#"<circle cx="8" cy="8" r="6.6" class="line" stroke-dasharray="2.4 2.2"/><path d="M5.2 8h5.6" class="line"/>"#
            }
            Self::Running => {
                r#"<circle cx="8" cy="8" r="6.4" class="line" opacity=".35"/><path d="M8 1.6A6.4 6.4 0 0 1 14.4 8" class="line thick"/>"#
            }
            Self::Asks => {
                r#"<rect x="1.7" y="1.7" width="12.6" height="12.6" rx="2.5" class="line"/><path d="M6.2 6.5a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.1M8 11.3v.1" class="line"/>"#
            }
            Self::Todo => r#"<circle cx="8" cy="8" r="4" class="line"/>"#,
        }
    }
}

impl From<&Verdict> for Sign {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Warn => Self::Warn,
            Verdict::Fail => Self::Fail,
            Verdict::Inconclusive { .. } => Self::Unsure,
        }
    }
}

impl From<SessionState> for Sign {
    fn from(state: SessionState) -> Self {
        match state {
            SessionState::Running => Self::Running,
            SessionState::Waiting => Self::Asks,
            SessionState::CauseFound => Self::Fail,
            SessionState::NoFaultFound => Self::Pass,
            SessionState::Inconclusive => Self::Unsure,
            SessionState::Stopped => Self::NotRun,
        }
    }
}

impl From<RunState> for Sign {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Running => Self::Running,
            RunState::Done => Self::Pass,
            RunState::Interrupted | RunState::Cancelled => Self::NotRun,
        }
    }
}

/// The mark alone; the word stands beside it in the text.
#[component]
pub(crate) fn Mark(sign: Sign, #[prop(default = 16)] size: u8) -> impl IntoView {
    view! {
        <svg
            class=sign.class()
            width=size.to_string()
            height=size.to_string()
            viewBox="0 0 16 16"
            aria-hidden="true"
            inner_html=sign.drawing()
        ></svg>
    }
}

/// Mark and word in one tinted box.
#[component]
pub(crate) fn SignBadge(sign: Sign, #[prop(into)] word: String) -> impl IntoView {
    view! {
        <span class=sign.badge_class()>
            <Mark sign size=14 />
            {word}
        </span>
    }
}

/// A verdict: shape, colour and word; with the reason where it is inconclusive.
#[component]
pub(crate) fn VerdictBadge(verdict: Verdict) -> impl IntoView {
    let reason = match &verdict {
        Verdict::Inconclusive { reason } => Some(reason.clone()),
        Verdict::Pass | Verdict::Warn | Verdict::Fail => None,
    };
    view! {
        <SignBadge sign=Sign::from(&verdict) word=verdict.word() />
        {reason.map(|reason| view! { <span class="text-sm text-muted">{reason}</span> })}
    }
}
