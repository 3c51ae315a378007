//! What the tests share.
#![allow(dead_code, unreachable_pub)]

use std::path::PathBuf;

use diagnosis::knowledge::{Pack, Source};

/// The knowledge of this repository.
pub fn pack() -> Pack {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../knowledge");
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    let sources: Vec<Source<'_>> = files
        .iter()
        .map(|(name, text)| Source { name, text })
        .collect();
    Pack::load(&sources).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"))
    })
}
