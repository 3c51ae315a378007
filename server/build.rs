//! Embeds the knowledge and follows the migrations.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    println!(
        "cargo:rerun-if-changed={}",
        root.join("migrations").display()
    );
    let knowledge = root.join("knowledge");
    println!("cargo:rerun-if-changed={}", knowledge.display());
    let mut files = Vec::new();
    yaml_files(&knowledge, &mut files)?;
    files.sort();
    let mut code = String::from(
        "/// Each file of the embedded knowledge: its name and its text.\npub(crate) const EMBEDDED: &[(&str, &str)] = &[\n",
    );
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file);
        let _ = writeln!(
            code,
            "    ({:?}, include_str!({:?})),",
            name.display().to_string(),
            file.canonicalize()?
        );
    }
    code.push_str("];\n");
    fs::write(
        PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("knowledge.rs"),
        code,
    )
}

fn yaml_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            yaml_files(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "yaml") {
            println!("cargo:rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
