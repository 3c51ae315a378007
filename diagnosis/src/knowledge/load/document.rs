//! A file's documents, each of the kind that its first key names.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};

use super::places::Places;
use super::yaml::{self, Node, Place, Placed};
use super::{LoadError, Source};
use crate::knowledge::{Cause, Check, Collector, Symptom, Tree};

pub(super) enum Document {
    Symptom(Symptom),
    Tree(Tree),
    Collector(Collector),
    Check(Check),
    Cause(Cause),
}

/// Reads a file's documents with their places.
pub(super) fn read(source: &Source<'_>) -> Result<Vec<(Document, Places)>, LoadError> {
    let fault = |e: yaml::YamlError| LoadError {
        file: source.name.to_owned(),
        line: e.line,
        column: e.column,
        message: e.message,
    };
    let skeletons: Vec<Placed> = yaml::documents(source.text).map_err(fault)?;
    for skeleton in &skeletons {
        check_kind(skeleton).map_err(|(place, message)| LoadError {
            file: source.name.to_owned(),
            line: place.line,
            column: place.column,
            message,
        })?;
    }
    let documents: Vec<Document> = yaml::documents(source.text).map_err(fault)?;
    // Both readings skip the same empty documents.
    Ok(documents
        .into_iter()
        .zip(skeletons.iter().map(|s| Places::of(source.name, s)))
        .collect())
}

const KINDS: [&str; 5] = ["symptom", "tree", "collect", "check", "cause"];

/// A document begins with its kind; looked at beforehand, so that the fault has its place.
fn check_kind(document: &Placed) -> Result<(), (Place, String)> {
    let (place, first) = match &document.node {
        Node::Map(entries) => match entries.first() {
            Some((key, _, _)) if KINDS.contains(&key.as_str()) => return Ok(()),
            Some((key, place, _)) => (*place, format!("with `{key}`")),
            None => (document.place, "with nothing".into()),
        },
        Node::Sequence(_) => (document.place, "with a list".into()),
        Node::Scalar => (document.place, "with a single value".into()),
    };
    let kinds = "`symptom`, `tree`, `collect`, `check` or `cause`";
    Err((
        place,
        format!("a document begins with {kinds}, not {first}"),
    ))
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a symptom, tree, collector, check or cause")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let first: String = map
            .next_key()?
            .ok_or_else(|| A::Error::custom("the document is empty"))?;
        let kind = first.clone();
        let rest = MapAccessDeserializer::new(WithFirst {
            first: Some(first),
            rest: map,
        });
        match kind.as_str() {
            "symptom" => Symptom::deserialize(rest).map(Document::Symptom),
            "tree" => Tree::deserialize(rest).map(Document::Tree),
            "collect" => Collector::deserialize(rest).map(Document::Collector),
            "check" => Check::deserialize(rest).map(Document::Check),
            "cause" => Cause::deserialize(rest).map(Document::Cause),
            other => Err(A::Error::unknown_field(other, &KINDS)),
        }
    }
}

/// A map whose first key has been read already. Nothing is buffered, so that errors keep their places.
struct WithFirst<A> {
    first: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithFirst<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        match self.first.take() {
            Some(first) => seed.deserialize(first.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        self.rest.next_value_seed(seed)
    }
}
