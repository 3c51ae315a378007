//! A session is the fold of its events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use diagnosis::ids::{HostId, PackHash, PersonId, RunKey, SessionId, StepId, SymptomId, TreeId};
use diagnosis::knowledge::Question;
use diagnosis::run::{Command, NotRun, RunRecord, RunStatus};
use diagnosis::session::{
    Actor, Answer, EVENT_VERSION, Entry, Event, FoldError, Phase, RunHead, Session,
};
use diagnosis::verdict::{Conclusion, Finding, Verdict};
use jiff::Timestamp;
use uuid::Uuid;

fn id() -> SessionId {
    SessionId(Uuid::nil())
}

fn by() -> Actor {
    Actor {
        id: PersonId(Uuid::nil()),
        name: "Ada".into(),
    }
}

fn run(key: &str) -> RunHead {
    RunHead {
        key: RunKey::from(key),
        step: StepId::from("look"),
        title: "Look".into(),
        host: HostId(Uuid::nil()),
        host_name: "pve2".into(),
        command: Command::new(["ip", "addr"]),
    }
}

fn done(key: &str, status: RunStatus) -> Event {
    Event::RunDone {
        key: RunKey::from(key),
        record: RunRecord {
            status,
            took_ms: 5,
            stdout: None,
            stderr: None,
            facts: None,
            no_facts: None,
            unparsed: vec![],
        },
    }
}

fn entries(events: Vec<Event>) -> Vec<Entry> {
    events
        .into_iter()
        .zip(1..)
        .map(|(event, seq)| Entry {
            seq,
            at: Timestamp::from_second(seq).unwrap(),
            version: EVENT_VERSION,
            event,
        })
        .collect()
}

fn story() -> Vec<Entry> {
    entries(vec![
        Event::Started {
            symptom: SymptomId::from("s"),
            title: "It fails".into(),
            tree: TreeId::from("t"),
            pack: PackHash::from("00"),
            ends: Default::default(),
            by: by(),
        },
        Event::Asked {
            step: StepId::from("ask"),
            question: Question {
                title: "Which".into(),
                question: "Which?".into(),
                why: "To try it.".into(),
                options: vec![],
                kind: None,
                placeholder: None,
                if_unknown: "nothing is tried".into(),
            },
        },
        Event::Answered {
            step: StepId::from("ask"),
            answer: Answer::Unknown,
            label: "I don't know".into(),
            by: by(),
        },
        Event::RunsStarted {
            runs: vec![run("look/a"), run("look/b")],
        },
        done("look/a", RunStatus::Ran { exit: 1 }),
        Event::Interrupted {
            keys: vec![RunKey::from("look/b")],
        },
        Event::RunsStarted {
            runs: vec![run("look/b")],
        },
        done(
            "look/b",
            RunStatus::NotRun {
                reason: NotRun::Cancelled,
            },
        ),
        Event::Found {
            finding: Finding {
                step: StepId::from("look"),
                title: "Look".into(),
                family: None,
                verdict: Verdict::Inconclusive {
                    reason: "stopped".into(),
                },
                message: "Nothing.".into(),
                rules_out: vec![],
                evidence: vec![],
            },
        },
        Event::Concluded {
            conclusion: Conclusion::Inconclusive {
                reason: "stopped".into(),
                next: vec![],
                not_looked: vec![],
            },
        },
    ])
}

#[test]
fn each_prefix_is_in_the_phase_it_says() {
    let story = story();
    let phase = |n: usize| Session::fold(id(), &story[..n]).unwrap().phase;
    assert_eq!(phase(1), Phase::Running);
    assert_eq!(
        phase(2),
        Phase::Waiting {
            step: StepId::from("ask")
        }
    );
    assert_eq!(phase(3), Phase::Running);
    assert_eq!(phase(9), Phase::Running);
    assert_eq!(phase(10), Phase::Concluded);
}

#[test]
fn folding_on_is_folding_from_the_start() {
    let story = story();
    for n in 1..story.len() {
        let mut session = Session::fold(id(), &story[..n]).unwrap();
        for entry in &story[n..] {
            session.apply(entry).unwrap();
        }
        assert_eq!(session, Session::fold(id(), &story).unwrap(), "from {n}");
    }
}

#[test]
fn an_interrupted_run_is_open_until_it_is_done_and_counts() {
    let story = story();
    let open = |n: usize| Session::fold(id(), &story[..n]).unwrap().open_runs();
    assert_eq!(open(4).len(), 2);
    assert_eq!(open(6), [RunKey::from("look/b")]);
    assert_eq!(open(7), [RunKey::from("look/b")]);
    assert!(open(8).is_empty());
    let session = Session::fold(id(), &story).unwrap();
    assert_eq!(session.runs[&RunKey::from("look/b")].interrupted, 1);
}

#[test]
fn a_gap_a_missing_start_and_a_newer_program_are_refused() {
    let story = story();
    assert_eq!(Session::fold(id(), &[]), Err(FoldError::Empty(id())));
    assert_eq!(
        Session::fold(id(), &story[1..]),
        Err(FoldError::NoStart(id()))
    );
    let mut gap = story.clone();
    gap.remove(4);
    assert_eq!(
        Session::fold(id(), &gap),
        Err(FoldError::Gap {
            session: id(),
            after: 4,
            found: 6
        })
    );
    let mut twice = story.clone();
    twice.insert(5, story[4].clone());
    assert!(matches!(
        Session::fold(id(), &twice),
        Err(FoldError::Gap { .. })
    ));
    let mut newer = story.clone();
    newer[3].version = EVENT_VERSION + 1;
    assert!(matches!(
        Session::fold(id(), &newer),
        Err(FoldError::Newer { seq: 4, .. })
    ));
}

#[test]
fn entries_survive_being_stored() {
    for entry in story() {
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(
            serde_json::from_str::<Entry>(&text).unwrap(),
            entry,
            "{text}"
        );
    }
}
