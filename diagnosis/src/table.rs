//! Values as people read them: a table that a page, a terminal or a report can draw without knowing
//! what it is about.

use serde::{Deserialize, Serialize};

/// A table. Without columns it is a list of names and values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// What to say where there is no row.
    pub none: String,
}

/// One value: its lines. No line means that the tool did not print it, which is never a default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell(pub Vec<Line>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub text: String,
    pub style: Style,
    /// What stands beside it in smaller letters.
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Words of ours.
    Text,
    /// A name, address or number as tools print it.
    Code,
    /// As `Code`, for what the row is about.
    Name,
    /// As `Code`, for what is wrong with it.
    Warn,
}

#[cfg(feature = "engine")]
mod build {
    use super::{Cell, Line, Style, Table};

    impl Table {
        pub(crate) fn new(columns: &[&str], none: &str, rows: Vec<Vec<Cell>>) -> Self {
            Self {
                columns: columns.iter().map(|c| (*c).to_owned()).collect(),
                rows,
                none: none.to_owned(),
            }
        }

        /// Names and values.
        pub(crate) fn pairs(rows: Vec<(&str, Cell)>) -> Self {
            let rows = rows
                .into_iter()
                .map(|(name, value)| vec![Cell::text(name), value])
                .collect();
            Self::new(&[], "", rows)
        }
    }

    impl Line {
        pub(crate) fn new(style: Style, text: impl ToString) -> Self {
            Self {
                text: text.to_string(),
                style,
                note: None,
            }
        }

        pub(crate) fn note(self, note: Option<String>) -> Self {
            Self { note, ..self }
        }
    }

    impl Cell {
        fn line(style: Style, text: impl ToString) -> Self {
            Self(vec![Line::new(style, text)])
        }

        pub(crate) fn text(text: impl ToString) -> Self {
            Self::line(Style::Text, text)
        }

        pub(crate) fn code(text: impl ToString) -> Self {
            Self::line(Style::Code, text)
        }

        pub(crate) fn name(text: impl ToString) -> Self {
            Self::line(Style::Name, text)
        }

        /// A value that the tool may not have printed.
        pub(crate) fn maybe(value: Option<impl ToString>) -> Self {
            value.map_or_else(Self::default, Self::code)
        }

        /// Several values, one a line.
        pub(crate) fn codes(values: impl IntoIterator<Item = impl ToString>) -> Self {
            Self(
                values
                    .into_iter()
                    .map(|v| Line::new(Style::Code, v))
                    .collect(),
            )
        }
    }
}
