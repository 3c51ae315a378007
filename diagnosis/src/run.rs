//! Commands and what became of them. Whether a command ran is one question, what its output means
//! another: a run status is never a verdict.

use serde::{Deserialize, Serialize};

use crate::connection::ConnectionStatus;
use crate::facts::Facts;
use crate::ids::{OutputHash, Vmid};

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// On the host itself.
    Host,
    /// With the host's tools in a container's network namespace (`nsenter -t PID -n`): containers
    /// often lack the tools, and the guest's own binaries are never run as root of the host.
    Container { vmid: Vmid },
    /// Inside a VM through the QEMU guest agent (`qm guest exec`).
    VirtualMachine { vmid: Vmid },
}

impl Place {
    /// Where that is, in words; nothing for the host itself.
    #[must_use]
    pub fn words(self) -> Option<String> {
        match self {
            Self::Host => None,
            Self::Container { vmid } => Some(format!(
                "in the network of CT {vmid}, with the host's tools"
            )),
            Self::VirtualMachine { vmid } => Some(format!("in VM {vmid}, through its guest agent")),
        }
    }
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
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    Ran { exit: i32 },
    NotRun { reason: NotRun },
}

/// Such as "1.4 s". Whole numbers all the way: floating point would cost the browser 10 KB.
pub(crate) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

/// Why a command did not run, or did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
                format!("no result within {}", seconds(*after_ms))
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

    /// What a person can do about it, where there is something.
    #[must_use]
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::NoConnection { status } => status.advice(),
            Self::NotFound { .. } => Some(
                "Install it on the host, or go on without: what it would have shown stays open.",
            ),
            Self::Denied { .. } => {
                Some("The user Hopwise logs in with lacks the rights for this command.")
            }
            Self::TimedOut { .. } => {
                Some("The command was ended on the host. Run it by hand to see where it hangs.")
            }
            Self::GuestUnreachable { .. } => Some("Start the guest, then run it again."),
            Self::Truncated { .. }
            | Self::Signalled { .. }
            | Self::Cancelled
            | Self::Interrupted => None,
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

/// What is kept of a result: the outputs by their hashes, and what was read from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub status: RunStatus,
    pub took_ms: u64,
    pub stdout: Option<OutputHash>,
    pub stderr: Option<OutputHash>,
    pub facts: Option<Facts>,
    /// Why there are no facts though the command ran.
    pub no_facts: Option<String>,
    pub unparsed: Vec<String>,
}

/// Facts made from one output, and the lines no rule understood. A partial parse shows here and is
/// never silently whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    pub facts: Facts,
    pub unparsed: Vec<String>,
}
