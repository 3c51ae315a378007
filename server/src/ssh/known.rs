//! Host keys: what a person confirmed against what a host shows.

use diagnosis::connection::HostKey;
use russh::Preferred;
use russh::keys::ssh_key::{Algorithm, HashAlg, PublicKey};

/// A key as people compare it.
#[must_use]
pub fn host_key(key: &PublicKey) -> HostKey {
    // The comment is the file's, not the key's.
    let bare = PublicKey::new(key.key_data().clone(), "");
    HostKey {
        algorithm: bare.algorithm().to_string(),
        fingerprint: bare.fingerprint(HashAlg::Sha256).to_string(),
        openssh: bare.to_openssh().unwrap_or_default().trim_end().to_owned(),
    }
}

/// Reads a public key in OpenSSH's form: algorithm, base64, and a comment that is dropped.
#[must_use]
pub fn parse_host_key(line: &str) -> Option<HostKey> {
    PublicKey::from_openssh(line.trim())
        .ok()
        .map(|key| host_key(&key))
}

/// What an offered key is against the confirmed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Confirmed,
    Unknown {
        offered: HostKey,
    },
    Changed {
        confirmed: HostKey,
        offered: HostKey,
    },
}

/// Compares as keys, not as text. A host with confirmed keys that shows a key of another algorithm has
/// changed too: calling it unknown would let anybody in between ask for a fresh confirmation.
pub(crate) fn judge(confirmed: &[HostKey], key: &PublicKey) -> Judgement {
    let offered = host_key(key);
    let same = |k: &&HostKey| {
        PublicKey::from_openssh(&k.openssh).is_ok_and(|k| k.key_data() == key.key_data())
    };
    if confirmed.iter().any(|k| same(&k)) {
        return Judgement::Confirmed;
    }
    let nearest = confirmed
        .iter()
        .find(|k| k.algorithm == offered.algorithm)
        .or(confirmed.first());
    match nearest {
        None => Judgement::Unknown { offered },
        Some(confirmed) => Judgement::Changed {
            confirmed: confirmed.clone(),
            offered,
        },
    }
}

/// The host-key algorithms to ask for: those of confirmed keys first, as OpenSSH does, so that a host
/// with several keys shows the one that was confirmed.
pub(crate) fn preferred_algorithms(confirmed: &[HostKey]) -> Vec<Algorithm> {
    let known: Vec<Algorithm> = confirmed
        .iter()
        .filter_map(|k| PublicKey::from_openssh(&k.openssh).ok())
        .map(|k| k.algorithm())
        .collect();
    let is_known = |a: &Algorithm| match a {
        // One RSA key serves every RSA signature algorithm.
        Algorithm::Rsa { .. } => known.iter().any(|k| matches!(k, Algorithm::Rsa { .. })),
        other => known.contains(other),
    };
    let (mut first, rest): (Vec<_>, Vec<_>) =
        Preferred::DEFAULT.key.iter().cloned().partition(is_known);
    first.extend(rest);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    const ED_OTHER: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6rWI3G1sz07DnfFlrouTcysQlj2P+jpNSOEWD9OJ3X";
    const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHwf2HMM5TRXvo2SQJjsNkiDD5KqiiNjrGVv3UUh+mMT5RHxiRtOnlqvjhQtBq0VpmpCV/PwUdhOig4vkbqAcEc=";

    fn key(line: &str) -> PublicKey {
        PublicKey::from_openssh(line).unwrap()
    }

    #[test]
    fn a_confirmed_key_is_known_whatever_its_comment_and_spacing() {
        let mut confirmed = parse_host_key(&format!("{ED} root@pve1")).unwrap();
        confirmed.openssh = format!("{ED} somebody@elsewhere");
        assert_eq!(judge(&[confirmed], &key(ED)), Judgement::Confirmed);
    }

    #[test]
    fn a_host_without_confirmed_keys_is_unknown() {
        let Judgement::Unknown { offered } = judge(&[], &key(ED)) else {
            panic!("expected unknown");
        };
        assert_eq!(offered.algorithm, "ssh-ed25519");
        assert!(offered.fingerprint.starts_with("SHA256:"));
        assert_eq!(offered.openssh, ED);
    }

    #[test]
    fn another_key_is_a_change_also_when_its_algorithm_is_new() {
        for offered in [ED_OTHER, ECDSA] {
            let confirmed = parse_host_key(ED).unwrap();
            assert!(matches!(
                judge(std::slice::from_ref(&confirmed), &key(offered)),
                Judgement::Changed { confirmed: c, .. } if c == confirmed
            ));
        }
    }

    #[test]
    fn a_confirmed_key_that_does_not_parse_never_matches() {
        let mut broken = parse_host_key(ED).unwrap();
        broken.openssh = "ssh-ed25519 AAAA".into();
        assert!(matches!(
            judge(&[broken], &key(ED)),
            Judgement::Changed { .. }
        ));
    }

    #[test]
    fn algorithms_of_confirmed_keys_are_asked_for_first() {
        let asked = preferred_algorithms(&[parse_host_key(ECDSA).unwrap()]);
        assert_eq!(asked.first().unwrap().to_string(), "ecdsa-sha2-nistp256");
        assert_eq!(asked.len(), Preferred::DEFAULT.key.len());
    }
}
