use std::sync::Arc;

use app::error::AppError;
use app::hosts::{CheckOffer, GuestList, HostPage, HostRow, Hosts, NewHost};
use app::people::{Admin, Operator, Viewer};
use async_trait::async_trait;
use diagnosis::connection::ConnectionStatus;
use diagnosis::facts::{Guest, Platform};
use diagnosis::ids::HostId;
use diagnosis::knowledge::Pack;
use uuid::Uuid;

use crate::clock::now;
use crate::route::hosts_on_the_way;
use crate::store::Store;

/// How many of a host's runs its page lists.
const RUNS_SHOWN: u32 = 20;

/// The `Hosts` port.
pub struct HostService {
    store: Store,
    pack: Arc<Pack>,
}

impl HostService {
    #[must_use]
    pub const fn new(store: Store, pack: Arc<Pack>) -> Self {
        Self { store, pack }
    }

    fn offers(&self) -> Vec<CheckOffer> {
        self.pack
            .checks
            .values()
            .filter(|check| check.parameters.is_empty())
            .map(|check| CheckOffer {
                check: check.check.to_string(),
                title: check.title.clone(),
                why: check.why.clone(),
                commands: self
                    .pack
                    .commands_for(&check.check)
                    .unwrap_or_default()
                    .iter()
                    .map(|planned| planned.command.display())
                    .collect(),
            })
            .filter(|offer| !offer.commands.is_empty())
            .collect()
    }
}

#[async_trait]
impl Hosts for HostService {
    async fn list(&self, _: &Viewer) -> Result<Vec<HostRow>, AppError> {
        Ok(self.store.hosts().await?)
    }

    async fn read(&self, _: &Viewer, id: HostId) -> Result<HostPage, AppError> {
        let (row, version) = self.store.host(id).await?.ok_or_else(not_here)?;
        let runs = self.store.runs_of_host(id, RUNS_SHOWN).await?;
        let platform = row.check.as_ref().and_then(|c| c.platform.as_ref());
        let guests = match row.check.as_ref().map(|c| &c.guests) {
            Some(GuestList::Known { guests }) => Some(Guest::table(guests)),
            Some(
                GuestList::NotAHypervisor
                | GuestList::NotRun { .. }
                | GuestList::NotUnderstood { .. },
            )
            | None => None,
        };
        Ok(HostPage {
            platform: platform.map(Platform::table),
            guests,
            row,
            version,
            runs,
            checks: self.offers(),
        })
    }

    async fn add(&self, by: &Admin, host: NewHost) -> Result<HostId, AppError> {
        if let Some(jump) = host.jump {
            let hosts = self.store.hosts().await?;
            hosts_on_the_way(&hosts, jump).map_err(|e| AppError::invalid("jump", e.to_string()))?;
        }
        let id = HostId(Uuid::now_v7());
        self.store
            .add_host(id, &host, by.person().id, now())
            .await?;
        self.store.begin_host_check(id, now()).await?;
        Ok(id)
    }

    async fn check(&self, _: &Operator, id: HostId) -> Result<(), AppError> {
        // One look at a time: where one goes on, its result is the one that was asked for.
        self.store.begin_host_check(id, now()).await?;
        Ok(())
    }

    async fn confirm_key(&self, by: &Admin, id: HostId, fingerprint: &str) -> Result<(), AppError> {
        let (row, _) = self.store.host(id).await?.ok_or_else(not_here)?;
        let hosts = self.store.hosts().await?;
        let own_hop = hosts_on_the_way(&hosts, id).map_or(1, |way| way.len());
        let offered = row
            .check
            .as_ref()
            .filter(|check| check.hops.len() == own_hop)
            .and_then(|check| check.hops.last())
            .and_then(|hop| match &hop.status {
                ConnectionStatus::HostKeyUnknown { offered }
                | ConnectionStatus::HostKeyChanged { offered, .. } => Some(offered),
                _ => None,
            })
            .ok_or_else(|| AppError::Conflict {
                message: "There is no key to confirm: look at the host again first.".into(),
            })?;
        if offered.fingerprint != fingerprint {
            return Err(AppError::Conflict {
                message: format!(
                    "The host now shows the key {}, not the one this page showed. Compare it again.",
                    offered.fingerprint
                ),
            });
        }
        self.store
            .confirm_host_key(id, offered, by.person().id, now())
            .await?;
        self.store.begin_host_check(id, now()).await?;
        Ok(())
    }

    async fn remove(&self, _: &Admin, id: HostId) -> Result<(), AppError> {
        Ok(self.store.remove_host(id).await?)
    }
}

fn not_here() -> AppError {
    AppError::NotFound {
        what: "This host".into(),
    }
}
