//! The command line.

mod parse;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use app::error::AppError;
use app::hosts::NewHost;
use app::people::Role;
use clap::{Args, Parser, Subcommand};
use diagnosis::ids::{HostId, PersonId};
use diagnosis::knowledge::Pack;
use jiff::SignedDuration;
use metrics_exporter_prometheus::PrometheusBuilder;
use tracing_subscriber::EnvFilter;
use uuid::Uuid;

use crate::clock::now;
use crate::config::{Config, Settings};
use crate::people::Accounts;
use crate::postgres::{Database, DatabaseOptions};
use crate::serve::Server;
use crate::ssh::parse_host_key;
use crate::store::Store;
use crate::{knowledge, serve::ServeError};

/// How long a link from the command line is good for.
const LINK_LASTS: SignedDuration = SignedDuration::from_mins(15);

/// Guided diagnosis of networks on virtualisation hosts: from the symptom to the cause, over SSH.
#[derive(Parser)]
#[command(name = "hopwise", version)]
pub struct Cli {
    /// Configuration file (TOML); its names are the flags' without the dashes
    #[arg(long, env = "HOPWISE_CONFIG", value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the pages and run what people ask for
    Serve,
    /// Read a tool's output from standard input and print its facts; needs no host and no database
    Parse(parse::Parse),
    /// The hosts Hopwise logs in to
    Host {
        #[command(subcommand)]
        command: HostCommand,
    },
    /// Print a one-time link that makes an account: for the first admin, or when nobody can sign in
    Link {
        /// What the new account may do
        #[arg(long, value_name = "ROLE", default_value = "admin", value_parser = ["viewer", "operator", "admin"])]
        role: String,
    },
}

#[derive(Subcommand)]
enum HostCommand {
    /// Add a host; a --host-key given here is confirmed
    Add(AddHost),
    /// List the hosts
    List,
}

#[derive(Args)]
struct AddHost {
    /// The name that people know it by
    name: String,
    /// Its address or host name
    #[arg(long)]
    address: String,
    #[arg(long, default_value = "22")]
    port: String,
    #[arg(long, default_value = "root")]
    user: String,
    /// The private key's path on this machine; without it, ssh-agent's key is used
    #[arg(long, value_name = "FILE")]
    key_file: Option<String>,
    /// Which of ssh-agent's keys, as SHA256:…
    #[arg(long, value_name = "FINGERPRINT", conflicts_with = "key_file")]
    agent_key: Option<String>,
    /// Name of the host to go through
    #[arg(long, value_name = "NAME")]
    jump: Option<String>,
    /// The host's public key, as in known_hosts: “ssh-ed25519 AAAA…”
    #[arg(long, value_name = "KEY")]
    host_key: Option<String>,
    /// Add nothing when a host of that name is there already; a --host-key is confirmed all the same
    #[arg(long)]
    if_missing: bool,
}

/// Runs the command.
///
/// # Errors
/// One sentence that says what was wrong and what to do.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    let settings = match &cli.config {
        Some(path) => cli.settings.or_file(path)?,
        None => cli.settings,
    };
    let config = settings.resolve()?;
    log(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads)
        .enable_all()
        .build()
        .context("starting the threads")?;
    runtime.block_on(async move {
        match cli.command {
            Command::Serve => serve(config).await,
            Command::Parse(args) => parse::run(&args),
            Command::Host {
                command: HostCommand::Add(add),
            } => with_store(config, async |store| add_host(&store, add).await).await,
            Command::Host {
                command: HostCommand::List,
            } => with_store(config, async |store| list_hosts(&store).await).await,
            Command::Link { role } => {
                let url = config.public_url.clone().unwrap_or_else(|| {
                    let scheme = if config.protection.secure() {
                        "https"
                    } else {
                        "http"
                    };
                    format!("{scheme}://{}", config.listen)
                });
                with_store(config, async |store| {
                    let role: Role = role.parse().map_err(in_words)?;
                    let path = Accounts::new(store, Arc::new(now))
                        .map_err(in_words)?
                        .new_link(role, "the command line", LINK_LASTS)
                        .await
                        .map_err(in_words)?;
                    say(&format!("Sign in: {url}{path}"))
                })
                .await
            }
        }
    })
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let pack = embedded()?;
    let metrics = PrometheusBuilder::new()
        .install_recorder()
        .context("starting the metrics")?;
    let server = Server::bind(config, pack, metrics).await?;
    say(&format!("Listening on {}", server.url()))?;
    if let Some(fingerprint) = server.fingerprint() {
        say(&format!("Certificate SHA-256: {fingerprint}"))?;
    }
    match server.first_admin_link().await {
        Ok(Some(link)) => say(&format!(
            "Sign in: {link}  (once, within 15 minutes; “hopwise link” makes another)"
        ))?,
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, "no sign-in link yet; “hopwise link” makes one once the database is there")
        }
    }
    let stop = server.stop_token();
    tokio::spawn(async move {
        signal().await;
        tracing::info!("stopping");
        stop.cancel();
        signal().await;
        tracing::warn!("told to stop twice: ending at once");
        std::process::exit(130);
    });
    Ok(server.serve().await?)
}

