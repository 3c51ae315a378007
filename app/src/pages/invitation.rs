use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;
use server_fn::ServerFn;

use crate::components::{AsyncView, Field, FormError, Submit, error_of, kept};
use crate::error::AppError;
use crate::people::{AcceptInvitation, Role, read_invitation};
use crate::wire::remote;

/// A one-time link: the first admin's, or an invitation.
#[component]
pub(crate) fn InvitationPage() -> impl IntoView {
    let params = use_params_map();
    let token = move || params.with(|p| p.get("token")).unwrap_or_default();
    let role = remote(token, read_invitation);
    let error = error_of(ServerAction::<AcceptInvitation>::new());
    let name = kept("name");
    view! {
        <Title text="Make your account" />
        <div class="page-form">
            <h1 class="text-2xl font-semibold mb-3">"Make your account"</h1>
            <AsyncView
                resource=role
                render=move |role, _| {
                    view! { <Form role token=token() error name=name.clone() /> }
                }
            />
        </div>
    }
    .into_any()
}

#[component]
fn Form(role: Role, token: String, error: Signal<Option<AppError>>, name: String) -> impl IntoView {
    let may = match role {
        Role::Viewer => "You will see everything and change nothing.",
        Role::Operator => "You will run checks and diagnoses.",
        Role::Admin => "You will do everything: hosts, people, checks, diagnoses.",
    };
    view! {
        <p class="mb-3">
            "This link makes one account with the role " <b class="font-semibold">{role.name()}</b>
            ". " {may}
        </p>
        <form method="post" action=AcceptInvitation::url() class="panel p-4 space-y-3">
            <FormError error fields=&["name", "password", "password_again"] />
            <input type="hidden" name="token" value=token />
            <Field
                label="Name"
                name="name"
                error
                value=name
                hint="Your teammates see it beside what you do."
                autocomplete="username"
                required=true
            />
            <Field
                label="Password"
                name="password"
                kind="password"
                error
                autocomplete="new-password"
                required=true
            />
            <Field
                label="Password again"
                name="password_again"
                kind="password"
                error
                autocomplete="new-password"
                required=true
            />
            <Submit label="Make the account" class="btn btn-primary w-full" />
        </form>
    }
}
