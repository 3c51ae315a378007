//! The document, the routes and nothing else.

use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags, Title, provide_meta_context};
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{SsrMode, path};

use crate::components::{Me, MoveFocus, TopBar};
use crate::pages::{
    HomePage, HostPage, HostsPage, InvitationPage, NewHostPage, NewSessionPage, NotFoundPage,
    OutputPage, PeoplePage, RunPage, SessionPage, SessionsPage, SignInPage,
};

/// The document around the app. Scripts carry the request's nonce; there are no inline styles and
/// no inline handlers, so that a strict content security policy holds.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)" />
                <meta name="theme-color" content="#171e25" media="(prefers-color-scheme: dark)" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <HashedStylesheet options=options.clone() id="leptos" />
                <AutoReload options=options.clone() />
                <HydrationScripts options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// The app. Every route is rendered whole before it is sent: without JavaScript nothing could be
/// put in place later, and a page that turns out not to exist still gets its 404.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    Me::provide();
    view! {
        <Title formatter=|title: String| {
            if title.is_empty() { "Hopwise".to_owned() } else { format!("{title} · Hopwise") }
        } />
        <Router>
            // External, so that the router leaves it to the browser, which also moves the focus.
            <a href="#main" class="skip" rel="external">
                "Skip to content"
            </a>
            <TopBar />
            <MoveFocus />
            <main id="main" tabindex="-1">
                <FlatRoutes fallback=NotFoundPage>
                    <Route path=path!("/") view=HomePage ssr=SsrMode::Async />
                    <Route path=path!("/sign-in") view=SignInPage ssr=SsrMode::Async />
                    <Route
                        path=path!("/invitation/:token")
                        view=InvitationPage
                        ssr=SsrMode::Async
                    />
                    <Route path=path!("/hosts") view=HostsPage ssr=SsrMode::Async />
                    <Route path=path!("/hosts/new") view=NewHostPage ssr=SsrMode::Async />
                    <Route path=path!("/hosts/:id") view=HostPage ssr=SsrMode::Async />
                    <Route path=path!("/runs/:id") view=RunPage ssr=SsrMode::Async />
                    <Route path=path!("/outputs/:hash") view=OutputPage ssr=SsrMode::Async />
                    <Route path=path!("/sessions") view=SessionsPage ssr=SsrMode::Async />
                    <Route path=path!("/sessions/new") view=NewSessionPage ssr=SsrMode::Async />
                    <Route path=path!("/sessions/:id") view=SessionPage ssr=SsrMode::Async />
                    <Route path=path!("/people") view=PeoplePage ssr=SsrMode::Async />
                </FlatRoutes>
            </main>
        </Router>
    }
}
