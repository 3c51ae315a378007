//! `hopwise`: guided diagnosis of networks on virtualisation hosts.

use std::process::ExitCode;

use clap::Parser as _;
use server::cli::{self, Cli};

fn main() -> ExitCode {
    match cli::run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hopwise: {error:#}");
            ExitCode::FAILURE
        }
    }
}
