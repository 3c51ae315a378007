//! The format's types, as serde reads them. Every struct refuses unknown fields.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::ParserName;

use crate::ids::{CauseId, CheckId, CollectorId, StepId, SymptomId, TreeId};
use crate::run::Safety;
use crate::verdict::Family;

/// What people report, in their words, and the tree that starts there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symptom {
    pub symptom: SymptomId,
    pub title: String,
    /// Other ways people say it; searched on the home page.
    #[serde(default)]
    pub words: Vec<String>,
    /// What gets through and what does not, in one sentence.
    pub summary: String,
    pub tree: TreeId,
}

/// A command whose whole output becomes facts, without parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collector {
    pub collect: CollectorId,
    pub title: String,
    /// One template is one argument.
    pub run: Vec<String>,
    pub parse: ParserName,
    #[serde(default)]
    pub cost: Cost,
    pub safety: Safety,
    #[serde(default = "default_time_limit")]
    pub time_limit: Limit,
    #[serde(default = "default_output_cap")]
    pub output_cap: u64,
}

/// A named selection of collectors, or a probe with typed parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub check: CheckId,
    pub title: String,
    #[serde(default)]
    pub why: Option<String>,
    /// The collectors this check selects; then it has no command of its own.
    #[serde(default)]
    pub collects: Vec<CollectorId>,
    #[serde(default)]
    pub run: Vec<String>,
    #[serde(default)]
    pub parse: Option<ParserName>,
    /// Whether the command runs on the host or with the host's tools in the guest's network namespace.
    #[serde(default, rename = "in")]
    pub inside: Inside,
    /// Parameters and their types; each value is validated before it becomes an argument.
    #[serde(default)]
    pub parameters: IndexMap<String, ParameterType>,
    #[serde(default = "default_safety")]
    pub safety: Safety,
    #[serde(default = "default_time_limit")]
    pub time_limit: Limit,
    #[serde(default = "default_output_cap")]
    pub output_cap: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inside {
    #[default]
    Host,
    Guest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    #[default]
    Cheap,
    Slow,
    Heavy,
}

/// A time span in the knowledge: `5s` or `500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Limit {
    pub milliseconds: u64,
}

impl TryFrom<String> for Limit {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (number, unit_ms) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
            (Some(number), _) => (number, 1),
            (None, Some(number)) => (number, 1000),
            (None, None) => return Err(format!("“{text}” is not a time span such as 5s or 500ms")),
        };
        match number.trim().parse::<u64>() {
            Ok(n) if n > 0 && n.saturating_mul(unit_ms) <= 600_000 => Ok(Self {
                milliseconds: n * unit_ms,
            }),
            _ => Err(format!("“{text}” is not a time span between 1ms and 600s")),
        }
    }
}

impl From<Limit> for String {
    fn from(limit: Limit) -> Self {
        if limit.milliseconds.is_multiple_of(1000) {
            format!("{}s", limit.milliseconds / 1000)
        } else {
            format!("{}ms", limit.milliseconds)
        }
    }
}

const fn default_time_limit() -> Limit {
    Limit {
        milliseconds: 10_000,
    }
}

const fn default_output_cap() -> u64 {
    1 << 20
}

const fn default_safety() -> Safety {
    Safety::ReadOnly
}

/// The type of a parameter or of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterType {
    /// A Linux interface name: 1 to 15 bytes without `/`, white space or control characters, not
    /// beginning with `-`.
    Interface,
    Ip,
    Cidr,
    Mac,
    Vmid,
    Port,
    Integer,
    /// `ip4` or `ip6`.
    Family,
}

/// A root cause: a name, what it means and what to do. What it requires and explains comes with the
/// ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    pub cause: CauseId,
    pub title: String,
    /// A template: where it is.
    #[serde(rename = "where")]
    pub place: String,
    /// A template.
    pub explanation: String,
    /// A template.
    pub remedy: String,
}

/// A decision tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    pub tree: TreeId,
    pub title: String,
    /// The ends a person binds before the walk starts, by name.
    pub ends: IndexMap<String, EndDeclaration>,
    pub start: StepId,
    pub steps: IndexMap<StepId, Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndDeclaration {
    pub kind: EndKind,
    /// What the person is asked.
    pub title: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndKind {
    Guest,
}

/// A step: it asks a person (`ask`), or runs checks and judges them (`checks`, `outcomes`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub title: String,
    /// Why this is asked or looked at.
    pub why: String,
    #[serde(default)]
    pub ask: Option<Ask>,
    #[serde(default)]
    pub checks: Vec<CheckCall>,
    /// Run and judge once per IP version.
    #[serde(default)]
    pub families: Vec<Family>,
    /// A condition; where it is false for a family, the step does not apply to it and nothing is judged.
    #[serde(default)]
    pub applies_when: Option<String>,
    /// Where the walk goes when a check of this step could not run. It closes nothing.
    #[serde(default)]
    pub unless_run: Option<Target>,
    /// In order; the first whose condition holds decides.
    #[serde(default)]
    pub outcomes: Vec<Outcome>,
    /// Where the walk goes when the step applies to no family.
    #[serde(default)]
    pub not_applicable: Option<Target>,
    /// A template: why the step does not apply to a family. It stands in the conclusion.
    #[serde(default)]
    pub not_applicable_because: Option<String>,
}

