use std::path::PathBuf;
use std::time::Duration;

/// Limits of the SSH edge. The defaults suit sshd's own defaults.
#[derive(Clone, Debug)]
pub struct SshOptions {
    /// For looking up the name and the TCP connection of one hop, and again for its banner and key
    /// exchange.
    pub connect_limit: Duration,
    /// For one hop's login.
    pub auth_limit: Duration,
    /// A connection nobody uses is closed after this long.
    pub idle_limit: Duration,
    /// Silence after which the host is asked whether it is still there; three unanswered questions end
    /// the connection.
    pub keepalive: Duration,
    /// New session keys after this many bytes in either direction.
    pub rekey_bytes: usize,
    /// New session keys after this long.
    pub rekey_after: Duration,
    /// Batches at a time on one connection. sshd's `MaxSessions` is 10.
    pub channels: usize,
    /// A refused login is not tried again for this long.
    pub auth_back_off: Duration,
    /// A host that closes connections from us is left alone for this long.
    pub penalty_back_off: Duration,
    /// The ssh-agent's socket.
    pub agent_socket: Option<PathBuf>,
}

impl Default for SshOptions {
    fn default() -> Self {
        Self {
            connect_limit: Duration::from_secs(8),
            auth_limit: Duration::from_secs(10),
            idle_limit: Duration::from_secs(120),
            keepalive: Duration::from_secs(15),
            rekey_bytes: 1 << 30,
            rekey_after: Duration::from_secs(3600),
            channels: 8,
            auth_back_off: Duration::from_secs(4),
            penalty_back_off: Duration::from_secs(30),
            agent_socket: std::env::var_os("SSH_AUTH_SOCK").map(PathBuf::from),
        }
    }
}
