//! The WebAssembly entry point.

use wasm_bindgen::prelude::wasm_bindgen;

/// Takes the server's page over.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(app::App);
}
