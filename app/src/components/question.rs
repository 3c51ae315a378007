use diagnosis::ids::{SessionId, StepId};
use diagnosis::knowledge::{ParameterType, Question};
use leptos::prelude::*;

use super::{Field, FormError, Sign, SignBadge, Submit, error_of};
use crate::people::Role;
use crate::sessions::AnswerQuestion;

/// The question a session waits with, why it is asked, and what not knowing costs.
#[component]
pub(crate) fn QuestionPanel(
    session: SessionId,
    step: StepId,
    question: Question,
    action: ServerAction<AnswerQuestion>,
    role: Role,
) -> impl IntoView {
    let refused = (role < Role::Operator).then(|| {
        "Only an operator or an admin can answer. You see the answer here live.".to_owned()
    });
    let may = refused.is_none();
    let error = error_of(action);
    let typed = question.options.is_empty();
    view! {
        <section class="panel p-4 lg:p-5" aria-labelledby="question-title">
            <SignBadge sign=Sign::Asks word="waits for an answer" />
            <p class="eyebrow mt-3">{question.title}</p>
            <h2 id="question-title" class="text-xl font-semibold mb-1">
                {question.question}
            </h2>
            <p class="measure text-muted mb-4">{question.why}</p>
            {refused.map(|r| view! { <p class="note">{r}</p> })}
            {may
                .then(|| {
                    view! {
                        <ActionForm action attr:class="space-y-3">
                            <input type="hidden" name="session" value=session.to_string() />
                            <input type="hidden" name="step" value=step.to_string() />
                            {if typed {
                                view! {
                                    <div class="max-w-96">
                                        <Field
                                            label="Your answer"
                                            name="value"
                                            error
                                            hint=type_hint(question.kind)
                                            mono=true
                                        />
                                    </div>
                                    {question
                                        .placeholder
                                        .map(|p| {
                                            view! {
                                                <p class="hint">"For example " <code>{p}</code></p>
                                            }
                                        })}
                                    <FormError error fields=&["value"] />
                                    <div class="flex flex-wrap gap-2">
                                        <Submit label="Answer" pending=action.pending() />
                                        <Unknown pending=action.pending() />
                                    </div>
                                }
                                    .into_any()
                            } else {
                                view! {
                                    <FormError error />
                                    <div class="flex flex-wrap gap-2">
                                        {question
                                            .options
                                            .into_iter()
                                            .map(|option| {
                                                view! {
                                                    <button
                                                        type="submit"
                                                        name="value"
                                                        value=option.value
                                                        class="btn btn-plain h-auto min-h-9 py-1.5"
                                                        disabled=action.pending()
                                                    >
                                                        {option.label}
                                                    </button>
                                                }
                                            })
                                            .collect_view()} <Unknown pending=action.pending() />
                                    </div>
                                }
                                    .into_any()
                            }}
                            <p class="text-sm text-muted measure">
                                "If you don’t know: " {question.if_unknown}
                            </p>
                        </ActionForm>
                    }
                })}
        </section>
    }
}

#[component]
fn Unknown(#[prop(into)] pending: Signal<bool>) -> impl IntoView {
    view! {
        <button
            type="submit"
            name="unknown"
            value="yes"
            formnovalidate
            class="btn btn-ghost"
            disabled=pending
        >
            "I don’t know"
        </button>
    }
}

const fn type_hint(kind: Option<ParameterType>) -> &'static str {
    match kind {
        Some(ParameterType::Interface) => "An interface’s name, such as eth0.",
        Some(ParameterType::Ip) => "An IPv4 or IPv6 address.",
        Some(ParameterType::Cidr) => "A network, such as 10.10.10.0/24.",
        Some(ParameterType::Mac) => "A MAC address, such as bc:24:11:af:bc:fc.",
        Some(ParameterType::Vmid) => "A guest’s number, such as 122.",
        Some(ParameterType::Port) => "A port from 1 to 65535.",
        Some(ParameterType::Integer) => "A whole number.",
        Some(ParameterType::Family) => "ip4 or ip6.",
        None => "",
    }
}
