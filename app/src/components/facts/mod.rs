//! Facts as tables: one for each kind.

mod host;
mod layer2;
mod layer3;
mod probe;

use diagnosis::facts::Facts;
use leptos::prelude::*;

/// The facts of one output. Wide tables scroll in their own box and stack on a phone.
#[component]
pub(crate) fn FactsTable(facts: Facts, caption: String) -> impl IntoView {
    let table = match facts {
        Facts::Links(links) => layer2::links(links).into_any(),
        Facts::Vlans(ports) => layer2::vlans(ports).into_any(),
        Facts::Routes(routes) => layer3::routes(routes).into_any(),
        Facts::Neighbours(neighbours) => layer3::neighbours(neighbours).into_any(),
        Facts::Ping(ping) => probe::ping(ping).into_any(),
        Facts::Arp(arp) => probe::arp(arp).into_any(),
        Facts::Guests(guests) => host::guests(guests).into_any(),
        Facts::Platform(platform) => host::platform(platform).into_any(),
    };
    view! {
        <div class="scroll-x border-t border-rule" tabindex="0" role="region" aria-label=format!("Facts: {caption}")>
            {table}
        </div>
    }
}

/// A table with these columns, or a sentence where there is no row.
fn table(columns: &'static [&'static str], rows: Vec<Vec<AnyView>>, none: &'static str) -> AnyView {
    if rows.is_empty() {
        return view! { <p class="px-3.5 py-2.5 text-sm text-muted">{none}</p> }.into_any();
    }
    view! {
        <table class="table table-stack">
            <thead>
                <tr>
                    {columns
                        .iter()
                        .map(|column| view! { <th scope="col">{*column}</th> })
                        .collect_view()}
                </tr>
            </thead>
            <tbody>
                {rows
                    .into_iter()
                    .map(|cells| {
                        view! {
                            <tr>
                                {cells
                                    .into_iter()
                                    .zip(columns)
                                    .map(|(cell, column)| {
                                        view! { <td data-l=*column>{cell}</td> }
                                    })
                                    .collect_view()}
                            </tr>
                        }
                    })
                    .collect_view()}
            </tbody>
        </table>
    }
    .into_any()
}

/// A table of names and values.
fn pairs(rows: Vec<(&'static str, AnyView)>) -> AnyView {
    view! {
        <table class="table">
            <tbody>
                {rows
                    .into_iter()
                    .map(|(name, value)| {
                        view! {
                            <tr>
                                <th scope="row">{name}</th>
                                <td>{value}</td>
                            </tr>
                        }
                    })
                    .collect_view()}
            </tbody>
        </table>
    }
    .into_any()
}

fn text(value: impl ToString) -> AnyView {
    view! { <span>{value.to_string()}</span> }.into_any()
}

/// A name, address or number as tools print it.
fn mono(value: impl ToString) -> AnyView {
    view! { <span class="mono">{value.to_string()}</span> }.into_any()
}

/// A value that the tool may not have printed: then a dash, never a default.
fn maybe<T: ToString>(value: Option<T>) -> AnyView {
    match value {
        Some(value) => mono(value),
        None => view! { <span class="text-muted">"–"</span> }.into_any(),
    }
}
