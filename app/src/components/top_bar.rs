use leptos::prelude::*;
use leptos_router::components::A;
use server_fn::ServerFn;

use super::Me;
use crate::people::{Person, Role, SignOut};

const LOGO: &str = r#"<path d="M3 11.5h6.5M9.5 11.5c2.2-7 5.2-7 7 0M16.5 11.5H23" stroke="currentColor" stroke-width="2" stroke-linecap="round"/><circle cx="3" cy="11.5" r="2.6" fill="currentColor"/><circle cx="23" cy="11.5" r="2.6" class="logo-end"/>"#;

/// The bar on every page: the places, and who you are.
#[component]
pub(crate) fn TopBar() -> impl IntoView {
    view! {
        <header class="topbar">
            <div class="bar">
                <a href="/" class="brand">
                    <svg
                        width="26"
                        height="16"
                        viewBox="0 0 26 16"
                        aria-hidden="true"
                        fill="none"
                        inner_html=LOGO
                    ></svg>
                    "Hopwise"
                </a>
                <Transition>
                    {move || Suspend::new(async move {
                        Me::person().await.map(|person| view! { <SignedInBar person /> })
                    })}
                </Transition>
            </div>
        </header>
    }
}

#[component]
fn SignedInBar(person: Person) -> impl IntoView {
    let admin = person.role == Role::Admin;
    let initials = initials(&person.name);
    view! {
        <nav aria-label="Main" class="hidden md:flex">
            <Places admin />
        </nav>
        <div class="hidden md:flex ml-auto items-center gap-3 text-sm text-muted min-w-0">
            <span class="who" aria-hidden="true">
                {initials}
            </span>
            <span class="truncate max-w-60" data-testid="me">
                {format!("{} ({})", person.name, person.role)}
            </span>
            <SignOutForm />
        </div>
        <details class="menu md:hidden ml-auto">
            <summary class="btn btn-sm btn-plain">"Menu"</summary>
            <div class="panel menu-box">
                <nav aria-label="Menu" class="menu-small">
                    <Places admin />
                </nav>
                <div class="border-t border-rule mt-1 p-3 flex flex-wrap items-center gap-2 text-sm text-muted">
                    <span class="break-words min-w-0">
                        {format!("{} ({})", person.name, person.role)}
                    </span>
                    <SignOutForm />
                </div>
            </div>
        </details>
    }
}

#[component]
fn Places(admin: bool) -> impl IntoView {
    view! {
        <A href="/" exact=true>
            "Diagnose"
        </A>
        <A href="/sessions">"Sessions"</A>
        <A href="/hosts">"Hosts"</A>
        {admin.then(|| view! { <A href="/people">"People"</A> })}
    }
}

/// A plain form: signing out loads a new page.
#[component]
fn SignOutForm() -> impl IntoView {
    view! {
        <form method="post" action=SignOut::url()>
            <button type="submit" class="btn btn-sm btn-plain">
                "Sign out"
            </button>
        </form>
    }
}

fn initials(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let letters: String = if second.is_empty() {
        first.chars().take(2).collect()
    } else {
        first
            .chars()
            .take(1)
            .chain(second.chars().take(1))
            .collect()
    };
    letters.to_uppercase()
}
