//! Creates the cluster and starts its server.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{ConnectOptions, Connection, Executor};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::layout::Layout;
use super::{Account, Binaries, DatabaseError, processes};

/// The role and database Hopwise uses. It owns the database and is no superuser.
const NAME: &str = "hopwise";
/// The role that may do everything in the cluster; it makes the other, and nothing else.
const SUPERUSER: &str = "postgres";

/// A cluster whose files are there.
#[derive(Debug)]
pub(super) struct Cluster {
    layout: Layout,
    binaries: Binaries,
    socket_dir: PathBuf,
    hba: PathBuf,
    ident: PathBuf,
}

impl Cluster {
    /// Finds the cluster, or creates it.
    pub(super) async fn ready(layout: Layout) -> Result<Self, DatabaseError> {
        let data = layout.data();
        let made_by = match fs::read_to_string(data.join("PG_VERSION")) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(DatabaseError::io("reading", data.join("PG_VERSION"))(error));
            }
        };
        let binaries = Binaries::find(&data, made_by.as_deref())?;
        if made_by.is_none() {
            create(&layout, &binaries).await?;
        }
        let own = Account::own()?;
        let mut ident = String::new();
        let mut users = vec![own.name.as_str(), layout.account.name.as_str(), "root"];
        users.sort_unstable();
        users.dedup();
        for user in users {
            for role in [NAME, SUPERUSER] {
                ident.push_str(&format!("hopwise \"{user}\" {role}\n"));
            }
        }
        Ok(Self {
            socket_dir: layout.socket_dir()?,
            hba: layout.write("hba.conf", "local all all peer map=hopwise\n")?,
            ident: layout.write("ident.conf", &ident)?,
            layout,
            binaries,
        })
    }

    pub(super) fn connect_options(&self) -> PgConnectOptions {
        connect_options(&self.socket_dir)
    }

    /// Starts the server and waits until it takes connections. What an earlier run left is cleared
    /// first.
    pub(super) async fn start(&self) -> Result<Child, DatabaseError> {
        let data = self.layout.data();
        processes::clear(&data, &self.socket_dir).await?;
        let log = self.layout.open_log()?;
        let log_start = log.metadata().map_or(0, |m| m.len());
        let errors = log
            .try_clone()
            .map_err(DatabaseError::io("opening", self.layout.log_file()))?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&data);
        for (name, value) in self.settings() {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        // A group of its own: Ctrl-C at the terminal is for Hopwise, which then stops this.
        command.process_group(0).stdout(log).stderr(errors);
        let mut child = command.spawn().map_err(DatabaseError::io(
            "starting",
            self.binaries.program("postgres"),
        ))?;
        match self.wait_ready(&mut child, log_start).await {
            Ok(()) => Ok(child),
            Err(error) => {
                // Not half started: nobody would watch over it.
                let _ = child.kill().await;
                Err(error)
            }
        }
    }

    fn settings(&self) -> [(&'static str, String); 11] {
        [
            ("listen_addresses", String::new()),
            ("port", "5432".into()),
            (
                "unix_socket_directories",
                self.socket_dir.display().to_string(),
            ),
            ("unix_socket_permissions", "0700".into()),
            ("hba_file", self.hba.display().to_string()),
            ("ident_file", self.ident.display().to_string()),
            ("max_connections", "50".into()),
            // Hopwise may be a guest on a small machine; 64 MiB serve what it keeps.
            ("shared_buffers", "64MB".into()),
            ("logging_collector", "off".into()),
            ("log_destination", "stderr".into()),
            ("log_line_prefix", "%m [%p] ".into()),
        ]
    }

    fn command(&self, program: &str) -> Command {
        command(&self.layout, &self.binaries, program)
    }

    /// Recovery after a crash may take long, and is waited for while the server lives.
    async fn wait_ready(&self, child: &mut Child, log_start: u64) -> Result<(), DatabaseError> {
        let options = connect_options(&self.socket_dir)
            .username(SUPERUSER)
            .database("postgres");
        let begun = Instant::now();
        let mut said = begun;
        loop {
            let ended = child
                .try_wait()
                .map_err(DatabaseError::io("watching", self.layout.log_file()))?;
            if let Some(status) = ended {
                return Err(DatabaseError::Start {
                    status: status.to_string(),
                    log_file: self.layout.log_file(),
                    log: last_lines(&self.layout.log_file(), log_start),
                });
            }
            if let Ok(Ok(mut connection)) = timeout(Duration::from_secs(2), options.connect()).await
            {
                set_up(&mut connection)
                    .await
                    .map_err(DatabaseError::SetUp)?;
                let _ = connection.close().await;
                tracing::info!(
                    version = self.binaries.major,
                    ms = begun.elapsed().as_millis(),
                    "the database is up"
                );
                return Ok(());
            }
            if said.elapsed() > Duration::from_secs(5) {
                said = Instant::now();
                tracing::info!(
                    seconds = begun.elapsed().as_secs(),
                    log = last_lines(&self.layout.log_file(), log_start),
                    "waiting for the database"
                );
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Hopwise's own role and database, once.
async fn set_up(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let there: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_roles WHERE rolname = $1")
        .bind(NAME)
        .fetch_one(&mut *connection)
        .await?;
    if there == 0 {
        connection.execute("CREATE ROLE hopwise LOGIN").await?;
    }
    let there: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
        .bind(NAME)
        .fetch_one(&mut *connection)
        .await?;
    if there == 0 {
        connection
            .execute("CREATE DATABASE hopwise OWNER hopwise")
            .await?;
    }
    Ok(())
}

/// How Hopwise connects to a cluster with that socket. Nothing of it comes from the environment.
pub(super) fn connect_options(socket_dir: &Path) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket_dir)
        .port(5432)
        .username(NAME)
        .database(NAME)
        .ssl_mode(PgSslMode::Disable)
}

fn command(layout: &Layout, binaries: &Binaries, program: &str) -> Command {
    let mut command = std::process::Command::new(binaries.program(program));
    // PostgreSQL reads many variables (PGDATA, PGPORT, PGOPTIONS …); none of them is meant for it.
    command
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&layout.root)
        .stdin(Stdio::null());
    layout.account.run_as(&mut command);
    command.into()
}

/// Creates the cluster beside its place and moves it there when it is whole.
async fn create(layout: &Layout, binaries: &Binaries) -> Result<(), DatabaseError> {
    let new = layout.root.join("data.new");
    if new.exists() {
        fs::remove_dir_all(&new).map_err(DatabaseError::io("removing", &new))?;
    }
    tracing::info!(
        dir = %layout.root.display(),
        version = binaries.major,
        user = %layout.account.name,
        "creating the database, which takes a few seconds"
    );
    let output = command(layout, binaries, "initdb")
        .arg("-D")
        .arg(&new)
        .args(["-U", SUPERUSER, "--encoding=UTF8"])
        // No locale of the system: an upgrade of it would change the order of stored indexes.
        .args(["--locale=C", "--data-checksums"])
        .args(["--auth-local=peer", "--auth-host=reject"])
        .output()
        .await
        .map_err(DatabaseError::io("running", binaries.program("initdb")))?;
    if !output.status.success() {
        let mut text = output.stdout;
        text.extend_from_slice(&output.stderr);
        return Err(DatabaseError::Create {
            dir: layout.root.clone(),
            log: tail(&String::from_utf8_lossy(&text)),
        });
    }
    let data = layout.data();
    fs::rename(&new, &data).map_err(DatabaseError::io("moving", &new))
}

/// The last lines of the log that were written after that place.
fn last_lines(path: &Path, start: u64) -> String {
    let read = || {
        let mut file = fs::File::open(path)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(
            start.max(end.saturating_sub(4096)).min(end),
        ))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    read().map_or_else(
        |error| format!("not readable: {error}"),
        |bytes| tail(&String::from_utf8_lossy(&bytes)),
    )
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines
        .get(lines.len().saturating_sub(6)..)
        .unwrap_or_default()
        .join(" | ")
}
