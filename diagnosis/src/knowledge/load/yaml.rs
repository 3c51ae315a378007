//! All of serde-saphyr is behind this module: YAML with places, and limits on what a file may cost.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Options, Spanned};

/// A file that is longer is refused before it is read.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Why YAML could not be read.
pub(super) struct YamlError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// A place in a file, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A document's skeleton: only what says where things stand.
#[derive(Debug)]
pub(super) enum Node {
    Map(Vec<(String, Place, Placed)>),
    Sequence(Vec<Placed>),
    Scalar,
}

#[derive(Debug)]
pub(super) struct Placed {
    pub(super) place: Place,
    pub(super) node: Node,
}

/// Reads every document of a file.
pub(super) fn documents<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, YamlError> {
    if text.len() > MAX_BYTES {
        return Err(YamlError {
            line: 1,
            column: 1,
            message: format!(
                "the file has {} bytes; knowledge files have at most {MAX_BYTES}",
                text.len()
            ),
        });
    }
    serde_saphyr::from_multiple_with_options(text, options()).map_err(|e| {
        let at = e.location();
        YamlError {
            line: at.map_or(1, |l| number(l.line())),
            column: at.map_or(1, |l| number(l.column())),
            message: message(&e),
        }
    })
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            flow_nesting_limit: 32,
            max_nodes: 50_000,
            max_events: 100_000,
            max_aliases: 200,
        },
        with_snippet: false,
    }
}

/// The first line, without the place that the error carries beside it.
fn message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let end = line.rfind(" at line ").or_else(|| line.rfind(" (line "));
    line.get(..end.unwrap_or(line.len()))
        .unwrap_or(line)
        .to_owned()
}

fn number(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for Placed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Node>::deserialize(deserializer)?;
        Ok(Self {
            place: Place {
                line: number(spanned.referenced.line()),
                column: number(spanned.referenced.column()),
            },
            node: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let place = Place {
                line: number(key.referenced.line()),
                column: number(key.referenced.column()),
            };
            entries.push((key.value, place, map.next_value()?));
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Sequence(items))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }
}
