//! The one key a host is offered, from a file or from ssh-agent.

use std::path::Path;
use std::sync::Arc;

use russh::AgentAuthError;
use russh::client::{AuthResult, Handle, Handler};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::ssh_key::{HashAlg, PublicKey};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, decode_secret_key};
use tokio::net::UnixStream;

use super::target::Credential;

/// A key that is ready to sign.
pub(crate) enum Key {
    File(Arc<PrivateKey>),
    Agent {
        agent: Box<AgentClient<UnixStream>>,
        key: PublicKey,
    },
}

impl Key {
    /// Loads the key. The error is a clause for `CredentialUnusable`.
    pub(crate) async fn load(
        credential: &Credential,
        agent: Option<&Path>,
    ) -> Result<Self, String> {
        match credential {
            Credential::KeyFile(path) => from_file(path).await,
            Credential::Agent { fingerprint } => {
                let socket = agent.ok_or("no ssh-agent is known here: SSH_AUTH_SOCK is not set")?;
                from_agent(socket, fingerprint.as_deref()).await
            }
        }
    }

    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Self::File(key) => key.fingerprint(HashAlg::Sha256).to_string(),
            Self::Agent { key, .. } => key.fingerprint(HashAlg::Sha256).to_string(),
        }
    }

    /// Logs in with this key and no other.
    pub(crate) async fn log_in<H: Handler>(
        self,
        handle: &mut Handle<H>,
        user: &str,
    ) -> Result<AuthResult, LoginError> {
        let is_rsa = match &self {
            Self::File(key) => key.algorithm().is_rsa(),
            Self::Agent { key, .. } => key.algorithm().is_rsa(),
        };
        // A server that does not say which RSA signatures it takes predates OpenSSH 7.2's
        // `server-sig-algs`; SHA-2 is tried there all the same, SHA-1 never.
        let hash = if is_rsa {
            let said = handle
                .best_supported_rsa_hash()
                .await
                .map_err(LoginError::Lost)?;
            said.flatten().or(Some(HashAlg::Sha512))
        } else {
            None
        };
        match self {
            Self::File(key) => handle
                .authenticate_publickey(user, PrivateKeyWithHashAlg::new(key, hash))
                .await
                .map_err(LoginError::Lost),
            Self::Agent { mut agent, key } => handle
                .authenticate_publickey_with(user, key, hash, agent.as_mut())
                .await
                .map_err(|e| match e {
                    AgentAuthError::Key(e) => LoginError::Agent(e.to_string()),
                    AgentAuthError::Send(_) => LoginError::Lost(russh::Error::Disconnect),
                }),
        }
    }
}

/// Why a login did not even get an answer.
pub(crate) enum LoginError {
    Lost(russh::Error),
    Agent(String),
}

async fn from_file(path: &Path) -> Result<Key, String> {
    let shown = path.display();
    let text = tokio::fs::read_to_string(path)
        .await
        .map_err(|e| format!("{shown} cannot be read: {e}"))?;
    match decode_secret_key(&text, None) {
        Ok(key) => Ok(Key::File(Arc::new(key))),
        Err(russh::keys::Error::KeyIsEncrypted) => Err(format!(
            "{shown} has a passphrase: load it into ssh-agent and choose the agent"
        )),
        Err(e) => Err(format!(
            "{shown} is not a private key that can be used: {e}"
        )),
    }
}

async fn from_agent(socket: &Path, fingerprint: Option<&str>) -> Result<Key, String> {
    let shown = socket.display();
    let mut agent = AgentClient::connect_uds(socket)
        .await
        .map_err(|e| format!("ssh-agent at {shown} does not answer: {e}"))?;
    let keys: Vec<(PublicKey, String)> = agent
        .request_identities()
        .await
        .map_err(|e| format!("ssh-agent at {shown} does not list its keys: {e}"))?
        .into_iter()
        .filter_map(|identity| match identity {
            AgentIdentity::PublicKey { key, comment } => Some((key, comment)),
            AgentIdentity::Certificate { .. } => None,
        })
        .collect();
    let held = || {
        keys.iter()
            .map(|(key, comment)| format!("{} ({comment})", key.fingerprint(HashAlg::Sha256)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let key = match (fingerprint, keys.as_slice()) {
        (_, []) => return Err(format!("ssh-agent at {shown} holds no keys")),
        (None, [(key, _)]) => key.clone(),
        (None, _) => {
            return Err(format!(
                "ssh-agent holds several keys, choose one: {}",
                held()
            ));
        }
        (Some(wanted), _) => keys
            .iter()
            .find(|(key, _)| key.fingerprint(HashAlg::Sha256).to_string() == wanted)
            .map(|(key, _)| key.clone())
            .ok_or_else(|| format!("ssh-agent does not hold {wanted}, only: {}", held()))?,
    };
    Ok(Key::Agent {
        agent: Box::new(agent),
        key,
    })
}
