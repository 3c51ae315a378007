//! From facts to verdicts, and to where the walk goes next.

use super::prepare::titled;
use super::{Part, Request, Stage, Walk, nowhere};
use crate::ids::StepId;
use crate::knowledge::{EvidenceTemplate, Outcome, Pack, Step, Target, VerdictWord};
use crate::template::{Context, Templates};
use crate::verdict::{Evidence, Family, Finding, Verdict};

/// A part's verdict, where it leads, and the values it was made from.
pub(super) struct Judged {
    pub(super) finding: Finding,
    pub(super) target: Target,
    pub(super) context: Context,
}

impl Walk {
    /// Judges a step whose runs are all in. Gives the next step, or concludes.
    pub(super) fn judge(
        &mut self,
        pack: &Pack,
        templates: &Templates,
        id: &StepId,
        step: &Step,
        parts: Vec<Part>,
        requests: &mut Vec<Request>,
    ) -> Option<StepId> {
        let mut judged = Vec::new();
        for part in parts {
            if part.applies || !part.problems.is_empty() {
                judged.push(self.judge_part(templates, id, step, part));
            } else {
                self.does_not_apply(templates, step, part.family);
            }
        }
        for one in &judged {
            self.findings.push(one.finding.clone());
            requests.push(Request::Found(one.finding.clone()));
        }
        // The worst verdict leads on; among equals the first family's.
        let worst = judged
            .into_iter()
            .rev()
            .max_by_key(|j| severity(&j.finding.verdict));
        let (target, judged) = match worst {
            Some(judged) => (judged.target.clone(), Some(judged)),
            None => (
                step.not_applicable.clone().unwrap_or_else(|| {
                    nowhere(&format!("“{}” applies to no IP version here", step.title))
                }),
                None,
            ),
        };
        if let Target::Goto(next) = target {
            return Some(next);
        }
        let conclusion = self.conclude(pack, templates, &target, judged);
        self.stage = Stage::Done;
        requests.push(Request::Conclude(conclusion));
        None
    }

    /// A family that a step does not apply to has no verdict; the conclusion says so.
    fn does_not_apply(&mut self, templates: &Templates, step: &Step, family: Option<Family>) {
        let why = step
            .not_applicable_because
            .as_ref()
            .and_then(|t| templates.render(t, &self.context(family)).ok())
            .unwrap_or_else(|| "it does not apply".into());
        let what = match family {
            Some(family) => family.name().to_owned(),
            None => step.title.clone(),
        };
        self.gap(what, why, true);
    }

    fn judge_part(
        &mut self,
        templates: &Templates,
        id: &StepId,
        step: &Step,
        part: Part,
    ) -> Judged {
        let family = part.family;
        if !part.problems.is_empty() {
            let reason = part
                .problems
                .iter()
                .map(|p| format!("{}: {}", p.what, p.why))
                .collect::<Vec<_>>()
                .join("; ");
            for problem in part.problems {
                self.gap(problem.what, problem.why, false);
            }
            return self.open(step, id, family, reason);
        }
        let own: Vec<&str> = step.checks.iter().map(|c| c.name.as_str()).collect();
        let context = self.context_in(family, &own);
        for outcome in &step.outcomes {
            let holds = match &outcome.when {
                Some(condition) => templates.decide(condition, &context),
                None => Ok(outcome.otherwise),
            };
            match holds {
                Ok(false) => {}
                Ok(true) => {
                    return match self.found(templates, id, step, family, outcome, &context) {
                        Ok(finding) => Judged {
                            finding,
                            target: outcome.target.clone(),
                            context,
                        },
                        Err(why) => self.unjudged(step, id, family, &why),
                    };
                }
                // A rule that cannot be decided ends the list: a later one must not pass in its place.
                Err(why) => return self.unjudged(step, id, family, &why),
            }
        }
        self.unjudged(step, id, family, "none of its rules holds")
    }

    /// Facts were missing for a rule, or for its words.
    fn unjudged(&mut self, step: &Step, id: &StepId, family: Option<Family>, why: &str) -> Judged {
        let reason = format!("a rule of “{}” cannot be decided: {why}", step.title);
        self.gap(titled(&step.title, family), reason.clone(), false);
        self.open(step, id, family, reason)
    }

    /// Inconclusive, and on by the way for what could not run.
    fn open(&self, step: &Step, id: &StepId, family: Option<Family>, reason: String) -> Judged {
        Judged {
            target: step.unless_run.clone().unwrap_or_else(|| nowhere(&reason)),
            finding: Finding {
                step: id.clone(),
                title: step.title.clone(),
                family,
                message: format!("This could not be judged: {reason}."),
                verdict: Verdict::Inconclusive { reason },
                rules_out: Vec::new(),
                evidence: Vec::new(),
            },
            context: self.context(family),
        }
    }

    fn found(
        &self,
        templates: &Templates,
        id: &StepId,
        step: &Step,
        family: Option<Family>,
        outcome: &Outcome,
        context: &Context,
    ) -> Result<Finding, String> {
        let message = templates.render(&outcome.message, context)?;
        let rules_out = outcome
            .rules_out
            .iter()
            .map(|t| templates.render(t, context))
            .collect::<Result<_, _>>()?;
        let mut evidence = Vec::new();
        for template in &outcome.evidence {
            evidence.extend(self.evidence(templates, template, family, context)?);
        }
        Ok(Finding {
            step: id.clone(),
            title: step.title.clone(),
            family,
            verdict: match outcome.verdict {
                VerdictWord::Pass => Verdict::Pass,
                VerdictWord::Warn => Verdict::Warn,
                VerdictWord::Fail => Verdict::Fail,
                VerdictWord::Inconclusive => Verdict::Inconclusive {
                    reason: message.clone(),
                },
            },
            message,
            rules_out,
            evidence,
        })
    }

    /// A run's evidence; nothing for a call that was left out.
    fn evidence(
        &self,
        templates: &Templates,
        template: &EvidenceTemplate,
        family: Option<Family>,
        context: &Context,
    ) -> Result<Option<Evidence>, String> {
        let (name, family) = named(&template.from, family);
        let run = self
            .results
            .iter()
            .find(|(_, held)| held.name == name && (held.family == family || held.family.is_none()))
            .map(|(key, _)| key.clone());
        let Some(run) = run else {
            return Ok(None);
        };
        Ok(Some(Evidence {
            run,
            says: templates.render(&template.says, context)?,
            marks: template
                .marks
                .iter()
                .map(|t| templates.render(t, context))
                .filter(|mark| mark.as_ref().is_ok_and(|m| !m.is_empty()) || mark.is_err())
                .collect::<Result<_, _>>()?,
        }))
    }
}

/// `NAME`, or `NAME.ip4` and `NAME.ip6` for a family that is not the step's own.
pub(crate) fn named(from: &str, family: Option<Family>) -> (&str, Option<Family>) {
    match from.split_once('.') {
        Some((name, "ip4")) => (name, Some(Family::Ip4)),
        Some((name, "ip6")) => (name, Some(Family::Ip6)),
        _ => (from, family),
    }
}

const fn severity(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Fail => 3,
        Verdict::Inconclusive { .. } => 2,
        Verdict::Warn => 1,
        Verdict::Pass => 0,
    }
}
