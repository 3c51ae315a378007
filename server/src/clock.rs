//! The one place that reads the clock, to the microsecond that PostgreSQL keeps.

use jiff::Timestamp;

/// The current time, cut to microseconds so that a value read back equals the one written.
#[must_use]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}
