//! Batches on a real sshd with a real shell.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use diagnosis::run::{Command, NotRun, RunStatus};
use server::ssh::{Ssh, SshOptions, Transport};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::processes::{eventually, with_mark};
use crate::support::sshd::Sshd;
use crate::support::{last, options, ran, reason, run, run_until, shell, ssh, target};

/// A text that nothing else on this machine has in its command line.
fn mark() -> String {
    format!("mark-{:016x}", rand::random::<u64>())
}

/// The folder of the batch whose command has this mark: the one that names the command's process.
fn folder_of(mark: &str) -> Option<PathBuf> {
    let pids = with_mark(mark);
    ["/run", "/dev/shm", "/tmp"]
        .iter()
        .flat_map(|d| fs::read_dir(d).unwrap().flatten())
        .filter(|e| e.file_name().to_string_lossy().starts_with("hopwise-"))
        .map(|e| e.path())
        .find(|folder| {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            files
                .filter(|f| f.path().extension().is_some_and(|e| e == "p"))
                .filter_map(|f| fs::read_to_string(f.path()).ok()?.trim().parse().ok())
                .any(|pid: i32| pids.contains(&pid))
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn results_belong_to_their_commands_and_exit_statuses_are_results() {
    let sshd = Sshd::start();
    let batch: Vec<_> = (0..20)
        .map(|i| shell(&format!("echo out {i}; echo err {i} >&2; exit {i}")))
        .collect();
    let results = run(&ssh(), &target([sshd.hop()]), &batch).await;
    for (i, result) in results.iter().enumerate() {
        assert_eq!(result.status, RunStatus::Ran { exit: i as i32 });
        assert_eq!(result.stdout, format!("out {i}\n").as_bytes());
        assert_eq!(result.stderr, format!("err {i}\n").as_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_data_whatever_they_contain() {
    let sshd = Sshd::start();
    let nasty = [
        "$(reboot)",
        "`id`",
        "-j",
        "a b",
        "'",
        "\"",
        "\\",
        "\n\n",
        "*",
        "~",
        ";",
        "|",
        "é\u{202e}",
        "!",
        "",
        "$HOME",
        "\x1b[31m",
        "%s",
        "c0",
        "main",
    ];
    let batch: Vec<_> = nasty
        .iter()
        .map(|n| Command::new(["printf", "%s|%s", "x", n]))
        .collect();
    let results = run(&ssh(), &target([sshd.hop()]), &batch).await;
    for (text, result) in nasty.iter().zip(&results) {
        assert_eq!(ran(result), format!("x|{text}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_run_side_by_side_and_results_come_as_they_finish() {
    let cpus = std::thread::available_parallelism().unwrap().get().min(4);
    assert!(cpus > 1, "this test needs two processors");
    let sshd = Sshd::start();
    let (ssh, target) = (ssh(), target([sshd.hop()]));
    assert_eq!(last(&ssh.probe(&target).await).name(), "connected");
    let (sender, mut receiver) = mpsc::channel(4);
    let started = Instant::now();
    let batch = [shell("sleep 2"), shell("true")];
    let running = ssh.run(&target, &batch, sender, CancellationToken::new());
    let receiving = async {
        let mut order = Vec::new();
        while let Some((index, result)) = receiver.recv().await {
            ran(&result);
            order.push((index, started.elapsed()));
        }
        order
    };
    let ((), order) = tokio::join!(running, receiving);
    assert_eq!(order[0].0, 1);
    let ahead = order[1].1.saturating_sub(order[0].1);
    assert!(ahead > Duration::from_secs(1), "{order:?}");
    assert_eq!(order[1].0, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_are_cut_at_the_cap_and_marked() {
    let sshd = Sshd::start();
    let mut endless = Command::new(["yes"]);
    endless.output_cap = 1000;
    let mut exact = shell("head -c 1000 /dev/zero");
    exact.output_cap = 1000;
    let mut stderr = shell("yes >&2");
    stderr.output_cap = 500;
    let big = shell("head -c 100000000 /dev/zero");
    let results = run(
        &ssh(),
        &target([sshd.hop()]),
        &[endless, exact, stderr, big],
    )
    .await;
    assert_eq!(
        results[0].status,
        RunStatus::NotRun {
            reason: NotRun::Truncated { cap: 1000 }
        }
    );
    assert_eq!(results[0].stdout, b"y\n".repeat(500));
    assert_eq!(results[1].status, RunStatus::Ran { exit: 0 });
    assert_eq!(results[1].stdout.len(), 1000);
    assert_eq!(reason(&results[2]), "truncated");
    assert_eq!(results[2].stderr.len(), 500);
    assert_eq!(reason(&results[3]), "truncated");
    assert_eq!(results[3].stdout.len(), 1 << 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_ends_the_command_and_all_it_started() {
    let sshd = Sshd::start();
    let mark = mark();
    let mut stubborn = shell(&format!(
        "trap '' TERM; echo before; (trap '' TERM; sleep 60; : {mark}) & sleep 60; : {mark}"
    ));
    stubborn.time_limit_ms = 700;
    let started = Instant::now();
    let results = run(&ssh(), &target([sshd.hop()]), &[stubborn]).await;
    assert_eq!(
        results[0].status,
        RunStatus::NotRun {
            reason: NotRun::TimedOut { after_ms: 700 }
        }
    );
    assert_eq!(
        results[0].stdout, b"before\n",
        "what came before the limit is kept"
    );
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(with_mark(&mark), [] as [i32; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_leaves_its_group_does_not_hold_the_batch_up() {
    let sshd = Sshd::start();
    let mut escapes = shell("setsid sleep 8 & sleep 8");
    escapes.time_limit_ms = 500;
    let started = Instant::now();
    let results = run(&ssh(), &target([sshd.hop()]), &[escapes]).await;
    assert_eq!(reason(&results[0]), "timed-out");
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_leaves_in_the_background_is_ended() {
    let sshd = Sshd::start();
    let mark = mark();
    let leaves = shell(&format!(
        "sh -c 'sleep 60; : {mark}' >/dev/null 2>&1 & echo done"
    ));
    assert_eq!(
        ran(&run(&ssh(), &target([sshd.hop()]), &[leaves]).await[0]),
        "done\n"
    );
    assert_eq!(with_mark(&mark), [] as [i32; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_did_not_start_and_how_it_ended_are_told_apart() {
    let sshd = Sshd::start();
    let dir = tempfile::TempDir::new().unwrap();
    let (plain, bad) = (dir.path().join("plain"), dir.path().join("bad"));
    fs::write(&plain, "x").unwrap();
    fs::write(&bad, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&bad, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let batch = [
        Command::new(["no-such-tool", "x"]),
        Command::new([plain.display().to_string()]),
        Command::new([bad.display().to_string()]),
        shell("exit 127"),
        shell("echo 'sh: 1: foo: not found' >&2; exit 127"),
        shell("exit 126"),
        shell("kill -SEGV $$"),
    ];
    let results = run(&ssh(), &target([sshd.hop()]), &batch).await;
    let of = |i: usize| &results[i].status;
    assert!(
        matches!(of(0), RunStatus::NotRun { reason: NotRun::NotFound { program } } if program == "no-such-tool")
    );
    assert_eq!(reason(&results[1]), "denied");
    assert_eq!(reason(&results[2]), "not-found");
    assert_eq!(of(3), &RunStatus::Ran { exit: 127 });
    assert_eq!(of(4), &RunStatus::Ran { exit: 127 });
    assert_eq!(of(5), &RunStatus::Ran { exit: 126 });
    assert_eq!(
        of(6),
        &RunStatus::NotRun {
            reason: NotRun::Signalled { signal: 11 }
        }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_is_plain_and_the_priority_low() {
    let sshd = Sshd::start();
    let results = run(
        &ssh(),
        &target([sshd.hop()]),
        &[shell(
            "echo $LC_ALL $TERM $PAGER; nice; case $PATH in */sbin*) echo sbin;; esac; cat",
        )],
    )
    .await;
    assert_eq!(ran(&results[0]), "C dumb cat\n10\nsbin\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_commands_and_leaves_nothing() {
    let sshd = Sshd::start();
    let mark = mark();
    let (ssh, target) = (ssh(), target([sshd.hop()]));
    let folder = Arc::new(OnceLock::new());

    let batch: Vec<_> = (0..6)
        .map(|_| shell(&format!("trap '' TERM; sleep 60; : {mark}")))
        .collect();
    let cancel = CancellationToken::new();
    let (token, watched, found) = (cancel.clone(), mark.clone(), Arc::clone(&folder));
    let cancelling = async move {
        eventually(Duration::from_secs(10), "a command runs", || {
            folder_of(&watched).is_some()
        })
        .await;
        found
            .set(folder_of(&watched).expect("the batch's folder"))
            .unwrap();
        token.cancel();
        Instant::now()
    };
    let (results, cancelled) = tokio::join!(run_until(&ssh, &target, &batch, cancel), cancelling);
    assert!(
        cancelled.elapsed() < Duration::from_secs(3),
        "{:?}",
        cancelled.elapsed()
    );
    assert!(
        results.iter().all(|r| reason(r) == "cancelled"),
        "{results:?}"
    );
    eventually(Duration::from_secs(3), "the commands are gone", || {
        with_mark(&mark).is_empty()
    })
    .await;
    eventually(Duration::from_secs(3), "the folder is gone", || {
        !folder.get().unwrap().exists()
    })
    .await;
    // The connection serves on.
    assert_eq!(
        ran(&run(&ssh, &target, &[shell("echo hi")]).await[0]),
        "hi\n"
    );
    assert_eq!(sshd.logins(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_ends_the_commands_and_the_next_batch_connects_anew() {
    let mut sshd = Sshd::start();
    let mark = mark();
    let (ssh, target) = (ssh(), target([sshd.hop()]));
    let folder = OnceLock::new();
    let batch = [shell("echo early"), shell(&format!("sleep 60; : {mark}"))];
    let watched = mark.clone();
    let running = run(&ssh, &target, &batch);
    let breaking = async {
        eventually(Duration::from_secs(10), "a command runs", || {
            folder_of(&watched).is_some()
        })
        .await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        folder
            .set(folder_of(&watched).expect("the batch's folder"))
            .unwrap();
        let pid = with_mark(&format!("{}/config", sshd.dir.path().display()));
        assert!(!pid.is_empty());
        stop_connections_only(&sshd);
    };
    let (results, ()) = tokio::join!(running, breaking);
    assert_eq!(ran(&results[0]), "early\n");
    assert_eq!(reason(&results[1]), "interrupted");
    eventually(Duration::from_secs(5), "the command is gone", || {
        with_mark(&mark).is_empty()
    })
    .await;
    eventually(Duration::from_secs(5), "the folder is gone", || {
        !folder.get().unwrap().exists()
    })
    .await;

    sshd.stop();
    let results = run(&ssh, &target, &batch[..1]).await;
    assert!(
        matches!(&results[0].status, RunStatus::NotRun { reason: NotRun::NoConnection { status } } if status.name() == "refused"),
        "{results:?}"
    );
    sshd.start_again();
    assert_eq!(ran(&run(&ssh, &target, &batch[..1]).await[0]), "early\n");
}

/// Ends sshd's processes for connections, and not the shells below them.
fn stop_connections_only(sshd: &Sshd) {
    for pid in with_mark("sshd: root@notty") {
        if crate::support::processes::below(sshd.pid()).contains(&pid) {
            crate::support::processes::kill(pid);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_batches_at_once_fit_into_sshds_defaults() {
    let sshd = Sshd::start();
    let (ssh, target) = (Arc::new(ssh()), Arc::new(target([sshd.hop()])));
    let tasks: Vec<_> = (0..40)
        .map(|i| {
            let (ssh, target) = (Arc::clone(&ssh), Arc::clone(&target));
            tokio::spawn(async move {
                let results =
                    run(&ssh, &target, &[shell(&format!("echo {i}")), shell("true")]).await;
                assert_eq!(ran(&results[0]), format!("{i}\n"));
                ran(&results[1]);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(sshd.logins(), 1, "concurrent first users share one login");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_session_keys_in_the_middle_go_unnoticed() {
    let sshd = Sshd::start();
    let ssh = Ssh::new(SshOptions {
        rekey_bytes: 64 << 10,
        ..options()
    });
    let target = target([sshd.hop()]);
    for _ in 0..3 {
        let results = run(
            &ssh,
            &target,
            &[
                shell("head -c 1000000 /dev/zero"),
                shell("echo hi"),
                shell("head -c 900000 /dev/zero"),
            ],
        )
        .await;
        assert_eq!(
            results[0].stdout.len(),
            1_000_000,
            "{:?}",
            results[0].status
        );
        assert_eq!(ran(&results[1]), "hi\n");
        assert_eq!(results[2].stdout.len(), 900_000);
    }
    assert_eq!(sshd.logins(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_survives_new_keys_and_is_used_again() {
    let sshd = Sshd::start();
    let ssh = Ssh::new(SshOptions {
        rekey_after: Duration::from_millis(300),
        keepalive: Duration::from_millis(200),
        ..options()
    });
    let target = target([sshd.hop()]);
    for _ in 0..3 {
        assert_eq!(
            ran(&run(&ssh, &target, &[shell("echo hi")]).await[0]),
            "hi\n"
        );
        tokio::time::sleep(Duration::from_millis(1200)).await;
    }
    assert_eq!(sshd.logins(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unused_connection_is_closed_and_a_jump_hosts_with_the_last_behind_it() {
    let (edge, inner) = (Sshd::start(), Sshd::start());
    let ssh = Ssh::new(SshOptions {
        idle_limit: Duration::from_millis(400),
        ..options()
    });
    let way = target([edge.hop(), inner.hop()]);
    assert_eq!(ran(&run(&ssh, &way, &[shell("echo hi")]).await[0]), "hi\n");
    for sshd in [&inner, &edge] {
        eventually(Duration::from_secs(8), "the connection is closed", || {
            crate::support::processes::below(sshd.pid()).is_empty()
        })
        .await;
    }
    assert_eq!(ran(&run(&ssh, &way, &[shell("echo hi")]).await[0]), "hi\n");
    assert_eq!((edge.logins(), inner.logins()), (2, 2));
}
