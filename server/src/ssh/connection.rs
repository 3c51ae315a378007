//! One SSH connection that stands, and the handler that judges its host key.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diagnosis::connection::{ConnectionStatus, HopStatus, HostKey};
use russh::client::{self, Handle, Msg, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelId, ChannelOpenFailure};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::known::{Judgement, judge};

/// Why russh's session task ended.
#[derive(Debug)]
pub(crate) enum SessionError {
    /// The key was not one a person confirmed.
    HostKey(ConnectionStatus),
    Ssh(russh::Error),
}

impl From<russh::Error> for SessionError {
    fn from(error: russh::Error) -> Self {
        Self::Ssh(error)
    }
}

/// Judges the host key, and passes on why a jump host could not open a way.
pub(crate) struct Judge {
    pub(crate) confirmed: Vec<HostKey>,
    pub(crate) refusals: mpsc::UnboundedSender<String>,
}

impl client::Handler for Judge {
    type Error = SessionError;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        // Host certificates are never asked for, so this is a bare key; the key inside a certificate
        // would be judged like one, never trusted for its signature.
        match judge(&self.confirmed, &shown.public_key()) {
            Judgement::Confirmed => Ok(true),
            Judgement::Unknown { offered } => {
                Err(SessionError::HostKey(ConnectionStatus::HostKeyUnknown {
                    offered,
                }))
            }
            Judgement::Changed { confirmed, offered } => {
                Err(SessionError::HostKey(ConnectionStatus::HostKeyChanged {
                    confirmed,
                    offered,
                }))
            }
        }
    }

    async fn channel_open_failure(
        &mut self,
        _: ChannelId,
        reason: ChannelOpenFailure,
        description: &str,
        _: &str,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        // Only direct-tcpip channels fail this way, so the text belongs to a way through this host.
        if matches!(reason, ChannelOpenFailure::ConnectFailed) {
            let _ = self.refusals.send(description.to_owned());
        }
        Ok(())
    }
}

/// A connection that stands. It ends when the last user lets go of it.
pub(crate) struct Connection {
    pub(crate) handle: Handle<Judge>,
    pub(crate) refusals: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    pub(crate) statuses: Vec<HopStatus>,
    pub(crate) cut: CancellationToken,
    /// Stands for those who use it, but not for new users.
    pub(crate) retired: AtomicBool,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) last_used: Mutex<Instant>,
    /// The jump host's connection this one runs through, kept as long as this one stands.
    pub(crate) parent: Option<Arc<Connection>>,
}

/// Why no session channel could be opened. Nothing was sent to the host in either case.
pub(crate) enum OpenError {
    /// The connection is dead: another one may do.
    Dead,
    /// The host lives and refuses.
    Refused(String),
}

impl Connection {
    pub(crate) fn is_dead(&self) -> bool {
        self.handle.is_closed() || self.cut.is_cancelled()
    }

    /// Lets those who use it finish; it ends with the last of them.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    pub(crate) fn takes_new_users(&self) -> bool {
        !self.is_dead() && !self.retired.load(Ordering::Acquire)
    }

    pub(crate) fn touch(&self) {
        *self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(crate) fn idle_for(&self) -> Duration {
        self.last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed()
    }

    /// Ends the connection whatever the other side does.
    pub(crate) fn kill(&self) {
        self.cut.cancel();
    }

    /// Whether the host still answers.
    pub(crate) async fn answers(&self, limit: Duration) -> bool {
        let pinged = tokio::time::timeout(limit, self.handle.send_ping()).await;
        matches!(pinged, Ok(Ok(()))) && !self.is_dead()
    }

    /// Waits for a free place, then opens a session channel.
    pub(crate) async fn open(
        &self,
        limit: Duration,
    ) -> Result<(Channel<Msg>, OwnedSemaphorePermit), OpenError> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| OpenError::Dead)?;
        self.touch();
        // A slot of MaxSessions is free only when sshd has reaped the last user's shell.
        for pause_ms in [50, 200, 1000, 0] {
            if self.is_dead() {
                return Err(OpenError::Dead);
            }
            let opened = tokio::time::timeout(limit, self.handle.channel_open_session()).await;
            match opened {
                Ok(Ok(channel)) => return Ok((channel, permit)),
                Ok(Err(russh::Error::ChannelOpenFailure(_))) if pause_ms > 0 => {
                    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
                }
                Ok(Err(russh::Error::ChannelOpenFailure(why))) => {
                    return Err(OpenError::Refused(format!("{why:?}")));
                }
                Ok(Err(_)) | Err(_) => break,
            }
        }
        self.kill();
        Err(OpenError::Dead)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.cut.cancel();
        if let Some(parent) = &self.parent {
            parent.touch();
        }
    }
}
