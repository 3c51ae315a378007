use diagnosis::table::{Cell, Line, Style, Table};
use leptos::prelude::*;

/// A table of facts. Wide ones scroll in their own box and stack on a phone.
#[component]
pub(crate) fn FactsTable(table: Table, caption: String) -> impl IntoView {
    let label = format!("Facts: {caption}");
    view! {
        <div class="scroll-x border-t border-rule" tabindex="0" role="region" aria-label=label>
            {if table.rows.is_empty() {
                view! { <p class="px-3.5 py-2.5 text-sm text-muted">{table.none}</p> }.into_any()
            } else if table.columns.is_empty() {
                pairs(table.rows)
            } else {
                columns(table)
            }}
        </div>
    }
}

fn columns(table: Table) -> AnyView {
    let Table { columns, rows, .. } = table;
    let cells = |row: Vec<Cell>| {
        row.into_iter()
            .zip(columns.iter().cloned())
            .map(|(cell, column)| view! { <td data-l=column>{lines(cell)}</td> })
            .collect_view()
    };
    view! {
        <table class="table table-stack">
            <thead>
                <tr>
                    {columns
                        .iter()
                        .cloned()
                        .map(|column| view! { <th scope="col">{column}</th> })
                        .collect_view()}
                </tr>
            </thead>
            <tbody>
                {rows.into_iter().map(|row| view! { <tr>{cells(row)}</tr> }).collect_view()}
            </tbody>
        </table>
    }
    .into_any()
}

/// Names and values.
fn pairs(rows: Vec<Vec<Cell>>) -> AnyView {
    let row = |row: Vec<Cell>| {
        let mut cells = row.into_iter();
        let name = cells.next().unwrap_or_default();
        let values = cells
            .map(|cell| view! { <td>{lines(cell)}</td> })
            .collect_view();
        view! {
            <tr>
                <th scope="row">{lines(name)}</th>
                {values}
            </tr>
        }
    };
    view! {
        <table class="table">
            <tbody>{rows.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

/// A value that the tool did not print is a dash, never a default.
fn lines(cell: Cell) -> AnyView {
    let Cell(lines) = cell;
    if lines.is_empty() {
        return view! { <span class="text-muted">"–"</span> }.into_any();
    }
    lines.into_iter().map(line).collect_view().into_any()
}

fn line(line: Line) -> AnyView {
    let class = match line.style {
        Style::Text => "block",
        Style::Code => "block mono",
        Style::Name => "block mono font-semibold",
        Style::Warn => "block mono text-warn",
    };
    let note = line
        .note
        .map(|note| view! { <span class="text-muted text-xs font-normal">" " {note}</span> });
    view! { <span class=class>{line.text} {note}</span> }.into_any()
}
