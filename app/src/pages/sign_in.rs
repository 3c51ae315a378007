use leptos::prelude::*;
use leptos_meta::Title;
use server_fn::ServerFn;

use crate::components::{Field, FormError, Submit, error_of, kept};
use crate::people::SignIn;

/// A plain form: signing in loads a new page, with the new person's name and rights everywhere.
#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    let error = error_of(ServerAction::<SignIn>::new());
    let next = kept("next");
    view! {
        <Title text="Sign in" />
        <div class="page-form">
            <h1 class="text-2xl font-semibold mb-1">"Sign in"</h1>
            <p class="text-muted mb-4 measure">
                "Hopwise finds out why a guest’s network does not work: it asks what it must, reads the hosts over SSH, and names the cause with the lines that show it. Nothing is changed on a host."
            </p>
            <form method="post" action=SignIn::url() class="panel p-4 space-y-3">
                <FormError error fields=&["name", "password"] />
                <Field
                    label="Name"
                    name="name"
                    error
                    value=kept("name")
                    autocomplete="username"
                    required=true
                />
                <Field
                    label="Password"
                    name="password"
                    kind="password"
                    error
                    autocomplete="current-password"
                    required=true
                />
                {(!next.is_empty())
                    .then(|| view! { <input type="hidden" name="next" value=next /> })}
                <Submit label="Sign in" class="btn btn-primary w-full" />
            </form>
            <p class="text-sm text-muted mt-3">
                "No account? An admin makes you a link under People. The very first account is made with the link that the server printed when it started."
            </p>
        </div>
    }
    .into_any()
}
