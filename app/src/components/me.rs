use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::people::{Person, Role, current_person};
use crate::wire::{Remote, remote};

/// Who is signed in. Signing in and out loads a new page, so that it does not change under one.
#[derive(Clone, Copy)]
pub(crate) struct Me(Remote<Option<Person>>);

impl Me {
    pub(crate) fn provide() {
        provide_context(Self(remote(|| (), |()| current_person())));
    }

    /// To be awaited inside a `Suspend`.
    pub(crate) async fn person() -> Option<Person> {
        match use_context::<Self>() {
            Some(me) => me.0.await.ok().flatten(),
            None => None,
        }
    }

    /// The role to draw the page for; the server decides again on every call.
    pub(crate) async fn role() -> Role {
        Self::person().await.map_or(Role::Viewer, |p| p.role)
    }
}

/// Moves the keyboard's place to the content when another page is shown without a load. Also marks
/// the document once the page is taken over, for tests that must not be faster than that.
#[component]
pub(crate) fn MoveFocus() -> impl IntoView {
    let path = use_location().pathname;
    Effect::new(|_| {
        if let Some(root) = document().document_element() {
            let _ = root.set_attribute("data-ready", "");
        }
    });
    Effect::new(move |before: Option<String>| {
        let now = path.get();
        if before.is_some_and(|b| b != now)
            && let Some(main) = document().get_element_by_id("main")
        {
            use leptos::wasm_bindgen::JsCast;
            if let Ok(main) = main.dyn_into::<leptos::web_sys::HtmlElement>() {
                let _ = main.focus();
            }
        }
        now
    });
}
