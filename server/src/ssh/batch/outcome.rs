//! From what the host's script says about a command to a run result.

use diagnosis::run::{Command, NotRun, Place, RunResult, RunStatus};

use super::frame::{Frame, How};
use super::guest;

/// Signals that end a program that does not handle them, as Linux numbers them. The shell tells a
/// signal as 128 + its number, which a program could also return by itself; those that programs use
/// as exit codes of their own (129: git's usage error, 130: interrupted) are left out.
const SIGNALS: [i32; 13] = [4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 24, 25, 31];

/// The result of one command. `nonce` is the batch's: a shell that cannot start the program signs its
/// complaint with it, which a program's own stderr cannot do by chance.
#[must_use]
pub fn outcome(command: &Command, nonce: &str, frame: Frame) -> RunResult {
    let took_ms = frame.took_ms.unwrap_or(0);
    let said = || first_line(&frame.stderr);
    let bare = |reason| RunResult {
        took_ms,
        ..RunResult::not_run(reason)
    };
    match frame.how {
        How::Missing => bare(NotRun::NotFound {
            program: program(command, frame.code),
        }),
        How::Barred => bare(NotRun::Denied {
            detail: format!(
                "{} is there, but this user may not run it",
                program(command, frame.code)
            ),
        }),
        How::Guest => bare(NotRun::GuestUnreachable { detail: said() }),
        How::Outside => bare(if is_refusal(&said()) {
            NotRun::Denied { detail: said() }
        } else {
            NotRun::GuestUnreachable { detail: said() }
        }),
        How::Full => bare(NotRun::Denied {
            detail: "the folder for its output is full on the host".into(),
        }),
        How::Late => cut(
            command,
            RunResult {
                status: RunStatus::NotRun {
                    reason: NotRun::TimedOut {
                        after_ms: command.time_limit_ms,
                    },
                },
                stdout: frame.stdout,
                stderr: frame.stderr,
                took_ms,
            },
        ),
        How::Ran => ran(command, nonce, frame, took_ms),
    }
}

fn ran(command: &Command, nonce: &str, frame: Frame, took_ms: u64) -> RunResult {
    if let Some(reason) = not_started(command, nonce, &frame) {
        return RunResult {
            took_ms,
            ..RunResult::not_run(reason)
        };
    }
    if let Place::VirtualMachine { .. } = command.place {
        return cut(command, guest::decode(command, frame, took_ms));
    }
    let signal = frame.code.saturating_sub(128);
    let status = if SIGNALS.contains(&signal) {
        RunStatus::NotRun {
            reason: NotRun::Signalled { signal },
        }
    } else {
        RunStatus::Ran { exit: frame.code }
    };
    cut(
        command,
        RunResult {
            status,
            stdout: frame.stdout,
            stderr: frame.stderr,
            took_ms,
        },
    )
}

/// The shell's own 126 and 127 (POSIX XCU 2.8.2) count only with its signed complaint; else they are
/// the program's.
fn not_started(command: &Command, nonce: &str, frame: &Frame) -> Option<NotRun> {
    let complaint = first_line(&frame.stderr);
    let detail = complaint.strip_prefix(nonce)?.strip_prefix(':')?;
    // dash: `NAME: 1: exec: PROGRAM: why`, busybox: `NAME: exec: line 1: PROGRAM: why`.
    let why = detail
        .rsplit(": ")
        .next()
        .unwrap_or(detail)
        .trim()
        .to_owned();
    match frame.code {
        127 => Some(NotRun::NotFound {
            program: program(command, 0),
        }),
        126 => Some(NotRun::Denied { detail: why }),
        _ => None,
    }
}

fn program(command: &Command, which: i32) -> String {
    match (which, command.place) {
        (1, _) => "lxc-info".into(),
        (2, _) => "nsenter".into(),
        (_, Place::VirtualMachine { .. }) => "qm".into(),
        _ => command.argv.first().cloned().unwrap_or_default(),
    }
}

/// Cuts the streams at the cap, and says so. A command that was stopped for another reason keeps it.
fn cut(command: &Command, mut result: RunResult) -> RunResult {
    let cap = usize::try_from(command.output_cap).unwrap_or(usize::MAX);
    let over = result.stdout.len() > cap || result.stderr.len() > cap;
    result.stdout.truncate(cap);
    result.stderr.truncate(cap);
    let by_the_cut = matches!(
        result.status,
        RunStatus::Ran { .. }
            | RunStatus::NotRun {
                reason: NotRun::Signalled { .. }
            }
    );
    if over && by_the_cut {
        result.status = RunStatus::NotRun {
            reason: NotRun::Truncated {
                cap: command.output_cap,
            },
        };
    }
    result
}

