//! An SSH server in this process that answers a batch as it is told to.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diagnosis::connection::HostKey;
use russh::keys::{Algorithm, PrivateKey};
use russh::server::{
    Auth, ChannelOpenHandle, Config, Handle, Handler, Msg, Session, VerifiedPublicKey,
};
use russh::{Channel, ChannelId};
use server::ssh::{Credential, Hop, host_key};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::sshd::keygen;

type Say = Arc<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

/// What the server does with a batch, once it has the whole script.
#[derive(Clone)]
pub enum Act {
    /// Sends what the function makes of the nonce, then ends the channel as sshd does.
    Say(Say),
    /// The same, but never closes the channel, whatever the client sends.
    SayAndStay(Say),
    /// The same, then drops the connection.
    SayAndDrop(Say),
    /// Sends this many bytes outside any frame, as fast as it can.
    Flood(usize),
    /// Reads and says nothing.
    Silence,
    /// Refuses to run anything.
    Refuse,
    /// Refuses the login.
    NoLogin,
}

pub fn say(f: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Say {
    Arc::new(f)
}

pub struct Peer {
    pub port: u16,
    pub key: HostKey,
    /// Connections accepted, and bytes handed to floods.
    pub connections: Arc<AtomicUsize>,
    pub flooded: Arc<AtomicUsize>,
    /// Messages of a login, which must not come from a client that did not accept the host's key.
    pub logins: Arc<AtomicUsize>,
    dir: TempDir,
}

impl Peer {
    pub async fn start(act: Act) -> Self {
        let private = PrivateKey::random(&mut rand::rng(), Algorithm::Ed25519).unwrap();
        let key = host_key(private.public_key());
        let config = Arc::new(Config {
            keys: vec![private],
            auth_rejection_time: Duration::ZERO,
            ..Config::default()
        });
        let dir = TempDir::new().unwrap();
        keygen(&dir.path().join("key"), "ed25519");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let peer = Self {
            port,
            key,
            connections: Arc::default(),
            flooded: Arc::default(),
            logins: Arc::default(),
            dir,
        };
        let (connections, flooded) = (Arc::clone(&peer.connections), Arc::clone(&peer.flooded));
        let logins = Arc::clone(&peer.logins);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let actor = Actor {
                    act: act.clone(),
                    stdin: HashMap::new(),
                    open: Vec::new(),
                    flooded: Arc::clone(&flooded),
                    logins: Arc::clone(&logins),
                };
                let config = Arc::clone(&config);
                tokio::spawn(async move {
                    if let Ok(session) = russh::server::run_stream(config, stream, actor).await {
                        let _ = session.await;
                    }
                });
            }
        });
        peer
    }

    pub fn client_key(&self) -> PathBuf {
        self.dir.path().join("key")
    }

    pub fn hop(&self) -> Hop {
        Hop {
            address: "127.0.0.1".into(),
            port: self.port,
            user: "root".into(),
            credential: Credential::KeyFile(self.client_key()),
            confirmed: vec![self.key.clone()],
        }
    }
}

struct Actor {
    act: Act,
    stdin: HashMap<ChannelId, Vec<u8>>,
    open: Vec<Channel<Msg>>,
    flooded: Arc<AtomicUsize>,
    logins: Arc<AtomicUsize>,
}

impl Handler for Actor {
    type Error = russh::Error;

    async fn auth_publickey(
        &mut self,
        _: &str,
        _: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        self.logins.fetch_add(1, Ordering::SeqCst);
        Ok(if matches!(self.act, Act::NoLogin) {
            Auth::reject()
        } else {
            Auth::Accept
        })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reply.accept().await;
        self.open.push(channel);
        Ok(())
    }

    async fn exec_request(
        &mut self,
        channel: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        assert_eq!(command, server::ssh::batch::EXEC.as_bytes());
        if matches!(self.act, Act::Refuse) {
            return session.channel_failure(channel);
        }
        session.channel_success(channel)
    }

    async fn data(
        &mut self,
        channel: ChannelId,
        data: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        // Read by this handler alone; the channels are kept so that they stay open.
        let stdin = self.stdin.entry(channel).or_default();
        stdin.extend_from_slice(data);
        if !stdin.ends_with(b"\nmain\n") {
            return Ok(());
        }
        let script = String::from_utf8(std::mem::take(stdin)).unwrap();
        let nonce = script
            .lines()
            .find_map(|l| l.strip_prefix("n="))
            .unwrap()
            .to_owned();
        tokio::spawn(perform(
            self.act.clone(),
            session.handle(),
            channel,
            nonce,
            Arc::clone(&self.flooded),
        ));
        Ok(())
    }
}

async fn perform(
    act: Act,
    handle: Handle,
    channel: ChannelId,
    nonce: String,
    flooded: Arc<AtomicUsize>,
) {
    match act {
        Act::Say(say) => {
            let _ = handle.data(channel, say(&nonce)).await;
            let _ = handle.exit_status_request(channel, 0).await;
            let _ = handle.eof(channel).await;
            let _ = handle.close(channel).await;
        }
        Act::SayAndStay(say) => {
            let _ = handle.data(channel, say(&nonce)).await;
        }
        Act::SayAndDrop(say) => {
            let _ = handle.data(channel, say(&nonce)).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = handle
                .disconnect(
                    russh::Disconnect::ByApplication,
                    String::new(),
                    String::new(),
                )
                .await;
        }
        Act::Flood(bytes) => {
            let _ = handle
                .data(channel, format!("{nonce} begin\n").into_bytes())
                .await;
            let piece = vec![b'x'; 32 * 1024];
            while flooded.load(Ordering::SeqCst) < bytes {
                if handle.data(channel, piece.clone()).await.is_err() {
                    return;
                }
                flooded.fetch_add(piece.len(), Ordering::SeqCst);
            }
        }
        Act::Silence | Act::Refuse | Act::NoLogin => {}
    }
}
