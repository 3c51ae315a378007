//! Every server function is a public endpoint. This walks all that are registered, as nobody, viewer,
//! operator and admin; one that is missing from the table fails the test.

use app::people::Role;
use http::StatusCode;

use crate::site::TestSite;

const ID: &str = "00000000-0000-7000-8000-000000000001";

/// What each function needs, and arguments it can be called with. `None`: open to everybody.
fn table() -> Vec<(&'static str, Option<Role>, String)> {
    let hash = "0".repeat(64);
    vec![
        ("current-person", None, String::new()),
        ("read-invitation", None, "token=x".into()),
        (
            "accept-invitation",
            None,
            "token=x&name=n&password=long+enough+1&password_again=long+enough+1".into(),
        ),
        ("sign-in", None, "name=nobody&password=wrong".into()),
        ("list-people", Some(Role::Admin), String::new()),
        ("invite-person", Some(Role::Admin), "role=viewer".into()),
        ("take-invitation", Some(Role::Admin), String::new()),
        (
            "set-role",
            Some(Role::Admin),
            format!("person={ID}&role=viewer"),
        ),
        ("remove-person", Some(Role::Admin), format!("person={ID}")),
        ("list-hosts", Some(Role::Viewer), String::new()),
        ("read-host", Some(Role::Viewer), format!("id={ID}")),
        (
            "add-host",
            Some(Role::Admin),
            "name=&address=192.0.2.1&port=22&user=root&credential=agent".into(),
        ),
        ("check-host", Some(Role::Operator), format!("id={ID}")),
        (
            "confirm-host-key",
            Some(Role::Admin),
            format!("id={ID}&fingerprint=SHA256:x"),
        ),
        ("remove-host", Some(Role::Admin), format!("id={ID}")),
        (
            "start-run",
            Some(Role::Operator),
            format!("host={ID}&check=none"),
        ),
        ("read-run", Some(Role::Viewer), format!("id={ID}")),
        ("cancel-run", Some(Role::Operator), format!("id={ID}")),
        (
            "read-output",
            Some(Role::Viewer),
            format!("hash={hash}&most=1"),
        ),
        ("list-symptoms", Some(Role::Viewer), String::new()),
        (
            "read-session-form",
            Some(Role::Viewer),
            "symptom=local-subnet-only".into(),
        ),
        (
            "start-session",
            Some(Role::Operator),
            format!("symptom=none&client={ID}/container/1"),
        ),
        (
            "answer-question",
            Some(Role::Operator),
            format!("session={ID}&step=s&value=v"),
        ),
        (
            "stop-session",
            Some(Role::Operator),
            format!("session={ID}"),
        ),
        ("read-session", Some(Role::Viewer), format!("id={ID}")),
        ("list-sessions", Some(Role::Viewer), String::new()),
        // The last: it ends what the others are called with.
        ("sign-out", None, String::new()),
    ]
}

#[tokio::test]
async fn every_server_function_asks_for_its_role() {
    let site = TestSite::start().await;
    let table = table();
    let registered: Vec<String> = server_fn::axum::server_fn_paths()
        .map(|(path, _)| path.to_owned())
        .collect();
    for path in &registered {
        let name = path.trim_start_matches("/api/");
        assert!(
            table.iter().any(|(known, ..)| *known == name),
            "{path} is not in the table"
        );
    }
    assert_eq!(
        registered.len(),
        table.len(),
        "the table names functions that are not registered"
    );

    let callers = [
        None,
        Some(Role::Viewer),
        Some(Role::Operator),
        Some(Role::Admin),
    ];
    for caller in callers {
        let cookie = match caller {
            None => None,
            Some(role) => Some(site.sign_in_as(role).await),
        };
        for (name, needs, arguments) in &table {
            let status = site.call(name, arguments, cookie.as_deref()).await;
            let expected = match (needs, caller) {
                (None, _) => None,
                (Some(_), None) => Some(StatusCode::UNAUTHORIZED),
                (Some(needs), Some(role)) if role < *needs => Some(StatusCode::FORBIDDEN),
                (Some(_), Some(_)) => None,
            };
            let denied = status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN;
            match expected {
                Some(expected) => assert_eq!(status, expected, "{name} as {caller:?}"),
                // Signing in with a wrong password is rightly answered 401 or 422; it needs no role.
                None if needs.is_none() => {}
                None => assert!(!denied, "{name} as {caller:?} was denied: {status}"),
            }
        }
    }
}
