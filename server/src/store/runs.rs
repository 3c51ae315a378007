//! Checks run on one host outside a session.

use app::people::Person;
use app::runs::{RunRow, RunState};
use diagnosis::ids::{CheckId, HostId, RunId};
use diagnosis::run::{Command, RunRecord};
use jiff::Timestamp;
use uuid::Uuid;

use super::hosts::bump;
use super::live::announce;
use super::row::{from_json, text, time, to_json};
use super::{News, Store, StoreError, Topic};

struct Row {
    id: Uuid,
    title: String,
    state: String,
    started_at: jiff_sqlx::Timestamp,
    started_by_name: String,
}

impl TryFrom<Row> for RunRow {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: RunId(row.id),
            title: row.title,
            state: state(row.id, &row.state)?,
            started_at: row.started_at.to_jiff(),
            started_by: row.started_by_name,
        })
    }
}

fn state(id: Uuid, name: &str) -> Result<RunState, StoreError> {
    [
        RunState::Running,
        RunState::Done,
        RunState::Interrupted,
        RunState::Cancelled,
    ]
    .into_iter()
    .find(|s| s.name() == name)
    .ok_or_else(|| StoreError::corrupt(format!("the run {id}"), format!("state “{name}”")))
}

/// A run with its commands.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    pub row: RunRow,
    pub check: CheckId,
    pub host: HostId,
    pub host_name: String,
    pub why: Option<String>,
    pub finished_at: Option<Timestamp>,
    /// Rises with every change.
    pub version: i64,
    pub commands: Vec<StoredCommand>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredCommand {
    pub title: String,
    pub command: Command,
    /// `None` while it runs, or when it was interrupted.
    pub result: Option<RunRecord>,
}

