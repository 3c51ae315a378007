//! Limits on sign-ins: per name against guessing, in total against making the server hash all day.

use std::num::NonZeroU32;
use std::time::Duration;

use app::error::AppError;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use sha2::{Digest, Sha256};

use crate::store::people::name_key;

/// Tries for one name: 10 at once, then one every 10 seconds.
const PER_NAME: NonZeroU32 = NonZeroU32::new(10).unwrap();
const PER_NAME_EVERY: Duration = Duration::from_secs(10);
/// Tries for all names: 60 at once, then 2 a second.
const IN_TOTAL: NonZeroU32 = NonZeroU32::new(60).unwrap();
const IN_TOTAL_EVERY: Duration = Duration::from_millis(500);
/// Names remembered before those whose time is over are forgotten.
const MOST_NAMES: usize = 4096;

pub(super) struct SignInLimits {
    per_name: DefaultKeyedRateLimiter<[u8; 32]>,
    in_total: DefaultDirectRateLimiter,
    clock: DefaultClock,
}

impl SignInLimits {
    pub(super) fn new() -> Self {
        let quota = |most, every| {
            Quota::with_period(every)
                .unwrap_or_else(|| Quota::per_second(NonZeroU32::MIN))
                .allow_burst(most)
        };
        Self {
            per_name: RateLimiter::keyed(quota(PER_NAME, PER_NAME_EVERY)),
            in_total: RateLimiter::direct(quota(IN_TOTAL, IN_TOTAL_EVERY)),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a try. The total comes first: beyond it, no more names are remembered.
    pub(super) fn check(&self, name: &str) -> Result<(), AppError> {
        self.in_total.check().map_err(|n| self.too_many(&n))?;
        if self.per_name.len() > MOST_NAMES {
            self.per_name.retain_recent();
        }
        let key = Sha256::digest(name_key(name)).into();
        self.per_name.check_key(&key).map_err(|n| self.too_many(&n))
    }

    fn too_many(&self, until: &NotUntil<<DefaultClock as Clock>::Instant>) -> AppError {
        AppError::TooMany {
            seconds: until.wait_time_from(self.clock.now()).as_secs() + 1,
        }
    }
}
