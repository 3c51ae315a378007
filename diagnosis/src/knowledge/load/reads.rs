//! What conditions and texts read, against what can be known where they stand.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use serde_json::Value;

use super::places::Places;
use super::{Draft, LoadError};
use crate::ids::StepId;
use crate::knowledge::{ParserName, Step, Target, Tree};
use crate::template::Templates;

/// What a name stands for.
#[derive(Clone, Copy)]
enum Known {
    End,
    /// Facts of one run.
    Facts(Option<ParserName>),
    /// Facts of one run a family: `name.ip4`, `name.ip6`.
    PerFamily(Option<ParserName>),
}

/// The names a step can read.
pub(super) struct Scope<'a> {
    names: BTreeMap<&'a str, Known>,
    /// The names of this step's own calls, which its outcomes read.
    own: BTreeMap<&'a str, Known>,
    answers: BTreeSet<&'a str>,
    family: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn at(
        draft: &'a Draft,
        tree: &'a Tree,
        before: &BTreeSet<&StepId>,
        step: &'a Step,
    ) -> Self {
        let parser = |call: &crate::knowledge::CheckCall| {
            draft.checks.get(&call.check).and_then(|c| c.value.parse)
        };
        let mut names: BTreeMap<&str, Known> =
            tree.ends.keys().map(|n| (n.as_str(), Known::End)).collect();
        let mut answers = BTreeSet::new();
        for earlier in tree
            .steps
            .iter()
            .filter(|(id, _)| before.contains(id))
            .map(|(_, s)| s)
        {
            answers.extend(earlier.ask.iter().map(|a| a.name.as_str()));
            for call in &earlier.checks {
                let known = if earlier.families.is_empty() {
                    Known::Facts(parser(call))
                } else {
                    Known::PerFamily(parser(call))
                };
                names.insert(&call.name, known);
            }
        }
        Self {
            names,
            own: step
                .checks
                .iter()
                .map(|c| (c.name.as_str(), Known::Facts(parser(c))))
                .collect(),
            answers,
            family: !step.families.is_empty(),
        }
    }

    /// Why a path cannot be read here.
    fn refuse(&self, path: &str, outcome: bool) -> Option<String> {
        let mut parts = path.split('.');
        let root = parts.next().unwrap_or_default();
        let field = parts.next();
        match root {
            "answers" => {
                return match field {
                    Some(name) if !self.answers.contains(name) => Some(format!(
                        "no question before this step is answered as “{name}”"
                    )),
                    _ => None,
                };
            }
            "family" => {
                return (!self.family)
                    .then(|| "this step does not run per family, so it has no `family`".into());
            }
            _ => {}
        }
        let known = self
            .own
            .get(root)
            .filter(|_| outcome)
            .or_else(|| self.names.get(root));
        let (fields, field): (Vec<&str>, _) = match known {
            None => {
                return Some(format!(
                    "nothing that can have run before this is called “{root}”"
                ));
            }
            Some(Known::End) => (vec!["name", "vmid", "kind", "host_name", "label"], field),
            Some(Known::Facts(parser)) => (fields(*parser), field),
            Some(Known::PerFamily(parser)) => match field {
                None => return None,
                Some("ip4" | "ip6") => (fields(*parser), parts.next()),
                Some(other) => {
                    return Some(format!(
                        "“{root}” is known per family: `{root}.ip4`, `{root}.ip6` or `{root}[family]`, not `{root}.{other}`"
                    ));
                }
            },
        };
        match field {
            Some(field) if !fields.contains(&field) => Some(match fields.as_slice() {
                [] => format!("“{root}” is a list, so it has no “{field}”"),
                _ => format!("“{root}” has no “{field}”; it has {}", fields.join(", ")),
            }),
            _ => None,
        }
    }
}

/// The fields of a parser's facts, from their schema; none where they are a list.
pub(super) fn fields(parser: Option<ParserName>) -> Vec<&'static str> {
    static FIELDS: LazyLock<HashMap<ParserName, Vec<String>>> = LazyLock::new(|| {
        ParserName::ALL
            .iter()
            .map(|parser| {
                let schema = parser.facts().schema();
                let properties = schema.get("properties").and_then(Value::as_object);
                let names = properties.map(|p| p.keys().cloned().collect());
                (*parser, names.unwrap_or_default())
            })
            .collect()
    });
    parser
        .and_then(|parser| FIELDS.get(&parser))
        .map(|names| names.iter().map(String::as_str).collect())
        .unwrap_or_default()
}

/// Checks all that one step has to say.
pub(super) struct Reader<'a> {
    draft: &'a Draft,
    tree: &'a Tree,
    at: &'a Places,
    id: &'a StepId,
    templates: &'static Templates,
}

impl<'a> Reader<'a> {
    pub(super) fn new(draft: &'a Draft, tree: &'a Tree, at: &'a Places, id: &'a StepId) -> Self {
        Self {
            draft,
            tree,
            at,
            id,
            templates: Templates::shared(),
        }
    }

