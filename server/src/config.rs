//! Configuration: flags first, then the environment, then the file, then defaults. Each setting has
//! one name: `--state`, `HOPWISE_STATE`, `state = …`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

/// The settings as they are given, by any of the three ways. Unset means: the next way, then the default.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// Folder for the embedded database, the certificate and the locks [default: /var/lib/hopwise as root, else ~/.local/share/hopwise]
    #[arg(long, env = "HOPWISE_STATE", value_name = "DIR", global = true)]
    pub state: Option<PathBuf>,
    /// PostgreSQL server to use instead of the embedded one, as postgres://…
    #[arg(
        long,
        env = "DATABASE_URL",
        value_name = "URL",
        hide_env_values = true,
        global = true
    )]
    pub database_url: Option<String>,
    /// Address and port to listen on; anything but loopback needs --tls or --behind-proxy [default: 127.0.0.1:7676]
    #[arg(
        long,
        env = "HOPWISE_LISTEN",
        value_name = "ADDRESS:PORT",
        global = true
    )]
    pub listen: Option<SocketAddr>,
    /// Speak TLS with a certificate made at the first start and kept in the state folder; its fingerprint is printed
    #[arg(long, env = "HOPWISE_TLS", global = true, num_args = 0..=1, default_missing_value = "true")]
    pub tls: Option<bool>,
    /// Speak TLS with this certificate chain (PEM); needs --tls-key
    #[arg(
        long,
        env = "HOPWISE_TLS_CERTIFICATE",
        value_name = "FILE",
        global = true
    )]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of --tls-certificate (PEM)
    #[arg(long, env = "HOPWISE_TLS_KEY", value_name = "FILE", global = true)]
    pub tls_key: Option<PathBuf>,
    /// A proxy in front speaks TLS; plain HTTP may then be served on any address
    #[arg(long, env = "HOPWISE_BEHIND_PROXY", global = true, num_args = 0..=1, default_missing_value = "true")]
    pub behind_proxy: Option<bool>,
    /// The address people open, for links that are printed [default: from --listen]
    #[arg(long, env = "HOPWISE_PUBLIC_URL", value_name = "URL", global = true)]
    pub public_url: Option<String>,
    /// Folder with the built pages [default: site beside the program, or target/site]
    #[arg(long, env = "HOPWISE_SITE", value_name = "DIR", global = true)]
    pub site: Option<PathBuf>,
    /// What is logged, such as info or hopwise=debug,warn [default: info]
    #[arg(long, env = "HOPWISE_LOG", value_name = "FILTER", global = true)]
    pub log: Option<String>,
    /// Log as JSON, a line an event
    #[arg(long, env = "HOPWISE_LOG_JSON", global = true, num_args = 0..=1, default_missing_value = "true")]
    pub log_json: Option<bool>,
    /// Threads of the server, at least 4 [default: the cores, at least 4]
    #[arg(long, env = "HOPWISE_THREADS", value_name = "N", global = true)]
    pub threads: Option<usize>,
}

/// How connections are protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Plain HTTP on loopback.
    Loopback,
    /// Plain HTTP behind a proxy that speaks TLS.
    Proxy,
    /// A certificate of our own making, kept in the state folder.
    GeneratedCertificate,
    Certificate {
        chain: PathBuf,
        key: PathBuf,
    },
}

impl Protection {
    /// Whether browsers reach the server over TLS, so that cookies may say `Secure`.
    #[must_use]
    pub const fn secure(&self) -> bool {
        !matches!(self, Self::Loopback)
    }
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    pub state: PathBuf,
    pub database_url: Option<String>,
    pub listen: SocketAddr,
    pub protection: Protection,
    pub public_url: Option<String>,
    pub site: PathBuf,
    pub log: String,
    pub log_json: bool,
    pub threads: usize,
}

/// Why the settings cannot be used, and what to do.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("{path}: {message}")]
    File { path: PathBuf, message: String },
    #[error(
        "refused to listen on {0} without TLS: passwords and outputs of your hosts would cross the network in the clear. \
         Add --tls (a certificate is made and its fingerprint printed), or --tls-certificate and --tls-key, \
         or --behind-proxy where a proxy in front speaks TLS"
    )]
    NeedsTls(SocketAddr),
    #[error("--tls-certificate and --tls-key go together: give both or neither")]
    HalfACertificate,
    #[error("--behind-proxy and TLS exclude each other: the proxy speaks TLS, or Hopwise does")]
    ProxyAndTls,
    #[error("there is no home folder to keep the state in: give --state DIR")]
    NoState,
    #[error(
        "the pages are not built: {0} does not exist. Build them with “make build”, or give --site DIR"
    )]
    NoSite(PathBuf),
}

