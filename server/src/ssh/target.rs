//! Where a batch goes: the hosts on the way, each with its login and the keys a person confirmed.

use std::fmt;
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
