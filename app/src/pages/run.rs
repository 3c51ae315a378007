use std::collections::{BTreeMap, BTreeSet};

use diagnosis::ids::{OutputHash, RunId};
use leptos::prelude::*;
use leptos_meta::Title;
use serde::{Deserialize, Serialize};

use super::id_of;
use crate::components::{
    AsyncView, At, FormError, LiveNote, Refetch, RefreshWithoutScript, RunCommandPanel, Sign,
    SignBadge, Submit, error_of, use_live,
};
use crate::error::AppError;
use crate::people::Role;
use crate::runs::{
    CancelRun, OutputText, RunPage as Page, RunState, StartRun, read_output, read_run,
};
use crate::wire::remote;

/// Bytes of each output that the page itself carries; the rest is on the output's own page.
const CARRIED: u64 = 64 * 1024;

/// The run with the beginnings of its outputs.
#[derive(Clone, Serialize, Deserialize)]
struct Loaded {
    page: Page,
    outputs: BTreeMap<OutputHash, OutputText>,
}

async fn load(
    id: Result<RunId, AppError>,
    known: BTreeMap<OutputHash, OutputText>,
) -> Result<Loaded, AppError> {
    let page = read_run(id?).await?;
    let mut hashes = BTreeSet::new();
    for result in page.commands.iter().filter_map(|c| c.result.as_ref()) {
        hashes.extend(result.stdout.clone());
        hashes.extend(result.stderr.clone());
    }
    let mut outputs = BTreeMap::new();
    for hash in hashes {
        // An output never changes: what is here already is not asked for again.
        let text = match known.get(&hash) {
            Some(text) => Some(text.clone()),
            None => read_output(hash.clone(), CARRIED).await.ok(),
        };
        if let Some(text) = text {
            outputs.insert(hash, text);
        }
    }
    Ok(Loaded { page, outputs })
}

#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let cancel = ServerAction::<CancelRun>::new();
    let again = ServerAction::<StartRun>::new();
    let refetch = Refetch::new();
    let known = StoredValue::new(BTreeMap::new());
    let run = remote(
        move || (id_of::<RunId>("id", "This run"), refetch.turn()),
        move |(id, _)| async move {
            let loaded = load(id, known.try_get_value().unwrap_or_default()).await;
            if let Ok(loaded) = &loaded {
                known.try_set_value(loaded.outputs.clone());
            }
            refetch.done();
            loaded
        },
    );
    Effect::new(move |before: Option<usize>| {
        let now = cancel.version().get();
        if before.is_some_and(|b| b != now) {
            refetch.ask();
        }
        now
    });
    let state = use_live(
        move || {
            run.with(|r| match r {
                Some(Ok(r)) if r.page.row.state == RunState::Running => {
                    Some((format!("/live/run/{}", r.page.row.id), r.page.version))
                }
                _ => None,
            })
        },
        refetch,
    );
    view! {
        <div class="page max-w-310">
            <LiveNote state />
            <AsyncView
                resource=run
                render=move |loaded, role| view! { <View loaded role cancel again /> }
            />
        </div>
    }
    .into_any()
}

#[component]
fn View(
    loaded: Loaded,
    role: Role,
    cancel: ServerAction<CancelRun>,
    again: ServerAction<StartRun>,
) -> impl IntoView {
    let Loaded { page, outputs } = loaded;
    let row = page.row;
    let running = row.state == RunState::Running;
    let done = page.commands.iter().filter(|c| c.result.is_some()).count();
    let all = page.commands.len();
    let not_run = page
        .commands
        .iter()
        .filter_map(|c| c.result.as_ref())
        .any(|r| !r.ran());
    let sign = match row.state {
        RunState::Done if not_run => Sign::NotRun,
        state => Sign::from(state),
    };
    let word = match row.state {
        RunState::Running => format!("running, {done} of {all} done"),
        RunState::Done if not_run => "done, not all of it could run".to_owned(),
        state => state.name().to_owned(),
    };
    let ended = match row.state {
        RunState::Running => None,
        RunState::Done => Some("no result"),
        RunState::Interrupted => Some("interrupted"),
        RunState::Cancelled => Some("cancelled"),
    };
    let refused = (role < Role::Operator).then(|| "Needs the role operator.".to_owned());
    view! {
        <Title text=format!("{} on {}", row.title, page.host_name) />
        <RefreshWithoutScript when=running />
        <div class="page-head">
            <div class="min-w-0">
                <p class="crumb">
                    <a href="/hosts">"Hosts"</a>
                    <a href=format!("/hosts/{}", page.host)>{page.host_name.clone()}</a>
                </p>
                <h1 class="text-xl font-semibold">
                    {row.title.clone()} " on " {page.host_name.clone()}
                </h1>
                <p class="text-xs text-muted dot-sep">
                    <At time=row.started_at />
                    <span>{format!("by {}", row.started_by)}</span>
                </p>
            </div>
            <div class="ml-auto flex flex-wrap items-center gap-2">
                <span role="status" data-testid="run-state">
                    <SignBadge sign word />
                </span>
                {running
                    .then(|| {
                        view! {
                            <ActionForm action=cancel attr:class="flex gap-2">
                                <input type="hidden" name="id" value=row.id.to_string() />
                                <Submit
                                    label="Stop, and end it on the host"
                                    class="btn btn-plain btn-sm"
                                    pending=cancel.pending()
                                    refused=refused
                                />
                            </ActionForm>
                        }
                    })}
            </div>
        </div>
        <FormError error=error_of(cancel) />
        <FormError error=error_of(again) />
        {page.why.map(|w| view! { <p class="text-muted measure mb-3">{w}</p> })}
        {(row.state == RunState::Interrupted)
            .then(|| {
                view! {
                    <p class="note mb-3 bg-panel">
                        "The server ended while this ran. What came back before is below; run the check again for the rest."
                    </p>
                }
            })}
        <h2 class="sr-only">"Commands"</h2>
        <div class="space-y-3">
            {page
                .commands
                .into_iter()
                .map(|command| {
                    view! { <RunCommandPanel command outputs=outputs.clone() ended /> }
                })
                .collect_view()}
        </div>
    }
}