impl Store {
    /// Stores a run with the commands that are about to go to the host.
    ///
    /// # Errors
    /// `NotFound` when the host is gone.
    #[expect(clippy::too_many_arguments, reason = "a run's fields, one each")]
    pub async fn start_run(
        &self,
        id: RunId,
        host: HostId,
        check: &CheckId,
        title: &str,
        why: Option<&str>,
        commands: &[(String, Command)],
        by: &Person,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        let host_version = bump(&mut tx, host).await?;
        sqlx::query!(
            "INSERT INTO runs
                (id, host_id, check_id, title, why, state, started_by, started_by_name, started_at)
             VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, $8)",
            id.0,
            host.0,
            check.as_str(),
            &*text(title),
            why.map(|w| text(w).into_owned()),
            by.id.0,
            by.name,
            time(now) as _
        )
        .execute(&mut *tx)
        .await?;
        for (position, (title, command)) in (0_i32..).zip(commands) {
            sqlx::query!(
                "INSERT INTO run_commands (run_id, position, title, command)
                 VALUES ($1, $2, $3, $4::text::json)",
                id.0,
                position,
                &*text(title),
                to_json("a command", command)?
            )
            .execute(&mut *tx)
            .await?;
        }
        announce(&mut tx, Topic::Run(id), News::Version(1)).await?;
        announce(&mut tx, Topic::Host(host), News::Version(host_version)).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Stores the result of one command; false, and nothing stored, when it has one already or the
    /// run has ended. The outputs must be stored before.
    ///
    /// # Errors
    /// The database is away, or an output is not stored.
    pub async fn finish_command(
        &self,
        id: RunId,
        index: usize,
        result: &RunRecord,
    ) -> Result<bool, StoreError> {
        let Ok(position) = i32::try_from(index) else {
            return Ok(false);
        };
        let mut tx = self.pool.begin().await?;
        let Some(version) = sqlx::query_scalar!(
            "UPDATE runs SET version = version + 1 WHERE id = $1 AND state = 'running'
             RETURNING version",
            id.0
        )
        .fetch_optional(&mut *tx)
        .await?
        else {
            return Ok(false);
        };
        let stored = sqlx::query!(
            "UPDATE run_commands
             SET result = $3::text::json, stdout_hash = $4, stderr_hash = $5
             WHERE run_id = $1 AND position = $2 AND result IS NULL",
            id.0,
            position,
            to_json("a command's result", result)?,
            result.stdout.as_ref().map(|h| h.as_str()),
            result.stderr.as_ref().map(|h| h.as_str())
        )
        .execute(&mut *tx)
        .await?;
        if stored.rows_affected() == 0 {
            return Ok(false);
        }
        announce(&mut tx, Topic::Run(id), News::Version(version)).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends a run; false, and nothing changed, when it has ended already.
    ///
    /// # Errors
    /// The database is away, or the state is "running", which ends nothing.
    pub async fn finish_run(
        &self,
        id: RunId,
        state: RunState,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        let Some(host) = sqlx::query_scalar!("SELECT host_id FROM runs WHERE id = $1", id.0)
            .fetch_optional(&mut *tx)
            .await?
            .map(HostId)
        else {
            return Ok(false);
        };
        // The host's row before the run's, in the order in which the removal of a host takes them.
        let host_version = match bump(&mut tx, host).await {
            Err(StoreError::NotFound { .. }) => return Ok(false),
            bumped => bumped?,
        };
        let Some(version) = sqlx::query_scalar!(
            "UPDATE runs SET state = $2, finished_at = $3, version = version + 1
             WHERE id = $1 AND state = 'running' RETURNING version",
            id.0,
            state.name(),
            time(now) as _
        )
        .fetch_optional(&mut *tx)
        .await?
        else {
            return Ok(false);
        };
        announce(&mut tx, Topic::Run(id), News::Version(version)).await?;
        announce(&mut tx, Topic::Host(host), News::Version(host_version)).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// A run with its commands.
    ///
    /// # Errors
    /// The database is away, or a row cannot be read.
    pub async fn run(&self, id: RunId) -> Result<Option<StoredRun>, StoreError> {
        // One snapshot: the version must be that of the commands beside it.
        let mut tx = self
            .pool
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await?;
        let Some(row) = sqlx::query!(
            r#"SELECT r.id, r.title, r.state, r.started_at AS "started_at: jiff_sqlx::Timestamp",
                      r.started_by_name, r.check_id, r.host_id, h.name AS host_name, r.why,
                      r.finished_at AS "finished_at: jiff_sqlx::Timestamp", r.version
               FROM runs r JOIN hosts h ON h.id = r.host_id WHERE r.id = $1"#,
            id.0
        )
        .fetch_optional(&mut *tx)
        .await?
        else {
            return Ok(None);
        };
        let commands = sqlx::query!(
            r#"SELECT title, command::text AS "command!", result::text
               FROM run_commands WHERE run_id = $1 ORDER BY position"#,
            id.0
        )
        .fetch_all(&mut *tx)
        .await?;
        tx.commit().await?;
        let what = format!("the run {id}");
        Ok(Some(StoredRun {
            row: RunRow {
                id,
                title: row.title,
                state: state(row.id, &row.state)?,
                started_at: row.started_at.to_jiff(),
                started_by: row.started_by_name,
            },
            check: CheckId(row.check_id),
            host: HostId(row.host_id),
            host_name: row.host_name,
            why: row.why,
            finished_at: row.finished_at.map(jiff_sqlx::Timestamp::to_jiff),
            version: row.version,
            commands: commands
                .into_iter()
                .map(|c| {
                    Ok(StoredCommand {
                        title: c.title,
                        command: from_json(&what, &c.command)?,
                        result: c.result.map(|r| from_json(&what, &r)).transpose()?,
                    })
                })
                .collect::<Result<_, StoreError>>()?,
        }))
    }

    /// A host's last runs, newest first.
    ///
    /// # Errors
    /// The database is away, or a row cannot be read.
    pub async fn runs_of_host(&self, id: HostId, limit: u32) -> Result<Vec<RunRow>, StoreError> {
        sqlx::query_as!(
            Row,
            r#"SELECT id, title, state, started_at AS "started_at: _", started_by_name
               FROM runs WHERE host_id = $1 ORDER BY started_at DESC, id DESC LIMIT $2"#,
            id.0,
            i64::from(limit)
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(TryFrom::try_from)
        .collect()
    }

    /// The runs that have not ended: after a restart, those that were interrupted.
    ///
    /// # Errors
    /// The database is away.
    pub async fn open_runs(&self) -> Result<Vec<RunId>, StoreError> {
        Ok(
            sqlx::query_scalar!("SELECT id FROM runs WHERE state = 'running' ORDER BY started_at")
                .fetch_all(&self.pool)
                .await?
                .into_iter()
                .map(RunId)
                .collect(),
        )
    }
}
