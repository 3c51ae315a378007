use diagnosis::connection::{ConnectionStatus, HostKey};
use diagnosis::ids::HostId;
use leptos::prelude::*;

use super::{FormError, Mark, Sign, Submit, error_of};
use crate::hosts::ConfirmHostKey;
use crate::people::Role;

/// A host key that waits for a person: unknown, or another than the one confirmed.
#[component]
pub(crate) fn HostKeyPanel(
    host: HostId,
    host_name: String,
    status: ConnectionStatus,
    action: ServerAction<ConfirmHostKey>,
    role: Role,
    /// The hop that showed the key is not this host but one on the way to it.
    elsewhere: Option<String>,
) -> impl IntoView {
    let (confirmed, offered) = match status {
        ConnectionStatus::HostKeyUnknown { offered } => (None, offered),
        ConnectionStatus::HostKeyChanged { confirmed, offered } => (Some(confirmed), offered),
        _ => return ().into_any(),
    };
    if let Some(hop) = elsewhere {
        return view! {
            <section class="panel p-3.5 flex gap-2" aria-label="Host key">
                <Mark sign=Sign::Unsure />
                <p>
                    {format!(
                        "The key to confirm belongs to {hop}, a host on the way. Confirm it on that host's page, then look at {host_name} again.",
                    )}
                </p>
            </section>
        }
        .into_any();
    }
    let changed = confirmed.is_some();
    let title = if changed {
        format!("{host_name} shows another key than the one confirmed")
    } else {
        format!("Is this really {host_name}?")
    };
    let key_file = format!(
        "ssh-keygen -lf /etc/ssh/ssh_host_{}_key.pub",
        short(&offered.algorithm)
    );
    let refused =
        (role < Role::Admin).then(|| "Only an admin can confirm a host's key.".to_owned());
    view! {
        <section
            class=if changed { "panel border-fail" } else { "panel border-primary" }
            aria-labelledby="key-title"
        >
            <header>
                <Mark sign=if changed { Sign::Fail } else { Sign::Unsure } />
                <h2 id="key-title">{title}</h2>
            </header>
            <div class="p-3.5 space-y-3">
                {if changed {
                    view! {
                        <p>
                            "Nothing was sent to it. If the machine was reinstalled, that explains a new key. If not, somebody may stand between you and the host."
                        </p>
                    }
                        .into_any()
                } else {
                    view! {
                        <p>
                            "It answered with a key nobody has confirmed yet. Nothing was sent to it."
                        </p>
                    }
                        .into_any()
                }}
                <dl class="keys">
                    {confirmed
                        .map(|key| {
                            view! {
                                <dt>"confirmed"</dt>
                                <dd>
                                    <Fingerprint key />
                                </dd>
                            }
                        })} <dt>{if changed { "shown now" } else { "shown" }}</dt>
                    <dd>
                        <Fingerprint key=offered.clone() />
                    </dd>
                </dl>
                <div>
                    <p>
                        "Compare it with what the machine's own console says, not over SSH:"
                    </p>
                    <pre class="raw-short" tabindex="0">
                        {key_file}
                    </pre>
                </div>
                <ActionForm action attr:class="space-y-3">
                    <input type="hidden" name="id" value=host.to_string() />
                    <input type="hidden" name="fingerprint" value=offered.fingerprint.clone() />
                    <FormError error=error_of(action) />
                    {refused
                        .is_none()
                        .then(|| {
                            view! {
                                <label class="flex gap-2 items-start">
                                    <input
                                        type="checkbox"
                                        class="checkbox checkbox-sm mt-0.5"
                                        required
                                    />
                                    <span>"The two fingerprints are the same."</span>
                                </label>
                                {changed
                                    .then(|| {
                                        view! {
                                            <label class="flex gap-2 items-start">
                                                <input
                                                    type="checkbox"
                                                    class="checkbox checkbox-sm mt-0.5"
                                                    required
                                                />
                                                <span>
                                                    "I know why the key changed. The old one is not accepted any more."
                                                </span>
                                            </label>
                                        }
                                    })}
                            }
                        })} <div class="flex flex-wrap gap-2">
                        <Submit
                            label=if changed { "Replace the key" } else { "Confirm and connect" }
                            class=if changed { "btn btn-danger" } else { "btn btn-primary" }
                            pending=action.pending()
                            refused=refused
                        />
                    </div>
                </ActionForm>
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn Fingerprint(key: HostKey) -> impl IntoView {
    view! {
        <span class="text-muted">{key.algorithm}</span>
        " "
        <code class="break-all font-semibold">{key.fingerprint}</code>
    }
}

/// The part of the algorithm's name that the key's file carries.
fn short(algorithm: &str) -> &str {
    if algorithm.starts_with("ecdsa") {
        "ecdsa"
    } else if algorithm.contains("rsa") {
        "rsa"
    } else {
        "ed25519"
    }
}
