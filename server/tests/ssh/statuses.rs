//! How a connection ends: each way its own status.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use diagnosis::connection::ConnectionStatus;
use diagnosis::run::{Command, NotRun, RunStatus};
use server::ssh::{Credential, Hop, Ssh, SshOptions, Transport};

use crate::support::peer::{Act, Peer};
use crate::support::raw::{Raw, closed_port};
use crate::support::sshd::{Agent, Sshd, keygen, public_key};
use crate::support::{last, options, ran, run, shell, ssh, target};

async fn quick(port: u16) -> (Peer, Hop) {
    let peer = Peer::start(Act::Silence).await;
    let hop = Hop { port, ..peer.hop() };
    (peer, hop)
}

#[tokio::test]
async fn an_unknown_key_is_shown_and_nothing_is_sent() {
    let peer = Peer::start(Act::Silence).await;
    let hop = Hop {
        confirmed: Vec::new(),
        ..peer.hop()
    };
    let statuses = ssh().probe(&target([hop])).await;
    assert_eq!(
        last(&statuses),
        &ConnectionStatus::HostKeyUnknown {
            offered: peer.key.clone()
        }
    );
    assert_eq!(peer.logins.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_changed_key_is_refused_with_both_shown() {
    let (peer, other) = (
        Peer::start(Act::Silence).await,
        Peer::start(Act::Silence).await,
    );
    let hop = Hop {
        confirmed: vec![other.key.clone()],
        ..peer.hop()
    };
    let (ssh, target) = (ssh(), target([hop]));
    let changed = ConnectionStatus::HostKeyChanged {
        confirmed: other.key.clone(),
        offered: peer.key.clone(),
    };
    assert_eq!(last(&ssh.probe(&target).await), &changed);
    let results = run(&ssh, &target, &[Command::new(["true"])]).await;
    assert_eq!(
        results[0].status,
        RunStatus::NotRun {
            reason: NotRun::NoConnection { status: changed }
        }
    );
    assert_eq!(peer.logins.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_refused_login_is_remembered_for_a_moment() {
    let peer = Peer::start(Act::NoLogin).await;
    let ssh = Ssh::new(SshOptions {
        auth_back_off: Duration::from_secs(60),
        ..options()
    });
    let target = target([peer.hop()]);
    for _ in 0..3 {
        let statuses = ssh.probe(&target).await;
        assert_eq!(last(&statuses).name(), "auth-failed", "{statuses:?}");
    }
    assert_eq!(peer.connections.load(Ordering::SeqCst), 1);
    ssh.forget(&target).await;
    ssh.probe(&target).await;
    assert_eq!(peer.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_closed_port_is_refused() {
    let (_peer, hop) = quick(closed_port().await).await;
    assert_eq!(
        last(&ssh().probe(&target([hop])).await),
        &ConnectionStatus::Refused
    );
}

#[tokio::test]
async fn a_port_without_a_banner_times_out() {
    let raw = Raw::start(b"", false).await;
    let (_peer, hop) = quick(raw.port).await;
    let ssh = Ssh::new(SshOptions {
        connect_limit: Duration::from_millis(400),
        ..options()
    });
    let started = Instant::now();
    let statuses = ssh.probe(&target([hop])).await;
    assert_eq!(
        last(&statuses),
        &ConnectionStatus::Timeout { after_ms: 400 }
    );
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_name_without_address_does_not_resolve() {
    let (_peer, hop) = quick(22).await;
    let hop = Hop {
        address: "no-such-host.invalid".into(),
        ..hop
    };
    assert_eq!(
        last(&ssh().probe(&target([hop])).await).name(),
        "resolve-failed"
    );
}

#[tokio::test]
async fn closing_before_the_banner_is_a_protocol_error() {
    let raw = Raw::start(b"", true).await;
    let (_peer, hop) = quick(raw.port).await;
    assert_eq!(
        last(&ssh().probe(&target([hop])).await).name(),
        "protocol-error"
    );
}

#[tokio::test]
async fn a_web_server_is_a_protocol_error_that_shows_what_it_said() {
    let raw = Raw::start(b"HTTP/1.1 400 Bad Request\r\n\r\n", true).await;
    let (_peer, hop) = quick(raw.port).await;
    let statuses = ssh().probe(&target([hop])).await;
    assert!(
        matches!(last(&statuses), ConnectionStatus::ProtocolError { detail } if detail.contains("HTTP/1.1 400")),
        "{statuses:?}"
    );
}

#[tokio::test]
async fn a_penalty_is_told_and_respected() {
    let raw = Raw::start(b"Not allowed at this time\r\n", true).await;
    let (_peer, hop) = quick(raw.port).await;
    let (ssh, target) = (ssh(), target([hop]));
    for _ in 0..3 {
        assert_eq!(
            last(&ssh.probe(&target).await),
            &ConnectionStatus::Penalised
        );
    }
    assert_eq!(raw.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_key_that_cannot_be_used_is_told_without_connecting() {
    let peer = Peer::start(Act::Silence).await;
    let broken = peer.client_key().with_file_name("broken");
    fs::write(&broken, "no key").unwrap();
    for path in [broken, "/no/such/key".into()] {
        let hop = Hop {
            credential: Credential::KeyFile(path),
            ..peer.hop()
        };
        let statuses = ssh().probe(&target([hop])).await;
        assert_eq!(
            last(&statuses).name(),
            "credential-unusable",
            "{statuses:?}"
        );
    }
    assert_eq!(peer.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_offers_one_key_and_never_all() {
    let sshd = Sshd::start();
    let dir = tempfile::TempDir::new().unwrap();
    let agent = Agent::start(dir.path());
    let of = |fingerprint: Option<String>| {
        target([Hop {
            credential: Credential::Agent { fingerprint },
            ..sshd.hop()
        }])
    };
    let ssh = Ssh::new(SshOptions {
        agent_socket: Some(agent.socket.clone()),
        ..options()
    });

    let statuses = ssh.probe(&of(None)).await;
    assert!(
        matches!(last(&statuses), ConnectionStatus::CredentialUnusable { detail } if detail.contains("no keys"))
    );

    agent.add(&sshd.key());
    assert_eq!(
        ran(&run(&ssh, &of(None), &[shell("echo hi")]).await[0]),
        "hi\n"
    );

    let other = dir.path().join("other");
    keygen(&other, "ecdsa");
    agent.add(&other);
    let right = public_key(&sshd.key()).fingerprint;
    let wrong = public_key(&other).fingerprint;
    ssh.forget(&of(None)).await;
    let statuses = ssh.probe(&of(None)).await;
    assert!(
        matches!(last(&statuses), ConnectionStatus::CredentialUnusable { detail }
            if detail.contains(&right) && detail.contains(&wrong)),
        "{statuses:?}"
    );
    assert_eq!(
        last(&ssh.probe(&of(Some(right))).await),
        &ConnectionStatus::Connected
    );
    let statuses = ssh.probe(&of(Some(wrong.clone()))).await;
    assert!(
        matches!(last(&statuses), ConnectionStatus::AuthFailed { tried } if tried.contains(&wrong)),
        "{statuses:?}"
    );
    // Only the chosen key was offered: sshd logs each key it refuses.
    assert_eq!(
        sshd.log().matches("Failed publickey").count(),
        1,
        "{}",
        sshd.log()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_several_keys_shows_the_confirmed_one() {
    let sshd = Sshd::start();
    for kind in ["ed25519", "ecdsa"] {
        let hop = Hop {
            confirmed: vec![sshd.host_key_of(kind)],
            ..sshd.hop()
        };
        assert_eq!(
            last(&ssh().probe(&target([hop])).await),
            &ConnectionStatus::Connected
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hop_of_a_jump_chain_has_its_own_status_and_key() {
    let (edge, inner) = (Sshd::start(), Sshd::start());
    let ssh = ssh();
    let way = target([edge.hop(), inner.hop()]);
    let statuses = ssh.probe(&way).await;
    assert_eq!(statuses.len(), 2);
    assert!(
        statuses
            .iter()
            .all(|s| s.status == ConnectionStatus::Connected),
        "{statuses:?}"
    );
    let out = ran(&run(&ssh, &way, &[shell("echo $SSH_CONNECTION")]).await[0]);
    assert!(out.contains(&inner.port.to_string()), "{out}");

    // The inner host's key is checked behind the jump host too.
    let wrong = Hop {
        confirmed: vec![edge.host_key()],
        ..inner.hop()
    };
    let statuses = ssh.probe(&target([edge.hop(), wrong])).await;
    assert_eq!(statuses[0].status, ConnectionStatus::Connected);
    assert_eq!(statuses[1].status.name(), "host-key-changed");

    let closed = Hop {
        port: closed_port().await,
        ..inner.hop()
    };
    let statuses = ssh.probe(&target([edge.hop(), closed])).await;
    assert_eq!(
        statuses[1].status,
        ConnectionStatus::Refused,
        "{statuses:?}"
    );

    let unnamed = Hop {
        address: "no-such-host.invalid".into(),
        ..inner.hop()
    };
    let statuses = ssh.probe(&target([edge.hop(), unnamed])).await;
    assert_eq!(statuses[1].status.name(), "resolve-failed", "{statuses:?}");

    // One login at the jump host serves every way through it.
    assert_eq!(edge.logins(), 1, "{}", edge.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jump_host_that_does_not_forward_says_so() {
    let (edge, inner) = (Sshd::start_with("AllowTcpForwarding no"), Sshd::start());
    let statuses = ssh().probe(&target([edge.hop(), inner.hop()])).await;
    assert!(
        matches!(last(&statuses), ConnectionStatus::Unreachable { detail } if detail.contains("AllowTcpForwarding")),
        "{statuses:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_rsa_key_logs_in_with_sha2() {
    let sshd = Sshd::start();
    let key = sshd.dir.path().join("rsa");
    keygen(&key, "rsa");
    fs::copy(
        key.with_extension("pub"),
        sshd.dir.path().join("authorized_keys"),
    )
    .unwrap();
    let hop = Hop {
        credential: Credential::KeyFile(key),
        ..sshd.hop()
    };
    assert_eq!(
        last(&ssh().probe(&target([hop])).await),
        &ConnectionStatus::Connected
    );
}
