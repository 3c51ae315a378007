//! Connecting to one hop: name, TCP or a way through the jump host, banner and key exchange, login.
//! Each has its own time limit, and each failure its own status.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use diagnosis::connection::ConnectionStatus;
use russh::client::{self, AuthResult, Handle};
use russh::{ChannelOpenFailure, Limits, Preferred};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, Judge, SessionError};
use super::credential::{Key, LoginError};
use super::known::preferred_algorithms;
use super::line::{Line, Opening};
use super::options::SshOptions;
use super::target::Hop;

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Connects to one hop, directly or through the connection to the hop before it. `suspect` says that
/// the host has refused us lately, so that a connection closed without a word reads as a penalty.
pub(crate) async fn connect(
    hop: &Hop,
    parent: Option<Arc<Connection>>,
    suspect: bool,
    options: &SshOptions,
) -> Result<Connection, ConnectionStatus> {
    // A key we cannot use is found before the host counts a connection without a login against us.
    // Without a confirmed host key nothing is sent anyway, and the person needs to see the host's key.
    let key = if hop.confirmed.is_empty() {
        None
    } else {
        let loaded = timeout(
            options.auth_limit,
            Key::load(&hop.credential, options.agent_socket.as_deref()),
        );
        let key = loaded
            .await
            .map_err(|_| ConnectionStatus::CredentialUnusable {
                detail: "ssh-agent did not answer in time".into(),
            })?;
        Some(key.map_err(|detail| ConnectionStatus::CredentialUnusable { detail })?)
    };

    let limit = options.connect_limit;
    let reached = async {
        match &parent {
            None => tcp(hop, limit).await,
            Some(parent) => through(parent, hop).await,
        }
    };
    let stream = timeout(limit, reached)
        .await
        .map_err(|_| timed_out(limit))??;

    let (opening, cut) = (Opening::default(), CancellationToken::new());
    let guard = cut.clone().drop_guard();
    let (refusals, refused) = mpsc::unbounded_channel();
    let judge = Judge {
        confirmed: hop.confirmed.clone(),
        refusals,
    };
    let line = Line::new(stream, opening.clone(), cut.clone());
    let mut handle = timeout(
        limit,
        client::connect_stream(config(hop, options), line, judge),
    )
    .await
    .map_err(|_| timed_out(limit))?
    .map_err(|error| handshake_failed(error, &opening.text(), suspect))?;

    // The judge lets nobody through without a confirmed key, so there is a key to log in with.
    let key = key.ok_or_else(|| ConnectionStatus::ProtocolError {
        detail: "the host's key was not judged".into(),
    })?;
    log_in(&mut handle, hop, key, options.auth_limit).await?;

    guard.disarm();
    Ok(Connection {
        handle,
        refusals: tokio::sync::Mutex::new(refused),
        statuses: Vec::new(),
        cut,
        retired: AtomicBool::new(false),
        permits: Arc::new(Semaphore::new(options.channels)),
        last_used: Mutex::new(Instant::now()),
        parent,
    })
}

fn timed_out(limit: Duration) -> ConnectionStatus {
    ConnectionStatus::Timeout {
        after_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    }
}

fn config(hop: &Hop, options: &SshOptions) -> Arc<client::Config> {
    Arc::new(client::Config {
        limits: Limits {
            rekey_write_limit: options.rekey_bytes,
            rekey_read_limit: options.rekey_bytes,
            rekey_time_limit: options.rekey_after,
        },
        preferred: Preferred {
            key: preferred_algorithms(&hop.confirmed).into(),
            ..Preferred::DEFAULT
        },
        keepalive_interval: Some(options.keepalive),
        keepalive_max: 3,
        nodelay: true,
        ..client::Config::default()
    })
}

/// Tries the name's addresses in turn; each gets its share of the limit, so that a dead first address
/// leaves time for the second.
async fn tcp(hop: &Hop, limit: Duration) -> Result<Box<dyn Stream>, ConnectionStatus> {
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host((hop.address.as_str(), hop.port))
        .await
        .map_err(|e| ConnectionStatus::ResolveFailed {
            detail: e.to_string(),
        })?
        .collect();
    let share = limit / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
    let mut last = ConnectionStatus::ResolveFailed {
        detail: "the name has no addresses".into(),
    };
    for address in addresses {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Without it small packets wait for acknowledgements (Nagle).
                let _ = stream.set_nodelay(true);
                return Ok(Box::new(stream));
            }
            Ok(Err(error)) => last = tcp_failed(&error, limit),
            Err(_) => last = timed_out(limit),
        }
    }
    Err(last)
}

fn tcp_failed(error: &io::Error, limit: Duration) -> ConnectionStatus {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectionStatus::Refused,
        io::ErrorKind::TimedOut => timed_out(limit),
        _ => ConnectionStatus::Unreachable {
            detail: error.to_string(),
        },
    }
}

