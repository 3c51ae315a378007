use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use app::error::AppError;
use app::people::{Admin, People, Person, Role};
use diagnosis::ids::PersonId;
use jiff::SignedDuration;
use server::people::Accounts;
use server::store::Store;
use sqlx::ConnectOptions;
use uuid::Uuid;

use crate::postgres::{database, store};
use crate::samples::at;

const PASSWORD: &str = "correct horse battery";

/// Accounts whose clock the test sets.
struct Site {
    accounts: Accounts,
    clock: Arc<AtomicI64>,
}

impl Site {
    async fn new() -> Self {
        Self::over(store().await)
    }

    fn over(store: Store) -> Self {
        let clock = Arc::new(AtomicI64::new(0));
        let seconds = clock.clone();
        let accounts =
            Accounts::new(store, Arc::new(move || at(seconds.load(Ordering::SeqCst)))).unwrap();
        Self { accounts, clock }
    }

    fn wait(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }

    async fn first_link(&self) -> Option<String> {
        self.accounts
            .first_admin_link()
            .await
            .unwrap()
            .map(|path| token_of(&path))
    }

    async fn admin(&self, name: &str) -> Admin {
        let path = self
            .accounts
            .new_link(Role::Admin, "a test", SignedDuration::from_mins(5))
            .await
            .unwrap();
        let cookie = self
            .accounts
            .accept(&token_of(&path), name, PASSWORD)
            .await
            .unwrap()
            .token;
        Admin::prove(self.person(&cookie).await.unwrap()).unwrap()
    }

    async fn person(&self, cookie: &str) -> Option<Person> {
        self.accounts.person_of(cookie).await.unwrap()
    }
}

fn token_of(path: &str) -> String {
    path.strip_prefix("/invitation/").unwrap().to_owned()
}

