//! From the list of hosts to what SSH connects to.

use app::hosts::Credential as Given;
use diagnosis::ids::HostId;

use crate::route::{RouteError, hosts_on_the_way};
use crate::ssh::{Credential, Hop, Target};
use crate::store::{Store, StoreError};

/// Why there is nothing to connect to.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error(transparent)]
    Route(#[from] RouteError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The hops to a host, each with the keys that were confirmed for it.
///
/// # Errors
/// There is no way to the host, or the store cannot be read.
pub async fn target_of(store: &Store, id: HostId) -> Result<Target, TargetError> {
    let hosts = store.hosts().await?;
    let mut hops = Vec::new();
    for host in hosts_on_the_way(&hosts, id)? {
        hops.push(Hop {
            address: host.address.clone(),
            port: host.port,
            user: host.user.clone(),
            credential: match &host.credential {
                Given::KeyFile { path } => Credential::KeyFile(path.into()),
                Given::Agent { fingerprint } => Credential::Agent {
                    fingerprint: fingerprint.clone(),
                },
            },
            confirmed: store.host_keys(host.id).await?,
        });
    }
    Ok(Target { hops })
}
