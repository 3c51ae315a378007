//! Values that several tests store.

use app::hosts::{Credential, GuestList, HostCheck, NewHost};
use app::people::{Person, Role};
use diagnosis::connection::{ConnectionStatus, HopStatus, HostKey};
use diagnosis::facts::{Facts, Guest, GuestKind, GuestStatus};
use diagnosis::ids::{HostId, OutputHash, PersonId, RunKey, SessionId, Vmid};
use diagnosis::knowledge::{AnswerOption, Question};
use diagnosis::run::{Command, RunRecord, RunStatus};
use diagnosis::session::{Actor, Answer, BoundGuest, Event, RunHead};
use diagnosis::verdict::{Conclusion, Evidence, Finding, NotLooked, Verdict};
use jiff::Timestamp;
use server::store::Store;
use uuid::Uuid;

/// What a hostile host may print: NUL, a right-to-left mark, an emoji, quotes, an escape.
pub(crate) const NASTY: &str = "a\0b \u{202e}\u{1f600} \"'\\ \u{1b}[31m $(reboot)";

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(crate) fn somebody() -> Person {
    Person {
        id: PersonId(Uuid::now_v7()),
        name: "Ada".into(),
        role: Role::Admin,
    }
}

pub(crate) fn new_host(name: &str, jump: Option<HostId>) -> NewHost {
    NewHost {
        name: name.into(),
        address: "192.0.2.1".into(),
        port: 22,
        user: "root".into(),
        credential: Credential::KeyFile {
            path: "/etc/hopwise/key".into(),
        },
        jump,
    }
}

pub(crate) async fn stored_host(store: &Store, name: &str) -> HostId {
    let id = HostId(Uuid::now_v7());
    store
        .add_host(id, &new_host(name, None), somebody().id, at(0))
        .await
        .unwrap();
    id
}

pub(crate) fn host_key(letter: char) -> HostKey {
    HostKey {
        algorithm: "ssh-ed25519".into(),
        fingerprint: format!("SHA256:{letter}"),
        openssh: format!("ssh-ed25519 AAAA{letter}"),
    }
}

pub(crate) fn host_check() -> HostCheck {
    HostCheck {
        at: at(5),
        hops: vec![HopStatus {
            hop: "root@192.0.2.1:22".into(),
            status: ConnectionStatus::ProtocolError {
                detail: NASTY.into(),
            },
            took_ms: 3,
        }],
        read_at: Some(at(5)),
        platform: None,
        guests: GuestList::Known {
            guests: vec![guest(NASTY)],
        },
    }
}

pub(crate) fn guest(name: &str) -> Guest {
    Guest {
        vmid: Vmid(122),
        kind: GuestKind::Container,
        name: name.into(),
        status: GuestStatus::Running,
    }
}

pub(crate) fn command_result(stdout: Option<OutputHash>) -> RunRecord {
    RunRecord {
        status: RunStatus::Ran { exit: 0 },
        took_ms: 12,
        stdout,
        stderr: None,
        facts: Some(Facts::Guests(vec![guest(NASTY)])),
        no_facts: Some(NASTY.into()),
        unparsed: vec![NASTY.into()],
    }
}

pub(crate) fn actor() -> Actor {
    Actor {
        id: PersonId(Uuid::now_v7()),
        name: "Ada".into(),
    }
}

pub(crate) fn started(guest: &str) -> Event {
    let end = BoundGuest {
        host: HostId(Uuid::now_v7()),
        host_name: "pve2".into(),
        kind: GuestKind::Container,
        vmid: Vmid(122),
        name: guest.into(),
    };
    Event::Started {
        symptom: "local-only".into(),
        title: "The local subnet works, nothing beyond it".into(),
        tree: "local-only".into(),
        pack: "0".into(),
        ends: [("client".to_owned(), end)].into_iter().collect(),
        by: actor(),
    }
}

pub(crate) async fn stored_session(store: &Store) -> SessionId {
    let id = SessionId(Uuid::now_v7());
    store
        .start_session(id, &started("ct122"), at(0))
        .await
        .unwrap();
    id
}

pub(crate) fn asked() -> Event {
    Event::Asked {
        step: "gateway".into(),
        question: Question {
            title: "Gateway".into(),
            question: "Which address is the gateway?".into(),
            why: "It is where packets leave.".into(),
            options: vec![AnswerOption {
                value: "a".into(),
                label: "A".into(),
                goto: None,
            }],
            kind: None,
            placeholder: None,
            if_unknown: "go on".into(),
        },
    }
}

pub(crate) fn answered() -> Event {
    Event::Answered {
        step: "gateway".into(),
        answer: Answer::Unknown,
        label: "I don’t know".into(),
        by: actor(),
    }
}

pub(crate) fn runs_started(keys: &[&str]) -> Event {
    Event::RunsStarted {
        runs: keys
            .iter()
            .map(|key| RunHead {
                key: RunKey::from(*key),
                step: "look".into(),
                title: format!("Look at {key}"),
                host: HostId(Uuid::now_v7()),
                host_name: "pve2".into(),
                command: Command::new(["ip", "-j", "addr"]),
            })
            .collect(),
    }
}

pub(crate) fn run_done(key: &str, stdout: Option<OutputHash>) -> Event {
    Event::RunDone {
        key: RunKey::from(key),
        record: command_result(stdout),
    }
}

pub(crate) fn found() -> Event {
    Event::Found {
        finding: Finding {
            step: "look".into(),
            title: "Routes".into(),
            family: None,
            verdict: Verdict::Inconclusive {
                reason: NASTY.into(),
            },
            message: NASTY.into(),
            rules_out: vec![],
            evidence: vec![Evidence {
                run: "look/addr".into(),
                says: NASTY.into(),
                marks: vec!["x".into()],
            }],
        },
    }
}

pub(crate) fn cause() -> Event {
    Event::Concluded {
        conclusion: Conclusion::Cause {
            cause: "no-default-route".into(),
            title: "No default route".into(),
            place: "eth0 in CT 122 (ct122) on pve2".into(),
            family: None,
            explanation: NASTY.into(),
            remedy: "Add one".into(),
            evidence: vec![],
            not_looked: vec![NotLooked {
                what: "Routes".into(),
                why: NASTY.into(),
            }],
        },
    }
}

pub(crate) fn inconclusive(reason: &str) -> Event {
    Event::Concluded {
        conclusion: Conclusion::Inconclusive {
            reason: reason.into(),
            next: vec![],
            not_looked: vec![],
        },
    }
}

pub(crate) fn no_fault() -> Event {
    Event::Concluded {
        conclusion: Conclusion::NoFaultFound {
            checked: vec![],
            not_looked: vec![],
        },
    }
}
