//! Hosts, what the last look at them found, and their confirmed keys.

use app::hosts::{Host, HostCheck, HostRow, NewHost};
use diagnosis::connection::HostKey;
use diagnosis::ids::{HostId, PersonId, RunId};
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::live::announce;
use super::row::{from_json, time, to_json};
use super::{News, Store, StoreError, Topic};

/// A look that began this long ago has died with its server.
const CHECK_IS_DEAD_AFTER: SignedDuration = SignedDuration::from_mins(5);

struct Row {
    id: Uuid,
    name: String,
    address: String,
    port: i32,
    login: String,
    credential: String,
    jump_id: Option<Uuid>,
    jump_name: Option<String>,
    checking: bool,
    last_check: Option<String>,
    version: i64,
}

impl TryFrom<Row> for (HostRow, i64) {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let what = format!("the host {}", row.id);
        let host = Host {
            id: HostId(row.id),
            name: row.name,
            address: row.address,
            port: u16::try_from(row.port).map_err(|e| StoreError::corrupt(&what, e))?,
            user: row.login,
            credential: from_json(&what, &row.credential)?,
            jump: row.jump_id.map(HostId),
        };
        let check = row
            .last_check
            .map(|json| from_json::<HostCheck>(&what, &json))
            .transpose()?;
        Ok((
            HostRow {
                host,
                jump_name: row.jump_name,
                checking: row.checking,
                check,
            },
            row.version,
        ))
    }
}

impl Store {
    /// Adds a host.
    ///
    /// # Errors
    /// `Conflict` when the name is taken, whatever its case, or the jump host is gone.
    pub async fn add_host(
        &self,
        id: HostId,
        new: &NewHost,
        by: PersonId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query!(
            "INSERT INTO hosts
                (id, name, name_key, address, port, login, credential, jump_id, created_by, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7::text::json, $8, $9, $10)",
            id.0,
            new.name,
            new.name.to_lowercase(),
            new.address,
            i32::from(new.port),
            new.user,
            to_json("a credential", &new.credential)?,
            new.jump.map(|j| j.0),
            by.0,
            time(now) as _
        )
        .execute(&mut *tx)
        .await?;
        announce(&mut tx, Topic::Host(id), News::Version(1)).await?;
        tx.commit().await?;
        Ok(())
    }

