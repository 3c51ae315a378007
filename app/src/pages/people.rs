use leptos::prelude::*;
use leptos_meta::Title;

use crate::components::{AsyncView, At, FormError, Mark, Sign, Submit, error_of};
use crate::people::{
    Invitation, InvitePerson, PeoplePage as Page, PersonRow, RemovePerson, Role, SetRole,
    list_people, take_invitation,
};
use crate::wire::remote;

#[derive(Clone, Copy)]
struct Actions {
    invite: ServerAction<InvitePerson>,
    role: ServerAction<SetRole>,
    remove: ServerAction<RemovePerson>,
}

#[component]
pub(crate) fn PeoplePage() -> impl IntoView {
    let actions = Actions {
        invite: ServerAction::new(),
        role: ServerAction::new(),
        remove: ServerAction::new(),
    };
    let page = remote(
        move || {
            (
                actions.invite.version().get(),
                actions.role.version().get(),
                actions.remove.version().get(),
            )
        },
        |_| list_people(),
    );
    // The link made by a form without JavaScript, which this page shows once.
    let handed = remote(
        || (),
        |()| async { Ok(take_invitation().await.ok().flatten()) },
    );
    view! {
        <Title text="People" />
        <div class="page max-w-310">
            <h1 class="text-xl font-semibold mb-3">"People"</h1>
            <div class="grid gap-3 lg:grid-cols-[minmax(0,1fr)_392px] items-start">
                <AsyncView resource=page render=move |page, _| view! { <View page actions /> } />
                <AsyncView
                    resource=handed
                    render=move |link, role| {
                        (role == Role::Admin).then(|| view! { <Invite link actions /> })
                    }
                />
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn View(page: Page, actions: Actions) -> impl IntoView {
    view! {
        <div class="space-y-3 min-w-0">
            <section class="panel" aria-labelledby="accounts-title">
                <header>
                    <h2 id="accounts-title">"Accounts"</h2>
                </header>
                <div class="px-3.5">
                    <FormError error=error_of(actions.role) />
                    <FormError error=error_of(actions.remove) />
                </div>
                <table class="table table-stack">
                    <thead>
                        <tr>
                            <th scope="col">"name"</th>
                            <th scope="col">"role"</th>
                            <th scope="col">"last seen"</th>
                            <th scope="col">"since"</th>
                            <th scope="col">
                                <span class="sr-only">"remove"</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {page
                            .people
                            .into_iter()
                            .map(|row| view! { <PersonLine row actions /> })
                            .collect_view()}
                    </tbody>
                </table>
            </section>
            <Open invitations=page.invitations />
        </div>
    }
}

#[component]
fn PersonLine(row: PersonRow, actions: Actions) -> impl IntoView {
    let PersonRow {
        person,
        created_at,
        last_seen_at,
    } = row;
    let id = person.id.to_string();
    let removed = id.clone();
    let name = person.name;
    let role_of = format!("Role of {name}");
    let remove = format!("Remove {name}");
    view! {
        <tr>
            <td data-l="name">
                <b class="font-semibold wrap-anywhere">{name}</b>
            </td>
            <td data-l="role">
                <ActionForm action=actions.role attr:class="flex gap-2 items-center">
                    <input type="hidden" name="person" value=id />
                    <select
                        class="select select-sm w-28"
                        name="role"
                        aria-label=role_of
                    >
                        <Roles chosen=person.role />
                    </select>
                    <Submit
                        label="Change"
                        class="btn btn-plain btn-sm"
                        pending=actions.role.pending()
                    />
                </ActionForm>
            </td>
            <td data-l="last seen">
                <span class="text-xs text-muted">
                    {match last_seen_at {
                        Some(time) => view! { <At time /> }.into_any(),
                        None => "never".into_any(),
                    }}
                </span>
            </td>
            <td data-l="since">
                <span class="text-xs text-muted">
                    <At time=created_at />
                </span>
            </td>
            <td data-l="">
                <details>
                    <summary class="text-sm">"Remove"</summary>
                    <ActionForm action=actions.remove attr:class="mt-2 space-y-2">
                        <input type="hidden" name="person" value=removed />
                        <p class="text-xs text-muted">
                            "Ends their sign-ins. What they did stays in the sessions."
                        </p>
                        <Submit
                            label=remove
                            class="btn btn-danger btn-sm"
                            pending=actions.remove.pending()
                        />
                    </ActionForm>
                </details>
            </td>
        </tr>
    }
}

#[component]
fn Roles(chosen: Role) -> impl IntoView {
    Role::ALL
        .into_iter()
        .map(|role| {
            view! {
                <option value=role.name() selected=role == chosen>
                    {role.name()}
                </option>
            }
        })
        .collect_view()
}

#[component]
fn Open(invitations: Vec<Invitation>) -> impl IntoView {
    if invitations.is_empty() {
        return ().into_any();
    }
    view! {
        <section class="panel" aria-labelledby="open-title">
            <header>
                <h2 id="open-title">"Links not used yet"</h2>
            </header>
            <ul class="rows">
                {invitations
                    .into_iter()
                    .map(|i| {
                        view! {
                            <li class="row text-sm">
                                <Mark sign=Sign::Todo />
                                <p>
                                    {format!("{}, made by {}", i.role, i.created_by)}
                                    <span class="text-muted">
                                        ", works until " <At time=i.expires_at />
                                    </span>
                                </p>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </section>
    }
    .into_any()
}

#[component]
fn Invite(link: Option<String>, actions: Actions) -> impl IntoView {
    let made = move || {
        actions
            .invite
            .value()
            .with(|v| v.as_ref().and_then(|r| r.as_ref().ok().cloned()))
            .or_else(|| link.clone())
    };
    view! {
        <section class="panel" aria-labelledby="invite-title">
            <header>
                <h2 id="invite-title">"Invite somebody"</h2>
            </header>
            <ActionForm action=actions.invite attr:class="p-3.5 space-y-3">
                <FormError error=error_of(actions.invite) />
                <div class="field">
                    <label for="invite-role">"Role"</label>
                    <select class="select w-full" id="invite-role" name="role">
                        <Roles chosen=Role::Operator />
                    </select>
                    <p class="hint">
                        "A viewer reads. An operator also runs checks and diagnoses. An admin also adds hosts and people."
                    </p>
                </div>
                <Submit label="Make a link" pending=actions.invite.pending() />
            </ActionForm>
            <div role="status">
                {move || made().map(|path| view! { <Link path /> })}
            </div>
        </section>
    }
}

/// The link to hand over. The path alone is known here; the browser shows the whole address.
#[component]
fn Link(path: String) -> impl IntoView {
    view! {
        <div class="p-3.5 border-t border-rule space-y-1">
            <p class="text-sm">
                "Send this link. It works once, and it is not shown again after you leave this page:"
            </p>
            <p>
                <a class="txtlink break-all mono" data-testid="invitation" href=path.clone()>
                    {path.clone()}
                </a>
            </p>
            <p class="hint">"Right-click it to copy the whole address. Opening it uses your own browser."</p>
        </div>
    }
}
