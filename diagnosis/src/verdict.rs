//! Verdicts, findings and conclusions. The default is inconclusive, and only a completed run can
//! lead to anything else.

use serde::{Deserialize, Serialize};

use crate::ids::{CauseId, RunKey, StepId};

/// What a step's outcome says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Pass,
    Warn,
    Fail,
    Inconclusive { reason: String },
}

impl Verdict {
    /// The word that stands beside the mark; a verdict is never colour alone.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }
}

/// An IP version. Both are looked at, each for itself: "not configured" is not "broken".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    Ip4,
    Ip6,
}

impl Family {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip4 => "IPv4",
            Self::Ip6 => "IPv6",
        }
    }

    /// As it is written in the knowledge and in run keys.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ip4 => "ip4",
            Self::Ip6 => "ip6",
        }
    }
}

/// A piece of evidence: which run, what it says, and the words in its raw output that decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub run: RunKey,
    /// What the run shows, rendered when it was decided.
    pub says: String,
    /// Substrings of the raw output to highlight; those not found are not shown.
    pub marks: Vec<String>,
}

/// A step's verdict with everything that was rendered for it. Stored as it is: a later edit of the
/// knowledge does not change it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub step: StepId,
    pub title: String,
    pub family: Option<Family>,
    pub verdict: Verdict,
    pub message: String,
    /// What this observation rules out, in words.
    pub rules_out: Vec<String>,
    pub evidence: Vec<Evidence>,
}

/// Something that should have been looked at and was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotLooked {
    /// What it was, such as "Routes of ct122 (IPv4)".
    pub what: String,
    /// Why not, in one clause.
    pub why: String,
}

/// How a diagnosis ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    Cause {
        cause: CauseId,
        title: String,
        /// Where, such as "eth0 in CT 122 (ct122) on pve2".
        place: String,
        family: Option<Family>,
        /// The sentence that explains it.
        explanation: String,
        /// What a person can do.
        remedy: String,
        evidence: Vec<Evidence>,
        not_looked: Vec<NotLooked>,
    },
    NoFaultFound {
        checked: Vec<String>,
        not_looked: Vec<NotLooked>,
    },
    Inconclusive {
        reason: String,
        next: Vec<String>,
        not_looked: Vec<NotLooked>,
    },
}

impl Conclusion {
    /// One line for lists.
    #[must_use]
    pub fn headline(&self) -> String {
        match self {
            Self::Cause { title, place, .. } => format!("{title}: {place}"),
            Self::NoFaultFound { .. } => "No fault found".into(),
            Self::Inconclusive { reason, .. } => reason.clone(),
        }
    }

    /// The evidence for a cause; the other conclusions have theirs in the findings.
    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        match self {
            Self::Cause { evidence, .. } => evidence,
            Self::NoFaultFound { .. } | Self::Inconclusive { .. } => &[],
        }
    }

    /// What was not looked at, whatever the conclusion.
    #[must_use]
    pub fn not_looked(&self) -> &[NotLooked] {
        match self {
            Self::Cause { not_looked, .. }
            | Self::NoFaultFound { not_looked, .. }
            | Self::Inconclusive { not_looked, .. } => not_looked,
        }
    }
}
