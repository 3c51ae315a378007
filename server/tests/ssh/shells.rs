//! The script on the shells it is written for, without SSH around it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use diagnosis::ids::Vmid;
use diagnosis::run::{Command, NotRun, Place, RunResult, RunStatus};
use server::ssh::batch::{Decoder, Event, outcome, render, wire_cap};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::processes::{below, with_mark};
use crate::support::{ran, reason, shell};

const NONCE: &str = "0123456789abcdef0123456789abcdef";
const BUSYBOX: &str = "/bin/busybox";

fn nonce() -> String {
    format!("{:032x}", rand::random::<u128>())
}

fn start(mut process: Process, script: &str) -> Child {
    let mut child = process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the shell");
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    child
}

/// Runs a batch and gives its results by index. Stdin stays open, as over SSH.
fn run_on(process: Process, batch: &[Command], edit: impl Fn(String) -> String) -> Vec<RunResult> {
    let nonce = nonce();
    let commands: Vec<&Command> = batch.iter().collect();
    let mut child = start(process, &edit(render(&nonce, &commands).unwrap()));
    let mut out = Vec::new();
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_to_end(&mut out)
        .unwrap();
    child.wait().unwrap();
    let caps: Vec<u64> = batch.iter().map(wire_cap).collect();
    let (mut decoder, mut events) = (Decoder::new(&nonce, &caps), Vec::new());
    decoder
        .push(&out, &mut events)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out)));
    assert_eq!(
        events.last(),
        Some(&Event::Ended),
        "{}",
        String::from_utf8_lossy(&out)
    );
    for place in ["/run", "/dev/shm", "/tmp"] {
        assert!(!Path::new(&format!("{place}/hopwise-{nonce}")).exists());
    }
    let mut results: Vec<_> = batch.iter().map(|_| None).collect();
    for event in events {
        if let Event::Frame(frame) = event {
            let index = frame.index;
            results[index] = Some(outcome(&batch[index], &nonce, frame));
        }
    }
    results.into_iter().map(|r| r.expect("a result")).collect()
}

fn dash() -> Process {
    let mut process = Process::new("dash");
    process.arg("-s");
    process
}

fn busybox() -> Process {
    assert!(
        Path::new(BUSYBOX).exists(),
        "this test needs busybox: apt-get install busybox-static"
    );
    let mut process = Process::new(BUSYBOX);
    process.args(["sh", "-s"]);
    process
}

