use app::sessions::SessionState;
use diagnosis::ids::SessionId;
use diagnosis::session::{Event, Phase, Session};
use server::store::{News, Store, StoreError, Summary, Topic, summary};
use sqlx::{ConnectOptions, Executor};
use uuid::Uuid;

use crate::postgres::{database, store};
use crate::samples::{
    NASTY, answered, asked, at, cause, found, inconclusive, no_fault, run_done, runs_started,
    started, stored_session,
};

/// Events of every kind, leading to each state.
fn stories() -> Vec<(SessionState, Vec<Event>)> {
    let stopped = || Event::Stopped {
        reason: NASTY.into(),
    };
    let interrupted = || Event::Interrupted {
        keys: vec!["a".into()],
    };
    vec![
        (SessionState::Running, vec![]),
        (SessionState::Waiting, vec![asked()]),
        (
            SessionState::Running,
            vec![
                asked(),
                answered(),
                runs_started(&["a", "b"]),
                run_done("a", None),
            ],
        ),
        (
            SessionState::Running,
            vec![
                runs_started(&["a"]),
                interrupted(),
                runs_started(&["a"]),
                run_done("a", None),
            ],
        ),
        (
            SessionState::CauseFound,
            vec![runs_started(&["a"]), run_done("a", None), found(), cause()],
        ),
        (SessionState::NoFaultFound, vec![found(), no_fault()]),
        (SessionState::Inconclusive, vec![inconclusive(NASTY)]),
        (SessionState::Stopped, vec![asked(), stopped()]),
    ]
}

#[tokio::test]
async fn events_come_back_as_they_were_and_the_summary_is_their_fold() {
    let options = database().await;
    let store = Store::new(options.clone());
    let mut expected = Vec::new();
    for (second, (state, events)) in (1..).zip(stories()) {
        let id = SessionId(Uuid::now_v7());
        let mut entries = vec![
            store
                .start_session(id, &started(NASTY), at(second))
                .await
                .unwrap(),
        ];
        for event in &events {
            entries.extend(
                store
                    .append(id, None, std::slice::from_ref(event), at(second + 100))
                    .await
                    .unwrap(),
            );
        }
        assert_eq!(store.entries(id, 0).await.unwrap(), entries);
        assert_eq!(store.entries(id, 1).await.unwrap(), entries[1..]);
        expected.push((id, state, entries));
    }
    // A second store has no folds in memory, as after a restart.
    let other = Store::new(options);
    let rows = other.sessions(None, 100).await.unwrap();
    assert_eq!(rows.len(), expected.len());
    for (id, state, entries) in expected {
        let rebuilt = Session::fold(id, &entries).unwrap();
        assert_eq!(store.session(id).await.unwrap().unwrap(), rebuilt);
        assert_eq!(other.session(id).await.unwrap().unwrap(), rebuilt);
        let row = rows.iter().find(|row| row.id == id).unwrap().clone();
        assert_eq!(row.state, state);
        assert_eq!(
            (row.started_at, row.changed_at),
            (rebuilt.started_at, rebuilt.changed_at)
        );
        assert_eq!(
            other.news(Topic::Session(id)).await.unwrap(),
            News::Version(rebuilt.seq)
        );
        let stored = Summary {
            title: row.title,
            ends: row.ends,
            state: row.state,
            headline: row.headline,
            started_by: row.started_by,
        };
        assert_eq!(stored, summary(&rebuilt));
        assert!(!stored.ends.contains('\0') && !stored.headline.contains(['\0', '\n']));
    }
}

