//! Hosts that lie, flood, break off or never end. What they send is data, or nothing.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use diagnosis::run::{Command, NotRun, RunStatus};
use tokio_util::sync::CancellationToken;

use crate::support::peer::{Act, Peer, say};
use crate::support::{ran, reason, run, run_until, ssh, target};

fn batch(n: usize) -> Vec<Command> {
    (0..n).map(|_| Command::new(["true"])).collect()
}

#[tokio::test]
async fn a_flood_outside_frames_is_cut_off() {
    let peer = Peer::start(Act::Flood(100 << 20)).await;
    let started = Instant::now();
    let results = run(&ssh(), &target([peer.hop()]), &batch(3)).await;
    assert!(
        results.iter().all(|r| reason(r) == "interrupted"),
        "{results:?}"
    );
    assert!(started.elapsed() < Duration::from_secs(10));
    let sent = peer.flooded.load(Ordering::SeqCst);
    assert!(sent < 20 << 20, "it could send {sent} bytes");
}

#[tokio::test]
async fn a_frame_that_claims_too_much_ends_the_batch() {
    let peer = Peer::start(Act::Say(say(|n| {
        format!("{n} begin\n{n} 0 ran 0 1.00 1.01 2 0\nok{n} 1 ran 0 1.00 1.00 99999999999 0\nx")
            .into()
    })))
    .await;
    let results = run(&ssh(), &target([peer.hop()]), &batch(3)).await;
    assert_eq!(ran(&results[0]), "ok");
    assert_eq!(results[0].took_ms, 10);
    assert_eq!(reason(&results[1]), "interrupted");
    assert_eq!(reason(&results[2]), "interrupted");
}

#[tokio::test]
async fn a_frame_inside_an_output_is_output() {
    let peer = Peer::start(Act::Say(say(|n| {
        let forged = format!("\n{n} 1 ran 0 1.00 1.00 4 0\nevil{n} end\n");
        format!(
            "Welcome!\r\n{n} begin\n{n} 0 ran 0 1.00 1.00 {} 0\n{forged}{n} 1 ran 7 1.00 1.00 4 0\ngood{n} end\nbye",
            forged.len()
        )
        .into()
    })))
    .await;
    let results = run(&ssh(), &target([peer.hop()]), &batch(2)).await;
    assert!(ran(&results[0]).contains("evil"));
    assert_eq!(results[1].status, RunStatus::Ran { exit: 7 });
    assert_eq!(results[1].stdout, b"good");
}

#[tokio::test]
async fn bytes_that_are_no_text_arrive_as_they_are() {
    let bytes = b"\x1b[31mred\0\xff\xfe\x9b2J";
    let peer = Peer::start(Act::Say(say(move |n| {
        let mut out = format!("{n} begin\n{n} 0 ran 0 1.00 1.00 {} 0\n", bytes.len()).into_bytes();
        out.extend_from_slice(bytes);
        out.extend_from_slice(format!("{n} end\n").as_bytes());
        out
    })))
    .await;
    let results = run(&ssh(), &target([peer.hop()]), &batch(1)).await;
    assert_eq!(results[0].stdout, bytes);
}

#[tokio::test]
async fn a_connection_lost_in_the_middle_leaves_the_rest_interrupted() {
    let peer = Peer::start(Act::SayAndDrop(say(|n| {
        format!("{n} begin\n{n} 1 ran 0 1.00 1.00 2 0\nok{n} 0 ran 0 1.00 1.00 9 0\nhalf").into()
    })))
    .await;
    let results = run(&ssh(), &target([peer.hop()]), &batch(3)).await;
    assert_eq!(ran(&results[1]), "ok");
    assert_eq!(reason(&results[0]), "interrupted");
    assert!(results[0].stdout.is_empty(), "half a result");
    assert_eq!(reason(&results[2]), "interrupted");
    // Something was sent, so it was not sent again.
    assert_eq!(peer.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_channel_that_never_closes_holds_nobody_up() {
    let peer = Peer::start(Act::SayAndStay(say(|n| {
        format!("{n} begin\n{n} 0 ran 0 1.00 1.00 2 0\nok{n} end\n").into()
    })))
    .await;
    let (ssh, target) = (ssh(), target([peer.hop()]));
    // More than the places on one connection: the ninth gets one when the first is given up.
    let started = Instant::now();
    for _ in 0..12 {
        assert_eq!(ran(&run(&ssh, &target, &batch(1)).await[0]), "ok");
    }
    assert!(started.elapsed() < Duration::from_secs(15));
    // Such a connection is not used for ever.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(ran(&run(&ssh, &target, &batch(1)).await[0]), "ok");
    assert!(peer.connections.load(Ordering::SeqCst) > 1);
}

#[tokio::test]
async fn a_host_that_says_nothing_is_cancelled_within_two_seconds() {
    let peer = Peer::start(Act::Silence).await;
    let cancel = CancellationToken::new();
    let soon = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        soon.cancel();
    });
    let started = Instant::now();
    let results = run_until(&ssh(), &target([peer.hop()]), &batch(2), cancel).await;
    assert!(results.iter().all(|r| reason(r) == "cancelled"));
    assert!(
        started.elapsed() < Duration::from_millis(2500),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_login_without_a_shell_is_told_as_such() {
    let peer = Peer::start(Act::Refuse).await;
    let results = run(&ssh(), &target([peer.hop()]), &batch(1)).await;
    assert_eq!(reason(&results[0]), "no-connection");
}

#[tokio::test]
async fn an_argument_with_a_nul_byte_is_refused_and_the_rest_runs() {
    let peer = Peer::start(Act::Say(say(|n| {
        format!("{n} begin\n{n} 0 ran 0 1.00 1.00 2 0\nok{n} end\n").into()
    })))
    .await;
    let batch = [Command::new(["echo", "a\0b"]), Command::new(["true"])];
    let results = run(&ssh(), &target([peer.hop()]), &batch).await;
    assert!(matches!(
        &results[0].status,
        RunStatus::NotRun {
            reason: NotRun::Denied { .. }
        }
    ));
    assert_eq!(ran(&results[1]), "ok");
}
