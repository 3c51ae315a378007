//! TLS: the owner's certificate, or one made at the first start.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use axum_server::tls_rustls::RustlsConfig;
use sha2::{Digest, Sha256};

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "the certificate {chain} and the key {key} cannot be used: {source}. Both must be PEM, and belong together"
    )]
    Unusable {
        chain: PathBuf,
        key: PathBuf,
        source: std::io::Error,
    },
    #[error("making a certificate: {0}")]
    Make(#[from] rcgen::Error),
    #[error("{0} holds no certificate")]
    Empty(PathBuf),
}

/// Loads a certificate chain with its key.
///
/// # Errors
/// Names the file that cannot be read or used.
pub async fn load(chain: &Path, key: &Path) -> Result<RustlsConfig, TlsError> {
    RustlsConfig::from_pem_file(chain, key)
        .await
        .map_err(|source| TlsError::Unusable {
            chain: chain.to_owned(),
            key: key.to_owned(),
            source,
        })
}

/// Where the generated certificate and its key are; made now if they are not there yet. The names
/// are those people use on a network of their own: the listening address, this machine, loopback.
///
/// # Errors
/// The files cannot be written.
pub fn generated(state: &Path, listen: SocketAddr) -> Result<(PathBuf, PathBuf), TlsError> {
    let (chain, key) = (
        state.join("certificate.pem"),
        state.join("certificate-key.pem"),
    );
    if chain.is_file() && key.is_file() {
        return Ok((chain, key));
    }
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    if !listen.ip().is_unspecified() {
        names.push(listen.ip().to_string());
    }
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    if !host.is_empty()
        && host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
    {
        names.push(host);
    }
    names.dedup();
    let made = rcgen::generate_simple_self_signed(names)?;
    write(&key, made.signing_key.serialize_pem().as_bytes(), 0o600)?;
    write(&chain, made.cert.pem().as_bytes(), 0o644)?;
    Ok((chain, key))
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), TlsError> {
    let error = |source| TlsError::File {
        path: path.to_owned(),
        source,
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
        .map_err(error)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(error)
}

/// The SHA-256 fingerprint of the first certificate, as browsers show it.
///
/// # Errors
/// The file cannot be read or holds no certificate.
pub fn fingerprint(chain: &Path) -> Result<String, TlsError> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    let pem = std::fs::read(chain).map_err(|source| TlsError::File {
        path: chain.to_owned(),
        source,
    })?;
    let first =
        CertificateDer::from_pem_slice(&pem).map_err(|_| TlsError::Empty(chain.to_owned()))?;
    let hex: Vec<String> = Sha256::digest(first.as_ref())
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    Ok(hex.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_generated_certificate_is_kept_usable_and_its_key_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let state = tempfile::tempdir().unwrap();
        let listen = "192.0.2.7:1".parse().unwrap();
        let (chain, key) = generated(state.path(), listen).unwrap();
        let first = fingerprint(&chain).unwrap();
        assert_eq!(first.len(), 32 * 3 - 1);
        assert_eq!(
            std::fs::metadata(&key).unwrap().permissions().mode() & 0o777,
            0o600
        );
        generated(state.path(), listen).unwrap();
        assert_eq!(fingerprint(&chain).unwrap(), first);
        load(&chain, &key).await.unwrap();
    }
}
