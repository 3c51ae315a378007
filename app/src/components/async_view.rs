use leptos::prelude::*;
use leptos_router::components::Redirect;
use leptos_router::hooks::use_location;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Mark, Me, Sign};
use crate::error::AppError;
use crate::people::Role;
use crate::wire::Remote;

/// A resource as a view: while it loads, when it failed, and when it is there. A refetch keeps what
/// is shown until the new value is there. `render` also gets the role to draw for.
#[component]
pub(crate) fn AsyncView<T, V>(
    resource: Remote<T>,
    render: impl Fn(T, Role) -> V + Clone + Send + Sync + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
    V: IntoView + 'static,
{
    view! {
        <Transition fallback=Loading>
            {move || {
                let render = render.clone();
                Suspend::new(async move {
                    let role = Me::role().await;
                    match resource.await {
                        Ok(value) => render(value, role).into_any(),
                        Err(error) => view! { <ErrorView error /> }.into_any(),
                    }
                })
            }}
        </Transition>
    }
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <p class="px-4 py-6 text-muted" role="status">
            "Loading…"
        </p>
    }
}

/// What did not work, and what to do. On the server it gives the page its status.
#[component]
pub(crate) fn ErrorView(error: AppError) -> impl IntoView {
    set_status(&error);
    if error == AppError::NotSignedIn {
        let location = use_location();
        let path = location.pathname.get_untracked();
        let search = location.search.get_untracked();
        let search = search.trim_start_matches('?');
        let next = if search.is_empty() {
            path
        } else {
            format!("{path}?{search}")
        };
        let target = format!("/sign-in?next={}", escape(&next));
        return view! {
            <Redirect path=target.clone() />
            <p class="px-4 py-6">
                <a class="txtlink" href=target>
                    "Sign in"
                </a>
                " to see this page."
            </p>
        }
        .into_any();
    }
    let (title, advice) = match &error {
        AppError::NotFound { .. } => ("Not found", "Check the address, or look in the lists."),
        AppError::Forbidden { .. } => ("Not with your role", "Nothing was done."),
        AppError::Unavailable { .. } => (
            "A part of the server is away",
            "Nothing is lost. Reload in a few seconds.",
        ),
        AppError::Transport { .. } => (
            "No answer from the server",
            "Check your connection, then reload. What runs on the hosts goes on.",
        ),
        AppError::Internal { .. } => (
            "Something went wrong on the server",
            "Reload. If it stays, give the number to whoever runs Hopwise.",
        ),
        AppError::Conflict { .. } => ("Not possible any more", ""),
        AppError::TooMany { .. } | AppError::Invalid { .. } | AppError::NotSignedIn => {
            ("That did not work", "Reload and try again.")
        }
    };
    view! {
        <div class="page-narrow">
            <section class="panel p-4 flex gap-3" role="alert">
                <Mark sign=Sign::Fail size=18 />
                <div>
                    <h1 class="text-lg font-semibold">{title}</h1>
                    <p>{error.to_string()}</p>
                    <p class="text-muted">{advice}</p>
                </div>
            </section>
        </div>
    }
    .into_any()
}

/// Gives the page the status that says the same as the error.
pub(crate) fn set_status(error: &AppError) {
    #[cfg(feature = "ssr")]
    crate::error::set_status(error);
    #[cfg(not(feature = "ssr"))]
    let _ = error;
}

/// A text as a query's value.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn a_path_with_a_query_is_one_value() {
        assert_eq!(
            escape("/sessions/new?symptom=a b&x=ä"),
            "/sessions/new%3Fsymptom%3Da%20b%26x%3D%C3%A4"
        );
    }
}
