//! Raw outputs, by the SHA-256 of their bytes: stored once however often they come, compressed.

use std::io::{Read, Write};

use diagnosis::ids::OutputHash;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::row::{is_hash, time};
use super::{Store, StoreError};

impl Store {
    /// Stores an output and gives its place. Store it before the row that refers to it.
    ///
    /// # Errors
    /// The database is away.
    pub async fn put_output(&self, bytes: &[u8]) -> Result<OutputHash, StoreError> {
        let bytes = bytes.to_vec();
        let size = i64::try_from(bytes.len()).map_err(|e| StoreError::corrupt("an output", e))?;
        let (hash, body) = off_thread(move || {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes)?;
            Ok((hash_of(&bytes), encoder.finish()?))
        })
        .await?;
        // Storing again renews the time, so that it is not removed before a row refers to it.
        sqlx::query!(
            "INSERT INTO outputs (hash, size, body, stored_at) VALUES ($1, $2, $3, now())
             ON CONFLICT (hash) DO UPDATE SET stored_at = now()",
            hash.as_str(),
            size,
            body
        )
        .execute(&self.pool)
        .await?;
        Ok(hash)
    }

    /// An output's bytes.
    ///
    /// # Errors
    /// `Corrupt` when the stored bytes are not those of that hash.
    pub async fn output(&self, hash: &OutputHash) -> Result<Option<Vec<u8>>, StoreError> {
        if !is_hash(hash) {
            return Ok(None);
        }
        let Some(row) = sqlx::query!(
            "SELECT size, body FROM outputs WHERE hash = $1",
            hash.as_str()
        )
        .fetch_optional(&self.pool)
        .await?
        else {
            return Ok(None);
        };
        let hash = hash.clone();
        off_thread(move || {
            let size = u64::try_from(row.size).unwrap_or(0);
            let mut bytes = Vec::new();
            ZlibDecoder::new(row.body.as_slice())
                .take(size + 1)
                .read_to_end(&mut bytes)?;
            if hash_of(&bytes) == hash {
                Ok(Some(bytes))
            } else {
                Err(std::io::Error::other(format!(
                    "the bytes of {hash} have another hash"
                )))
            }
        })
        .await
    }

    /// Removes outputs that nothing refers to and that were stored before that time; gives their
    /// number. Choose a time further back than any batch takes.
    ///
    /// # Errors
    /// The database is away.
    pub async fn remove_orphan_outputs(&self, before: Timestamp) -> Result<u64, StoreError> {
        let done = sqlx::query!(
            "DELETE FROM outputs o WHERE stored_at < $1
             AND NOT EXISTS (SELECT FROM session_outputs s WHERE s.hash = o.hash)
             AND NOT EXISTS (SELECT FROM run_commands r WHERE r.stdout_hash = o.hash)
             AND NOT EXISTS (SELECT FROM run_commands r WHERE r.stderr_hash = o.hash)",
            time(before) as _
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }
}

fn hash_of(bytes: &[u8]) -> OutputHash {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        text.push_str(&format!("{byte:02x}"));
    }
    OutputHash(text)
}

/// Hashing and compressing megabytes would hold up the other tasks of a worker thread.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| StoreError::corrupt("an output", e))?
        .map_err(|e| StoreError::corrupt("an output", e))
}
