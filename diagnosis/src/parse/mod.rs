//! Parsers: bytes go in, facts come out. No parser panics, none invents a value, and what it does
//! not understand is kept beside what it does.

mod arping;
mod bridge_vlan;
mod ip_addr;
mod ip_neigh;
mod ip_route;
mod json;
mod pct_list;
mod ping;
mod platform;
mod qm_list;
#[cfg(test)]
mod tests;

pub use platform::merge_platform;

use crate::facts::Facts;
use crate::knowledge::ParserName;
use crate::run::{Parsed, RunResult, RunStatus};

/// Why an output has no facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The command did not run to its end, so there is nothing to read.
    #[error("the command did not run")]
    NotRun,
    /// The tool says itself that it failed.
    #[error("the tool failed with exit status {exit}: {message}")]
    ToolFailed { exit: i32, message: String },
    /// The output is not what the tool prints.
    #[error("the output is not what “{parser}” reads: {detail}")]
    NotUnderstood {
        parser: &'static str,
        detail: String,
    },
}

/// A completed run's output as text. Bytes that are not UTF-8 become U+FFFD, so that they show.
struct Output {
    exit: i32,
    stdout: String,
    stderr: String,
}

impl Output {
    /// The tool's own word that it failed: the first line it printed on stderr, or on stdout.
    fn failed(&self) -> ParseError {
        let line = |text: &str| {
            text.lines()
                .map(str::trim)
                .find(|l| !l.is_empty())
                .map(clip)
        };
        ParseError::ToolFailed {
            exit: self.exit,
            message: line(&self.stderr)
                .or_else(|| line(&self.stdout))
                .unwrap_or_else(|| "it printed nothing".into()),
        }
    }

    /// For tools whose only good exit status is 0.
    fn succeeded(&self) -> Result<(), ParseError> {
        if self.exit == 0 {
            Ok(())
        } else {
            Err(self.failed())
        }
    }
}

/// Reads an output with the parser of that name.
///
/// # Errors
/// What could not run, what failed by the tool's own word, and what is not the tool's output have
/// no facts.
pub fn parse(parser: ParserName, result: &RunResult) -> Result<Parsed, ParseError> {
    let exit = match &result.status {
        RunStatus::Ran { exit } => *exit,
        RunStatus::NotRun { .. } => return Err(ParseError::NotRun),
    };
    let output = Output {
        exit,
        stdout: String::from_utf8_lossy(&result.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&result.stderr).into_owned(),
    };
    // The shell's "not found" and "cannot execute": whatever stands beside them is not the tool's.
    if matches!(exit, 126 | 127) {
        return Err(output.failed());
    }
    let parsed = match parser {
        ParserName::IpAddr => ip_addr::parse(&output).map(|p| p.into(Facts::Links)),
        ParserName::BridgeVlan => bridge_vlan::parse(&output).map(|p| p.into(Facts::Vlans)),
        ParserName::IpRoute => ip_route::parse(&output).map(|p| p.into(Facts::Routes)),
        ParserName::IpNeigh => ip_neigh::parse(&output).map(|p| p.into(Facts::Neighbours)),
        ParserName::Ping => ping::parse(&output).map(|p| p.into(Facts::Ping)),
        ParserName::Arping => arping::parse(&output).map(|p| p.into(Facts::Arp)),
        ParserName::PctList => pct_list::parse(&output).map(|p| p.into(Facts::Guests)),
        ParserName::QmList => qm_list::parse(&output).map(|p| p.into(Facts::Guests)),
        ParserName::OsRelease => platform::os_release(&output).map(|p| p.into(Facts::Platform)),
        ParserName::Uname => platform::uname(&output).map(|p| p.into(Facts::Platform)),
        ParserName::Nproc => platform::nproc(&output).map(|p| p.into(Facts::Platform)),
        ParserName::PveVersion => platform::pve_version(&output).map(|p| p.into(Facts::Platform)),
        ParserName::Tools => platform::tools(&output).map(|p| p.into(Facts::Platform)),
    }?;
    // An output of which nothing was understood is not an empty list.
    match parsed.unparsed.first() {
        Some(first) if parsed.facts.is_empty() => Err(ParseError::NotUnderstood {
            parser: parser.name(),
            detail: format!("nothing of it was understood, beginning with “{first}”"),
        }),
        _ => Ok(parsed),
    }
}

/// One parser's facts with what it did not understand.
struct Read<T> {
    facts: T,
    unparsed: Vec<String>,
}

impl<T> Read<T> {
    fn into(self, wrap: impl FnOnce(T) -> Facts) -> Parsed {
        Parsed {
            facts: wrap(self.facts),
            unparsed: self.unparsed,
        }
    }
}

/// How much of a line that nothing understood is kept: it is for people to look at, and the raw
/// output is stored anyway.
const CLIP: usize = 300;

fn clip(text: &str) -> String {
    match text.char_indices().nth(CLIP) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
