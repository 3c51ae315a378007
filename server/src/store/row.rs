//! From rows to domain types and back.

use std::borrow::Cow;

use diagnosis::ids::OutputHash;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;

/// A timestamp as the database keeps it: `timestamptz` has microseconds. Rounded here, what was
/// written and what is read are the same value.
pub(super) fn time(at: Timestamp) -> jiff_sqlx::Timestamp {
    Timestamp::from_microsecond(at.as_microsecond())
        .unwrap_or(at)
        .into()
}

/// Text as Postgres can hold it: it refuses NUL. For texts that lists show; documents keep theirs.
pub(super) fn text(value: &str) -> Cow<'_, str> {
    if value.contains('\0') {
        Cow::Owned(value.replace('\0', "\u{2400}"))
    } else {
        Cow::Borrowed(value)
    }
}

/// A document for a `json` column.
pub(super) fn to_json<T: Serialize>(what: &str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|e| StoreError::corrupt(what, e))
}

/// A document from a `json` column.
pub(super) fn from_json<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|e| StoreError::corrupt(what, e))
}

/// Whether this is a SHA-256 in lower-case hexadecimal: hashes also come from addresses that people
/// type.
pub(super) fn is_hash(hash: &OutputHash) -> bool {
    hash.as_str().len() == 64
        && hash
            .as_str()
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
