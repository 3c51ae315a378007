//! Commands and what became of them. Whether a command ran is one question, what its output means
//! another: a run status is never a verdict.

use serde::{Deserialize, Serialize};

use crate::connection::ConnectionStatus;
use crate::facts::Facts;
use crate::ids::Vmid;

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "place", rename_all = "kebab-case")]
pub enum Place {
    /// On the host itself.
    Host,
    /// With the host's tools in a container's network namespace (`nsenter -t PID -n`): containers
    /// often lack the tools, and the guest's own binaries are never run as root of the host.
    Container { vmid: Vmid },
    /// Inside a VM through the QEMU guest agent (`qm guest exec`).
    VirtualMachine { vmid: Vmid },
}

/// What a command does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    ReadOnly,
    GeneratesTraffic,
    CapturesTraffic,
}

/// One command, as an argument list. It is quoted once, where it meets SSH, and never before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub argv: Vec<String>,
    pub place: Place,
    pub safety: Safety,
    pub time_limit_ms: u64,
    /// Bytes of each of stdout and stderr that are kept; beyond, the output is cut and marked.
    pub output_cap: u64,
}

impl Command {
    /// Defaults: on the host, read-only, 10 s, 1 MiB.
    #[must_use]
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            place: Place::Host,
            safety: Safety::ReadOnly,
            time_limit_ms: 10_000,
            output_cap: 1 << 20,
        }
    }

    /// The command as people read it: arguments joined by spaces, those with special characters in
    /// single quotes. For the eye only; nothing runs this text.
    #[must_use]
    pub fn display(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
        self.argv
            .iter()
            .map(|a| {
                if !a.is_empty() && a.chars().all(plain) {
                    a.clone()
                } else {
                    format!("'{}'", a.replace('\'', r"'\''"))
                }
            })
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Whether a command ran to its end. An exit status other than 0 is a result, not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "run", rename_all = "kebab-case")]
pub enum RunStatus {
    Ran { exit: i32 },
    NotRun { reason: NotRun },
}

/// Why a command did not run, or did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum NotRun {
    /// The host does not have the program.
    NotFound {
        program: String,
    },
    /// The host refused: rights are missing.
    Denied {
        detail: String,
    },
    TimedOut {
        after_ms: u64,
    },
    Signalled {
        signal: i32,
    },
    /// The output was longer than the cap; what is there is not the whole.
    Truncated {
        cap: u64,
    },
    Cancelled,
    /// The host could not be reached at all.
    NoConnection {
        status: ConnectionStatus,
    },
    /// The host was reached, but the guest is not running or offers no way in.
    GuestUnreachable {
        detail: String,
    },
    /// The connection was lost, or Hopwise itself ended, before the result came.
    Interrupted,
}

impl NotRun {
    /// Why, in one clause without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::NotFound { program } => format!("{program} is not installed on the host"),
            Self::Denied { detail } => format!("the host refused it: {detail}"),
            Self::TimedOut { after_ms } => {
                format!("no result within {:.1} s", *after_ms as f64 / 1000.0)
            }
            Self::Signalled { signal } => format!("ended by signal {signal}"),
            Self::Truncated { cap } => format!("the output was cut at {cap} bytes"),
            Self::Cancelled => "stopped by a person".into(),
            Self::NoConnection { status } => {
                format!("no connection: {}", status.sentence().trim_end_matches('.'))
            }
            Self::GuestUnreachable { detail } => format!("no way into the guest: {detail}"),
            Self::Interrupted => "interrupted before the result came".into(),
        }
    }

    /// The short name that lists and logs show.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not-found",
            Self::Denied { .. } => "denied",
            Self::TimedOut { .. } => "timed-out",
            Self::Signalled { .. } => "signalled",
            Self::Truncated { .. } => "truncated",
            Self::Cancelled => "cancelled",
            Self::NoConnection { .. } => "no-connection",
            Self::GuestUnreachable { .. } => "guest-unreachable",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What came back from one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResult {
    pub status: RunStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub took_ms: u64,
}

impl RunResult {
    /// A result for a command that never got to the host.
    #[must_use]
    pub const fn not_run(reason: NotRun) -> Self {
        Self {
            status: RunStatus::NotRun { reason },
            stdout: Vec::new(),
            stderr: Vec::new(),
            took_ms: 0,
        }
    }
}

/// Facts made from one output, and the lines no rule understood. A partial parse shows here and is
/// never silently whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    pub facts: Facts,
    pub unparsed: Vec<String>,
}
