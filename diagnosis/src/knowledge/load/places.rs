//! Where the parts of a document stand in its file.

use std::collections::HashMap;

use super::LoadError;
use super::yaml::{Node, Place, Placed};

/// Places by path, such as `steps`, `routes`, `outcomes`, `0`, `when`.
#[derive(Debug)]
pub(super) struct Places {
    file: String,
    start: Place,
    by_path: HashMap<Vec<String>, Place>,
}

impl Places {
    pub(super) fn of(file: &str, document: &Placed) -> Self {
        let mut places = Self {
            file: file.to_owned(),
            start: document.place,
            by_path: HashMap::new(),
        };
        places.walk(&mut Vec::new(), &document.node);
        places
    }

    fn walk(&mut self, path: &mut Vec<String>, node: &Node) {
        match node {
            Node::Map(entries) => {
                for (key, place, value) in entries {
                    path.push(key.clone());
                    self.by_path.insert(path.clone(), *place);
                    self.walk(path, &value.node);
                    path.pop();
                }
            }
            Node::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    self.by_path.insert(path.clone(), item.place);
                    self.walk(path, &item.node);
                    path.pop();
                }
            }
            Node::Scalar => {}
        }
    }

    /// The document's beginning, for messages.
    pub(super) fn start(&self) -> String {
        format!("{}:{}", self.file, self.start.line)
    }

    /// An error at the deepest part of this path that the document has.
    pub(super) fn error(&self, path: &[&str], message: impl Into<String>) -> LoadError {
        let mut path: Vec<String> = path.iter().map(|p| (*p).to_owned()).collect();
        let place = loop {
            if let Some(place) = self.by_path.get(&path) {
                break *place;
            }
            if path.pop().is_none() {
                break self.start;
            }
        };
        LoadError {
            file: self.file.clone(),
            line: place.line,
            column: place.column,
            message: message.into(),
        }
    }
}
