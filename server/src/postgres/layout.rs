//! Where the cluster's things are, with the rights that fit whoever runs it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Account, DatabaseError};

/// The longest path of a Unix socket (unix(7): `sun_path` has 108 bytes with the final NUL), less
/// the name PostgreSQL gives its own.
const LONGEST_SOCKET_DIR: usize = 107 - "/.s.PGSQL.5432".len();
/// Beyond this, the log is put aside when the server starts.
const LONGEST_LOG: u64 = 10 << 20;

/// The places, and the user they belong to.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// `STATE/postgres`, without links.
    pub(super) root: PathBuf,
    pub(super) account: Account,
}

impl Layout {
    /// Makes the folders, or finds them.
    pub(super) fn prepare(state_dir: &Path) -> Result<Self, DatabaseError> {
        fs::create_dir_all(state_dir).map_err(DatabaseError::io("making", state_dir))?;
        let state_dir =
            fs::canonicalize(state_dir).map_err(DatabaseError::io("finding", state_dir))?;
        let root = state_dir.join("postgres");
        let account = Account::for_cluster(&root.join("data"))?;
        if account.uid != rustix::process::geteuid().as_raw() {
            // The other user has to pass through, and reads nothing on the way.
            let mode = fs::metadata(&state_dir)
                .map_err(DatabaseError::io("finding", &state_dir))?
                .mode();
            if mode & 0o001 == 0 {
                fs::set_permissions(&state_dir, Permissions::from_mode(mode & 0o7777 | 0o011))
                    .map_err(DatabaseError::io("opening", &state_dir))?;
            }
        }
        private_dir(&root, &account)?;
        if !account.reaches(&root) {
            return Err(DatabaseError::OutOfReach {
                user: account.name,
                dir: root,
            });
        }
        Ok(Self { root, account })
    }

    pub(super) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub(super) fn log_file(&self) -> PathBuf {
        self.root.join("log")
    }

    /// Takes the lock that the one server holds; nothing when another has it. It is gone with the
    /// process, however that ends.
    pub(super) fn lock(&self) -> Result<Option<File>, DatabaseError> {
        let path = self.root.join("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(DatabaseError::io("opening", &path))?;
        self.account.take_over(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(DatabaseError::io("locking", path)(error)),
        }
    }

    /// The folder for the socket: inside the state where its path is short enough.
    pub(super) fn socket_dir(&self) -> Result<PathBuf, DatabaseError> {
        let inside = self.root.join("socket");
        if fits_socket(&inside) {
            private_dir(&inside, &self.account)?;
            return Ok(inside);
        }
        let hash: String = Sha256::digest(self.root.as_os_str().as_bytes())
            .iter()
            .take(8)
            .map(|b| format!("{b:02x}"))
            .collect();
        let outside = if rustix::process::geteuid().is_root() && Path::new("/run").is_dir() {
            PathBuf::from(format!("/run/hopwise-{hash}"))
        } else {
            PathBuf::from(format!("/tmp/hopwise-{}-{hash}", self.account.uid))
        };
        private_dir(&outside, &self.account)?;
        tracing::info!(dir = %outside.display(), "the state folder's path cannot hold a socket; it is here");
        Ok(outside)
    }

    /// Where a running cluster's socket is, as it wrote it down itself: the fifth line of
    /// `postmaster.pid`.
    pub(super) fn running_socket_dir(&self) -> Result<PathBuf, DatabaseError> {
        let path = self.data().join("postmaster.pid");
        let text = fs::read_to_string(&path).map_err(DatabaseError::io("reading", &path))?;
        match text.lines().nth(4).filter(|line| !line.is_empty()) {
            Some(dir) => Ok(PathBuf::from(dir)),
            None => self.socket_dir(),
        }
    }

    /// Opens the log to append to, after putting a long one aside.
    pub(super) fn open_log(&self) -> Result<File, DatabaseError> {
        let path = self.log_file();
        if fs::metadata(&path).is_ok_and(|m| m.len() > LONGEST_LOG) {
            fs::rename(&path, self.root.join("log.1"))
                .map_err(DatabaseError::io("putting aside", &path))?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(DatabaseError::io("opening", &path))?;
        self.account.take_over(&path)?;
        Ok(file)
    }

    /// Writes a file of PostgreSQL's configuration.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, DatabaseError> {
        let path = self.root.join(name);
        fs::write(&path, text).map_err(DatabaseError::io("writing", &path))?;
        self.account.take_over(&path)?;
        Ok(path)
    }
}

/// PostgreSQL reads the setting as a list, so some characters have a meaning in it.
fn fits_socket(dir: &Path) -> bool {
    let bytes = dir.as_os_str().as_bytes();
    bytes.len() <= LONGEST_SOCKET_DIR
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"/._-+@".contains(b))
}

/// A folder for that user alone. One that is there must be that user's: in /tmp, others make folders
/// too.
fn private_dir(dir: &Path, account: &Account) -> Result<(), DatabaseError> {
    let made = DirBuilder::new().mode(0o700).create(dir);
    match made {
        Ok(()) => account.take_over(dir),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(dir).map_err(DatabaseError::io("finding", dir))?;
            if !found.is_dir() || (found.uid() != account.uid && found.uid() != 0) {
                return Err(DatabaseError::NotOurs {
                    dir: dir.to_path_buf(),
                    owner: found.uid(),
                });
            }
            if found.uid() != account.uid {
                account.take_over(dir)?;
            }
            if found.mode() & 0o077 != 0 {
                fs::set_permissions(dir, Permissions::from_mode(0o700))
                    .map_err(DatabaseError::io("closing", dir))?;
            }
            Ok(())
        }
        Err(error) => Err(DatabaseError::io("making", dir)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::fits_socket;
    use std::path::Path;

    #[test]
    fn a_socket_dir_is_short_and_has_no_character_that_separates() {
        assert!(fits_socket(Path::new("/var/lib/hopwise/postgres/socket")));
        assert!(!fits_socket(Path::new("/var/lib/a,b/socket")));
        assert!(fits_socket(Path::new(&format!("/{}", "x".repeat(92)))));
        assert!(!fits_socket(Path::new(&format!("/{}", "x".repeat(93)))));
    }
}
