//! What stands before every page: who may see it, what the browser is told, what comes instead while
//! the database is away.

use app::people::Role;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use futures::StreamExt as _;
use server::store::Store;
use sqlx::postgres::PgConnectOptions;

use crate::site::{TestSite, text};

#[tokio::test]
async fn pages_carry_a_strict_policy_with_a_nonce_of_their_own() {
    let site = TestSite::start().await;
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let response = site.get("/sign-in", None).await;
        assert_eq!(response.status(), StatusCode::OK);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(response.headers()[name], value, "{name}");
        }
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"),
            "{policy}"
        );
        let nonce = policy
            .split("'nonce-")
            .nth(1)
            .unwrap()
            .split('\'')
            .next()
            .unwrap()
            .to_owned();
        let page = text(response).await;
        assert!(
            page.contains(&format!("nonce=\"{nonce}\"")),
            "the page's scripts carry the nonce"
        );
        assert!(
            !page.contains(" style=\""),
            "an inline style would be refused by the policy"
        );
        nonces.push(nonce);
    }
    assert_ne!(nonces[0], nonces[1]);
}

#[tokio::test]
async fn what_is_no_page_may_load_nothing() {
    let site = TestSite::start().await;
    let response = site.get("/healthz", None).await;
    assert_eq!(response.status(), StatusCode::OK);
    let policy = &response.headers()[header::CONTENT_SECURITY_POLICY];
    assert!(policy.to_str().unwrap().starts_with("default-src 'none'"));
    assert_eq!(site.get("/readyz", None).await.status(), StatusCode::OK);
    assert_eq!(site.get("/metrics", None).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn nobody_sees_anything_but_the_way_in() {
    let site = TestSite::start().await;
    for path in ["/", "/hosts", "/sessions", "/people", "/hosts/new"] {
        let response = site.get(path, None).await;
        let to = response
            .headers()
            .get(header::LOCATION)
            .and_then(|l| l.to_str().ok())
            .unwrap_or_default();
        assert!(
            to.starts_with("/sign-in"),
            "{path}: {} {to}",
            response.status()
        );
    }
    let id = "00000000-0000-7000-8000-000000000001";
    for path in [
        format!("/live/run/{id}"),
        format!("/outputs/{}/raw", "0".repeat(64)),
    ] {
        assert_eq!(
            site.get(&path, None).await.status(),
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_answered_so() {
    let site = TestSite::start().await;
    let cookie = site.sign_in_as(Role::Viewer).await;
    let id = "00000000-0000-7000-8000-000000000001";
    for path in [
        format!("/hosts/{id}"),
        format!("/sessions/{id}"),
        format!("/runs/{id}"),
        "/nothing".into(),
    ] {
        assert_eq!(
            site.get(&path, Some(&cookie)).await.status(),
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_form_sent_from_another_site_is_refused() {
    let site = TestSite::start().await;
    let cookie = site.sign_in_as(Role::Admin).await;
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "https://elsewhere.example"),
    ] {
        let request = Request::post("/api/invite-person")
            .header(header::HOST, "127.0.0.1")
            .header(header::COOKIE, &cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(name, value)
            .body(Body::from("role=admin"))
            .unwrap();
        assert_eq!(
            site.send(request).await.status(),
            StatusCode::FORBIDDEN,
            "{name}: {value}"
        );
    }
}

#[tokio::test]
async fn a_form_larger_than_any_of_ours_is_refused() {
    let site = TestSite::start().await;
    let status = site.call("sign-in", &"x".repeat(3 << 20), None).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn without_a_database_the_page_says_so_and_the_process_is_alive() {
    let nowhere = PgConnectOptions::new_without_pgpass()
        .socket("/nowhere")
        .username("nobody");
    let site = TestSite::over(Store::new(nowhere)).await;
    assert_eq!(site.get("/healthz", None).await.status(), StatusCode::OK);
    assert_eq!(
        site.get("/readyz", None).await.status(),
        StatusCode::SERVICE_UNAVAILABLE
    );
    let response = site.get("/hosts", None).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[header::RETRY_AFTER], "5");
    assert!(text(response).await.contains("http-equiv=\"refresh\""));
    assert_eq!(
        site.call("list-hosts", "", None).await,
        StatusCode::SERVICE_UNAVAILABLE
    );
}

#[tokio::test]
async fn a_stream_tells_the_version_at_once_and_resumes_after_the_one_that_is_known() {
    let site = TestSite::start().await;
    let cookie = site.sign_in_as(Role::Admin).await;
    let form = "name=h&address=192.0.2.1&port=22&user=root&credential=agent";
    assert_eq!(
        site.call("add-host", form, Some(&cookie)).await,
        StatusCode::OK
    );
    let host = site.store.hosts().await.unwrap().remove(0).host.id;
    let (_, version) = site.store.host(host).await.unwrap().unwrap();
    let open = async |after: i64| {
        let response = site
            .get(&format!("/live/host/{host}?after={after}"), Some(&cookie))
            .await;
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "text/event-stream"
        );
        response.into_body().into_data_stream()
    };
    let first = open(version - 1).await.next().await.unwrap().unwrap();
    assert!(
        String::from_utf8_lossy(&first).contains(&format!("data: {version}\n")),
        "{first:?}"
    );

    let mut stream = open(version).await;
    let key = diagnosis::connection::HostKey {
        algorithm: "ssh-ed25519".into(),
        fingerprint: "SHA256:x".into(),
        openssh: "ssh-ed25519 AAAA".into(),
    };
    let person = diagnosis::ids::PersonId(uuid::Uuid::nil());
    site.store
        .confirm_host_key(host, &key, person, server::clock::now())
        .await
        .unwrap();
    let next = stream.next().await.unwrap().unwrap();
    assert!(
        String::from_utf8_lossy(&next).contains(&format!("data: {}\n", version + 1)),
        "{next:?}"
    );
    // A page that shows it would get 404 for asking again: it is told instead.
    site.store.remove_host(host).await.unwrap();
    let last = stream.next().await.unwrap().unwrap();
    assert!(
        String::from_utf8_lossy(&last).contains("data: gone\n"),
        "{last:?}"
    );
    let first = open(version).await.next().await.unwrap().unwrap();
    assert!(
        String::from_utf8_lossy(&first).contains("data: gone\n"),
        "{first:?}"
    );
}
