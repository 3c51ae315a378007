//! Newtypes for everything that has a name or a number, so that one cannot stand in for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

macro_rules! name_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The identifier as it is written in the knowledge.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )+};
}

uuid_id! {
    /// A machine Hopwise logs in to.
    HostId,
    /// One stored diagnosis.
    SessionId,
    /// One check run outside a session, on one host.
    RunId,
    /// Somebody with an account.
    PersonId,
}

name_id! {
    /// What a person reports, by name.
    SymptomId,
    /// A decision tree.
    TreeId,
    /// A step of a tree; unique inside its tree.
    StepId,
    /// A host-wide command whose whole output becomes facts.
    CollectorId,
    /// A named selection or probe with typed parameters.
    CheckId,
    /// A named root cause.
    CauseId,
    /// Names one command of a walk: `step/as`, and `/family` where the step runs per family.
    RunKey,
    /// SHA-256 of an output's bytes, in hexadecimal: the output's place in the store.
    OutputHash,
    /// SHA-256 of the knowledge a session was walked with, in hexadecimal.
    PackHash,
}

/// Proxmox's number of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "engine", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Vmid(pub u32);

impl fmt::Display for Vmid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