/// A question's text and its answers. "I don't know" is always there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub question: String,
    /// The name that conditions read the answer by: `answers.NAME`.
    #[serde(rename = "as")]
    pub name: String,
    #[serde(default)]
    pub options: Vec<AnswerOption>,
    /// For an answer that is typed in: its type.
    #[serde(default, rename = "type")]
    pub kind: Option<ParameterType>,
    #[serde(default)]
    pub placeholder: Option<String>,
    /// Where the walk goes after any answer that has no way of its own.
    pub then: StepId,
    /// What "I don't know" costs, in words.
    pub if_unknown: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerOption {
    pub value: String,
    pub label: String,
    #[serde(default)]
    pub goto: Option<StepId>,
}

/// A question as a person sees it: rendered, and stored in the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub title: String,
    pub question: String,
    pub why: String,
    pub options: Vec<AnswerOption>,
    pub kind: Option<ParameterType>,
    pub placeholder: Option<String>,
    pub if_unknown: String,
}

/// A check called by a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckCall {
    pub check: CheckId,
    /// The end it runs at, by name.
    pub on: String,
    /// Values for its parameters: templates, one value each.
    #[serde(default)]
    pub with: IndexMap<String, String>,
    /// The name that conditions read the facts by.
    #[serde(rename = "as")]
    pub name: String,
    /// A condition; where it is false, the call is left out and its name stays unknown.
    #[serde(default)]
    pub when: Option<String>,
}

/// One ordered rule of a step: `when` with a verdict, or the last one, `otherwise`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawOutcome", into = "RawOutcome")]
pub struct Outcome {
    pub when: Option<String>,
    pub otherwise: bool,
    pub verdict: VerdictWord,
    /// A template: what was found.
    pub message: String,
    /// Templates: what this observation rules out.
    pub rules_out: Vec<String>,
    pub evidence: Vec<EvidenceTemplate>,
    pub target: Target,
}

/// An outcome as it is written, with its target's field beside the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOutcome {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    otherwise: bool,
    verdict: VerdictWord,
    message: String,
    #[serde(default)]
    rules_out: Vec<String>,
    #[serde(default)]
    evidence: Vec<EvidenceTemplate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goto: Option<StepId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<CauseId>,
    #[serde(default, rename = "no-fault", skip_serializing_if = "is_false")]
    no_fault: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undetermined: Option<Undetermined>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The one target of a place that may name four.
fn one_target(
    goto: Option<StepId>,
    cause: Option<CauseId>,
    no_fault: bool,
    undetermined: Option<Undetermined>,
) -> Result<Target, &'static str> {
    match (goto, cause, no_fault, undetermined) {
        (Some(step), None, false, None) => Ok(Target::Goto(step)),
        (None, Some(cause), false, None) => Ok(Target::Cause(cause)),
        (None, None, true, None) => Ok(Target::NoFault),
        (None, None, false, Some(undetermined)) => Ok(Target::Undetermined(undetermined)),
        _ => Err(ONE_TARGET),
    }
}

pub(crate) const ONE_TARGET: &str =
    "exactly one of `goto`, `cause`, `no-fault: true` and `undetermined` says where the walk goes";

impl TryFrom<RawOutcome> for Outcome {
    type Error = &'static str;

    fn try_from(raw: RawOutcome) -> Result<Self, Self::Error> {
        Ok(Self {
            target: one_target(raw.goto, raw.cause, raw.no_fault, raw.undetermined)?,
            when: raw.when,
            otherwise: raw.otherwise,
            verdict: raw.verdict,
            message: raw.message,
            rules_out: raw.rules_out,
            evidence: raw.evidence,
        })
    }
}

impl From<Outcome> for RawOutcome {
    fn from(outcome: Outcome) -> Self {
        let target = RawTarget::from(outcome.target);
        Self {
            when: outcome.when,
            otherwise: outcome.otherwise,
            verdict: outcome.verdict,
            message: outcome.message,
            rules_out: outcome.rules_out,
            evidence: outcome.evidence,
            goto: target.goto,
            cause: target.cause,
            no_fault: target.no_fault,
            undetermined: target.undetermined,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictWord {
    Pass,
    Warn,
    Fail,
    Inconclusive,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceTemplate {
    /// The `as` of a check that ran in this walk; `NAME.ip4` or `NAME.ip6` for a family that is not the
    /// step's own.
    pub from: String,
    /// A template: what it shows.
    pub says: String,
    /// Templates: substrings of the raw output to highlight.
    #[serde(default)]
    pub marks: Vec<String>,
}

/// Where the walk goes: exactly one of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawTarget", into = "RawTarget")]
pub enum Target {
    Goto(StepId),
    /// Name this cause.
    Cause(CauseId),
    /// Conclude that no fault was found.
    NoFault,
    /// Conclude without a cause.
    Undetermined(Undetermined),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTarget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goto: Option<StepId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<CauseId>,
    #[serde(default, rename = "no-fault", skip_serializing_if = "is_false")]
    no_fault: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undetermined: Option<Undetermined>,
}

impl TryFrom<RawTarget> for Target {
    type Error = &'static str;

    fn try_from(raw: RawTarget) -> Result<Self, Self::Error> {
        one_target(raw.goto, raw.cause, raw.no_fault, raw.undetermined)
    }
}

impl From<Target> for RawTarget {
    fn from(target: Target) -> Self {
        let mut raw = Self::default();
        match target {
            Target::Goto(step) => raw.goto = Some(step),
            Target::Cause(cause) => raw.cause = Some(cause),
            Target::NoFault => raw.no_fault = true,
            Target::Undetermined(undetermined) => raw.undetermined = Some(undetermined),
        }
        raw
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undetermined {
    /// A template: why no cause can be named.
    pub reason: String,
    /// Templates: what a person could look at next.
    #[serde(default)]
    pub next: Vec<String>,
}
