//! Tokens for cookies and links: 256 bits from the system, of which only the SHA-256 is stored.

use app::error::AppError;
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};

use crate::store::people::TokenHash;

/// A new token: what the person gets, and what is stored.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) hash: TokenHash,
}

/// A token nobody can guess.
pub(super) fn new() -> Result<Token, AppError> {
    let mut bytes = [0_u8; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        let reference = uuid::Uuid::new_v4().simple().to_string();
        tracing::error!(%reference, %error, "the system gave no random bytes");
        AppError::Internal { reference }
    })?;
    let text: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let hash = Sha256::digest(text.as_bytes()).into();
    Ok(Token { text, hash })
}

/// What a token would be stored as; nothing when it cannot be one. The hash is looked up, never the
/// token, so how long the look-up takes tells nothing about tokens.
pub(super) fn hash(text: &str) -> Option<TokenHash> {
    (text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| Sha256::digest(text.as_bytes()).into())
}
