//! How a walk ends. A conclusion never says more than what was looked at carries.

use super::Walk;
use super::judge::Judged;
use super::prepare::titled;
use crate::ids::CauseId;
use crate::knowledge::{Cause, Pack, Target};
use crate::template::Templates;
use crate::verdict::{Conclusion, NotLooked, Verdict};

impl Walk {
    pub(super) fn conclude(
        &self,
        pack: &Pack,
        templates: &Templates,
        target: &Target,
        judged: Option<Judged>,
    ) -> Conclusion {
        match target {
            Target::Cause(id) => match (pack.causes.get(id), judged) {
                (Some(cause), Some(judged)) => self
                    .cause(templates, id, cause, &judged)
                    .unwrap_or_else(|why| self.open_end(&why, Vec::new())),
                _ => self.open_end(&format!("the knowledge has no cause “{id}”"), Vec::new()),
            },
            Target::NoFault => self.no_fault(),
            Target::Undetermined(undetermined) => {
                let context = judged.map_or_else(|| self.context(None), |j| j.context);
                let text = |t: &String| templates.render(t, &context).unwrap_or_else(|_| t.clone());
                self.open_end(
                    &text(&undetermined.reason),
                    undetermined.next.iter().map(text).collect(),
                )
            }
            // The walk goes on there; nothing ends.
            Target::Goto(step) => {
                self.open_end(&format!("the walk stopped before “{step}”"), Vec::new())
            }
        }
    }

    /// A cause is named only by a proven fault: a verdict of `fail` with evidence, and every output of
    /// that family understood whole. What was not understood could be the very line that is missing.
    fn cause(
        &self,
        templates: &Templates,
        id: &CauseId,
        cause: &Cause,
        judged: &Judged,
    ) -> Result<Conclusion, String> {
        let finding = &judged.finding;
        if finding.verdict != Verdict::Fail || finding.evidence.is_empty() {
            return Err(format!("“{}” is not proved", cause.title));
        }
        let rests_on: Vec<&str> = finding
            .evidence
            .iter()
            .filter_map(|e| self.results.get(&e.run))
            .map(|held| held.name.as_str())
            .collect();
        // The other IP version's output of the same check counts too: a rule may have compared them.
        let partial = self.results.values().any(|h| {
            let own = h.family.is_none() || h.family == finding.family;
            !h.whole && (own || rests_on.contains(&h.name.as_str()))
        });
        if partial {
            return Err(format!(
                "“{}” looks likely, but part of the output it rests on was not understood",
                cause.title
            ));
        }
        let render = |template: &String| {
            templates
                .render(template, &judged.context)
                .map_err(|why| format!("“{}” cannot be described: {why}", cause.title))
        };
        Ok(Conclusion::Cause {
            cause: id.clone(),
            title: cause.title.clone(),
            place: render(&cause.place)?,
            family: finding.family,
            explanation: render(&cause.explanation)?,
            remedy: render(&cause.remedy)?,
            evidence: finding.evidence.clone(),
            not_looked: self.not_looked(),
        })
    }

    /// "No fault found" is a claim about everything the tree looks at. Where something of that could
    /// not be looked at, it is not made.
    fn no_fault(&self) -> Conclusion {
        let open: Vec<String> = self
            .gaps
            .iter()
            .filter(|g| !g.meant)
            .map(|g| {
                format!(
                    "Look at this by hand, or make it possible: {}.",
                    g.not_looked.what
                )
            })
            .collect();
        if !open.is_empty() {
            return self.open_end(
                "what could be looked at shows no fault, but not everything could be looked at",
                open,
            );
        }
        Conclusion::NoFaultFound {
            checked: self
                .findings
                .iter()
                .map(|f| format!("{}: {}", titled(&f.title, f.family), f.message))
                .collect(),
            not_looked: self.not_looked(),
        }
    }

    fn open_end(&self, reason: &str, next: Vec<String>) -> Conclusion {
        Conclusion::Inconclusive {
            reason: reason.to_owned(),
            next,
            not_looked: self.not_looked(),
        }
    }

    fn not_looked(&self) -> Vec<NotLooked> {
        self.gaps.iter().map(|g| g.not_looked.clone()).collect()
    }
}
