//! Who the cluster runs as. PostgreSQL refuses root.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::DatabaseError;

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl Account {
    /// The user this program runs as.
    ///
    /// # Errors
    /// The system does not know the user by name.
    pub fn own() -> Result<Self, DatabaseError> {
        let uid = rustix::process::geteuid().as_raw();
        Self::find(&uid.to_string()).ok_or(DatabaseError::NoUser)
    }

    /// The user to run a cluster as: the owner of the one that is there, ourselves, or under root
    /// the service's user.
    ///
    /// # Errors
    /// Under root, there is no such user; otherwise, the cluster belongs to somebody else.
    pub fn for_cluster(data: &Path) -> Result<Self, DatabaseError> {
        let own = Self::own()?;
        let owner = fs::metadata(data).ok().map(|m| m.uid());
        match owner {
            _ if own.uid != 0 => match owner {
                Some(owner) if owner != own.uid => Err(DatabaseError::NotOurs {
                    dir: data.to_path_buf(),
                    owner,
                }),
                _ => Ok(own),
            },
            Some(owner) if owner != 0 => {
                Self::find(&owner.to_string()).ok_or_else(|| DatabaseError::NotOurs {
                    dir: data.to_path_buf(),
                    owner,
                })
            }
            _ => ["hopwise", "postgres"]
                .into_iter()
                .find_map(Self::find)
                .filter(|a| a.uid != 0)
                .ok_or(DatabaseError::NoUser),
        }
    }

    /// Looks a user up by name or number, wherever the system knows users from.
    fn find(key: &str) -> Option<Self> {
        let output = Command::new("getent")
            .args(["passwd", "--", key])
            .output()
            .ok()?;
        let line = String::from_utf8(output.stdout).ok()?;
        let mut fields = line.trim_end().split(':');
        let name = fields.next().filter(|n| !n.is_empty())?.to_owned();
        let _password = fields.next()?;
        Some(Self {
            name,
            uid: fields.next()?.parse().ok()?,
            gid: fields.next()?.parse().ok()?,
        })
    }

    /// Makes a command run as this user. Dropping to it also drops root's groups.
    pub fn run_as(&self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        if rustix::process::geteuid().as_raw() != self.uid {
            command.uid(self.uid).gid(self.gid);
        }
    }

    /// Whether this user can enter the folder.
    pub(super) fn reaches(&self, dir: &Path) -> bool {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", r#"cd -- "$0""#])
            .arg(dir)
            .current_dir("/")
            .stderr(std::process::Stdio::null());
        self.run_as(&mut command);
        command.status().is_ok_and(|s| s.success())
    }

    /// Gives a file or folder to this user, where we may.
    pub(super) fn take_over(&self, path: &Path) -> Result<(), DatabaseError> {
        if rustix::process::geteuid().as_raw() == self.uid {
            return Ok(());
        }
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
            .map_err(DatabaseError::io("giving away", path))
    }
}