fn everything(process: fn() -> Process, edit: fn(String) -> String) {
    let mark = nonce();
    let mut slow = shell(&format!("echo begin; sleep 30; : {mark}"));
    slow.time_limit_ms = 300;
    let mut long = Command::new(["yes"]);
    long.output_cap = 10;
    let mut contained = Command::new(["ip", "route"]);
    contained.place = Place::Container { vmid: Vmid(7) };
    let batch = [
        shell("echo out; echo err >&2; exit 3"),
        slow,
        long,
        Command::new(["no-such-tool"]),
        Command::new(["printf", "%s", "$(id) '\" \\ \n"]),
        shell("exit 127"),
        contained,
    ];
    let results = run_on(process(), &batch, edit);
    assert_eq!(results[0].status, RunStatus::Ran { exit: 3 });
    assert_eq!(
        (results[0].stdout.as_slice(), results[0].stderr.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!(reason(&results[1]), "timed-out");
    assert_eq!(results[1].stdout, b"begin\n");
    assert_eq!(reason(&results[2]), "truncated");
    assert_eq!(results[2].stdout, b"y\ny\ny\ny\ny\n");
    assert_eq!(reason(&results[3]), "not-found");
    assert_eq!(ran(&results[4]), "$(id) '\" \\ \n");
    assert_eq!(results[5].status, RunStatus::Ran { exit: 127 });
    assert!(
        matches!(&results[6].status, RunStatus::NotRun { reason: NotRun::NotFound { program } } if program == "lxc-info")
    );
    assert_eq!(with_mark(&mark), [] as [i32; 0]);
}

#[test]
fn dash_runs_a_batch() {
    everything(dash, |s| s);
}

#[test]
fn busybox_ash_runs_a_batch() {
    everything(busybox, |s| s);
}

#[test]
fn a_host_without_setsid_and_nice_still_ends_what_it_started() {
    let edit = |s: String| {
        let cut = s
            .replace("have setsid && session=setsid", ":")
            .replace("have nice && nice='nice -n 10'", ":");
        assert_ne!(cut, s);
        cut
    };
    everything(dash, edit);
    everything(busybox, edit);
}

/// A root folder with busybox and nothing else: no /proc, no /run, no nproc, whole seconds or not.
fn bare_root(applets: &[&str]) -> (tempfile::TempDir, Process) {
    let root = tempfile::TempDir::new().unwrap();
    let (bin, tmp, dev) = (
        root.path().join("bin"),
        root.path().join("tmp"),
        root.path().join("dev"),
    );
    for dir in [&bin, &tmp, &dev] {
        fs::create_dir(dir).unwrap();
    }
    let null = Process::new("mknod")
        .arg(dev.join("null"))
        .args(["c", "1", "3"])
        .status();
    assert!(null.unwrap().success(), "these tests run as root");
    fs::copy(BUSYBOX, bin.join("busybox")).expect("busybox-static");
    for applet in applets {
        symlink("busybox", bin.join(applet)).unwrap();
    }
    let mut process = Process::new("chroot");
    process
        .arg(root.path())
        .args(["/bin/sh", "-s"])
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    (root, process)
}

#[test]
fn the_least_busybox_suffices() {
    let needed = ["sh", "cat", "head", "mkdir", "rm", "sleep", "wc"];
    let (root, process) = bare_root(&needed);
    let results = run_on(
        process,
        &[shell("echo hi; exit 2"), Command::new(["ip"])],
        |s| s,
    );
    assert_eq!(results[0].status, RunStatus::Ran { exit: 2 });
    assert_eq!(results[0].stdout, b"hi\n");
    assert_eq!(reason(&results[1]), "not-found");
    assert_eq!(fs::read_dir(root.path().join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_host_that_lacks_what_the_script_needs_says_what() {
    let (_root, process) = bare_root(&["sh", "cat", "head", "mkdir", "rm", "sleep"]);
    let command = shell("true");
    let mut child = start(process, &render(NONCE, &[&command]).unwrap());
    let mut out = String::new();
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child.wait().unwrap();
    assert_eq!(out, format!("{NONCE} lacks wc\n"));
}

#[test]
fn the_end_of_stdin_ends_commands_and_removes_the_folder() {
    for process in [dash, busybox] {
        let (mark, nonce) = (nonce(), nonce());
        let command = shell(&format!("trap '' TERM; sleep 60; : {mark}"));
        let mut child = start(
            process(),
            &render(&nonce, &[&command, &command, &command]).unwrap(),
        );
        let started = Instant::now();
        while with_mark(&mark).len() < 2 {
            assert!(started.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(20));
        }
        let folder = format!("/run/hopwise-{nonce}");
        assert!(Path::new(&folder).exists());
        drop(child.stdin.take());
        let stopped = Instant::now();
        // The script's own command lines have the nonce, so this waits for all of its processes.
        while !with_mark(&mark).is_empty()
            || !with_mark(&nonce).is_empty()
            || Path::new(&folder).exists()
        {
            assert!(
                stopped.elapsed() < Duration::from_secs(4),
                "{:?}",
                with_mark(&mark)
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        child.wait().unwrap();
    }
}

#[test]
fn half_a_script_runs_nothing() {
    let mark = format!("/tmp/half-{}", nonce());
    let script = render(NONCE, &[&shell(&format!(": >{mark}"))]).unwrap();
    let mut child = start(dash(), script.strip_suffix("main\n").unwrap());
    drop(child.stdin.take());
    let mut out = String::new();
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child.wait().unwrap();
    assert_eq!(out, "");
    assert!(!Path::new(&mark).exists());
}

#[test]
fn a_reader_that_has_gone_leaves_no_folder() {
    for process in [dash, busybox] {
        let nonce = nonce();
        let script = render(&nonce, &[&shell("sleep 0.2; echo hi")]).unwrap();
        let mut process = process();
        let mut child = process
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        child.wait().unwrap();
        assert!(!Path::new(&format!("/run/hopwise-{nonce}")).exists());
    }
}

#[test]
fn ending_the_whole_login_leaves_no_folder() {
    for process in [dash, busybox] {
        let (mark, nonce) = (nonce(), nonce());
        let script = render(&nonce, &[&shell(&format!("sleep 60; : {mark}"))]).unwrap();
        let mut child = start(process(), &script);
        let started = Instant::now();
        while with_mark(&mark).is_empty() {
            assert!(started.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(20));
        }
        // As systemd ends a session: every process of it gets the signal.
        let pid = i32::try_from(child.id()).unwrap();
        for pid in std::iter::once(pid).chain(below(pid)) {
            let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM);
        }
        child.wait().unwrap();
        assert!(!Path::new(&format!("/run/hopwise-{nonce}")).exists());
        // A signal that was sent is not yet a process that has gone.
        let ended = Instant::now();
        while !with_mark(&mark).is_empty() {
            assert!(ended.elapsed() < Duration::from_secs(2));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
