//! Passwords: Argon2id, off the async threads, a few at a time.

use std::sync::Arc;

use app::error::AppError;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

/// 19 MiB, 2 passes, 1 lane: the first choice of OWASP's password storage cheat sheet for Argon2id.
/// Hashes keep the parameters they were made with, so raising these locks nobody out.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Hashes at once: bounds memory to twice 19 MiB and leaves cores for the pages.
const AT_ONCE: usize = 2;

const SHORTEST: usize = 10;
/// Bytes. Argon2 takes any length; a request that fills memory shall not.
const LONGEST: usize = 1024;

/// Hashes and verifies.
pub(super) struct Passwords {
    argon2: Argon2<'static>,
    /// The hash of a password nobody has: a name that does not exist costs the same time as one
    /// that does.
    nobody: Arc<str>,
    permits: Arc<Semaphore>,
}

/// Refuses a password that is too short or absurdly long.
pub(super) fn check(password: &str) -> Result<(), AppError> {
    if password.chars().count() < SHORTEST {
        return Err(AppError::invalid(
            "password",
            format!(
                "A password has at least {SHORTEST} characters. A few words in a row are good."
            ),
        ));
    }
    if password.len() > LONGEST {
        return Err(AppError::invalid(
            "password",
            format!("A password has at most {LONGEST} bytes."),
        ));
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> AppError {
    let reference = uuid::Uuid::new_v4().simple().to_string();
    tracing::error!(%reference, %error, "a password could not be worked with");
    AppError::Internal { reference }
}

impl Passwords {
    pub(super) fn new() -> Result<Self, AppError> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(failed)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobody = argon2.hash_password(b"nobody").map_err(failed)?.to_string();
        Ok(Self {
            argon2,
            nobody: nobody.into(),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
        })
    }

    /// A password's hash in PHC form, with a salt of its own.
    pub(super) async fn hash(&self, password: &str) -> Result<String, AppError> {
        let argon2 = self.argon2.clone();
        let password = Zeroizing::new(password.to_owned());
        self.off_thread(move || {
            argon2
                .hash_password(password.as_bytes())
                .map(|hash| hash.to_string())
                .map_err(failed)
        })
        .await?
    }

    /// Whether the password is the one of that hash; without a hash, false after the same time.
    pub(super) async fn verify(
        &self,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, AppError> {
        let argon2 = self.argon2.clone();
        let exists = hash.is_some() && password.len() <= LONGEST;
        let cut = password.floor_char_boundary(LONGEST);
        let password = Zeroizing::new(password.get(..cut).unwrap_or_default().to_owned());
        let nobody = Arc::clone(&self.nobody);
        self.off_thread(move || {
            let hash = hash.as_deref().unwrap_or(&nobody);
            let hash = PasswordHash::new(hash).map_err(failed)?;
            let fits = argon2.verify_password(password.as_bytes(), &hash).is_ok();
            Ok(fits && exists)
        })
        .await?
    }

    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(failed)?;
        tokio::task::spawn_blocking(move || {
            // Held by the work itself: a request that is given up does not let another one in.
            let _permit = permit;
            work()
        })
        .await
        .map_err(failed)
    }
}
