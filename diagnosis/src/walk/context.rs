//! What conditions and texts of a walk can read.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::Walk;
use crate::session::{Answer, BoundGuest};
use crate::template::Context;
use crate::verdict::Family;

impl Walk {
    /// The ends, `answers`, `family`, and the facts by name. Facts of runs per family are read as
    /// `name.ip4` and `name.ip6`.
    pub(super) fn context(&self, family: Option<Family>) -> Context {
        let mut context = Context::default();
        for (name, guest) in &self.ends {
            context.set(name, end(guest));
        }
        let answers: IndexMap<&str, Value> = self
            .answers
            .iter()
            .map(|(name, answer)| {
                let value = match answer {
                    Answer::Value(value) => Value::String(value.clone()),
                    Answer::Unknown => Value::Null,
                };
                (name.as_str(), value)
            })
            .collect();
        context.set("answers", answers);
        if let Some(family) = family {
            context.set("family", family.key());
        }
        let mut by_family: IndexMap<&str, IndexMap<&str, Value>> = self
            .per_family
            .iter()
            .map(|name| (name.as_str(), IndexMap::new()))
            .collect();
        for held in self.results.values() {
            match held.family {
                None => context.set(&held.name, held.facts.value()),
                Some(family) => {
                    by_family
                        .entry(&held.name)
                        .or_default()
                        .insert(family.key(), held.facts.value());
                }
            }
        }
        for (name, facts) in by_family {
            context.set(name, facts);
        }
        context
    }

    /// The same, with this step's own names standing for the family's own facts.
    pub(super) fn context_in(&self, family: Option<Family>, own: &[&str]) -> Context {
        let mut context = self.context(family);
        for name in own {
            // A call that was left out stays unknown, also where the other family has it.
            context.remove(name);
        }
        for held in self.results.values() {
            if held.family == family && own.contains(&held.name.as_str()) {
                context.set(&held.name, held.facts.value());
            }
        }
        context
    }
}

fn end(guest: &BoundGuest) -> Value {
    json!({
        "name": guest.name,
        "vmid": guest.vmid,
        "kind": guest.kind,
        "host_name": guest.host_name,
        "label": guest.label(),
    })
}