impl Settings {
    /// Fills what is unset from a file; what is set stays.
    ///
    /// # Errors
    /// The file cannot be read, or says something that is not a setting.
    pub fn or_file(self, path: &Path) -> Result<Self, ConfigError> {
        let error = |message: String| ConfigError::File {
            path: path.to_owned(),
            message,
        };
        let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
        let file: Self = toml::from_str(&text).map_err(|e| error(e.to_string()))?;
        Ok(Self {
            state: self.state.or(file.state),
            database_url: self.database_url.or(file.database_url),
            listen: self.listen.or(file.listen),
            tls: self.tls.or(file.tls),
            tls_certificate: self.tls_certificate.or(file.tls_certificate),
            tls_key: self.tls_key.or(file.tls_key),
            behind_proxy: self.behind_proxy.or(file.behind_proxy),
            public_url: self.public_url.or(file.public_url),
            site: self.site.or(file.site),
            log: self.log.or(file.log),
            log_json: self.log_json.or(file.log_json),
            threads: self.threads.or(file.threads),
        })
    }

    /// The settings in force, or why they cannot be.
    ///
    /// # Errors
    /// The settings contradict each other, or would serve secrets in the clear.
    pub fn resolve(self) -> Result<Config, ConfigError> {
        let listen = self
            .listen
            .unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7676));
        let proxy = self.behind_proxy.unwrap_or(false);
        let protection = match (
            self.tls_certificate,
            self.tls_key,
            self.tls.unwrap_or(false),
        ) {
            (Some(_), None, _) | (None, Some(_), _) => return Err(ConfigError::HalfACertificate),
            (Some(_), Some(_), _) | (None, None, true) if proxy => {
                return Err(ConfigError::ProxyAndTls);
            }
            (Some(chain), Some(key), _) => Protection::Certificate { chain, key },
            (None, None, true) => Protection::GeneratedCertificate,
            (None, None, false) if proxy => Protection::Proxy,
            (None, None, false) if listen.ip().is_loopback() => Protection::Loopback,
            (None, None, false) => return Err(ConfigError::NeedsTls(listen)),
        };
        Ok(Config {
            state: self
                .state
                .or_else(default_state)
                .ok_or(ConfigError::NoState)?,
            database_url: self.database_url.filter(|url| !url.is_empty()),
            listen,
            protection,
            public_url: self
                .public_url
                .map(|url| url.trim_end_matches('/').to_owned()),
            site: self.site.unwrap_or_else(default_site),
            log: self.log.unwrap_or_else(|| "info".into()),
            log_json: self.log_json.unwrap_or(false),
            threads: self
                .threads
                .unwrap_or_else(|| std::thread::available_parallelism().map_or(4, usize::from))
                .max(4),
        })
    }
}

fn default_state() -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Some(PathBuf::from("/var/lib/hopwise"));
    }
    let data = std::env::var_os("XDG_DATA_HOME")
        .filter(|d| !d.is_empty())
        .map(PathBuf::from);
    data.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")))
        .map(|data| data.join("hopwise"))
}

fn default_site() -> PathBuf {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(|folder| folder.join("site")))
        .filter(|site| site.is_dir());
    beside.unwrap_or_else(|| PathBuf::from("target/site"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(address: &str) -> Settings {
        Settings {
            listen: Some(address.parse().unwrap()),
            state: Some("/tmp".into()),
            ..Settings::default()
        }
    }

    #[test]
    fn only_loopback_is_served_in_the_clear() {
        for (address, clear) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            ("192.0.2.1:1", false),
            ("[::]:1", false),
            ("[2001:db8::1]:1", false),
        ] {
            let plain = listen(address).resolve();
            assert_eq!(plain.is_ok(), clear, "{address}");
            assert!(
                Settings {
                    tls: Some(true),
                    ..listen(address)
                }
                .resolve()
                .is_ok(),
                "{address} with TLS"
            );
            assert!(
                Settings {
                    behind_proxy: Some(true),
                    ..listen(address)
                }
                .resolve()
                .is_ok(),
                "{address} proxied"
            );
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let half = Settings {
            tls_key: Some("k".into()),
            ..listen("127.0.0.1:1")
        };
        assert_eq!(half.resolve().unwrap_err(), ConfigError::HalfACertificate);
        let both = Settings {
            tls: Some(true),
            behind_proxy: Some(true),
            ..listen("127.0.0.1:1")
        };
        assert_eq!(both.resolve().unwrap_err(), ConfigError::ProxyAndTls);
    }

    #[test]
    fn at_least_four_threads() {
        assert_eq!(
            Settings {
                threads: Some(1),
                ..listen("127.0.0.1:1")
            }
            .resolve()
            .unwrap()
            .threads,
            4
        );
    }

    #[test]
    fn flags_win_over_the_file_and_unknown_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hopwise.toml");
        std::fs::write(&file, "listen = \"127.0.0.1:9\"\nthreads = 8\n").unwrap();
        let settings = listen("127.0.0.1:1")
            .or_file(&file)
            .unwrap()
            .resolve()
            .unwrap();
        assert_eq!((settings.listen.port(), settings.threads), (1, 8));
        std::fs::write(&file, "lisen = \"127.0.0.1:9\"\n").unwrap();
        let error = Settings::default().or_file(&file).unwrap_err().to_string();
        assert!(
            error.contains("lisen") && error.contains("hopwise.toml"),
            "{error}"
        );
    }
}
