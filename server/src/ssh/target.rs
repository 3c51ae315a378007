//! Where a batch goes: the hosts on the way, each with its login and the keys a person confirmed.

use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::path::PathBuf;

use diagnosis::connection::HostKey;

/// One machine on the way: a jump host, or the host itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// A name or an IP address, as the hop before it (or this machine, for the first) understands it.
    pub address: String,
    pub port: u16,
    pub user: String,
    pub credential: Credential,
    /// The keys a person confirmed for this host. Empty: none yet, so nothing is sent to it.
    pub confirmed: Vec<HostKey>,
}

impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.address.contains(':') {
            write!(f, "{}@[{}]:{}", self.user, self.address, self.port)
        } else {
            write!(f, "{}@{}:{}", self.user, self.address, self.port)
        }
    }
}

/// The one key a host is offered. Never several: sshd counts each refused key against us
/// (`MaxAuthTries`, `PerSourcePenalties`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// A private key without a passphrase, in a file that Hopwise can read.
    KeyFile(PathBuf),
    /// A key of the running ssh-agent, by its `SHA256:` fingerprint. Without a fingerprint the agent
    /// must hold exactly one key.
    Agent { fingerprint: Option<String> },
}

/// A host and the way to it: jump hosts first, the host itself last. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub hops: Vec<Hop>,
}

/// Why there is no way to a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError<Id: fmt::Debug + fmt::Display> {
    #[error("there is no host {0}")]
    Unknown(Id),
    #[error("the jump hosts lead back to {0}")]
    Cycle(Id),
}

impl Target {
    /// Walks from a host over its jump hosts to the first one. `lookup` gives a host's own hop and the
    /// jump host it is reached through.
    ///
    /// # Errors
    /// A host on the way that `lookup` does not know, or jump hosts that lead in a circle.
    pub fn chain<Id, F>(host: Id, lookup: F) -> Result<Self, ChainError<Id>>
    where
        Id: Copy + Eq + Hash + fmt::Debug + fmt::Display,
        F: Fn(Id) -> Option<(Hop, Option<Id>)>,
    {
        let (mut hops, mut seen, mut next) = (Vec::new(), HashSet::new(), Some(host));
        while let Some(id) = next {
            if !seen.insert(id) {
                return Err(ChainError::Cycle(id));
            }
            let (hop, jump) = lookup(id).ok_or(ChainError::Unknown(id))?;
            hops.push(hop);
            next = jump;
        }
        hops.reverse();
        Ok(Self { hops })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(address: &str) -> Hop {
        Hop {
            address: address.into(),
            port: 22,
            user: "root".into(),
            credential: Credential::Agent { fingerprint: None },
            confirmed: Vec::new(),
        }
    }

    #[test]
    fn jump_hosts_come_first_and_the_host_last() {
        let way = Target::chain(1, |id| match id {
            1 => Some((hop("inner"), Some(2))),
            2 => Some((hop("middle"), Some(3))),
            3 => Some((hop("edge"), None)),
            _ => None,
        })
        .unwrap();
        let names: Vec<_> = way.hops.iter().map(|h| h.address.as_str()).collect();
        assert_eq!(names, ["edge", "middle", "inner"]);
    }

    #[test]
    fn a_circle_of_jump_hosts_is_named() {
        let error = Target::chain(1, |id| Some((hop("x"), Some(3 - id)))).unwrap_err();
        assert_eq!(error, ChainError::Cycle(1));
    }

    #[test]
    fn an_unknown_jump_host_is_named() {
        let error =
            Target::chain(1, |id| (id == 1).then(|| (hop("x"), Some(7)))).unwrap_err();
        assert_eq!(error, ChainError::Unknown(7));
    }

    #[test]
    fn an_ipv6_address_is_shown_in_brackets() {
        assert_eq!(hop("fe80::1").to_string(), "root@[fe80::1]:22");
    }
}
