//! One PostgreSQL for all tests that run at the same time, in whatever processes, and a database of
//! its own for each test.
//!
//! The first who comes starts the cluster and a keeper beside it. Every test process holds a shared
//! lock; when nobody has held it for a while, the keeper stops the cluster and removes it. Locks are
//! gone with their processes, so a killed test leaves nothing behind. Without PostgreSQL's programs
//! the tests fail.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use server::postgres::{Account, Binaries};
use server::store::Store;
use sha2::{Digest, Sha256};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use tokio::sync::OnceCell;

/// Stops the cluster once no test has used it for about 10 seconds.
const KEEPER: &str = r#"
exec 9<keeper; flock 9
idle=0
while sleep 2; do
  if flock -n -x users true; then idle=$((idle + 1)); else idle=0; fi
  if [ $idle -ge 5 ] && flock -n -x users sh -c '
    pid=$(head -n 1 data/postmaster.pid) && kill -QUIT "$pid"
    for wait in $(seq 100); do kill -0 "$pid" || break; sleep 0.1; done
    rm -rf data'
  then exit; fi
done
"#;

/// A store on a new database with the schema.
pub(crate) async fn store() -> Store {
    Store::new(database().await)
}

/// A new database with the schema.
pub(crate) async fn database() -> PgConnectOptions {
    let cluster = cluster().await;
    cluster
        .create(&format!("TEMPLATE {}", cluster.template))
        .await
}

/// A new database with nothing in it.
pub(crate) async fn empty_database() -> PgConnectOptions {
    cluster().await.create("").await
}

struct Cluster {
    options: PgConnectOptions,
    template: String,
    /// Held until the process ends.
    _in_use: File,
}

async fn cluster() -> &'static Cluster {
    static CLUSTER: OnceCell<Cluster> = OnceCell::const_new();
    CLUSTER.get_or_init(Cluster::join).await
}

impl Cluster {
    async fn create(&self, how: &str) -> PgConnectOptions {
        let name = format!("t_{}", uuid::Uuid::new_v4().simple());
        let mut admin = self.options.connect().await.unwrap();
        admin
            .execute(AssertSqlSafe(format!("CREATE DATABASE {name} {how}")))
            .await
            .unwrap();
        admin.close().await.unwrap();
        self.options.clone().database(&name)
    }

    async fn join() -> Self {
        let account = Account::for_cluster(Path::new("/nowhere")).unwrap();
        let binaries = Binaries::find(Path::new("/nowhere"), None).unwrap();
        let dir = dir(&account, &binaries);
        let in_use = open(&dir.join("users"));
        in_use.lock_shared().unwrap();
        let start = open(&dir.join("start"));
        start.lock().unwrap();
        let options = PgConnectOptions::new_without_pgpass()
            .socket(&dir)
            .port(5432)
            .username("postgres")
            .database("postgres")
            .ssl_mode(PgSslMode::Disable);
        let mut admin = match options.connect().await {
            Ok(admin) => admin,
            Err(_) => {
                start_cluster(&dir, &account, &binaries);
                options.connect().await.unwrap()
            }
        };
        start_keeper(&dir);
        let template = template(&mut admin, &options).await;
        admin.close().await.unwrap();
        drop(start);
        Self {
            options,
            template,
            _in_use: in_use,
        }
    }
}

/// A folder that whoever runs PostgreSQL can reach, which a home or a target folder may not be. Its
/// path is short enough for a socket.
fn dir(account: &Account, binaries: &Binaries) -> PathBuf {
    let hash = Sha256::digest(env!("CARGO_MANIFEST_DIR").as_bytes());
    let hash: String = hash.iter().take(6).map(|b| format!("{b:02x}")).collect();
    let dir = PathBuf::from(format!(
        "/tmp/hopwise-test-{}-{hash}-{}",
        account.uid, binaries.major
    ));
    match DirBuilder::new().mode(0o700).create(&dir) {
        Ok(()) => std::os::unix::fs::chown(&dir, Some(account.uid), Some(account.gid)).unwrap(),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{error}"),
    }
    assert_eq!(
        fs::symlink_metadata(&dir).unwrap().uid(),
        account.uid,
        "{} is somebody else's",
        dir.display()
    );
    dir
}

fn open(path: &Path) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .unwrap()
}

fn start_cluster(dir: &Path, account: &Account, binaries: &Binaries) {
    let data = dir.join("data");
    // What a keeper that was killed left: a cluster that does not answer is of no use to anybody.
    let _ = fs::remove_dir_all(&data);
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(binaries.program(program));
        command
            .current_dir(dir)
            .env("LC_ALL", "C")
            .arg("-D")
            .arg(&data)
            .args(arguments);
        account.run_as(&mut command);
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(dir.join("setup.log"))
            .unwrap();
        command
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log);
        let status = command.status().unwrap();
        let log = fs::read_to_string(dir.join("setup.log")).unwrap();
        assert!(status.success(), "{program}: {status}\n{log}");
    };
    run(
        "initdb",
        &[
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ],
    );
    let log = dir.join("log");
    let settings = format!(
        "-c listen_addresses='' -c unix_socket_directories='{}' -c fsync=off -c max_connections=400",
        dir.display()
    );
    run(
        "pg_ctl",
        &[
            "-w",
            "-s",
            "-l",
            log.to_str().unwrap(),
            "-o",
            &settings,
            "start",
        ],
    );
}

#[expect(
    clippy::zombie_processes,
    reason = "it outlives this process, and nobody waits for it"
)]
fn start_keeper(dir: &Path) {
    match open(&dir.join("keeper")).try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return,
        Err(TryLockError::Error(error)) => panic!("{error}"),
    }
    // Of no terminal and no process group of ours, and with none of our files open: nobody who waits
    // for the tests waits for it.
    Command::new("/bin/sh")
        .args(["-c", KEEPER])
        .current_dir(dir)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
}

/// The database that others are copied from, named by the migrations that made it.
async fn template(admin: &mut PgConnection, options: &PgConnectOptions) -> String {
    let mut hash = Sha256::new();
    for migration in sqlx::migrate!("../migrations").iter() {
        hash.update(&migration.checksum);
    }
    let hash: String = hash
        .finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect();
    let name = format!("template_{hash}");
    let there: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
        .bind(&name)
        .fetch_one(&mut *admin)
        .await
        .unwrap();
    if there == 0 {
        // Under another name until it is whole.
        for statement in [
            "DROP DATABASE IF EXISTS template_new",
            "CREATE DATABASE template_new",
        ] {
            admin.execute(statement).await.unwrap();
        }
        Store::new(options.clone().database("template_new"))
            .migrate()
            .await
            .unwrap();
        admin
            .execute(AssertSqlSafe(format!(
                "ALTER DATABASE template_new RENAME TO {name}"
            )))
            .await
            .unwrap();
    }
    name
}
