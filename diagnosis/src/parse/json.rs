//! What the `-j` outputs of iproute2 have in common.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::{Output, ParseError, clip};

pub(super) type Object = Map<String, Value>;

/// The items of a `-j` output. iproute2 up to 4.18 prints `[{},{}]` for "nothing": empty objects are
/// dropped.
pub(super) fn items(output: &Output, parser: &'static str) -> Result<Vec<Value>, ParseError> {
    match document(output, parser)? {
        Value::Array(items) => Ok(items
            .into_iter()
            .filter(|item| item.as_object().is_none_or(|o| !o.is_empty()))
            .collect()),
        other => Err(ParseError::NotUnderstood {
            parser,
            detail: format!("not a list: {}", clip(&other.to_string())),
        }),
    }
}

/// The whole JSON document. Silence is not an empty list: a tool that printed nothing said nothing.
pub(super) fn document(output: &Output, parser: &'static str) -> Result<Value, ParseError> {
    output.succeeded()?;
    serde_json::from_str(&output.stdout).map_err(|e| ParseError::NotUnderstood {
        parser,
        detail: if output.stdout.trim().is_empty() {
            "the tool printed nothing".into()
        } else {
            e.to_string()
        },
    })
}

pub(super) fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

pub(super) fn owned(object: &Object, key: &str) -> Option<String> {
    text(object, key).map(str::to_owned)
}

pub(super) fn number<T: TryFrom<u64>>(object: &Object, key: &str) -> Option<T> {
    T::try_from(object.get(key)?.as_u64()?).ok()
}

pub(super) fn ip(object: &Object, key: &str) -> Option<IpAddr> {
    text(object, key)?.parse().ok()
}

pub(super) fn flag(object: &Object, key: &str) -> bool {
    object.get(key).is_some_and(|v| v.as_bool().unwrap_or(true))
}

pub(super) fn texts(object: &Object, key: &str) -> Vec<String> {
    object
        .get(key)
        .and_then(Value::as_array)
        .map(|items| {
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default()
}

/// An interface's name without what `ip` prints after `@`.
pub(super) fn interface(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}
