//! OpenSSH's own sshd as a child process, with its own keys and configuration in a temporary folder.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use diagnosis::connection::HostKey;
use server::ssh::{Credential, Hop, parse_host_key};
use tempfile::TempDir;

use super::processes;

pub const SSHD: &str = "/usr/sbin/sshd";

pub struct Sshd {
    pub dir: TempDir,
    pub port: u16,
    child: Child,
}

/// Makes a key pair; `kind` as ssh-keygen knows it.
pub fn keygen(path: &Path, kind: &str) {
    let status = Command::new("ssh-keygen")
        .args(["-q", "-N", "", "-C", "test", "-t", kind, "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .status()
        .expect("ssh-keygen of openssh-client");
    assert!(status.success());
}

/// The public half beside a private key, as `ssh-keygen -lf` names it.
pub fn public_key(private: &Path) -> HostKey {
    let text = fs::read_to_string(format!("{}.pub", private.display())).unwrap();
    parse_host_key(&text).unwrap()
}

impl Sshd {
    /// With Debian's defaults where they matter: MaxSessions 10, MaxStartups 10:30:100.
    pub fn start() -> Self {
        Self::start_with("")
    }

    pub fn start_with(more: &str) -> Self {
        assert!(
            Path::new(SSHD).exists(),
            "these tests need OpenSSH's sshd: apt-get install openssh-server"
        );
        fs::create_dir_all("/run/sshd").expect("these tests run as root");
        let dir = TempDir::new().unwrap();
        for kind in ["ed25519", "ecdsa"] {
            keygen(&dir.path().join(format!("host_{kind}")), kind);
        }
        keygen(&dir.path().join("key"), "ed25519");
        fs::copy(
            dir.path().join("key.pub"),
            dir.path().join("authorized_keys"),
        )
        .unwrap();
        let port = free_port();
        let at = dir.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host_ed25519\nHostKey {at}/host_ecdsa\n\
             AuthorizedKeysFile {at}/authorized_keys\nPidFile none\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             LogLevel VERBOSE\n{more}\n"
        );
        fs::write(dir.path().join("config"), config).unwrap();
        let child = spawn(dir.path(), port);
        Self { dir, port, child }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn key(&self) -> PathBuf {
        self.dir.path().join("key")
    }

    pub fn host_key(&self) -> HostKey {
        public_key(&self.dir.path().join("host_ed25519"))
    }

    pub fn host_key_of(&self, kind: &str) -> HostKey {
        public_key(&self.dir.path().join(format!("host_{kind}")))
    }

    pub fn hop(&self) -> Hop {
        Hop {
            address: Ipv4Addr::LOCALHOST.to_string(),
            port: self.port,
            user: "root".into(),
            credential: Credential::KeyFile(self.key()),
            confirmed: vec![self.host_key()],
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// How many logins this sshd has accepted.
    pub fn logins(&self) -> usize {
        self.log().matches("Accepted publickey").count()
    }

    /// Ends sshd and every connection it serves, as a crash of the host would.
    pub fn stop(&mut self) {
        // What it started first: once the parent is gone they cannot be found.
        for child in processes::below(self.pid()) {
            processes::kill(child);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn start_again(&mut self) {
        self.child = spawn(self.dir.path(), self.port);
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn spawn(dir: &Path, port: u16) -> Child {
    let mut child = Command::new(SSHD)
        .args(["-D", "-f"])
        .arg(dir.join("config"))
        .arg("-E")
        .arg(dir.join("log"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "sshd ended: {}",
            log(dir)
        );
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "sshd does not listen"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn log(dir: &Path) -> String {
    fs::read_to_string(dir.join("log")).unwrap_or_default()
}

/// ssh-agent as a child, on a socket in the given folder.
pub struct Agent {
    pub socket: PathBuf,
    child: Child,
}

impl Agent {
    pub fn start(dir: &Path) -> Self {
        let socket = dir.join("agent");
        let child = Command::new("ssh-agent")
            .args(["-D", "-a"])
            .arg(&socket)
            .stdout(Stdio::null())
            .spawn()
            .expect("ssh-agent of openssh-client");
        let started = Instant::now();
        // The socket is there before anybody listens on it.
        while UnixStream::connect(&socket).is_err() {
            assert!(
                started.elapsed() < Duration::from_secs(10),
                "ssh-agent does not listen"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { socket, child }
    }

    pub fn add(&self, key: &Path) {
        let status = Command::new("ssh-add")
            .arg("-q")
            .arg(key)
            .env("SSH_AUTH_SOCK", &self.socket)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
