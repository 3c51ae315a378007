use leptos::prelude::*;
use leptos_meta::Title;

use crate::components::{AsyncView, Field, FormError, Submit, error_of, kept};
use crate::hosts::{AddHost, HostRow, list_hosts};
use crate::people::Role;
use crate::wire::remote;

#[component]
pub(crate) fn NewHostPage() -> impl IntoView {
    let hosts = remote(|| (), |()| list_hosts());
    let action = ServerAction::<AddHost>::new();
    view! {
        <Title text="Add a host" />
        <div class="page-narrow">
            <p class="crumb">
                <a href="/hosts">"Hosts"</a>
            </p>
            <h1 class="text-xl font-semibold mb-3">"Add a host"</h1>
            <AsyncView
                resource=hosts
                render=move |hosts, role| {
                    if role == Role::Admin {
                        view! { <Form hosts action /> }.into_any()
                    } else {
                        view! {
                            <p class="panel p-4">
                                "Only an admin can add hosts. Ask one: they are listed beside what they did."
                            </p>
                        }
                            .into_any()
                    }
                }
            />
        </div>
    }
    .into_any()
}

const FIELDS: &[&str] = &[
    "name",
    "address",
    "port",
    "user",
    "key_path",
    "agent_fingerprint",
];

#[component]
fn Form(hosts: Vec<HostRow>, action: ServerAction<AddHost>) -> impl IntoView {
    let error = error_of(action);
    let agent = kept("credential") == "agent";
    let jump = kept("jump");
    view! {
        <ActionForm action attr:class="panel p-4 space-y-4">
            <FormError error fields=FIELDS />
            <div class="grid gap-3 sm:grid-cols-2">
                <Field
                    label="Name"
                    name="name"
                    error
                    value=kept("name")
                    hint="What you call it."
                    required=true
                />
                <Field
                    label="User"
                    name="user"
                    error
                    value=kept("user")
                    placeholder="root"
                    hint="Reading bridges and guests usually needs root."
                    mono=true
                />
                <Field
                    label="Address"
                    name="address"
                    error
                    value=kept("address")
                    hint="A name or an IP address, as this server reaches it."
                    required=true
                    mono=true
                />
                <Field
                    label="Port"
                    name="port"
                    error
                    value=kept("port")
                    placeholder="22"
                    mono=true
                />
            </div>
            <div class="field">
                <label for="field-jump">"Through"</label>
                <select class="select w-full" id="field-jump" name="jump">
                    <option value="">"directly"</option>
                    {hosts
                        .into_iter()
                        .map(|row| {
                            let id = row.host.id.to_string();
                            let chosen = id == jump;
                            view! {
                                <option value=id selected=chosen>
                                    {row.host.name}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
                <p class="hint">
                    "A host that is already here can be the jump host, as with ssh -J."
                </p>
            </div>
            <fieldset class="space-y-3">
                <legend class="label-text mb-1">"Log in with"</legend>
                <label class="flex gap-2 items-center">
                    <input
                        type="radio"
                        class="radio radio-sm"
                        name="credential"
                        value="key-file"
                        checked=!agent
                    />
                    "a private key in a file on this server"
                </label>
                <div class="pl-6">
                    <Field
                        label="Path of the private key"
                        name="key_path"
                        error
                        value=kept("key_path")
                        placeholder="/etc/hopwise/id_ed25519"
                        hint="Only the path is kept. The key is read, without a passphrase, when it is needed."
                        mono=true
                    />
                </div>
                <label class="flex gap-2 items-center">
                    <input
                        type="radio"
                        class="radio radio-sm"
                        name="credential"
                        value="agent"
                        checked=agent
                    />
                    "a key of this server’s ssh-agent"
                </label>
                <div class="pl-6">
                    <Field
                        label="The key’s fingerprint"
                        name="agent_fingerprint"
                        error
                        value=kept("agent_fingerprint")
                        placeholder="SHA256:…"
                        hint="As ssh-add -l prints it. May stay empty if the agent holds only one key."
                        mono=true
                    />
                </div>
            </fieldset>
            <div class="flex flex-wrap items-center gap-3">
                <Submit label="Add and look at it" pending=action.pending() />
                <span class="text-sm text-muted">
                    "Next you confirm the host’s key. Nothing is sent to it before that."
                </span>
            </div>
        </ActionForm>
    }
}