    /// All hosts, by name.
    ///
    /// # Errors
    /// The database is away, or a row cannot be read.
    pub async fn hosts(&self) -> Result<Vec<HostRow>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"SELECT h.id, h.name, h.address, h.port, h.login, h.credential::text AS "credential!",
                      h.jump_id, j.name AS "jump_name?", h.checking_since IS NOT NULL AS "checking!",
                      h.last_check::text, h.version
               FROM hosts h LEFT JOIN hosts j ON j.id = h.jump_id
               ORDER BY h.name_key COLLATE "C""#
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| <(HostRow, i64)>::try_from(row).map(|(host, _)| host))
            .collect()
    }

    /// A host and its version.
    ///
    /// # Errors
    /// The database is away, or the row cannot be read.
    pub async fn host(&self, id: HostId) -> Result<Option<(HostRow, i64)>, StoreError> {
        sqlx::query_as!(
            Row,
            r#"SELECT h.id, h.name, h.address, h.port, h.login, h.credential::text AS "credential!",
                      h.jump_id, j.name AS "jump_name?", h.checking_since IS NOT NULL AS "checking!",
                      h.last_check::text, h.version
               FROM hosts h LEFT JOIN hosts j ON j.id = h.jump_id
               WHERE h.id = $1"#,
            id.0
        )
        .fetch_optional(&self.pool)
        .await?
        .map(TryFrom::try_from)
        .transpose()
    }

    /// Says that a look at the host begins; false when one goes on already.
    ///
    /// # Errors
    /// `NotFound` when the host is gone.
    pub async fn begin_host_check(&self, id: HostId, now: Timestamp) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        let version = sqlx::query_scalar!(
            "UPDATE hosts SET checking_since = $2, version = version + 1
             WHERE id = $1 AND (checking_since IS NULL OR checking_since < $3)
             RETURNING version",
            id.0,
            time(now) as _,
            time(now - CHECK_IS_DEAD_AFTER) as _
        )
        .fetch_optional(&mut *tx)
        .await?;
        if let Some(version) = version {
            announce(&mut tx, Topic::Host(id), News::Version(version)).await?;
            tx.commit().await?;
            return Ok(true);
        }
        let there = sqlx::query_scalar!("SELECT version FROM hosts WHERE id = $1", id.0)
            .fetch_optional(&mut *tx)
            .await?;
        if there.is_some() {
            Ok(false)
        } else {
            Err(gone())
        }
    }

    /// Stores what a look at the host found, and ends it.
    ///
    /// # Errors
    /// `NotFound` when the host was removed meanwhile.
    pub async fn end_host_check(&self, id: HostId, check: &HostCheck) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        let version = sqlx::query_scalar!(
            "UPDATE hosts SET checking_since = NULL, last_check = $2::text::json,
                              version = version + 1
             WHERE id = $1 RETURNING version",
            id.0,
            to_json("a host's check", check)?
        )
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(gone)?;
        announce(&mut tx, Topic::Host(id), News::Version(version)).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Ends the looks that died with an earlier server, without a result; gives the hosts. For the
    /// runner, when it starts.
    ///
    /// # Errors
    /// The database is away.
    pub async fn abandon_host_checks(&self) -> Result<Vec<HostId>, StoreError> {
        let mut tx = self.pool.begin().await?;
        let rows = sqlx::query!(
            "UPDATE hosts SET checking_since = NULL, version = version + 1
             WHERE checking_since IS NOT NULL RETURNING id, version"
        )
        .fetch_all(&mut *tx)
        .await?;
        for row in &rows {
            announce(
                &mut tx,
                Topic::Host(HostId(row.id)),
                News::Version(row.version),
            )
            .await?;
        }
        tx.commit().await?;
        Ok(rows.into_iter().map(|row| HostId(row.id)).collect())
    }

    /// The keys of a host that hold.
    ///
    /// # Errors
    /// The database is away.
    pub async fn host_keys(&self, id: HostId) -> Result<Vec<HostKey>, StoreError> {
        Ok(sqlx::query_as!(
            HostKey,
            "SELECT algorithm, fingerprint, openssh FROM host_keys
             WHERE host_id = $1 AND replaced_at IS NULL",
            id.0
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// Confirms a host's key. It replaces the earlier one, which stays on record with who confirmed
    /// it and when. Confirming the key that holds already changes nothing.
    ///
    /// # Errors
    /// `NotFound` when the host is gone.
    pub async fn confirm_host_key(
        &self,
        id: HostId,
        key: &HostKey,
        by: PersonId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        // The host's row first: two people who confirm at once come one after the other.
        let version = bump(&mut tx, id).await?;
        let holds = sqlx::query_scalar!(
            "SELECT openssh FROM host_keys WHERE host_id = $1 AND replaced_at IS NULL",
            id.0
        )
        .fetch_optional(&mut *tx)
        .await?;
        if holds.as_ref() == Some(&key.openssh) {
            return Ok(());
        }
        sqlx::query!(
            "UPDATE host_keys SET replaced_at = $2 WHERE host_id = $1 AND replaced_at IS NULL",
            id.0,
            time(now) as _
        )
        .execute(&mut *tx)
        .await?;
        sqlx::query!(
            "INSERT INTO host_keys
                (host_id, algorithm, fingerprint, openssh, confirmed_by, confirmed_by_name,
                 confirmed_at)
             VALUES ($1, $2, $3, $4, $5,
                     coalesce((SELECT name FROM people WHERE id = $5), 'command line'), $6)",
            id.0,
            key.algorithm,
            key.fingerprint,
            key.openssh,
            by.0,
            time(now) as _
        )
        .execute(&mut *tx)
        .await?;
        announce(&mut tx, Topic::Host(id), News::Version(version)).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Removes a host with its keys and runs.
    ///
    /// # Errors
    /// `Conflict` while another host is reached through it, `NotFound` when it is gone already.
    pub async fn remove_host(&self, id: HostId) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query_scalar!("SELECT id FROM hosts WHERE id = $1 FOR UPDATE", id.0)
            .fetch_optional(&mut *tx)
            .await?
            .ok_or_else(gone)?;
        let behind = sqlx::query_scalar!(
            r#"SELECT name FROM hosts WHERE jump_id = $1 ORDER BY name_key COLLATE "C" LIMIT 1"#,
            id.0
        )
        .fetch_optional(&mut *tx)
        .await?;
        if let Some(name) = behind {
            return Err(StoreError::conflict(
                "hosts_jump_fkey_remove",
                format!("“{name}” is reached through this host. Remove “{name}” first."),
            ));
        }
        let runs = sqlx::query_scalar!("DELETE FROM runs WHERE host_id = $1 RETURNING id", id.0)
            .fetch_all(&mut *tx)
            .await?;
        sqlx::query!("DELETE FROM hosts WHERE id = $1", id.0)
            .execute(&mut *tx)
            .await?;
        for run in runs {
            announce(&mut tx, Topic::Run(RunId(run)), News::Gone).await?;
        }
        announce(&mut tx, Topic::Host(id), News::Gone).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Raises a host's version and locks its row.
pub(super) async fn bump(tx: &mut PgConnection, id: HostId) -> Result<i64, StoreError> {
    sqlx::query_scalar!(
        "UPDATE hosts SET version = version + 1 WHERE id = $1 RETURNING version",
        id.0
    )
    .fetch_optional(tx)
    .await?
    .ok_or_else(gone)
}

const fn gone() -> StoreError {
    StoreError::NotFound { what: "The host" }
}
