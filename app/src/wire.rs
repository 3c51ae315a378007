//! How values travel between server and browser, in answers and in the page itself: postcard, whose
//! decoders are a third of JSON's in WebAssembly. It does not describe itself, so each value begins
//! with the name of the form it has: a page that was loaded from another build says so, and never
//! shows one thing for another.

use std::future::Future;

use bytes::Bytes;
use codee::{Decoder, Encoder};
use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use server_fn::codec::Post;
use server_fn::{ContentType, Decodes, Encodes, Format, FormatType};

use crate::error::AppError;

/// How a server function answers: `#[server(output = Reply)]`.
pub type Reply = Post<Wire>;

/// What a server function gave, as a page holds it.
pub(crate) type Remote<T> = Resource<Result<T, AppError>, Wire>;

/// Asks a server function whenever `source` changes; on the server once, and the browser takes that
/// answer from the page.
pub(crate) fn remote<S, T, F>(
    source: impl Fn() -> S + Send + Sync + 'static,
    ask: impl Fn(S) -> F + Send + Sync + 'static,
) -> Remote<T>
where
    S: PartialEq + Clone + Send + Sync + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = Result<T, AppError>> + Send + 'static,
{
    Resource::new_with_options(source, ask, false)
}

/// The encoding.
#[derive(Clone, Copy, Debug)]
pub struct Wire;

/// Why a value could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("this page and the server are of different builds of Hopwise; reload the page")]
    OtherBuild,
    #[error("the value has not the form that was agreed: {0}")]
    Form(#[from] postcard::Error),
}

/// The form that values have in this build, as bytes.
const FORM: [u8; 8] = form(env!("HOPWISE_WIRE").as_bytes()).to_le_bytes();

/// The number that the build script printed.
const fn form(mut digits: &[u8]) -> u64 {
    let mut number: u64 = 0;
    while let [digit, rest @ ..] = digits {
        number = number.wrapping_mul(10).wrapping_add((*digit - b'0') as u64);
        digits = rest;
    }
    number
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, WireError> {
    Ok(postcard::to_extend(value, FORM.to_vec())?)
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let value = bytes.strip_prefix(&FORM).ok_or(WireError::OtherBuild)?;
    Ok(postcard::from_bytes(value)?)
}

impl ContentType for Wire {
    const CONTENT_TYPE: &'static str = "application/octet-stream";
}

impl FormatType for Wire {
    const FORMAT_TYPE: Format = Format::Binary;
}

impl<T: Serialize> Encodes<T> for Wire {
    type Error = WireError;

    fn encode(value: &T) -> Result<Bytes, WireError> {
        encode(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for Wire {
    type Error = WireError;

    fn decode(bytes: Bytes) -> Result<T, WireError> {
        decode(&bytes)
    }
}

impl<T: Serialize> Encoder<T> for Wire {
    type Error = WireError;
    type Encoded = Vec<u8>;

    fn encode(value: &T) -> Result<Vec<u8>, WireError> {
        encode(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for Wire {
    type Error = WireError;
    type Encoded = [u8];

    fn decode(bytes: &[u8]) -> Result<T, WireError> {
        decode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{FORM, WireError, decode, encode};
    use crate::error::AppError;

    #[test]
    fn a_value_comes_back_and_one_of_another_build_does_not() {
        let error = AppError::invalid("port", "A port is a number.");
        let bytes = encode(&error).unwrap();
        assert_eq!(bytes[..8], FORM);
        assert_eq!(decode::<AppError>(&bytes).unwrap(), error);
        for (at, bytes) in [
            (0, &[bytes[0] ^ 1][..]),
            (8, &bytes[8..]),
            (9, b"<html>An error page</html>"),
        ] {
            assert!(
                matches!(decode::<AppError>(bytes), Err(WireError::OtherBuild)),
                "{at}"
            );
        }
        assert!(matches!(
            decode::<AppError>(&bytes[..bytes.len() - 1]),
            Err(WireError::Form(_))
        ));
    }
}