/// Waits for Ctrl-C or the service manager's word to end.
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn embedded() -> anyhow::Result<Arc<Pack>> {
    knowledge::embedded().map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("the embedded knowledge is broken:\n{}", lines.join("\n"))
    })
}

/// Does something with the database: the running server's, or one started for this and stopped after.
async fn with_store(
    config: Config,
    work: impl AsyncFnOnce(Store) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let options = DatabaseOptions {
        url: config.database_url.clone(),
        state_dir: config.state.clone(),
    };
    let database = Database::attach_or_open(options)
        .await
        .map_err(ServeError::from)?;
    let store = Store::new(database.connect_options());
    let done = match store.migrate().await {
        Ok(()) => work(store).await,
        Err(error) => Err(error.into()),
    };
    database.stop().await;
    done
}

async fn add_host(store: &Store, add: AddHost) -> anyhow::Result<()> {
    // Whoever may run this may read the database: the command line acts as an admin without an account.
    let nobody = PersonId(Uuid::nil());
    let key = add
        .host_key
        .as_deref()
        .map(|text| {
            parse_host_key(text).with_context(|| {
                format!("--host-key “{text}” is not a public key such as “ssh-ed25519 AAAA…”")
            })
        })
        .transpose()?;
    let hosts = store.hosts().await?;
    if let Some(there) = hosts
        .iter()
        .map(|row| &row.host)
        .find(|host| host.name.eq_ignore_ascii_case(&add.name))
    {
        if !add.if_missing {
            bail!(
                "a host named {} is there already: choose another name, or remove that one first",
                add.name
            );
        }
        let Some(key) = key else {
            return say(&format!("{} is there already", there.name));
        };
        if there.address != add.address || there.port.to_string() != add.port {
            bail!(
                "a host named {} is there already at {}:{}: the key was not confirmed for it",
                there.name,
                there.address,
                there.port
            );
        }
        if store.host_keys(there.id).await?.contains(&key) {
            return say(&format!("{} is there already, with this key", there.name));
        }
        store
            .confirm_host_key(there.id, &key, nobody, now())
            .await?;
        store.begin_host_check(there.id, now()).await?;
        return say(&format!(
            "{} is there already; its key is now this one",
            there.name
        ));
    }
    let jump = match &add.jump {
        None => None,
        Some(name) => {
            let row = hosts.iter().find(|row| &row.host.name == name);
            Some(
                row.with_context(|| format!("there is no host named {name} to go through"))?
                    .host
                    .id
                    .to_string(),
            )
        }
    };
    let credential = if add.key_file.is_some() {
        "key-file"
    } else {
        "agent"
    };
    let new = NewHost::from_form(
        &add.name,
        &add.address,
        &add.port,
        &add.user,
        credential,
        add.key_file.as_deref(),
        add.agent_key.as_deref(),
        jump.as_deref(),
    )
    .map_err(in_words)?;
    let id = HostId(Uuid::now_v7());
    store.add_host(id, &new, nobody, now()).await?;
    if let Some(key) = &key {
        store.confirm_host_key(id, key, nobody, now()).await?;
    }
    store.begin_host_check(id, now()).await?;
    say(&format!("{} added", new.name))
}

async fn list_hosts(store: &Store) -> anyhow::Result<()> {
    for row in store.hosts().await? {
        let status = row
            .check
            .as_ref()
            .and_then(|check| check.hops.last())
            .map_or("not looked at yet", |hop| hop.status.name());
        say(&format!(
            "{}\t{}@{}:{}\t{status}",
            row.host.name, row.host.user, row.host.address, row.host.port
        ))?;
    }
    Ok(())
}

fn in_words(error: AppError) -> anyhow::Error {
    anyhow::anyhow!("{error}")
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        // Whoever reads has enough, such as `head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("writing to standard output"),
    }
}

fn log(config: &Config) -> anyhow::Result<()> {
    // PostgreSQL's notices first, so that a filter that names them wins: "already exists, skipping" at each start
    // tells nobody anything.
    let filter = format!("sqlx::postgres::notice=warn,{}", config.log);
    let filter = EnvFilter::try_new(filter).with_context(|| {
        format!(
            "--log “{}” is not a filter such as info or hopwise=debug,warn",
            config.log
        )
    })?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    if config.log_json {
        lines.json().try_init()
    } else {
        lines.try_init()
    }
    .map_err(|error| anyhow::anyhow!("starting the log: {error}"))
}
