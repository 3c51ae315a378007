//! Trees: every name resolves, every step can be reached, no way leads round, and nothing passes by
//! default.

use std::collections::{BTreeMap, BTreeSet};

use super::commands::is_identifier;
use super::places::Places;
use super::reads::{Reader, Scope};
use super::{Draft, LoadError};
use crate::ids::StepId;
use crate::knowledge::{Ask, CheckCall, Outcome, Step, Target, Tree, VerdictWord};
use crate::template::FUNCTIONS;

/// Names that mean something else in conditions.
const RESERVED: [&str; 2] = ["answers", "family"];

pub(super) fn check(draft: &mut Draft) {
    let mut errors = Vec::new();
    for placed in draft.trees.values() {
        let one = OneTree {
            draft,
            tree: &placed.value,
            at: &placed.places,
        };
        one.check(&mut errors);
    }
    draft.errors.extend(errors);
}

struct OneTree<'a> {
    draft: &'a Draft,
    tree: &'a Tree,
    at: &'a Places,
}

impl OneTree<'_> {
    fn check(&self, errors: &mut Vec<LoadError>) {
        let before = errors.len();
        for name in self.tree.ends.keys() {
            if !is_identifier(name)
                || RESERVED.contains(&name.as_str())
                || FUNCTIONS.contains(&name.as_str())
            {
                errors.push(self.at.error(
                    &["ends", name],
                    format!("“{name}” cannot be the name of an end"),
                ));
            }
        }
        if !self.tree.steps.contains_key(&self.tree.start) {
            errors.push(self.at.error(
                &["start"],
                format!("there is no step “{}”", self.tree.start),
            ));
        }
        for (id, step) in &self.tree.steps {
            self.step(id, step, errors);
        }
        self.names(errors);
        if errors.len() > before {
            return;
        }
        self.reachable(errors);
        self.cycles(errors);
        if errors.len() > before {
            return;
        }
        self.reads(errors);
    }

    fn step(&self, id: &StepId, step: &Step, errors: &mut Vec<LoadError>) {
        let at = |path: &[&str], message: &str| {
            let path: Vec<&str> = ["steps", id.as_str()].iter().chain(path).copied().collect();
            self.at.error(&path, message)
        };
        if !super::is_name(id.as_str()) {
            errors.push(at(
                &[],
                "a step's name has lower-case letters, digits and hyphens",
            ));
        }
        match (&step.ask, step.checks.is_empty()) {
            (Some(_), false) => errors.push(at(
                &["ask"],
                "a step either asks (`ask`) or runs checks (`checks`), not both",
            )),
            (None, true) => errors.push(at(
                &[],
                "a step either asks (`ask`) or runs checks (`checks`); this one does neither",
            )),
            (Some(ask), true) => {
                self.ask(id, ask, errors);
                for (field, set) in [
                    ("outcomes", !step.outcomes.is_empty()),
                    ("families", !step.families.is_empty()),
                    ("applies_when", step.applies_when.is_some()),
                    ("unless_run", step.unless_run.is_some()),
                    ("not_applicable", step.not_applicable.is_some()),
                ] {
                    if set {
                        errors.push(at(&[field], &format!("a step that asks has no `{field}`")));
                    }
                }
            }
            (None, false) => self.checks(id, step, errors),
        }
    }

    fn ask(&self, id: &StepId, ask: &Ask, errors: &mut Vec<LoadError>) {
        let at = |path: &[&str], message: String| {
            let path: Vec<&str> = ["steps", id.as_str(), "ask"]
                .iter()
                .chain(path)
                .copied()
                .collect();
            self.at.error(&path, message)
        };
        if ask.options.is_empty() && ask.kind.is_none() {
            errors.push(at(
                &[],
                "a question has `options` or a `type`, or nobody can answer it".into(),
            ));
        }
        self.target_step(&["steps", id.as_str(), "ask", "then"], &ask.then, errors);
        for (index, option) in ask.options.iter().enumerate() {
            let index_text = index.to_string();
            if ask
                .options
                .iter()
                .take(index)
                .any(|o| o.value == option.value)
            {
                errors.push(at(
                    &["options", &index_text],
                    format!("the answer “{}” is there twice", option.value),
                ));
            }
            if let Some(goto) = &option.goto {
                self.target_step(
                    &["steps", id.as_str(), "ask", "options", &index_text, "goto"],
                    goto,
                    errors,
                );
            }
        }
    }

    fn checks(&self, id: &StepId, step: &Step, errors: &mut Vec<LoadError>) {
        let at = |path: &[&str], message: &str| {
            let path: Vec<&str> = ["steps", id.as_str()].iter().chain(path).copied().collect();
            self.at.error(&path, message)
        };
        for (index, call) in step.checks.iter().enumerate() {
            self.call(id, index, call, errors);
        }
        let families: BTreeSet<_> = step.families.iter().collect();
        if families.len() != step.families.len() {
            errors.push(at(&["families"], "a family is there twice"));
        }
        match &step.unless_run {
            None => errors.push(at(&[], "this step does not say where the walk goes when a check could not run: `unless_run`")),
            Some(Target::Cause(_) | Target::NoFault) => errors.push(at(
                &["unless_run"],
                "what could not run proves nothing: `unless_run` leads to a step or to `undetermined`",
            )),
            Some(target) => self.target(id, &["unless_run"], target, errors),
        }
        match &step.not_applicable {
            None => {}
            Some(Target::Cause(_) | Target::NoFault) => errors.push(at(
                &["not_applicable"],
                "what was not looked at proves nothing: `not_applicable` leads to a step or to `undetermined`",
            )),
            Some(target) => self.target(id, &["not_applicable"], target, errors),
        }
        match step.outcomes.split_last() {
            None => errors.push(at(&[], "this step judges nothing: it has no `outcomes`")),
            Some((last, earlier)) => {
                if let Some(index) = earlier.iter().position(|o| o.otherwise) {
                    errors.push(at(
                        &["outcomes", &index.to_string()],
                        "`otherwise` is the last outcome; what stands behind it is never looked at",
                    ));
                }
                if !last.otherwise {
                    let index = earlier.len().to_string();
                    errors.push(at(&["outcomes", &index], "the last outcome is `otherwise: true`, so that no case is left without a verdict"));
                }
            }
        }
        for (index, outcome) in step.outcomes.iter().enumerate() {
            self.outcome(id, index, outcome, errors);
        }
    }

    fn call(&self, id: &StepId, index: usize, call: &CheckCall, errors: &mut Vec<LoadError>) {
        let index = index.to_string();
        let at = |path: &[&str], message: String| {
            let path: Vec<&str> = ["steps", id.as_str(), "checks", &index]
                .iter()
                .chain(path)
                .copied()
                .collect();
            self.at.error(&path, message)
        };
        if !self.tree.ends.contains_key(&call.on) {
            errors.push(at(&["on"], format!("the tree has no end “{}”", call.on)));
        }
        let Some(check) = self.draft.checks.get(&call.check).map(|c| &c.value) else {
            errors.push(at(
                &["check"],
                format!("there is no check “{}”", call.check),
            ));
            return;
        };
        if check.run.is_empty() {
            errors.push(at(
                &["check"],
                format!(
                    "the check “{}” selects collectors; a step calls checks with a command",
                    call.check
                ),
            ));
        }
        for name in check
            .parameters
            .keys()
            .filter(|n| !call.with.contains_key(*n))
        {
            errors.push(at(
                &["check"],
                format!("the check “{}” needs the parameter “{name}”", call.check),
            ));
        }
        for (name, value) in &call.with {
            match check.parameters.get(name) {
                None => errors.push(at(
                    &["with", name],
                    format!("the check “{}” has no parameter “{name}”", call.check),
                )),
                Some(kind) if !value.contains('{') && kind.canonical(value).is_none() => {
                    errors.push(at(
                        &["with", name],
                        format!("“{value}” is not {}", kind.expected()),
                    ));
                }
                Some(_) => {}
            }
        }
    }

    fn outcome(&self, id: &StepId, index: usize, outcome: &Outcome, errors: &mut Vec<LoadError>) {
        let index = index.to_string();
        let at = |path: &[&str], message: &str| {
            let path: Vec<&str> = ["steps", id.as_str(), "outcomes", &index]
                .iter()
                .chain(path)
                .copied()
                .collect();
            self.at.error(&path, message)
        };
        if outcome.when.is_some() == outcome.otherwise {
            errors.push(at(&[], "an outcome has either `when` or `otherwise: true`"));
        }
        if outcome.otherwise && outcome.verdict != VerdictWord::Inconclusive {
            errors.push(at(&["verdict"], "`otherwise` can only be inconclusive: every other verdict needs a condition of its own"));
        }
        match (&outcome.target, outcome.verdict) {
            (Target::Cause(_), VerdictWord::Fail) if outcome.evidence.is_empty() => {
                errors.push(at(&["cause"], "a cause needs `evidence`"));
            }
            (Target::Cause(_), VerdictWord::Fail) => {}
            (Target::Cause(_), _) => {
                errors.push(at(&["cause"], "only the verdict fail can name a cause"))
            }
            (Target::NoFault, VerdictWord::Fail | VerdictWord::Inconclusive) => {
                errors.push(at(
                    &["no-fault"],
                    "only the verdicts pass and warn can conclude that no fault was found",
                ));
            }
            _ => {}
        }
        self.target(id, &["outcomes", &index], &outcome.target, errors);
    }

    fn target(&self, id: &StepId, path: &[&str], target: &Target, errors: &mut Vec<LoadError>) {
        let path = |last: &'static str| -> Vec<&str> {
            ["steps", id.as_str()]
                .iter()
                .chain(path)
                .copied()
                .chain([last])
                .collect()
        };
        match target {
            Target::Goto(step) => self.target_step(&path("goto"), step, errors),
            Target::Cause(cause) => {
                if !self.draft.causes.contains_key(cause) {
                    errors.push(
                        self.at
                            .error(&path("cause"), format!("there is no cause “{cause}”")),
                    );
                }
            }
            Target::NoFault | Target::Undetermined(_) => {}
        }
    }

    fn target_step(&self, path: &[&str], step: &StepId, errors: &mut Vec<LoadError>) {
        if !self.tree.steps.contains_key(step) {
            errors.push(self.at.error(path, format!("there is no step “{step}”")));
        }
    }

    /// The names of calls and answers, each once in a tree.
    fn names(&self, errors: &mut Vec<LoadError>) {
        // Answers are read as `answers.NAME`, so they and the calls cannot be taken for each other.
        let mut seen: BTreeMap<(bool, &str), &StepId> = BTreeMap::new();
        for (id, step) in &self.tree.steps {
            let asked = step
                .ask
                .iter()
                .map(|a| (true, a.name.as_str(), vec!["ask".to_owned(), "as".into()]));
            let called = step.checks.iter().enumerate().map(|(i, c)| {
                (
                    false,
                    c.name.as_str(),
                    vec!["checks".to_owned(), i.to_string(), "as".into()],
                )
            });
            for (answer, name, path) in asked.chain(called) {
                let path: Vec<&str> = ["steps", id.as_str()]
                    .into_iter()
                    .chain(path.iter().map(String::as_str))
                    .collect();
                if !is_identifier(name) {
                    errors.push(self.at.error(
                        &path,
                        format!(
                            "“{name}” cannot be read in a condition: letters, digits and _ only"
                        ),
                    ));
                } else if !answer
                    && (RESERVED.contains(&name)
                        || FUNCTIONS.contains(&name)
                        || self.tree.ends.contains_key(name))
                {
                    errors.push(self.at.error(
                        &path,
                        format!("“{name}” already means something else in conditions"),
                    ));
                } else if let Some(first) = seen.insert((answer, name), id) {
                    errors.push(self.at.error(
                        &path,
                        format!("the name “{name}” is already used in the step “{first}”"),
                    ));
                }
            }
        }
    }

    fn reachable(&self, errors: &mut Vec<LoadError>) {
        let mut reached: BTreeSet<&StepId> = BTreeSet::new();
        let mut open = vec![&self.tree.start];
        while let Some(id) = open.pop() {
            if reached.insert(id)
                && let Some(step) = self.tree.steps.get(id)
            {
                open.extend(ways_on(step));
            }
        }
        for id in self.tree.steps.keys().filter(|id| !reached.contains(id)) {
            errors.push(self.at.error(
                &["steps", id.as_str()],
                format!("no way leads to the step “{id}”"),
            ));
        }
    }

    /// Steps from which a way leads back to themselves.
    fn cycles(&self, errors: &mut Vec<LoadError>) {
        let before = self.before();
        for id in self.tree.steps.keys() {
            if before.get(id).is_some_and(|b| b.contains(id)) {
                errors.push(self.at.error(
                    &["steps", id.as_str()],
                    format!("from the step “{id}” a way leads back to it"),
                ));
            }
        }
    }

    /// For every step, the steps that can have been walked before it.
    fn before(&self) -> BTreeMap<&StepId, BTreeSet<&StepId>> {
        let mut before: BTreeMap<&StepId, BTreeSet<&StepId>> = BTreeMap::new();
        let mut changed = true;
        while changed {
            changed = false;
            for (id, step) in &self.tree.steps {
                let mut here = before.get(id).cloned().unwrap_or_default();
                here.insert(id);
                for next in ways_on(step) {
                    let known = before.entry(next).or_default();
                    let size = known.len();
                    known.extend(here.iter().copied());
                    changed |= known.len() > size;
                }
            }
        }
        before
    }

    /// Every condition and text compiles and reads only what can be known where it stands.
    fn reads(&self, errors: &mut Vec<LoadError>) {
        let before = self.before();
        let none = BTreeSet::new();
        for (id, step) in &self.tree.steps {
            let earlier = before.get(id).unwrap_or(&none);
            let scope = Scope::at(self.draft, self.tree, earlier, step);
            Reader::new(self.draft, self.tree, self.at, id).step(step, &scope, errors);
        }
    }
}

/// The steps that a step can lead to.
fn ways_on(step: &Step) -> Vec<&StepId> {
    let target = |t: &'_ Target| matches!(t, Target::Goto(_));
    let asked = step.ask.iter().flat_map(|a| {
        std::iter::once(&a.then).chain(a.options.iter().filter_map(|o| o.goto.as_ref()))
    });
    let led = step
        .unless_run
        .iter()
        .chain(&step.not_applicable)
        .chain(step.outcomes.iter().map(|o| &o.target))
        .filter(|t| target(t))
        .filter_map(|t| match t {
            Target::Goto(step) => Some(step),
            Target::Cause(_) | Target::NoFault | Target::Undetermined(_) => None,
        });
    asked.chain(led).collect()
}