/// A way through the jump host (`direct-tcpip`). The jump host looks the name up.
async fn through(parent: &Connection, hop: &Hop) -> Result<Box<dyn Stream>, ConnectionStatus> {
    let opened = parent
        .handle
        .channel_open_direct_tcpip(&hop.address, u32::from(hop.port), "127.0.0.1", 0)
        .await;
    match opened {
        Ok(channel) => Ok(Box::new(channel.into_stream())),
        Err(russh::Error::ChannelOpenFailure(ChannelOpenFailure::ConnectFailed)) => {
            // The description comes by the handler, just after the failure itself.
            let mut refusals = parent.refusals.lock().await;
            let told = timeout(Duration::from_millis(500), refusals.recv()).await;
            Err(jump_refused(&told.ok().flatten().unwrap_or_default()))
        }
        Err(russh::Error::ChannelOpenFailure(ChannelOpenFailure::AdministrativelyProhibited)) => {
            Err(ConnectionStatus::Unreachable {
                detail:
                    "the jump host does not forward connections (AllowTcpForwarding, PermitOpen)"
                        .into(),
            })
        }
        Err(error) => Err(ConnectionStatus::Unreachable {
            detail: format!("the jump host opened no way: {error}"),
        }),
    }
}

/// sshd passes on `strerror` or `gai_strerror` of its own attempt (`channel_post_connecting`).
fn jump_refused(said: &str) -> ConnectionStatus {
    let text = said.to_ascii_lowercase();
    if text.contains("refused") {
        ConnectionStatus::Refused
    } else if text.contains("resol") || text.contains("not known") || text.contains("no address") {
        ConnectionStatus::ResolveFailed {
            detail: format!("the jump host says: {said}"),
        }
    } else {
        ConnectionStatus::Unreachable {
            detail: format!("the jump host says: {said}"),
        }
    }
}

/// What sshd sends before its banner when it does not want us: `Not allowed at this time` since 9.8
/// (PerSourcePenalties), `Exceeded MaxStartups` since 8.5. Older ones just close.
fn handshake_failed(error: SessionError, opening: &str, suspect: bool) -> ConnectionStatus {
    let error = match error {
        SessionError::HostKey(status) => return status,
        SessionError::Ssh(error) => error,
    };
    let protocol = |detail: String| ConnectionStatus::ProtocolError { detail };
    if opening.contains("Not allowed at this time") {
        return ConnectionStatus::Penalised;
    }
    if opening.contains("Exceeded MaxStartups") {
        return protocol("sshd has too many logins in progress (MaxStartups)".into());
    }
    let closed = matches!(
        &error,
        russh::Error::Disconnect | russh::Error::HUP | russh::Error::IO(_)
    );
    match (closed, opening) {
        (true, "") if suspect => ConnectionStatus::Penalised,
        (true, "") => protocol("it closed the connection before its banner".into()),
        (true, said) if !said.contains("SSH-") => {
            let line: String = said
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(80)
                .collect();
            protocol(format!("it sent {line:?} and closed the connection"))
        }
        (true, _) => protocol("it closed the connection during the key exchange".into()),
        (false, _) => protocol(error.to_string()),
    }
}

async fn log_in(
    handle: &mut Handle<Judge>,
    hop: &Hop,
    key: Key,
    limit: Duration,
) -> Result<(), ConnectionStatus> {
    let fingerprint = key.fingerprint();
    let tried = |more: String| ConnectionStatus::AuthFailed {
        tried: format!("user {}, key {fingerprint}{more}", hop.user),
    };
    match timeout(limit, key.log_in(handle, &hop.user)).await {
        Err(_) => Err(timed_out(limit)),
        Ok(Ok(AuthResult::Success)) => Ok(()),
        Ok(Ok(AuthResult::Failure {
            partial_success: true,
            remaining_methods,
        })) => Err(tried(format!("; it wants more: {remaining_methods:?}"))),
        // sshd always names what may follow; nothing named means that the connection ended.
        Ok(Ok(AuthResult::Failure {
            remaining_methods, ..
        })) if remaining_methods.is_empty() && handle.is_closed() => {
            Err(ConnectionStatus::ProtocolError {
                detail: "it closed the connection during the login".into(),
            })
        }
        Ok(Ok(AuthResult::Failure { .. })) => Err(tried(String::new())),
        Ok(Err(LoginError::Agent(detail))) => Err(ConnectionStatus::CredentialUnusable {
            detail: format!("ssh-agent did not sign: {detail}"),
        }),
        Ok(Err(LoginError::Lost(error))) => Err(ConnectionStatus::ProtocolError {
            detail: format!("the connection was lost during the login: {error}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(opening: &str, suspect: bool) -> ConnectionStatus {
        handshake_failed(
            SessionError::Ssh(russh::Error::Disconnect),
            opening,
            suspect,
        )
    }

    #[test]
    fn sshd_says_so_when_it_penalises() {
        assert_eq!(
            closed("Not allowed at this time\r\n", false),
            ConnectionStatus::Penalised
        );
    }

    #[test]
    fn a_silent_close_is_a_penalty_only_after_refusals() {
        assert_eq!(closed("", true), ConnectionStatus::Penalised);
        assert_eq!(closed("", false).name(), "protocol-error");
    }

    #[test]
    fn a_close_after_the_banner_is_no_penalty() {
        assert_eq!(
            closed("SSH-2.0-OpenSSH_9.9\r\n", true).name(),
            "protocol-error"
        );
    }

    #[test]
    fn what_the_jump_host_says_becomes_the_status() {
        for (said, name) in [
            ("Connection refused", "refused"),
            ("Name or service not known", "resolve-failed"),
            ("Temporary failure in name resolution", "resolve-failed"),
            ("No route to host", "unreachable"),
            ("Connection timed out", "unreachable"),
        ] {
            assert_eq!(jump_refused(said).name(), name, "{said}");
        }
    }
}
