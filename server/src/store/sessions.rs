//! Sessions: events are only ever appended, numbered without gaps under the session row's lock; the
//! summary that lists show is written in the same transaction.

use app::sessions::{SessionRow, SessionState};
use diagnosis::ids::{OutputHash, SessionId};
use diagnosis::session::{EVENT_VERSION, Entry, Event, Session};
use jiff::Timestamp;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::error::MOVED_ON;
use super::live::announce;
use super::row::{from_json, time, to_json};
use super::{News, Store, StoreError, Summary, Topic, summary};

/// Folds kept in memory: more sessions than are diagnosed at once.
const MOST_FOLDS: usize = 64;

struct Row {
    id: Uuid,
    title: String,
    ends: String,
    state: String,
    headline: String,
    started_by_name: String,
    started_at: jiff_sqlx::Timestamp,
    changed_at: jiff_sqlx::Timestamp,
}

impl TryFrom<Row> for SessionRow {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let state = STATES
            .into_iter()
            .find(|s| state_key(*s) == row.state)
            .ok_or_else(|| {
                StoreError::corrupt(
                    format!("the session {}", row.id),
                    format!("state “{}”", row.state),
                )
            })?;
        Ok(Self {
            id: SessionId(row.id),
            title: row.title,
            ends: row.ends,
            state,
            headline: row.headline,
            started_by: row.started_by_name,
            started_at: row.started_at.to_jiff(),
            changed_at: row.changed_at.to_jiff(),
        })
    }
}

const STATES: [SessionState; 6] = [
    SessionState::Running,
    SessionState::Waiting,
    SessionState::CauseFound,
    SessionState::NoFaultFound,
    SessionState::Inconclusive,
    SessionState::Stopped,
];

/// As the schema's constraint lists them.
const fn state_key(state: SessionState) -> &'static str {
    match state {
        SessionState::Running => "running",
        SessionState::Waiting => "waiting",
        SessionState::CauseFound => "cause-found",
        SessionState::NoFaultFound => "no-fault-found",
        SessionState::Inconclusive => "inconclusive",
        SessionState::Stopped => "stopped",
    }
}

impl Store {
    /// Stores a session's first event, which must be its start.
    ///
    /// # Errors
    /// `Corrupt` for another event.
    pub async fn start_session(
        &self,
        id: SessionId,
        event: &Event,
        now: Timestamp,
    ) -> Result<Entry, StoreError> {
        let entry = entry(1, event, now);
        let session = Session::fold(id, std::slice::from_ref(&entry))?;
        let Summary {
            title,
            ends,
            state,
            headline,
            started_by,
        } = summary(&session);
        let mut tx = self.pool.begin().await?;
        sqlx::query!(
            "INSERT INTO sessions
                (id, seq, title, ends, state, headline, started_by_name, started_at, changed_at)
             VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $7)",
            id.0,
            title,
            ends,
            state_key(state),
            headline,
            started_by,
            time(now) as _
        )
        .execute(&mut *tx)
        .await?;
        insert(&mut tx, id, &entry).await?;
        announce(&mut tx, Topic::Session(id), News::Version(1)).await?;
        tx.commit().await?;
        self.keep_fold(session);
        Ok(entry)
    }

    /// Appends events to a session and gives them with their numbers. With `expect`, only while the
    /// session's last event is that one. Outputs the events refer to must be stored before.
    ///
    /// # Errors
    /// `Conflict` (see [`StoreError::has_moved_on`]) when the session has moved on; `NotFound` when
    /// there is none; `Corrupt` when the events do not fit.
    pub async fn append(
        &self,
        id: SessionId,
        expect: Option<i64>,
        events: &[Event],
        now: Timestamp,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut tx = self.pool.begin().await?;
        let seq = sqlx::query_scalar!("SELECT seq FROM sessions WHERE id = $1 FOR UPDATE", id.0)
            .fetch_optional(&mut *tx)
            .await?
            .ok_or(StoreError::NotFound {
                what: "The session",
            })?;
        if expect.is_some_and(|known| known != seq) {
            return Err(StoreError::conflict(
                MOVED_ON,
                "The session has moved on meanwhile. Look at it as it is now.",
            ));
        }
        let mut session = self
            .fold(&mut tx, id)
            .await?
            .ok_or_else(|| StoreError::corrupt(format!("the session {id}"), "it has no events"))?;
        let mut entries = Vec::with_capacity(events.len());
        for (seq, event) in (seq + 1..).zip(events) {
            let entry = entry(seq, event, now);
            session.apply(&entry)?;
            insert(&mut tx, id, &entry).await?;
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(entries);
        }
        let Summary {
            title,
            ends,
            state,
            headline,
            started_by,
        } = summary(&session);
        sqlx::query!(
            "UPDATE sessions SET seq = $2, title = $3, ends = $4, state = $5, headline = $6,
                                 started_by_name = $7, changed_at = $8
             WHERE id = $1",
            id.0,
            session.seq,
            title,
            ends,
            state_key(state),
            headline,
            started_by,
            time(now) as _
        )
        .execute(&mut *tx)
        .await?;
        announce(&mut tx, Topic::Session(id), News::Version(session.seq)).await?;
        tx.commit().await?;
        self.keep_fold(session);
        Ok(entries)
    }

    /// A session's events after that number.
    ///
    /// # Errors
    /// The database is away; `Newer` or `Corrupt` when an event cannot be read.
    pub async fn entries(&self, id: SessionId, after: i64) -> Result<Vec<Entry>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        entries(&mut connection, id, after).await
    }

    /// A session as it stands: the fold of its events.
    ///
    /// # Errors
    /// The database is away; `Newer` or `Corrupt` when an event cannot be read.
    pub async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        self.fold(&mut connection, id).await
    }

    /// The sessions that changed last, newest first; those that changed before `before` did.
    ///
    /// # Errors
    /// The database is away, or a row cannot be read.
    pub async fn sessions(
        &self,
        before: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        sqlx::query_as!(
            Row,
            r#"SELECT id, title, ends, state, headline, started_by_name,
                      started_at AS "started_at: _", changed_at AS "changed_at: _"
               FROM sessions
               WHERE $1::uuid IS NULL
                  OR (changed_at, id) < (SELECT changed_at, id FROM sessions WHERE id = $1)
               ORDER BY changed_at DESC, id DESC LIMIT $2"#,
            before.map(|b| b.0),
            i64::from(limit)
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(TryFrom::try_from)
        .collect()
    }

    /// The sessions whose commands run or are about to: what a runner takes up when it starts.
    ///
    /// # Errors
    /// The database is away.
    pub async fn unfinished_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        Ok(sqlx::query_scalar!(
            "SELECT id FROM sessions WHERE state = 'running' ORDER BY started_at"
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(SessionId)
        .collect())
    }

    /// The fold of a session, from the one in memory where there is one. What is read on this
    /// connection is not kept: it may be part of a transaction that fails.
    async fn fold(
        &self,
        connection: &mut PgConnection,
        id: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        let known = self
            .folds
            .lock()
            .ok()
            .and_then(|folds| folds.get(&id).cloned());
        if let Some(mut session) = known {
            let seq = sqlx::query_scalar!("SELECT seq FROM sessions WHERE id = $1", id.0)
                .fetch_optional(&mut *connection)
                .await?;
            // The number alone does not tell a database that was put back from a backup; the time
            // of the last event does.
            let same = sqlx::query_scalar!(
                r#"SELECT at AS "at: jiff_sqlx::Timestamp" FROM session_events
                   WHERE session_id = $1 AND seq = $2"#,
                id.0,
                session.seq
            )
            .fetch_optional(&mut *connection)
            .await?
            .is_some_and(|at| at.to_jiff() == session.changed_at);
            if same && seq.is_some() {
                for entry in entries(connection, id, session.seq).await? {
                    session.apply(&entry)?;
                }
                return Ok(Some(session));
            }
        }
        let entries = entries(connection, id, 0).await?;
        if entries.is_empty() {
            return Ok(None);
        }
        Ok(Some(Session::fold(id, &entries)?))
    }

    fn keep_fold(&self, session: Session) {
        let Ok(mut folds) = self.folds.lock() else {
            return;
        };
        if folds.get(&session.id).is_some_and(|f| f.seq > session.seq) {
            return;
        }
        if folds.len() >= MOST_FOLDS && !folds.contains_key(&session.id) {
            let oldest = folds.values().min_by_key(|f| f.changed_at).map(|f| f.id);
            if let Some(oldest) = oldest {
                folds.remove(&oldest);
            }
        }
        folds.insert(session.id, session);
    }
}

