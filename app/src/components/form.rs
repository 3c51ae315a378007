use leptos::html::Input;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use server_fn::ServerFn;

use super::{Mark, Sign};
use crate::error::AppError;

/// The error of an action's last call: from this page, or carried over by the address when the form
/// was sent without JavaScript.
pub(crate) fn error_of<S>(action: ServerAction<S>) -> Signal<Option<AppError>>
where
    S: ServerFn<Error = AppError> + Clone + Send + Sync + 'static,
    S::Output: Send + Sync + 'static,
{
    Signal::derive(move || {
        action
            .value()
            .with(|value| value.as_ref().and_then(|r| r.as_ref().err().cloned()))
    })
}

/// What was entered before the form came back with an error, without JavaScript.
pub(crate) fn kept(name: &str) -> String {
    use_query_map()
        .get_untracked()
        .get(name)
        .unwrap_or_default()
}

/// The message for one field, if the error is about it.
fn message_for(error: Option<AppError>, name: &str) -> Option<String> {
    match error {
        Some(AppError::Invalid { field, message }) if field == name => Some(message),
        _ => None,
    }
}

/// A labelled text field with its hint and, when the server refuses it, the reason beside it.
#[component]
pub(crate) fn Field(
    label: &'static str,
    name: &'static str,
    error: Signal<Option<AppError>>,
    #[prop(optional, into)] value: String,
    #[prop(default = "text")] kind: &'static str,
    #[prop(optional)] hint: &'static str,
    #[prop(optional)] placeholder: &'static str,
    #[prop(default = "off")] autocomplete: &'static str,
    #[prop(optional)] required: bool,
    #[prop(optional)] mono: bool,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    let input = NodeRef::<Input>::new();
    let message = Memo::new(move |_| message_for(error.get(), name));
    Effect::new(move |_| {
        // Also tracks the error itself, so that the same refusal twice moves the focus twice.
        let refused = error.with(|e| message_for(e.clone(), name).is_some());
        if refused && let Some(input) = input.get() {
            let _ = input.focus();
        }
    });
    let id = format!("field-{name}");
    let hint_id = format!("{id}-hint");
    let error_id = format!("{id}-error");
    let described = {
        let (hint_id, error_id) = (hint_id.clone(), error_id.clone());
        move || {
            let mut ids = Vec::new();
            if message.with(Option::is_some) {
                ids.push(error_id.clone());
            }
            if !hint.is_empty() {
                ids.push(hint_id.clone());
            }
            (!ids.is_empty()).then(|| ids.join(" "))
        }
    };
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                node_ref=input
                id=id
                class=if mono { "input w-full mono" } else { "input w-full" }
                name=name
                type=kind
                value=value
                placeholder=placeholder
                autocomplete=autocomplete
                required=required
                autofocus=autofocus
                spellcheck="false"
                autocapitalize="none"
                aria-invalid=move || message.with(Option::is_some).then_some("true")
                aria-describedby=described
            />
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
            <p class="field-error" id=error_id role="alert" hidden=move || message.with(Option::is_none)>
                <Mark sign=Sign::Fail size=14 />
                <span>{move || message.get()}</span>
            </p>
        </div>
    }
}

/// What is wrong with a form as a whole: every error that is not about one of `fields`.
#[component]
pub(crate) fn FormError(
    error: Signal<Option<AppError>>,
    /// The fields that show their own errors.
    #[prop(optional)]
    fields: &'static [&'static str],
) -> impl IntoView {
    let message = Memo::new(move |_| match error.get() {
        Some(AppError::Invalid { field, .. }) if fields.contains(&field.as_str()) => None,
        other => other.map(|e| e.to_string()),
    });
    let note = NodeRef::<leptos::html::P>::new();
    Effect::new(move |_| {
        if message.with(Option::is_some)
            && let Some(note) = note.get()
        {
            let _ = note.focus();
        }
    });
    view! {
        <p
            class="form-error"
            role="alert"
            tabindex="-1"
            node_ref=note
            hidden=move || message.with(Option::is_none)
        >
            <Mark sign=Sign::Fail size=16 />
            <span>{move || message.get()}</span>
        </p>
    }
}

/// A form's button. While the call is under way it cannot be pressed again.
#[component]
pub(crate) fn Submit(
    #[prop(into)] label: String,
    #[prop(optional, into)] pending: Option<Signal<bool>>,
    #[prop(default = "btn btn-primary")] class: &'static str,
    /// Why it cannot be pressed, where that is so.
    #[prop(default = None)]
    refused: Option<String>,
) -> impl IntoView {
    let off = refused.is_some();
    view! {
        <button
            type="submit"
            class=class
            disabled=move || off || pending.is_some_and(|p| p.get())
        >
            {label}
        </button>
        {refused.map(|reason| view! { <span class="text-xs text-muted self-center">{reason}</span> })}
    }
}
