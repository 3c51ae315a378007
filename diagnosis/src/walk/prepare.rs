//! From a step's calls to commands: conditions, parameters, arguments.

use indexmap::IndexMap;

use super::{Part, Request, Walk};
use crate::facts::GuestKind;
use crate::ids::{RunKey, StepId};
use crate::knowledge::{Check, CheckCall, Inside, Pack, Step};
use crate::run::{Command, Place};
use crate::session::BoundGuest;
use crate::template::{Context, Templates};
use crate::verdict::{Family, NotLooked};

/// `step/as`, and `/family` where the step runs per family.
pub(super) fn run_key(step: &StepId, name: &str, family: Option<Family>) -> RunKey {
    match family {
        None => RunKey(format!("{step}/{name}")),
        Some(family) => RunKey(format!("{step}/{name}/{}", family.key())),
    }
}

/// Such as "Routes of the guest (ct122, IPv4)".
pub(super) fn what(title: &str, end: &str, family: Option<Family>) -> String {
    match family {
        None => format!("{title} ({end})"),
        Some(family) => format!("{title} ({end}, {})", family.name()),
    }
}

impl Walk {
    /// Decides what a step applies to and asks for its runs, all together.
    pub(super) fn prepare(
        &self,
        pack: &Pack,
        templates: &Templates,
        id: &StepId,
        step: &Step,
        requests: &mut Vec<Request>,
    ) -> Vec<Part> {
        let families: Vec<Option<Family>> = if step.families.is_empty() {
            vec![None]
        } else {
            step.families.iter().copied().map(Some).collect()
        };
        families
            .into_iter()
            .map(|family| {
                let context = self.context(family);
                let mut part = Part {
                    family,
                    applies: true,
                    waiting: Vec::new(),
                    problems: Vec::new(),
                };
                if let Some(condition) = &step.applies_when {
                    match templates.decide(condition, &context) {
                        Ok(applies) => part.applies = applies,
                        Err(why) => part.problems.push(NotLooked {
                            what: titled(&step.title, family),
                            why: format!("whether it applies cannot be decided: {why}"),
                        }),
                    }
                }
                if part.applies && part.problems.is_empty() {
                    for call in &step.checks {
                        self.call(pack, templates, id, call, &context, &mut part, requests);
                    }
                }
                part
            })
            .collect()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call of one part of one step"
    )]
    fn call(
        &self,
        pack: &Pack,
        templates: &Templates,
        id: &StepId,
        call: &CheckCall,
        context: &Context,
        part: &mut Part,
        requests: &mut Vec<Request>,
    ) {
        let Some(check) = pack.checks.get(&call.check) else {
            part.problems.push(NotLooked {
                what: call.check.to_string(),
                why: "the knowledge has no such check".into(),
            });
            return;
        };
        let Some(end) = self.ends.get(&call.on) else {
            part.problems.push(NotLooked {
                what: check.title.clone(),
                why: format!("the end “{}” is not bound", call.on),
            });
            return;
        };
        let mut problem = |why: String| {
            part.problems.push(NotLooked {
                what: what(&check.title, &end.name, part.family),
                why,
            });
        };
        if let Some(condition) = &call.when {
            match templates.decide(condition, context) {
                Ok(true) => {}
                Ok(false) => return,
                Err(why) => {
                    return problem(format!("whether it is needed cannot be decided: {why}"));
                }
            }
        }
        let Some(parser) = check.parse else {
            return problem("the check has no parser".into());
        };
        match command(check, call, end, templates, context) {
            Ok(command) => {
                let key = run_key(id, &call.name, part.family);
                part.waiting.push(key.clone());
                requests.push(Request::Check {
                    key,
                    step: id.clone(),
                    title: titled(&check.title, part.family),
                    end: call.on.clone(),
                    command,
                    parser,
                });
            }
            Err(why) => problem(why),
        }
    }
}

pub(super) fn titled(title: &str, family: Option<Family>) -> String {
    match family {
        None => title.to_owned(),
        Some(family) => format!("{title} ({})", family.name()),
    }
}

/// A check's command for one end. Parameters are validated by their types before they become
/// arguments, and one template is one argument, whatever is in it.
fn command(
    check: &Check,
    call: &CheckCall,
    end: &BoundGuest,
    templates: &Templates,
    context: &Context,
) -> Result<Command, String> {
    let mut values: IndexMap<&str, String> = IndexMap::new();
    for (name, kind) in &check.parameters {
        let template = call
            .with
            .get(name)
            .ok_or_else(|| format!("its parameter “{name}” is missing"))?;
        let value = templates
            .render(template, context)
            .map_err(|e| format!("its parameter “{name}” is not known: {e}"))?;
        let value = kind.canonical(&value).ok_or_else(|| {
            format!(
                "its parameter “{name}” would be “{value}”, which is not {}",
                kind.expected()
            )
        })?;
        values.insert(name, value);
    }
    let mut parameters = Context::default();
    for (name, value) in &values {
        parameters.set(name, value);
    }
    let argv = check
        .run
        .iter()
        .map(|argument| templates.render(argument, &parameters))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Command {
        argv,
        place: match (check.inside, end.kind) {
            (Inside::Host, _) => Place::Host,
            (Inside::Guest, GuestKind::Container) => Place::Container { vmid: end.vmid },
            (Inside::Guest, GuestKind::VirtualMachine) => Place::VirtualMachine { vmid: end.vmid },
        },
        safety: check.safety,
        time_limit_ms: check.time_limit.milliseconds,
        output_cap: check.output_cap,
    })
}
