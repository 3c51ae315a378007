//! `hopwise parse`: an output from standard input, read as the checks read it.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use diagnosis::knowledge::ParserName;
use diagnosis::parse::parse;
use diagnosis::run::{RunResult, RunStatus};
use serde_json::json;

use super::say;

/// More than any host is asked for.
const MOST: u64 = 64 << 20;

#[derive(Args)]
pub(super) struct Parse {
    /// Which parser reads it; --list names them
    #[arg(value_name = "PARSER", required_unless_present = "list")]
    parser: Option<ParserName>,
    /// The exit status that the command had
    #[arg(long, value_name = "STATUS", default_value_t = 0)]
    exit: i32,
    /// A file with what the command printed as errors
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// List the parsers and the commands that they read
    #[arg(long)]
    list: bool,
    /// With --list: as JSON, with the JSON Schema of each parser's facts
    #[arg(long, requires = "list")]
    json: bool,
}

/// Prints the facts and the lines that were not understood, as JSON.
pub(super) fn run(args: &Parse) -> anyhow::Result<()> {
    let Some(parser) = args.parser else {
        return list(args.json);
    };
    let mut stdout = Vec::new();
    std::io::stdin()
        .lock()
        .take(MOST + 1)
        .read_to_end(&mut stdout)
        .context("reading standard input")?;
    if stdout.len() as u64 > MOST {
        bail!("standard input is longer than {MOST} bytes: no tool prints that much; cut it");
    }
    let stderr = match &args.stderr {
        Some(path) => std::fs::read(path).with_context(|| format!("reading {}", path.display()))?,
        None => Vec::new(),
    };
    let result = RunResult {
        status: RunStatus::Ran { exit: args.exit },
        stdout,
        stderr,
        took_ms: 0,
    };
    let parsed =
        parse(parser, &result).with_context(|| format!("no facts by {}", parser.name()))?;
    say(&serde_json::to_string_pretty(&parsed)?)
}

fn list(schemas: bool) -> anyhow::Result<()> {
    if !schemas {
        let width = ParserName::ALL.iter().map(|p| p.name().len()).max();
        for parser in ParserName::ALL {
            say(&format!(
                "{:width$}  {}",
                parser.name(),
                parser.reads(),
                width = width.unwrap_or_default()
            ))?;
        }
        return Ok(());
    }
    let parsers: Vec<_> = ParserName::ALL
        .iter()
        .map(|parser| {
            json!({
                "parser": parser.name(),
                "reads": parser.reads(),
                "facts": parser.facts().schema(),
            })
        })
        .collect();
    say(&serde_json::to_string_pretty(&parsers)?)
}