    pub(super) fn step(&self, step: &Step, scope: &Scope<'_>, errors: &mut Vec<LoadError>) {
        if let Some(ask) = &step.ask {
            self.text(&["title"], &step.title, scope, errors);
            self.text(&["why"], &step.why, scope, errors);
            self.text(&["ask", "question"], &ask.question, scope, errors);
            self.text(&["ask", "if_unknown"], &ask.if_unknown, scope, errors);
        }
        if let Some(condition) = &step.applies_when {
            self.condition(&["applies_when"], condition, scope, false, errors);
        }
        if let Some(text) = &step.not_applicable_because {
            self.text(&["not_applicable_because"], text, scope, errors);
        }
        for (index, call) in step.checks.iter().enumerate() {
            let index = index.to_string();
            if let Some(condition) = &call.when {
                self.condition(&["checks", &index, "when"], condition, scope, false, errors);
            }
            for (name, value) in &call.with {
                self.text(&["checks", &index, "with", name], value, scope, errors);
            }
        }
        for (field, target) in [
            ("unless_run", &step.unless_run),
            ("not_applicable", &step.not_applicable),
        ] {
            if let Some(target) = target {
                self.target(&[field], target, scope, false, errors);
            }
        }
        for (index, outcome) in step.outcomes.iter().enumerate() {
            let index = index.to_string();
            let path = |rest: &[&'static str]| -> Vec<String> {
                ["outcomes".to_owned(), index.clone()]
                    .into_iter()
                    .chain(rest.iter().map(|r| (*r).to_owned()))
                    .collect()
            };
            if let Some(condition) = &outcome.when {
                self.condition(&refs(&path(&["when"])), condition, scope, true, errors);
            }
            self.any_text(
                &refs(&path(&["message"])),
                &outcome.message,
                scope,
                true,
                errors,
            );
            for text in &outcome.rules_out {
                self.any_text(&refs(&path(&["rules_out"])), text, scope, true, errors);
            }
            for (number, evidence) in outcome.evidence.iter().enumerate() {
                let number = number.to_string();
                let at = |field: &str| -> Vec<String> {
                    path(&["evidence"])
                        .into_iter()
                        .chain([number.clone(), field.to_owned()])
                        .collect()
                };
                self.from(&refs(&at("from")), &evidence.from, scope, errors);
                self.any_text(&refs(&at("says")), &evidence.says, scope, true, errors);
                for mark in &evidence.marks {
                    self.any_text(&refs(&at("marks")), mark, scope, true, errors);
                }
            }
            self.target(&refs(&path(&[])), &outcome.target, scope, true, errors);
        }
    }

    fn error(&self, path: &[&str], message: String, errors: &mut Vec<LoadError>) {
        let path: Vec<&str> = ["steps", self.id.as_str()]
            .iter()
            .chain(path)
            .copied()
            .collect();
        errors.push(self.at.error(&path, message));
    }

    fn condition(
        &self,
        path: &[&str],
        text: &str,
        scope: &Scope<'_>,
        outcome: bool,
        errors: &mut Vec<LoadError>,
    ) {
        match self.templates.condition_reads(text) {
            Err(why) => self.error(
                path,
                format!("this condition does not compile: {why}"),
                errors,
            ),
            Ok(reads) => self.reads(path, &reads, scope, outcome, errors),
        }
    }

    fn text(&self, path: &[&str], text: &str, scope: &Scope<'_>, errors: &mut Vec<LoadError>) {
        self.any_text(path, text, scope, false, errors);
    }

    fn any_text(
        &self,
        path: &[&str],
        text: &str,
        scope: &Scope<'_>,
        outcome: bool,
        errors: &mut Vec<LoadError>,
    ) {
        match self.templates.template_reads(text) {
            Err(why) => self.error(
                path,
                format!("this template does not compile: {why}"),
                errors,
            ),
            Ok(reads) => self.reads(path, &reads, scope, outcome, errors),
        }
    }

    fn reads(
        &self,
        path: &[&str],
        reads: &BTreeSet<String>,
        scope: &Scope<'_>,
        outcome: bool,
        errors: &mut Vec<LoadError>,
    ) {
        for read in reads {
            if let Some(why) = scope.refuse(read, outcome) {
                self.error(path, format!("`{read}`: {why}"), errors);
            }
        }
    }

    /// Evidence comes from a run that can have been.
    fn from(&self, path: &[&str], from: &str, scope: &Scope<'_>, errors: &mut Vec<LoadError>) {
        let (name, family) = crate::walk::named(from, None);
        let known = scope.own.get(name).or_else(|| scope.names.get(name));
        let good = match known {
            None | Some(Known::End) => false,
            Some(Known::Facts(_)) => family.is_none(),
            Some(Known::PerFamily(_)) => family.is_some() || scope.family,
        };
        if !good {
            self.error(
                path,
                format!("no check that can have run before this is called “{from}”"),
                errors,
            );
        }
    }

    fn target(
        &self,
        path: &[&str],
        target: &Target,
        scope: &Scope<'_>,
        outcome: bool,
        errors: &mut Vec<LoadError>,
    ) {
        let at =
            |field: &'static str| -> Vec<&str> { path.iter().copied().chain([field]).collect() };
        match target {
            Target::Goto(_) | Target::NoFault => {}
            Target::Undetermined(undetermined) => {
                let path = at("undetermined");
                self.any_text(&path, &undetermined.reason, scope, outcome, errors);
                for next in &undetermined.next {
                    self.any_text(&path, next, scope, outcome, errors);
                }
            }
            Target::Cause(id) => {
                let Some(cause) = self.draft.causes.get(id) else {
                    return;
                };
                // A cause's texts are read where the cause is named; the fault is in the cause's document.
                for (field, text) in [
                    ("where", &cause.value.place),
                    ("explanation", &cause.value.explanation),
                    ("remedy", &cause.value.remedy),
                ] {
                    let mut add =
                        |message: String| errors.push(cause.places.error(&[field], message));
                    match self.templates.template_reads(text) {
                        Err(why) => add(format!("this template does not compile: {why}")),
                        Ok(reads) => {
                            for read in &reads {
                                if let Some(why) = scope.refuse(read, outcome) {
                                    add(format!(
                                        "`{read}`, as the step “{}” of the tree “{}” names this cause: {why}",
                                        self.id, self.tree.tree
                                    ));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn refs(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}
