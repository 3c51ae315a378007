//! One connection per way, shared by everybody who goes that way.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use diagnosis::connection::{ConnectionStatus, HopStatus};

use super::connect::connect;
use super::connection::Connection;
use super::options::SshOptions;
use super::target::Hop;

/// How long a refusal makes a silent close look like a penalty: PerSourcePenalties' default maximum.
const SUSPICION: Duration = Duration::from_secs(600);

type Outcome = Result<Arc<Connection>, Vec<HopStatus>>;

pub(crate) struct Pool {
    options: SshOptions,
    slots: Mutex<HashMap<Vec<Hop>, Arc<Slot>>>,
    /// When a host last refused us.
    refusals: Mutex<HashMap<(String, u16), Instant>>,
}

#[derive(Default)]
struct Slot {
    /// Held while connecting, so that concurrent first users share one attempt.
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    failed: Option<(Instant, Vec<HopStatus>)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn endpoint(hop: &Hop) -> (String, u16) {
    (hop.address.clone(), hop.port)
}

impl Pool {
    pub(crate) fn new(options: SshOptions) -> Self {
        Self {
            options,
            slots: Mutex::default(),
            refusals: Mutex::default(),
        }
    }

    pub(crate) fn options(&self) -> &SshOptions {
        &self.options
    }

    /// The connection to the last of `hops`. Connecting goes on in its own task when the caller gives
    /// up, for the others who wait.
    pub(crate) async fn get(self: &Arc<Self>, hops: &[Hop]) -> Outcome {
        let (pool, hops) = (Arc::clone(self), hops.to_vec());
        let asked = Instant::now();
        match tokio::spawn(async move { pool.find(&hops, asked).await }).await {
            Ok(outcome) => outcome,
            Err(error) => Err(vec![HopStatus {
                hop: "Hopwise".into(),
                status: ConnectionStatus::ProtocolError {
                    detail: format!("connecting ended early: {error}"),
                },
                took_ms: 0,
            }]),
        }
    }

    fn find<'a>(
        self: &'a Arc<Self>,
        hops: &'a [Hop],
        asked: Instant,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            let Some((hop, before)) = hops.split_last() else {
                return Err(Vec::new());
            };
            let slot = Arc::clone(lock(&self.slots).entry(hops.to_vec()).or_default());
            let mut state = slot.state.lock().await;
            if let Some(live) = state.connection.as_ref().filter(|c| c.takes_new_users()) {
                live.touch();
                return Ok(Arc::clone(live));
            }
            state.connection = None;
            if let Some((at, statuses)) = &state.failed
                && (*at >= asked || at.elapsed() < self.back_off(statuses))
            {
                return Err(statuses.clone());
            }
            let outcome = self.connect(hop, before, asked).await;
            match &outcome {
                Ok(connection) => {
                    state.failed = None;
                    state.connection = Some(Arc::clone(connection));
                    tokio::spawn(close_when_idle(
                        Arc::downgrade(self),
                        hops.to_vec(),
                        Arc::downgrade(connection),
                        self.options.idle_limit,
                    ));
                }
                Err(statuses) => state.failed = Some((Instant::now(), statuses.clone())),
            }
            outcome
        })
    }

    async fn connect(self: &Arc<Self>, hop: &Hop, before: &[Hop], asked: Instant) -> Outcome {
        let mut again = true;
        loop {
            let parent = match before {
                [] => None,
                before => Some(self.find(before, asked).await?),
            };
            let mut statuses = parent
                .as_ref()
                .map_or_else(Vec::new, |p| p.statuses.clone());
            let suspect = self.suspects(hop);
            let started = Instant::now();
            let connected = connect(hop, parent.clone(), suspect, &self.options).await;
            let mut status = |status: ConnectionStatus| {
                statuses.push(HopStatus {
                    hop: hop.to_string(),
                    status,
                    took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                });
            };
            match connected {
                Ok(mut connection) => {
                    lock(&self.refusals).remove(&endpoint(hop));
                    status(ConnectionStatus::Connected);
                    connection.statuses = statuses;
                    return Ok(Arc::new(connection));
                }
                // The jump host's pooled connection turned out dead: once more over a fresh one.
                Err(_) if again && parent.as_ref().is_some_and(|p| p.is_dead()) => again = false,
                Err(why) => {
                    self.remember(hop, &why);
                    status(why);
                    return Err(statuses);
                }
            }
        }
    }

    fn back_off(&self, statuses: &[HopStatus]) -> Duration {
        match statuses.last().map(|s| &s.status) {
            Some(ConnectionStatus::AuthFailed { .. }) => self.options.auth_back_off,
            Some(ConnectionStatus::Penalised) => self.options.penalty_back_off,
            _ => Duration::ZERO,
        }
    }

    fn suspects(&self, hop: &Hop) -> bool {
        lock(&self.refusals)
            .get(&endpoint(hop))
            .is_some_and(|at| at.elapsed() < SUSPICION)
    }

    fn remember(&self, hop: &Hop, status: &ConnectionStatus) {
        if matches!(
            status,
            ConnectionStatus::AuthFailed { .. } | ConnectionStatus::Penalised
        ) {
            lock(&self.refusals).insert(endpoint(hop), Instant::now());
        }
    }

    /// Ends a connection that turned out dead.
    pub(crate) async fn discard(&self, hops: &[Hop], dead: &Arc<Connection>) {
        dead.kill();
        self.let_go(hops, dead).await;
    }

    /// Gives a connection to nobody any more; it ends with its last user. A newer one stays.
    pub(crate) async fn let_go(&self, hops: &[Hop], dead: &Arc<Connection>) {
        dead.retire();
        let slot = lock(&self.slots).get(hops).cloned();
        if let Some(slot) = slot {
            let mut state = slot.state.lock().await;
            if state
                .connection
                .as_ref()
                .is_some_and(|c| Arc::ptr_eq(c, dead))
            {
                state.connection = None;
            }
        }
    }

    /// Forgets everything about a host: every way that leads to or through it.
    pub(crate) fn forget(&self, hop: &Hop) {
        let gone = endpoint(hop);
        lock(&self.slots).retain(|hops, _| hops.iter().all(|h| endpoint(h) != gone));
        lock(&self.refusals).remove(&gone);
    }
}

/// Ends a connection nobody has used for a while. One that carries others (a jump host) is in use.
async fn close_when_idle(
    pool: Weak<Pool>,
    hops: Vec<Hop>,
    connection: Weak<Connection>,
    limit: Duration,
) {
    loop {
        tokio::time::sleep((limit / 4).max(Duration::from_millis(20))).await;
        let (Some(pool), Some(connection)) = (pool.upgrade(), connection.upgrade()) else {
            return;
        };
        let slot = lock(&pool.slots).get(&hops).cloned();
        let Some(slot) = slot else { continue };
        // Held, so that nobody picks the connection up between the look and the end.
        let mut state = slot.state.lock().await;
        let mine = state
            .connection
            .as_ref()
            .is_some_and(|c| Arc::ptr_eq(c, &connection));
        // The slot's and the one in hand.
        let unused = Arc::strong_count(&connection) <= 2;
        if connection.is_dead() || (unused && connection.idle_for() >= limit) {
            if mine {
                state.connection = None;
            }
            if !connection.is_dead() {
                let bye =
                    connection
                        .handle
                        .disconnect(russh::Disconnect::ByApplication, "idle", "");
                let _ = tokio::time::timeout(Duration::from_secs(1), bye).await;
            }
            drop(state);
            drop(slot);
            lock(&pool.slots).retain(|h, s| *h != hops || Arc::strong_count(s) > 1);
            return;
        }
    }
}
