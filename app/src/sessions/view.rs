//! From the state of a session to what its page shows.

use std::collections::{BTreeMap, HashSet};

use diagnosis::facts::GuestKind;
use diagnosis::ids::{OutputHash, StepId};
use diagnosis::run::RunStatus;
use diagnosis::session::{Phase, Session, SessionRun};
use diagnosis::verdict::{Conclusion, Evidence};
use jiff::Timestamp;

use super::{EvidenceView, Now, SessionPage, Stop};
use crate::runs::{CommandView, OutputText};

impl SessionPage {
    /// The page of a session, with the beginnings of the outputs that evidence points to.
    #[must_use]
    pub fn new(session: &Session, outputs: BTreeMap<OutputHash, OutputText>) -> Self {
        let ends: Vec<String> = session.ends.values().map(|e| e.label()).collect();
        Self {
            id: session.id,
            version: session.seq,
            title: session.title.clone(),
            again: again(session),
            started_at: session.started_at,
            changed_at: session.changed_at,
            started_by: session.started_by.name.clone(),
            now: now(session),
            trail: trail(session),
            evidence: evidence(session)
                .into_iter()
                .map(|piece| EvidenceView {
                    command: session.runs.get_index_of(&piece.run),
                    output: output(session, &piece, &outputs),
                    says: piece.says,
                    marks: piece.marks,
                })
                .collect(),
            commands: session.runs.values().map(command).collect(),
            ends,
            outputs,
        }
    }
}

/// The form for the same symptom, with the same guest chosen.
fn again(session: &Session) -> String {
    let guest = session.ends.values().next().map(|end| {
        let kind = match end.kind {
            GuestKind::Container => "container",
            GuestKind::VirtualMachine => "virtual-machine",
        };
        format!("&client={}/{kind}/{}", end.host, end.vmid)
    });
    format!(
        "/sessions/new?symptom={}{}",
        session.symptom,
        guest.unwrap_or_default()
    )
}

fn now(session: &Session) -> Now {
    match &session.phase {
        Phase::Running => Now::Running,
        Phase::Waiting { step } => session
            .questions
            .iter()
            .rev()
            .find(|asked| &asked.step == step)
            .map_or(Now::Running, |asked| Now::Waiting {
                step: step.clone(),
                question: asked.question.clone(),
            }),
        Phase::Concluded => session
            .conclusion
            .clone()
            .map_or(Now::Running, |conclusion| {
                let mut seen = HashSet::new();
                let ruled_out = session
                    .findings
                    .iter()
                    .flat_map(|finding| &finding.rules_out)
                    .filter(|what| seen.insert(what.as_str()))
                    .cloned()
                    .collect();
                Now::Concluded {
                    conclusion,
                    ruled_out,
                }
            }),
        Phase::Stopped { reason } => Now::Stopped {
            reason: reason.clone(),
        },
    }
}

fn command(run: &SessionRun) -> CommandView {
    CommandView {
        interrupted: run.interrupted,
        ..CommandView::new(
            run.head.title.clone(),
            run.head.host_name.clone(),
            &run.head.command,
            run.done.clone(),
        )
    }
}

/// The way a session took, in the order in which it went. Findings carry no time of their own: they
/// stand where their step's commands began.
fn trail(session: &Session) -> Vec<Stop> {
    let began = |step: &StepId| {
        session
            .runs
            .values()
            .filter(|r| &r.head.step == step)
            .map(|r| r.started_at)
            .min()
    };
    let mut stops: Vec<(Timestamp, Stop)> = Vec::new();
    for asked in &session.questions {
        let at = asked.answer.as_ref().map_or(session.changed_at, |a| a.at);
        let answer = asked
            .answer
            .as_ref()
            .map(|a| (a.label.clone(), a.by.name.clone()));
        let title = asked.question.title.clone();
        stops.push((at, Stop::Question { title, answer }));
    }
    let mut before = session.started_at;
    for finding in &session.findings {
        let of_evidence = finding
            .evidence
            .iter()
            .filter_map(|e| session.runs.get(&e.run))
            .map(|r| r.started_at)
            .max();
        let at = began(&finding.step)
            .or(of_evidence)
            .unwrap_or(before)
            .max(before);
        before = at;
        let family = finding
            .family
            .map(|f| format!(" ({})", f.name()))
            .unwrap_or_default();
        stops.push((
            at,
            Stop::Finding {
                title: format!("{}{family}", finding.title),
                verdict: finding.verdict.clone(),
                message: finding.message.clone(),
                rules_out: finding.rules_out.clone(),
            },
        ));
    }
    let mut open: Vec<(&StepId, Timestamp, Vec<&SessionRun>)> = Vec::new();
    for run in session.runs.values() {
        let step = &run.head.step;
        if session.findings.iter().any(|f| &f.step == step) {
            continue;
        }
        match open.iter_mut().find(|(known, ..)| *known == step) {
            Some((_, _, runs)) => runs.push(run),
            None => open.push((step, run.started_at, vec![run])),
        }
    }
    stops.extend(
        open.into_iter()
            .map(|(step, at, runs)| (at, of_step(step, &runs))),
    );
    // Stable: what has the same time stays in the order of questions, findings, open steps.
    stops.sort_by_key(|(at, _)| *at);
    stops.into_iter().map(|(_, stop)| stop).collect()
}