fn field(error: &AppError) -> &str {
    match error {
        AppError::Invalid { field, .. } => field,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_first_admin_comes_by_a_link_of_which_the_last_one_counts() {
    let site = Site::new().await;
    let first = site.first_link().await.unwrap();
    let second = site.first_link().await.unwrap();
    assert_ne!(first, second);
    assert!(matches!(
        site.accounts.invitation(&first).await,
        Err(AppError::Conflict { .. })
    ));
    assert_eq!(
        site.accounts.invitation(&second).await.unwrap(),
        Role::Admin
    );
    let sign_in = site
        .accounts
        .accept(&second, " Ada ", PASSWORD)
        .await
        .unwrap();
    assert_eq!(sign_in.lasts_seconds, 14 * 24 * 3600);
    let person = site.person(&sign_in.token).await.unwrap();
    assert_eq!((person.name.as_str(), person.role), ("Ada", Role::Admin));
    assert!(matches!(
        site.accounts.accept(&second, "Bob", PASSWORD).await,
        Err(AppError::Conflict { .. })
    ));
    assert_eq!(site.first_link().await, None);
}

#[tokio::test]
async fn a_first_link_is_worth_nothing_once_there_is_an_admin_and_after_15_minutes() {
    let site = Site::new().await;
    let old = site.first_link().await.unwrap();
    site.wait(15 * 60);
    assert!(site.accounts.accept(&old, "Ada", PASSWORD).await.is_err());
    let link = site.first_link().await.unwrap();
    site.admin("Ada").await;
    assert!(site.accounts.invitation(&link).await.is_err());
    assert!(matches!(
        site.accounts.accept(&link, "Eve", PASSWORD).await,
        Err(AppError::Conflict { .. })
    ));
}

#[tokio::test]
async fn ten_who_race_for_one_link_make_one_account() {
    let site = Site::new().await;
    let admin = site.admin("Ada").await;
    let token = token_of(&site.accounts.invite(&admin, Role::Viewer).await.unwrap());
    let names: Vec<String> = (0..10).map(|n| format!("racer {n}")).collect();
    let tries = names
        .iter()
        .map(|name| site.accounts.accept(&token, name, PASSWORD));
    let won: Vec<_> = futures::future::join_all(tries)
        .await
        .into_iter()
        .filter_map(Result::ok)
        .collect();
    assert_eq!(won.len(), 1);
    assert_eq!(site.person(&won[0].token).await.unwrap().role, Role::Viewer);
    let page = site.accounts.list(&admin).await.unwrap();
    assert_eq!((page.people.len(), page.invitations.len()), (2, 0));
}

#[tokio::test]
async fn a_link_survives_a_name_that_is_taken_and_a_password_that_is_too_short() {
    let site = Site::new().await;
    let admin = site.admin("Ada").await;
    let token = token_of(&site.accounts.invite(&admin, Role::Operator).await.unwrap());
    let accept =
        async |name: &str, password: &str| site.accounts.accept(&token, name, password).await;
    assert_eq!(field(&accept("aDA", PASSWORD).await.err().unwrap()), "name");
    assert_eq!(field(&accept("", PASSWORD).await.err().unwrap()), "name");
    assert_eq!(
        field(&accept("a\0b", PASSWORD).await.err().unwrap()),
        "name"
    );
    let short = accept("Bob", "123456789").await.err().unwrap();
    assert_eq!(field(&short), "password");
    assert!(
        short.to_string().contains("at least 10 characters"),
        "{short}"
    );
    assert!(accept("Bob", &"x".repeat(2000)).await.is_err());
    assert!(accept("Bob", PASSWORD).await.is_ok());
}

#[tokio::test]
async fn signing_in_needs_the_right_name_and_password_whatever_the_names_case() {
    let site = Site::new().await;
    let admin = site.admin("Ägidius").await;
    let cookie = site
        .accounts
        .sign_in("äGIDIUS", PASSWORD)
        .await
        .unwrap()
        .token;
    assert_eq!(site.person(&cookie).await.unwrap().id, admin.person().id);
    let mut refusals = Vec::new();
    for (name, password) in [
        ("Ägidius", "correct horse batterY"),
        ("Ägidius", ""),
        ("nobody", PASSWORD),
        ("nobody", ""),
        ("a\0", PASSWORD),
        ("", PASSWORD),
        ("Ägidius", &"x".repeat(5000)),
    ] {
        refusals.push(site.accounts.sign_in(name, password).await.err().unwrap());
    }
    assert!(refusals.iter().all(|r| *r == refusals[0]), "{refusals:?}");
    site.accounts.sign_out(&cookie).await.unwrap();
    site.accounts.sign_out("garbage").await.unwrap();
    assert_eq!(site.person(&cookie).await, None);
}

#[tokio::test]
async fn tokens_are_not_in_the_database_and_passwords_are_argon2id() {
    let options = database().await;
    let site = Site::over(Store::new(options.clone()));
    let admin = site.admin("Ada").await;
    let cookie = site.accounts.sign_in("Ada", PASSWORD).await.unwrap().token;
    let invitation = token_of(&site.accounts.invite(&admin, Role::Viewer).await.unwrap());
    assert!(cookie.len() == 64 && cookie.bytes().all(|b| b.is_ascii_alphanumeric()));
    let mut connection = options.connect().await.unwrap();
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT row_to_json(s)::text FROM sign_ins s UNION ALL SELECT row_to_json(i)::text FROM invitations i
         UNION ALL SELECT row_to_json(p)::text FROM people p",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let all = rows.join("\n");
    assert!(!all.contains(&cookie) && !all.contains(&invitation) && !all.contains(PASSWORD));
    assert!(all.contains("$argon2id$v=19$m=19456,t=2,p=1$"), "{all}");
}

#[tokio::test]
async fn a_sign_in_ends_after_14_days_and_an_invitation_after_7() {
    let site = Site::new().await;
    let admin = site.admin("Ada").await;
    let cookie = site.accounts.sign_in("Ada", PASSWORD).await.unwrap().token;
    let token = token_of(&site.accounts.invite(&admin, Role::Viewer).await.unwrap());
    site.wait(7 * 24 * 3600 - 1);
    assert_eq!(
        site.accounts.list(&admin).await.unwrap().invitations.len(),
        1
    );
    assert!(site.accounts.invitation(&token).await.is_ok());
    site.wait(1);
    assert_eq!(
        site.accounts.list(&admin).await.unwrap().invitations.len(),
        0
    );
    assert!(site.accounts.accept(&token, "Bob", PASSWORD).await.is_err());
    site.wait(7 * 24 * 3600 - 1);
    assert!(site.person(&cookie).await.is_some());
    site.wait(1);
    assert_eq!(site.person(&cookie).await, None);
}

#[tokio::test]
async fn a_role_counts_from_the_next_request_and_a_removed_person_is_signed_out() {
    let site = Site::new().await;
    let admin = site.admin("Ada").await;
    let other = site.admin("Bob").await;
    let cookie = site.accounts.sign_in("Bob", PASSWORD).await.unwrap().token;
    let invitation = token_of(&site.accounts.invite(&other, Role::Admin).await.unwrap());
    let bob = other.person().id;
    site.accounts
        .set_role(&admin, bob, Role::Viewer)
        .await
        .unwrap();
    assert_eq!(site.person(&cookie).await.unwrap().role, Role::Viewer);
    // Somebody who is no admin any more does not make admins by an invitation from before.
    assert!(site.accounts.invitation(&invitation).await.is_err());
    site.accounts.remove(&admin, bob).await.unwrap();
    assert_eq!(site.person(&cookie).await, None);
    assert!(site.accounts.sign_in("Bob", PASSWORD).await.is_err());
    assert!(matches!(
        site.accounts.remove(&admin, bob).await,
        Err(AppError::NotFound { .. })
    ));
    let nobody = PersonId(Uuid::nil());
    assert!(matches!(
        site.accounts.set_role(&admin, nobody, Role::Admin).await,
        Err(AppError::NotFound { .. })
    ));
}

#[tokio::test]
async fn there_is_always_an_admin_also_when_two_remove_each_other() {
    let site = Site::new().await;
    let mut keeper = site.admin("admin 0").await;
    assert!(matches!(
        site.accounts
            .set_role(&keeper, keeper.person().id, Role::Viewer)
            .await,
        Err(AppError::Conflict { .. })
    ));
    assert!(matches!(
        site.accounts.remove(&keeper, keeper.person().id).await,
        Err(AppError::Conflict { .. })
    ));
    site.accounts
        .set_role(&keeper, keeper.person().id, Role::Admin)
        .await
        .unwrap();
    for round in 1..=8 {
        let other = site.admin(&format!("admin {round}")).await;
        let (a, b) = if round % 2 == 0 {
            tokio::join!(
                site.accounts.remove(&other, keeper.person().id),
                site.accounts.remove(&keeper, other.person().id)
            )
        } else {
            tokio::join!(
                site.accounts
                    .set_role(&other, keeper.person().id, Role::Viewer),
                site.accounts.remove(&keeper, other.person().id)
            )
        };
        assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
        let page = site.accounts.list(&keeper).await.unwrap();
        let admins: Vec<_> = page
            .people
            .iter()
            .filter(|p| p.person.role == Role::Admin)
            .collect();
        assert_eq!(admins.len(), 1);
        keeper = Admin::prove(admins[0].person.clone()).unwrap();
    }
}

#[tokio::test]
async fn tries_are_counted_per_name_and_in_total() {
    let site = Site::new().await;
    site.admin("Ada").await;
    // All at once: each counts before it is hashed, however slow this machine hashes.
    let tries = (0..11).map(|_| site.accounts.sign_in("Ada", "wrong"));
    let refused: Vec<u64> = futures::future::join_all(tries)
        .await
        .into_iter()
        .filter_map(|tried| match tried {
            Err(AppError::TooMany { seconds }) => Some(seconds),
            _ => None,
        })
        .collect();
    assert!(matches!(refused[..], [1..=11]), "{refused:?}");

    let names: Vec<String> = (0..80).map(|n| format!("name {n}")).collect();
    let tries = names
        .iter()
        .map(|name| site.accounts.sign_in(name, "wrong"));
    let tried = futures::future::join_all(tries).await;
    let refused = tried
        .iter()
        .filter(|t| matches!(t, Err(AppError::TooMany { .. })))
        .count();
    assert!(refused > 0 && refused < 80, "{refused}");
}

#[tokio::test]
async fn last_seen_is_exact_to_a_minute() {
    let site = Site::new().await;
    let admin = site.admin("Ada").await;
    let cookie = site.accounts.sign_in("Ada", PASSWORD).await.unwrap().token;
    let seen = async || site.accounts.list(&admin).await.unwrap().people[0].last_seen_at;
    site.wait(59);
    site.person(&cookie).await.unwrap();
    assert_eq!(seen().await, Some(at(0)));
    site.wait(2);
    site.person(&cookie).await.unwrap();
    assert_eq!(seen().await, Some(at(61)));
    for garbage in ["", "x", "\0", &"0".repeat(64), &"ß".repeat(32)] {
        assert_eq!(site.person(garbage).await, None);
    }
}
