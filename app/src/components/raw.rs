use leptos::prelude::*;

use crate::runs::OutputText;

/// Lines longer than this are cut to the words around their marks in an excerpt.
const LONG: usize = 400;
/// What is kept of a long line on each side of a mark, in characters.
const AROUND: usize = 140;
/// Lines kept on each side of a marked line.
const NEAR: usize = 2;

/// A part of a line, and whether it is one of the deciding words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) marked: bool,
}

/// A line of an output as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) pieces: Vec<Piece>,
    /// Lines before this one are left out.
    pub(crate) gap: bool,
}

impl Line {
    fn is_key(&self) -> bool {
        self.pieces.iter().any(|p| p.marked)
    }
}

/// Cuts a line at the marks. Where marks overlap, the longer one that begins first wins.
fn pieces(line: &str, marks: &[String]) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut plain = String::new();
    while let Some(first) = rest.chars().next() {
        let mark = marks
            .iter()
            .filter(|m| !m.is_empty() && rest.starts_with(m.as_str()))
            .max_by_key(|m| m.len());
        if let Some(mark) = mark {
            if !plain.is_empty() {
                found.push(Piece {
                    text: std::mem::take(&mut plain),
                    marked: false,
                });
            }
            found.push(Piece {
                text: mark.clone(),
                marked: true,
            });
            rest = rest.strip_prefix(mark.as_str()).unwrap_or_default();
        } else {
            plain.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    if !plain.is_empty() {
        found.push(Piece {
            text: plain,
            marked: false,
        });
    }
    found
}

/// All lines, with the marks in them.
pub(crate) fn whole(text: &str, marks: &[String]) -> Vec<Line> {
    text.lines()
        .enumerate()
        .map(|(i, line)| Line {
            number: i + 1,
            pieces: pieces(line, marks),
            gap: false,
        })
        .collect()
}

/// The lines with marks and what stands near them; long lines cut to what stands around the marks.
/// Nothing where no mark is found.
pub(crate) fn excerpt(text: &str, marks: &[String]) -> Vec<Line> {
    let lines = whole(text, marks);
    let keys: Vec<usize> = lines
        .iter()
        .filter(|l| l.is_key())
        .map(|l| l.number)
        .collect();
    let mut last = 0;
    let mut shown = Vec::new();
    for line in lines {
        if !keys.iter().any(|k| k.abs_diff(line.number) <= NEAR) {
            continue;
        }
        let gap = line.number > last + 1;
        last = line.number;
        shown.push(Line {
            gap,
            pieces: shorten(line.pieces),
            number: line.number,
        });
    }
    shown
}

fn shorten(pieces: Vec<Piece>) -> Vec<Piece> {
    let length: usize = pieces.iter().map(|p| p.text.chars().count()).sum();
    if length <= LONG {
        return pieces;
    }
    let count = pieces.len();
    let marks: Vec<bool> = pieces.iter().map(|p| p.marked).collect();
    let marked_at = |i: Option<usize>| i.and_then(|i| marks.get(i)).copied().unwrap_or(false);
    pieces
        .into_iter()
        .enumerate()
        .map(|(i, piece)| {
            if piece.marked {
                return piece;
            }
            let chars: Vec<char> = piece.text.chars().collect();
            let head = if marked_at(i.checked_sub(1)) {
                AROUND
            } else {
                0
            };
            let tail = if i + 1 < count && marked_at(Some(i + 1)) {
                AROUND
            } else {
                0
            };
            // A line without a mark, near one that has: its beginning.
            let head = if head + tail == 0 { AROUND } else { head };
            if chars.len() <= head + tail + 1 {
                return piece;
            }
            let begin: String = chars.iter().take(head).collect();
            let end: String = chars.iter().skip(chars.len() - tail).collect();
            Piece {
                text: format!("{begin} … {end}"),
                marked: false,
            }
        })
        .collect()
}

/// Lines of raw output, numbered, deciding words marked. Scrolls in its own box, which the keyboard
/// can reach.
#[component]
pub(crate) fn RawLines(
    lines: Vec<Line>,
    #[prop(into)] label: String,
    #[prop(optional)] wrap: bool,
) -> impl IntoView {
    view! {
        <div
            class=if wrap { "raw wrap" } else { "raw" }
            tabindex="0"
            role="region"
            aria-label=label
        >
            <ol>
                {lines
                    .into_iter()
                    .map(|line| {
                        let class = match (line.is_key(), line.gap) {
                            (true, true) => "key gap",
                            (true, false) => "key",
                            (false, true) => "gap",
                            (false, false) => "",
                        };
                        view! {
                            <li class=class data-n=line.number.to_string()>
                                {line
                                    .pieces
                                    .into_iter()
                                    .map(|piece| {
                                        if piece.marked {
                                            view! { <mark>{piece.text}</mark> }.into_any()
                                        } else {
                                            view! { <span>{piece.text}</span> }.into_any()
                                        }
                                    })
                                    .collect_view()}
                            </li>
                        }
                    })
                    .collect_view()}
            </ol>
        </div>
    }
}

/// A whole output, with what is to be known about it: cut, empty, made printable.
#[component]
pub(crate) fn RawOutput(
    output: OutputText,
    #[prop(optional)] marks: Vec<String>,
    #[prop(into)] label: String,
) -> impl IntoView {
    let cut = (output.shown < output.bytes).then(|| {
        format!(
            "Shown: the first {} of {} bytes.",
            output.shown, output.bytes
        )
    });
    let escaped = output
        .escaped
        .then_some("Bytes that are not printable text are shown as escapes.");
    let empty = output.text.is_empty();
    let long = output.text.lines().any(|l| l.len() > LONG);
    view! {
        {if empty {
            view! { <p class="px-3.5 py-2 text-sm text-muted">"Nothing was printed."</p> }
                .into_any()
        } else {
            view! { <RawLines lines=whole(&output.text, &marks) label wrap=long /> }.into_any()
        }}
        {(cut.is_some() || escaped.is_some())
            .then(|| {
                view! {
                    <p class="px-3.5 py-1.5 text-xs text-muted">
                        {cut} {(escaped.is_some()).then_some(" ")} {escaped}
                    </p>
                }
            })}
    }
}

#[cfg(test)]
mod tests {
    use super::{excerpt, pieces, whole};

    fn marks(list: &[&str]) -> Vec<String> {
        list.iter().map(|m| (*m).to_owned()).collect()
    }

    fn flat(pieces: &[super::Piece]) -> String {
        pieces
            .iter()
            .map(|p| {
                if p.marked {
                    format!("[{}]", p.text)
                } else {
                    p.text.clone()
                }
            })
            .collect()
    }

    #[test]
    fn the_longest_mark_wins_and_the_text_stays_whole() {
        let found = pieces("port 11 PVID, port 11", &marks(&["11", "11 PVID", ""]));
        assert_eq!(flat(&found), "port [11 PVID], port [11]");
    }

    #[test]
    fn an_excerpt_has_the_marked_lines_and_their_neighbours() {
        let text = (1..=20).map(|n| format!("line {n}\n")).collect::<String>();
        let shown = excerpt(&text, &marks(&["line 9"]));
        let numbers: Vec<_> = shown.iter().map(|l| l.number).collect();
        assert_eq!(numbers, [7, 8, 9, 10, 11]);
        assert!(shown[0].gap && !shown[1].gap);
        assert_eq!(whole(&text, &[]).len(), 20);
    }

    #[test]
    fn a_long_line_is_cut_around_its_mark() {
        let text = format!(
            "{}ä\"dst\":\"default\"{}",
            "a".repeat(3000),
            "b".repeat(3000)
        );
        let shown = flat(&excerpt(&text, &marks(&["\"dst\":\"default\""]))[0].pieces);
        assert!(shown.len() < 400, "{}", shown.len());
        assert!(shown.contains("[\"dst\":\"default\"]bbb"));
        assert!(shown.contains(" … "));
    }

    #[test]
    fn no_mark_found_gives_no_excerpt() {
        assert!(excerpt("a\nb", &marks(&["c"])).is_empty());
    }
}