fn entry(seq: i64, event: &Event, now: Timestamp) -> Entry {
    Entry {
        seq,
        at: time(now).to_jiff(),
        version: EVENT_VERSION,
        event: event.clone(),
    }
}

async fn insert(tx: &mut PgConnection, id: SessionId, entry: &Entry) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO session_events (session_id, seq, at, version, event)
         VALUES ($1, $2, $3, $4, $5::text::json)",
        id.0,
        entry.seq,
        time(entry.at) as _,
        i32::from(entry.version),
        to_json("an event", &entry.event)?
    )
    .execute(&mut *tx)
    .await?;
    for hash in outputs(&entry.event) {
        sqlx::query!(
            "INSERT INTO session_outputs (session_id, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            id.0,
            hash.as_str()
        )
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// The outputs an event refers to.
fn outputs(event: &Event) -> impl Iterator<Item = &OutputHash> {
    let (stdout, stderr) = match event {
        Event::RunDone { record, .. } => (record.stdout.as_ref(), record.stderr.as_ref()),
        Event::Started { .. }
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::RunsStarted { .. }
        | Event::Found { .. }
        | Event::Concluded { .. }
        | Event::Interrupted { .. }
        | Event::Stopped { .. } => (None, None),
    };
    stdout.into_iter().chain(stderr)
}

async fn entries(
    connection: &mut PgConnection,
    id: SessionId,
    after: i64,
) -> Result<Vec<Entry>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT seq, at AS "at: jiff_sqlx::Timestamp", version, event::text AS "event!"
           FROM session_events WHERE session_id = $1 AND seq > $2 ORDER BY seq"#,
        id.0,
        after
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let what = format!("event {} of the session {id}", row.seq);
            // Before its contents: an event of a newer program may have a form unknown here.
            let version = u16::try_from(row.version)
                .ok()
                .filter(|v| *v <= EVENT_VERSION)
                .ok_or_else(|| StoreError::Newer {
                    detail: format!(
                        "{what} was written by version {}, newer than this program",
                        row.version
                    ),
                })?;
            Ok(Entry {
                seq: row.seq,
                at: row.at.to_jiff(),
                version,
                event: from_json(&what, &row.event)?,
            })
        })
        .collect()
}