fn of_step(step: &StepId, runs: &[&SessionRun]) -> Stop {
    let not_run = |run: &&&SessionRun| {
        run.done
            .as_ref()
            .is_some_and(|d| matches!(d.status, RunStatus::NotRun { .. }))
    };
    Stop::Step {
        title: runs
            .first()
            .map_or_else(|| step.to_string(), |r| r.head.title.clone()),
        commands: runs.len(),
        running: runs.iter().filter(|r| r.done.is_none()).count(),
        not_run: runs.iter().filter(not_run).count(),
    }
}

/// The evidence to show: the conclusion's, else that of the findings so far, each piece once.
fn evidence(session: &Session) -> Vec<Evidence> {
    let of_conclusion = session
        .conclusion
        .as_ref()
        .map_or(&[][..], Conclusion::evidence);
    let of_findings = session.findings.iter().flat_map(|f| &f.evidence);
    let mut seen = HashSet::new();
    let all: Vec<&Evidence> = if of_conclusion.is_empty() {
        of_findings.collect()
    } else {
        of_conclusion.iter().collect()
    };
    all.into_iter()
        .filter(|e| seen.insert((&e.run, &e.says)))
        .cloned()
        .collect()
}

/// The output that has the deciding words: usually stdout, sometimes the error output.
fn output(
    session: &Session,
    piece: &Evidence,
    outputs: &BTreeMap<OutputHash, OutputText>,
) -> Option<OutputHash> {
    let record = session.runs.get(&piece.run)?.done.as_ref()?;
    let at_hand = |hash: &&OutputHash| outputs.contains_key(*hash);
    let stdout = record.stdout.as_ref().filter(at_hand);
    let stderr = record.stderr.as_ref().filter(at_hand);
    let has = |hash: &&OutputHash| {
        outputs.get(*hash).is_some_and(|output| {
            piece
                .marks
                .iter()
                .any(|m| !m.is_empty() && output.text.contains(m.as_str()))
        })
    };
    stdout
        .filter(has)
        .or_else(|| stderr.filter(has))
        .or(stdout)
        .or(stderr)
        .cloned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

    use diagnosis::ids::{HostId, PersonId, RunKey, SessionId, Vmid};
    use diagnosis::knowledge::Question;
    use diagnosis::run::{Command, RunRecord};
    use diagnosis::session::{Actor, Answer, BoundGuest, EVENT_VERSION, Entry, Event, RunHead};
    use diagnosis::verdict::{Finding, Verdict};
    use uuid::Uuid;

    use super::*;

    fn ada() -> Actor {
        Actor {
            id: PersonId(Uuid::nil()),
            name: "Ada".into(),
        }
    }

    fn started() -> Event {
        let guest = BoundGuest {
            host: HostId(Uuid::nil()),
            host_name: "pve2".into(),
            kind: GuestKind::Container,
            vmid: Vmid(122),
            name: "ct122".into(),
        };
        Event::Started {
            symptom: "local".into(),
            title: "Local only".into(),
            tree: "local".into(),
            pack: "0".into(),
            ends: [("client".to_owned(), guest)].into_iter().collect(),
            by: ada(),
        }
    }

    fn runs(step: &str, keys: &[&str]) -> Event {
        let head = |key: &&str| RunHead {
            key: RunKey::from(*key),
            step: step.into(),
            title: format!("Read {key}"),
            host: HostId(Uuid::nil()),
            host_name: "pve2".into(),
            command: Command::new(["ip", "route"]),
        };
        Event::RunsStarted {
            runs: keys.iter().map(head).collect(),
        }
    }

    fn done(key: &str, stdout: Option<&str>, stderr: Option<&str>) -> Event {
        Event::RunDone {
            key: key.into(),
            record: RunRecord {
                status: RunStatus::Ran { exit: 0 },
                took_ms: 5,
                stdout: stdout.map(OutputHash::from),
                stderr: stderr.map(OutputHash::from),
                facts: None,
                no_facts: None,
                unparsed: Vec::new(),
            },
        }
    }

    fn found(step: &str, run: &str, marks: &[&str]) -> Event {
        Event::Found {
            finding: Finding {
                step: step.into(),
                title: "Routes".into(),
                family: None,
                verdict: Verdict::Fail,
                message: "none".into(),
                rules_out: vec!["the bridge".into()],
                evidence: vec![Evidence {
                    run: run.into(),
                    says: "It says so.".into(),
                    marks: marks.iter().map(|m| (*m).to_owned()).collect(),
                }],
            },
        }
    }

    fn page(events: Vec<Event>, outputs: &[(&str, &str)]) -> SessionPage {
        let entries: Vec<Entry> = events
            .into_iter()
            .zip(1..)
            .map(|(event, seq)| Entry {
                seq,
                at: Timestamp::from_second(seq).unwrap(),
                version: EVENT_VERSION,
                event,
            })
            .collect();
        let session = Session::fold(SessionId(Uuid::nil()), &entries).unwrap();
        let outputs = outputs
            .iter()
            .map(|(hash, text)| {
                let text = OutputText {
                    text: (*text).to_owned(),
                    bytes: text.len() as u64,
                    shown: text.len() as u64,
                    escaped: false,
                };
                (OutputHash::from(*hash), text)
            })
            .collect();
        SessionPage::new(&session, outputs)
    }

    fn asked() -> Event {
        Event::Asked {
            step: "ask".into(),
            question: Question {
                title: "Where to".into(),
                question: "Where to?".into(),
                why: "To probe it.".into(),
                options: Vec::new(),
                kind: None,
                placeholder: None,
                if_unknown: "Less is probed.".into(),
            },
        }
    }

    #[test]
    fn the_trail_is_in_the_order_in_which_it_went() {
        let answered = Event::Answered {
            step: "ask".into(),
            answer: Answer::Unknown,
            label: "I don’t know".into(),
            by: ada(),
        };
        let page = page(
            vec![
                started(),
                asked(),
                answered,
                runs("routes", &["a"]),
                done("a", None, None),
                found("routes", "a", &[]),
                runs("ping", &["b", "c"]),
                done("b", None, None),
            ],
            &[],
        );
        let kinds: Vec<&str> = page
            .trail
            .iter()
            .map(|stop| match stop {
                Stop::Question { answer, .. } => {
                    assert_eq!(answer, &Some(("I don’t know".into(), "Ada".into())));
                    "question"
                }
                Stop::Finding { .. } => "finding",
                Stop::Step {
                    commands,
                    running,
                    not_run,
                    ..
                } => {
                    assert_eq!((*commands, *running, *not_run), (2, 1, 0));
                    "step"
                }
            })
            .collect();
        assert_eq!(kinds, ["question", "finding", "step"]);
        assert_eq!(page.now, Now::Running);
        assert_eq!(page.ends, ["CT 122 (ct122) on pve2"]);
        assert!(page.again.ends_with("/container/122"), "{}", page.again);
    }

    #[test]
    fn an_open_question_is_what_the_session_waits_for() {
        let page = page(vec![started(), asked()], &[]);
        assert!(matches!(page.now, Now::Waiting { .. }) && page.now.goes_on());
    }

    #[test]
    fn evidence_points_to_the_output_that_has_its_marks() {
        let events = |marks: &[&str]| {
            vec![
                started(),
                runs("routes", &["x", "a"]),
                done("a", Some("out"), Some("err")),
                found("routes", "a", marks),
                found("routes", "a", marks),
            ]
        };
        let outputs = [("out", "nothing here"), ("err", "No route to host")];
        for (marks, output) in [
            (&["No route"][..], "err"),
            (&["nothing"], "out"),
            (&["elsewhere"], "out"),
            (&[""], "out"),
        ] {
            let page = page(events(marks), &outputs);
            let [piece] = page.evidence.as_slice() else {
                unreachable!("the same piece twice is shown once: {:?}", page.evidence)
            };
            assert_eq!(piece.command, Some(1));
            assert_eq!(piece.output, Some(OutputHash::from(output)), "{marks:?}");
        }
        // An output that is not at hand is not pointed to.
        let page = page(events(&["No route"]), &[]);
        assert!(page.evidence.iter().all(|piece| piece.output.is_none()));
    }
}
