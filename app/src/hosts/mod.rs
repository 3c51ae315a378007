//! Hosts: the machines Hopwise logs in to.

#[cfg(feature = "ssr")]
mod port;

use diagnosis::connection::HopStatus;
use diagnosis::facts::{Guest, Platform};
use diagnosis::ids::HostId;
use diagnosis::run::NotRun;
use diagnosis::table::Table;
use jiff::Timestamp;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::runs::RunRow;
use crate::wire::Reply;

#[cfg(feature = "ssr")]
pub use port::{Hosts, NewHost};
#[cfg(feature = "ssr")]
use {
    crate::error::{answer, answer_form},
    crate::people,
};

/// How Hopwise proves who it is to a host. Neither is stored: the key's path, or the agent's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Credential {
    /// A private key's path on the machine Hopwise runs on.
    KeyFile { path: String },
    /// A key of ssh-agent, by its SHA256 fingerprint, or the agent's only key.
    Agent { fingerprint: Option<String> },
}

/// A host as it was entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub id: HostId,
    pub name: String,
    pub address: String,
    pub port: u16,
    pub user: String,
    pub credential: Credential,
    /// The host to go through.
    pub jump: Option<HostId>,
}

/// What the last look at a host found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCheck {
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub at: Timestamp,
    /// The way to the host, hop by hop; the last that was reached may have failed.
    pub hops: Vec<HopStatus>,
    /// When the platform and the guests were read: earlier than `at` where the last look did not get
    /// that far. What was known is kept, with its age.
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::optional")]
    pub read_at: Option<Timestamp>,
    pub platform: Option<Platform>,
    pub guests: GuestList,
}

/// The guests of a host, or why they are not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestList {
    /// Not a hypervisor whose tools Hopwise knows.
    NotAHypervisor,
    Known {
        guests: Vec<Guest>,
    },
    NotRun {
        reason: NotRun,
    },
    /// A tool answered, but not in a way that can be read.
    NotUnderstood {
        detail: String,
    },
}

/// A host in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRow {
    pub host: Host,
    pub jump_name: Option<String>,
    /// It is being looked at now.
    pub checking: bool,
    pub check: Option<HostCheck>,
}

/// Everything a host's page shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostPage {
    pub row: HostRow,
    /// Rises with every change: what the page's event stream resumes after.
    pub version: i64,
    /// What the host is, and its guests, as far as they are known.
    pub platform: Option<Table>,
    pub guests: Option<Table>,
    pub runs: Vec<RunRow>,
    /// The checks that can be run from here: identifier, title, why.
    pub checks: Vec<CheckOffer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOffer {
    pub check: String,
    pub title: String,
    pub why: Option<String>,
    /// The commands, as people read them.
    pub commands: Vec<String>,
}

/// The hosts, by name.
#[server(endpoint = "list-hosts", output = Reply)]
pub async fn list_hosts() -> Result<Vec<HostRow>, AppError> {
    answer(async { port::hosts()?.list(&people::viewer()?).await }.await)
}

/// One host with what is known of it.
#[server(endpoint = "read-host", output = Reply)]
pub async fn read_host(id: HostId) -> Result<HostPage, AppError> {
    answer(async { port::hosts()?.read(&people::viewer()?, id).await }.await)
}

/// Adds a host, looks at it at once and goes to its page. `credential` is `key-file` or `agent`;
/// `jump` is a host's id or empty.
#[server(endpoint = "add-host", output = Reply)]
pub async fn add_host(
    name: String,
    address: String,
    port: String,
    user: String,
    credential: String,
    key_path: Option<String>,
    agent_fingerprint: Option<String>,
    jump: Option<String>,
) -> Result<HostId, AppError> {
    let fields = [
        ("name", name.as_str()),
        ("address", address.as_str()),
        ("port", port.as_str()),
        ("user", user.as_str()),
        ("credential", credential.as_str()),
        ("key_path", key_path.as_deref().unwrap_or_default()),
        (
            "agent_fingerprint",
            agent_fingerprint.as_deref().unwrap_or_default(),
        ),
        ("jump", jump.as_deref().unwrap_or_default()),
    ];
    answer_form::<AddHost, _>(
        "/hosts/new",
        &fields,
        async {
            let admin = people::admin()?;
            let new = NewHost::from_form(
                &name,
                &address,
                &port,
                &user,
                &credential,
                key_path.as_deref(),
                agent_fingerprint.as_deref(),
                jump.as_deref(),
            )?;
            let id = port::hosts()?.add(&admin, new).await?;
            leptos_axum::redirect(&format!("/hosts/{id}"));
            Ok(id)
        }
        .await,
    )
}

/// Looks at a host again: the way to it, what it is, its guests. Returns at once; the page follows.
#[server(endpoint = "check-host", output = Reply)]
pub async fn check_host(id: HostId) -> Result<(), AppError> {
    answer(async { port::hosts()?.check(&people::operator()?, id).await }.await)
}

/// Confirms the key a host offered, named by its fingerprint so that a key that changed in between
/// is not confirmed by mistake. Where another key was confirmed, it is replaced.
#[server(endpoint = "confirm-host-key", output = Reply)]
pub async fn confirm_host_key(id: HostId, fingerprint: String) -> Result<(), AppError> {
    answer(
        async {
            port::hosts()?
                .confirm_key(&people::admin()?, id, &fingerprint)
                .await
        }
        .await,
    )
}

/// Removes a host with its runs. Sessions keep what they have.
#[server(endpoint = "remove-host", output = Reply)]
pub async fn remove_host(id: HostId) -> Result<(), AppError> {
    answer(
        async {
            port::hosts()?.remove(&people::admin()?, id).await?;
            leptos_axum::redirect("/hosts");
            Ok(())
        }
        .await,
    )
}
