use diagnosis::ids::SessionId;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::components::{AsyncView, SessionRowItem};
use crate::sessions::{SessionRow, list_sessions};
use crate::wire::remote;

#[component]
pub(crate) fn SessionsPage() -> impl IntoView {
    let query = use_query_map();
    let before = move || {
        query
            .with(|q| q.get("before"))
            .and_then(|b| b.parse::<SessionId>().ok())
    };
    let sessions = remote(before, list_sessions);
    view! {
        <Title text="Sessions" />
        <div class="page max-w-310">
            <div class="page-head">
                <h1 class="text-xl font-semibold">"Sessions"</h1>
                <p class="text-sm text-muted">"Every diagnosis, the last changed first."</p>
                <a class="btn btn-plain btn-sm ml-auto" href="/">
                    "Begin one"
                </a>
            </div>
            <AsyncView
                resource=sessions
                render=move |sessions, _| {
                    view! { <List sessions first=before().is_none() /> }
                }
            />
        </div>
    }
    .into_any()
}

#[component]
fn List(sessions: Vec<SessionRow>, first: bool) -> impl IntoView {
    let last = sessions.last().map(|s| s.id);
    if sessions.is_empty() && first {
        return view! {
            <section class="panel p-5 measure">
                <h2 class="text-lg font-semibold">"No sessions yet"</h2>
                <p>
                    "A session is one diagnosis, kept with everything that was read. It begins with what you see: "
                    <a class="txtlink" href="/">
                        "choose a symptom"
                    </a> "."
                </p>
            </section>
        }
        .into_any();
    }
    view! {
        {if sessions.is_empty() {
            view! { <p class="panel p-4 text-muted">"No older sessions."</p> }.into_any()
        } else {
            view! {
                <ul class="panel rows">
                    {sessions
                        .into_iter()
                        .map(|row| view! { <SessionRowItem row /> })
                        .collect_view()}
                </ul>
            }
                .into_any()
        }}
        <p class="mt-3 flex gap-4 text-sm">
            {(!first)
                .then(|| {
                    view! {
                        <a class="txtlink" href="/sessions">
                            "Newest"
                        </a>
                    }
                })}
            {last
                .map(|id| {
                    view! {
                        <a class="txtlink" href=format!("/sessions?before={id}")>
                            "Older"
                        </a>
                    }
                })}
        </p>
    }
    .into_any()
}
