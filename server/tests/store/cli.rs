//! The command line's own rules about hosts, as a script meets them.

use std::process::Command;

use server::ssh::parse_host_key;
use server::store::Store;
use sqlx::ConnectOptions as _;

use crate::postgres::database;

const FIRST: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
const SECOND: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6rWI3G1sz07DnfFlrouTcysQlj2P+jpNSOEWD9OJ3X";

#[tokio::test]
async fn a_host_that_is_there_takes_the_given_key_and_nothing_else() {
    let options = database().await;
    let store = Store::new(options.clone());
    let url = options.to_url_lossy();
    let add = |address: &str, key: &str, more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hopwise"))
            .args(["host", "add", "pve1", "--address", address])
            .args(["--host-key", key])
            .args(more)
            .env("DATABASE_URL", url.as_str())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let holds = async || {
        let host = store.hosts().await.unwrap().remove(0).host.id;
        store.host_keys(host).await.unwrap()
    };
    let (first, second) = (
        parse_host_key(FIRST).unwrap(),
        parse_host_key(SECOND).unwrap(),
    );

    assert_eq!(add("192.0.2.1", FIRST, &[]), (true, "pve1 added\n".into()));
    assert_eq!(holds().await, std::slice::from_ref(&first));

    let (done, says) = add("192.0.2.1", SECOND, &[]);
    assert!(
        !done && says.contains("is there already: choose another name"),
        "{says}"
    );
    assert_eq!(holds().await, std::slice::from_ref(&first));

    let (done, says) = add("192.0.2.2", SECOND, &["--if-missing"]);
    assert!(
        !done && says.contains("the key was not confirmed"),
        "{says}"
    );
    assert_eq!(holds().await, [first]);

    let (done, says) = add("192.0.2.1", SECOND, &["--if-missing"]);
    assert!(done && says.contains("its key is now this one"), "{says}");
    assert_eq!(holds().await, [second]);

    let (done, says) = add("192.0.2.1", SECOND, &["--if-missing"]);
    assert!(done && says.contains("with this key"), "{says}");
    let (done, says) = add("192.0.2.1", "no key", &["--if-missing"]);
    assert!(!done && says.contains("is not a public key"), "{says}");
}
