use diagnosis::ids::OutputHash;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::components::{AsyncView, RawOutput};
use crate::runs::read_output;
use crate::wire::remote;

/// The most that one page shows.
const MOST: u64 = 1 << 20;

/// One raw output, for those that are too long for the page they belong to.
#[component]
pub(crate) fn OutputPage() -> impl IntoView {
    let params = use_params_map();
    let output = remote(
        move || params.with(|p| p.get("hash")).unwrap_or_default(),
        |hash| read_output(OutputHash(hash), MOST),
    );
    view! {
        <Title text="Raw output" />
        <div class="page">
            <h1 class="text-xl font-semibold mb-3">"Raw output"</h1>
            <AsyncView
                resource=output
                render=move |output, _| {
                    let href = format!(
                        "/outputs/{}/raw",
                        params.with_untracked(|p| p.get("hash")).unwrap_or_default(),
                    );
                    view! {
                        // External, so that the router leaves the file to the browser.
                        <p class="mb-3">
                            <a class="txtlink" rel="external" href=href>
                                "Download it as it was printed"
                            </a>
                        </p>
                        <section class="panel">
                            <RawOutput output label="Raw output" />
                        </section>
                    }
                }
            />
        </div>
    }
    .into_any()
}