#[tokio::test]
async fn twenty_who_append_at_once_leave_no_gap() {
    let options = database().await;
    let stores = [Store::new(options.clone()), Store::new(options)];
    let id = stored_session(&stores[0]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..20 {
        let store = stores[task % 2].clone();
        tasks.spawn(async move {
            for _ in 0..5 {
                let two = [found(), found()];
                let entries = store.append(id, None, &two, at(1)).await.unwrap();
                assert_eq!(entries[0].seq + 1, entries[1].seq);
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let seqs: Vec<i64> = stores[1]
        .entries(id, 0)
        .await
        .unwrap()
        .into_iter()
        .map(|e| e.seq)
        .collect();
    assert_eq!(seqs, (1..=201).collect::<Vec<_>>());
    assert_eq!(
        stores[0].session(id).await.unwrap().unwrap().findings.len(),
        200
    );
    assert_eq!(
        stores[1].session(id).await.unwrap().unwrap().findings.len(),
        200
    );
}

#[tokio::test]
async fn of_two_answers_to_one_question_the_first_counts() {
    let store = store().await;
    let id = stored_session(&store).await;
    store.append(id, Some(1), &[asked()], at(1)).await.unwrap();
    let (answer_a, answer_b) = ([answered()], [answered()]);
    let (a, b) = tokio::join!(
        store.append(id, Some(2), &answer_a, at(2)),
        store.append(id, Some(2), &answer_b, at(2))
    );
    let refused = [a, b]
        .into_iter()
        .filter_map(Result::err)
        .collect::<Vec<_>>();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].has_moved_on());
    assert_eq!(store.session(id).await.unwrap().unwrap().seq, 3);
}

#[tokio::test]
async fn an_append_that_fails_leaves_nothing() {
    let store = store().await;
    let id = stored_session(&store).await;
    // The second event does not fit; the output of the third is not stored.
    assert!(
        store
            .append(id, None, &[found(), started("x")], at(1))
            .await
            .is_err()
    );
    let lost = run_done("a", Some("0".repeat(64).as_str().into()));
    assert!(
        store
            .append(id, None, &[found(), runs_started(&["a"]), lost], at(1))
            .await
            .is_err()
    );
    let session = store.session(id).await.unwrap().unwrap();
    assert_eq!(
        (session.seq, session.findings.len(), session.phase),
        (1, 0, Phase::Running)
    );
    assert_eq!(
        store.append(id, Some(1), &[found()], at(1)).await.unwrap()[0].seq,
        2
    );
    assert_eq!(store.append(id, Some(2), &[], at(1)).await.unwrap(), []);
    let nobody = SessionId(Uuid::nil());
    assert!(matches!(
        store.append(nobody, None, &[found()], at(1)).await,
        Err(StoreError::NotFound { .. })
    ));
    assert_eq!(store.session(nobody).await.unwrap(), None);
    assert!(store.start_session(nobody, &found(), at(1)).await.is_err());
}

#[tokio::test]
async fn events_of_a_newer_program_are_refused_and_damaged_ones_named() {
    let options = database().await;
    let mut connection = options.connect().await.unwrap();
    let store = Store::new(options.clone());
    let id = stored_session(&store).await;
    store.append(id, None, &[found()], at(1)).await.unwrap();
    connection
        .execute(r#"UPDATE session_events SET version = 99, event = '{"event": "teleported"}' WHERE seq = 2"#)
        .await
        .unwrap();
    let fresh = Store::new(options.clone());
    assert!(matches!(
        fresh.session(id).await,
        Err(StoreError::Newer { .. })
    ));
    assert!(matches!(
        fresh.append(id, None, &[found()], at(2)).await,
        Err(StoreError::Newer { .. })
    ));
    connection
        .execute("UPDATE session_events SET version = 1 WHERE seq = 2")
        .await
        .unwrap();
    let error = Store::new(options.clone()).session(id).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("event 2 of the session {id} cannot be read")),
        "{error}"
    );
    connection
        .execute("DELETE FROM session_events WHERE seq = 1")
        .await
        .unwrap();
    connection
        .execute("UPDATE session_events SET event = '{}' WHERE seq = 2")
        .await
        .unwrap();
    assert!(matches!(
        Store::new(options).session(id).await,
        Err(StoreError::Corrupt { .. })
    ));
}

#[tokio::test]
async fn a_fold_in_memory_does_not_outlive_its_database() {
    let options = database().await;
    let mut connection = options.connect().await.unwrap();
    let store = Store::new(options);
    let id = stored_session(&store).await;
    store
        .append(id, None, &[found(), found()], at(1))
        .await
        .unwrap();
    // As if the database had been put back from a backup, and had gone on from there.
    connection
        .execute("DELETE FROM session_events WHERE seq = 3")
        .await
        .unwrap();
    connection
        .execute("UPDATE sessions SET seq = 2")
        .await
        .unwrap();
    assert_eq!(store.session(id).await.unwrap().unwrap().findings.len(), 1);
    store.append(id, Some(2), &[asked()], at(2)).await.unwrap();
    let session = store.session(id).await.unwrap().unwrap();
    assert_eq!(
        (session.seq, session.findings.len(), session.questions.len()),
        (3, 1, 1)
    );
}

#[tokio::test]
async fn sessions_are_listed_page_by_page_those_that_changed_last_first() {
    let store = store().await;
    let mut ids = Vec::new();
    for second in 0..5 {
        let id = SessionId(Uuid::now_v7());
        store
            .start_session(id, &started("ct"), at(second / 2))
            .await
            .unwrap();
        ids.push(id);
    }
    store
        .append(ids[0], None, &[asked()], at(50))
        .await
        .unwrap();
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = store.sessions(before, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        seen.extend(page.into_iter().map(|row| row.id));
    }
    assert_eq!(seen, [ids[0], ids[4], ids[3], ids[2], ids[1]]);
    let mut unfinished = store.unfinished_sessions().await.unwrap();
    unfinished.sort();
    assert_eq!(unfinished, ids[1..]);
}
