//! What the interface needs of the hosts; the server implements it.

use std::sync::Arc;

use async_trait::async_trait;
use diagnosis::ids::HostId;
use leptos::prelude::*;

use super::{Credential, HostPage, HostRow};
use crate::error::AppError;
use crate::people::{Admin, Operator, Viewer};

/// A host as somebody entered it, checked field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHost {
    pub name: String,
    pub address: String,
    pub port: u16,
    pub user: String,
    pub credential: Credential,
    pub jump: Option<HostId>,
}

impl NewHost {
    /// Reads the form's texts.
    ///
    /// # Errors
    /// Names the first field that cannot be used.
    #[expect(clippy::too_many_arguments, reason = "the form's fields, one each")]
    pub fn from_form(
        name: &str,
        address: &str,
        port: &str,
        user: &str,
        credential: &str,
        key_path: Option<&str>,
        agent_fingerprint: Option<&str>,
        jump: Option<&str>,
    ) -> Result<Self, AppError> {
        let printable = |field: &str, text: &str, most: usize, what: &str| {
            let text = text.trim();
            if text.is_empty() || text.len() > most || text.chars().any(char::is_control) {
                Err(AppError::invalid(
                    field,
                    format!("{what} has 1 to {most} printable characters."),
                ))
            } else {
                Ok(text.to_owned())
            }
        };
        let name = printable("name", name, 64, "A name")?;
        let address = printable("address", address, 253, "An address")?;
        if !address
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-_:%[]".contains(c))
            || address.starts_with('-')
        {
            return Err(AppError::invalid(
                "address",
                "Enter a host name or an IP address, without a port.",
            ));
        }
        let port =
            match port.trim() {
                "" => 22,
                text => text.parse().ok().filter(|p: &u16| *p > 0).ok_or_else(|| {
                    AppError::invalid("port", "A port is a number from 1 to 65535.")
                })?,
            };
        let user = match user.trim() {
            "" => "root".to_owned(),
            text => printable("user", text, 64, "A user")?,
        };
        let given = |text: Option<&str>| {
            text.map(str::trim)
                .filter(|t| !t.is_empty())
                .map(str::to_owned)
        };
        let credential = match credential {
            "agent" => Credential::Agent {
                fingerprint: given(agent_fingerprint),
            },
            "key-file" => match given(key_path) {
                Some(path) if path.starts_with('/') && !path.contains('\0') => {
                    Credential::KeyFile { path }
                }
                _ => {
                    return Err(AppError::invalid(
                        "key_path",
                        "Enter the private key's full path on this server.",
                    ));
                }
            },
            _ => {
                return Err(AppError::invalid(
                    "credential",
                    "Choose a key file or the agent.",
                ));
            }
        };
        let jump = given(jump)
            .map(|text| {
                text.parse()
                    .map_err(|_| AppError::invalid("jump", "Choose a host from the list."))
            })
            .transpose()?;
        Ok(Self {
            name,
            address,
            port,
            user,
            credential,
            jump,
        })
    }
}

#[async_trait]
pub trait Hosts: Send + Sync {
    async fn list(&self, by: &Viewer) -> Result<Vec<HostRow>, AppError>;
    async fn read(&self, by: &Viewer, id: HostId) -> Result<HostPage, AppError>;
    /// Stores the host and begins to look at it.
    async fn add(&self, by: &Admin, host: NewHost) -> Result<HostId, AppError>;
    /// Begins to look at the host, unless that goes on already.
    async fn check(&self, by: &Operator, id: HostId) -> Result<(), AppError>;
    /// Confirms the key that the last look was offered, and begins to look again.
    async fn confirm_key(&self, by: &Admin, id: HostId, fingerprint: &str) -> Result<(), AppError>;
    /// Refused while another host is reached through it.
    async fn remove(&self, by: &Admin, id: HostId) -> Result<(), AppError>;
}

pub(super) fn hosts() -> Result<Arc<dyn Hosts>, AppError> {
    use_context().ok_or_else(|| AppError::Transport {
        message: "the server gave no hosts".into(),
    })
}