pub(super) fn is_refusal(text: &str) -> bool {
    text.contains("ermission denied") || text.contains("not permitted")
}

/// The first line with something on it, short enough for a sentence.
pub(super) fn first_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty())
        .unwrap_or_default()
        .chars()
        .take(300)
        .collect()
}

#[cfg(test)]
mod tests {
    use diagnosis::ids::Vmid;

    use super::*;

    fn frame(how: How, code: i32, stdout: &str, stderr: &str) -> Frame {
        Frame {
            index: 0,
            how,
            code,
            took_ms: Some(10),
            stdout: stdout.into(),
            stderr: stderr.into(),
        }
    }

    fn status(frame: Frame) -> RunStatus {
        outcome(&Command::new(["ip", "addr"]), "n0nce", frame).status
    }

    #[test]
    fn an_exit_status_is_a_result_also_126_and_127() {
        for code in [0, 1, 126, 127, 129, 130, 255] {
            let status = status(frame(How::Ran, code, "", "ip: something: not found"));
            assert_eq!(status, RunStatus::Ran { exit: code });
        }
    }

    #[test]
    fn a_signed_complaint_of_the_shell_is_no_result() {
        let missing = status(frame(How::Ran, 127, "", "n0nce: 1: exec: ip: not found\n"));
        assert!(
            matches!(missing, RunStatus::NotRun { reason: NotRun::NotFound { program } } if program == "ip")
        );
        let denied = status(frame(
            How::Ran,
            126,
            "",
            "n0nce: exec: line 1: ip: Permission denied\n",
        ));
        assert!(
            matches!(denied, RunStatus::NotRun { reason: NotRun::Denied { detail } } if detail == "Permission denied")
        );
    }

    #[test]
    fn signals_are_told_apart_from_results() {
        assert!(matches!(
            status(frame(How::Ran, 139, "", "")),
            RunStatus::NotRun {
                reason: NotRun::Signalled { signal: 11 }
            }
        ));
    }

    #[test]
    fn an_output_over_the_cap_is_kept_cut_and_marked() {
        let mut command = Command::new(["yes"]);
        command.output_cap = 4;
        for code in [0, 141] {
            let result = outcome(&command, "n", frame(How::Ran, code, "12345", ""));
            assert_eq!(result.stdout, b"1234");
            assert_eq!(
                result.status,
                RunStatus::NotRun {
                    reason: NotRun::Truncated { cap: 4 }
                }
            );
        }
        let fits = outcome(&command, "n", frame(How::Ran, 0, "1234", ""));
        assert_eq!(fits.status, RunStatus::Ran { exit: 0 });
    }

    #[test]
    fn a_stopped_container_and_a_refused_one_differ() {
        let mut command = Command::new(["ip"]);
        command.place = Place::Container { vmid: Vmid(1) };
        let of = |how, text: &str| outcome(&command, "n", frame(how, 1, "", text)).status;
        assert!(matches!(
            of(How::Guest, "1 doesn't exist\n"),
            RunStatus::NotRun { reason: NotRun::GuestUnreachable { detail } } if detail == "1 doesn't exist"
        ));
        assert!(matches!(
            of(
                How::Outside,
                "nsenter: reassociate to namespace 'ns/net' failed: Operation not permitted"
            ),
            RunStatus::NotRun {
                reason: NotRun::Denied { .. }
            }
        ));
        assert!(matches!(
            of(
                How::Outside,
                "nsenter: cannot open /proc/1/ns/net: No such file or directory"
            ),
            RunStatus::NotRun {
                reason: NotRun::GuestUnreachable { .. }
            }
        ));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut command = Command::new(["ip"]);
        command.place = Place::Container { vmid: Vmid(1) };
        for (code, name) in [(0, "ip"), (1, "lxc-info"), (2, "nsenter")] {
            let status = outcome(&command, "n", frame(How::Missing, code, "", "")).status;
            assert!(
                matches!(status, RunStatus::NotRun { reason: NotRun::NotFound { program } } if program == name)
            );
        }
    }
}
