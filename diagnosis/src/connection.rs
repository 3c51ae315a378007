//! How a connection to a host ended: a closed set of statuses, each with its own way out.

use serde::{Deserialize, Serialize};

use crate::run::seconds;

/// The status of one hop on the way to a host, or of the host itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionStatus {
    /// The SSH connection stands and the login was accepted.
    Connected,
    /// The kernel at the address refused the port: nothing listens there.
    Refused,
    /// Nothing came back within the limit: a black hole, or a host that is down.
    Timeout { after_ms: u64 },
    /// The network said that there is no way to the address.
    Unreachable { detail: String },
    /// The name has no address.
    ResolveFailed { detail: String },
    /// The host showed a key nobody has confirmed yet.
    HostKeyUnknown { offered: HostKey },
    /// The host showed another key than the confirmed one. Nothing was sent to it.
    HostKeyChanged {
        confirmed: HostKey,
        offered: HostKey,
    },
    /// The host refused the login.
    AuthFailed { tried: String },
    /// The private key or the agent could not be used on our side.
    CredentialUnusable { detail: String },
    /// The host closes connections from us for a while (OpenSSH's PerSourcePenalties).
    Penalised,
    /// The other side closed the connection or does not speak SSH.
    ProtocolError { detail: String },
}

impl ConnectionStatus {
    /// The short name that lists and logs show.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Refused => "refused",
            Self::Timeout { .. } => "timeout",
            Self::Unreachable { .. } => "unreachable",
            Self::ResolveFailed { .. } => "resolve-failed",
            Self::HostKeyUnknown { .. } => "host-key-unknown",
            Self::HostKeyChanged { .. } => "host-key-changed",
            Self::AuthFailed { .. } => "auth-failed",
            Self::CredentialUnusable { .. } => "credential-unusable",
            Self::Penalised => "penalised",
            Self::ProtocolError { .. } => "protocol-error",
        }
    }

    /// What happened, in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Connected => "Connected.".into(),
            Self::Refused => "The port was refused: nothing listens there.".into(),
            Self::Timeout { after_ms } => {
                format!("No answer within {}.", seconds(*after_ms))
            }
            Self::Unreachable { detail } => format!("There is no way to the address: {detail}."),
            Self::ResolveFailed { detail } => format!("The name has no address: {detail}."),
            Self::HostKeyUnknown { offered } => {
                format!(
                    "The host's key {} is not confirmed yet.",
                    offered.fingerprint
                )
            }
            Self::HostKeyChanged { confirmed, offered } => format!(
                "The host's key is {}, but {} was confirmed. Nothing was sent to it.",
                offered.fingerprint, confirmed.fingerprint
            ),
            Self::AuthFailed { tried } => format!("The host refused the login ({tried})."),
            Self::CredentialUnusable { detail } => format!("The key could not be used: {detail}."),
            Self::Penalised => "The host closes connections from this address for a while.".into(),
            Self::ProtocolError { detail } => {
                format!("The other side closed or does not speak SSH: {detail}.")
            }
        }
    }

    /// What a person can do about it; nothing for a connection that stands.
    #[must_use]
    pub const fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Connected => return None,
            Self::Refused => "Check the port, and that sshd runs: systemctl status ssh.",
            Self::Timeout { .. } => {
                "Check the address, that the host is up, and firewalls on the way that drop without a word."
            }
            Self::Unreachable { .. } => {
                "Check the routes from this machine to the host, and the jump host if there is one."
            }
            Self::ResolveFailed { .. } => "Check the spelling, or enter the address itself.",
            Self::HostKeyUnknown { .. } => {
                "Compare the fingerprint with the one the host's console shows (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then confirm it."
            }
            Self::HostKeyChanged { .. } => {
                "If the host was reinstalled, compare the new fingerprint at its console and confirm it. If not, somebody may be between you and the host."
            }
            Self::AuthFailed { .. } => {
                "Check the user, and that this key's public half is in that user's authorized_keys."
            }
            Self::CredentialUnusable { .. } => {
                "Check the key's path and rights as the user Hopwise runs as, or that the agent runs and holds the key."
            }
            Self::Penalised => {
                "Wait a few minutes; sshd forgets by itself (PerSourcePenalties). Hopwise holds back meanwhile."
            }
            Self::ProtocolError { .. } => {
                "Check that the port is sshd's, and the host's log: journalctl -u ssh."
            }
        })
    }
}

/// A public host key as people compare it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostKey {
    /// Such as `ssh-ed25519`.
    pub algorithm: String,
    /// `SHA256:` and unpadded base64, as OpenSSH prints it.
    pub fingerprint: String,
    /// The key itself, as in an OpenSSH `known_hosts` line: algorithm and base64.
    pub openssh: String,
}

/// One hop of the way to a host: a jump host, or the host itself, with how it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopStatus {
    /// `user@address:port`, for people.
    pub hop: String,
    pub status: ConnectionStatus,
    pub took_ms: u64,
}
