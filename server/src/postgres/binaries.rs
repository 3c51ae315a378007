//! PostgreSQL's programs on this machine, of which the cluster needs those of its own version.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::DatabaseError;

/// The environment variable that names the folder of PostgreSQL's programs.
pub const PG_BIN: &str = "HOPWISE_PG_BIN";

/// A folder with PostgreSQL's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    pub dir: PathBuf,
    /// The major version, such as 15.
    pub major: u32,
}

impl Binaries {
    /// The programs to use: those of that version, or the newest.
    ///
    /// # Errors
    /// There are none, or none of that version; says what is there.
    pub fn find(data: &Path, made_by: Option<&str>) -> Result<Self, DatabaseError> {
        let version_error = |found: String| DatabaseError::Version {
            dir: data.to_path_buf(),
            made_by: made_by.unwrap_or_default().to_owned(),
            found,
        };
        let fits = |b: &Self| made_by.is_none_or(|v| v == b.major.to_string());
        if let Some(dir) = env::var_os(PG_BIN).filter(|d| !d.is_empty()) {
            let dir = PathBuf::from(dir);
            let found = Self::in_dir(&dir).map_err(|detail| DatabaseError::BadPrograms {
                dir: dir.clone(),
                detail,
            })?;
            return if fits(&found) {
                Ok(found)
            } else {
                Err(version_error(format!(
                    "{PG_BIN} has version {}",
                    found.major
                )))
            };
        }
        let mut found = Self::all();
        found.sort_by_key(|b| std::cmp::Reverse(b.major));
        if found.is_empty() && made_by.is_none() {
            return Err(DatabaseError::NoPrograms);
        }
        let versions: Vec<String> = found.iter().map(|b| b.major.to_string()).collect();
        found.into_iter().find(fits).ok_or_else(|| {
            version_error(if versions.is_empty() {
                "no PostgreSQL was found".into()
            } else {
                format!("this machine has {}", versions.join(", "))
            })
        })
    }

    /// A program of this version.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where distributions put them: Debian, Red Hat's own repository, and whatever is on PATH.
    fn all() -> Vec<Self> {
        let mut dirs = Vec::new();
        for (parent, prefix) in [("/usr/lib/postgresql", ""), ("/usr", "pgsql-")] {
            let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
            dirs.extend(
                entries
                    .filter(|e| {
                        let name = e.file_name();
                        let number = name.to_str().and_then(|n| n.strip_prefix(prefix));
                        number.is_some_and(|n| n.parse::<u32>().is_ok())
                    })
                    .map(|e| e.path().join("bin")),
            );
        }
        if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
            dirs.push(PathBuf::from(
                String::from_utf8_lossy(&output.stdout).trim_end(),
            ));
        }
        if let Some(path) = env::var_os("PATH") {
            dirs.extend(env::split_paths(&path));
        }
        dirs.iter().filter_map(|d| Self::in_dir(d).ok()).collect()
    }

    fn in_dir(dir: &Path) -> Result<Self, String> {
        for name in ["initdb", "postgres"] {
            if !dir.join(name).is_file() {
                return Err(format!("there is no {name} in it"));
            }
        }
        let output = Command::new(dir.join("postgres"))
            .arg("--version")
            .output()
            .map_err(|e| format!("its postgres does not run: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let major = version(&text).ok_or_else(|| format!("its postgres says “{}”", text.trim()))?;
        Ok(Self {
            dir: dir.to_path_buf(),
            major,
        })
    }
}

/// The major version in `postgres --version`'s line, such as "postgres (PostgreSQL) 17beta1".
fn version(line: &str) -> Option<u32> {
    let word = line.split_once("(PostgreSQL)")?.1.trim_start();
    let end = word
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(word.len());
    word.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_major_version_is_read_from_releases_and_betas() {
        for (line, expected) in [
            (
                "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n",
                Some(15),
            ),
            ("postgres (PostgreSQL) 18beta2", Some(18)),
            ("postgres (PostgreSQL) 9", Some(9)),
            ("bash 5.2", None),
            ("", None),
        ] {
            assert_eq!(version(line), expected, "{line}");
        }
    }
}
