//! What `qm guest exec` prints: JSON around a program's output in a virtual machine.
//!
//! By Proxmox's source (qemu-server, `PVE/CLI/qm.pm`, `PVE/QemuServer/Agent.pm`): on success
//! `{"exitcode", "exited", "out-data", "err-data", "out-truncated", "err-truncated", "signal"}` with the
//! data already decoded from base64; past `--timeout` a warning on stderr and `{"pid"}` alone; on any
//! other failure a message on stderr and exit status 255. Not yet run against a real machine.

use diagnosis::run::{Command, NotRun, RunResult, RunStatus};
use serde::{Deserialize, Deserializer};

use super::frame::Frame;
use super::outcome::{first_line, is_refusal};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Answer {
    exitcode: Option<i32>,
    signal: Option<i32>,
    pid: Option<i64>,
    #[serde(default, deserialize_with = "flag")]
    exited: bool,
    #[serde(default)]
    out_data: String,
    #[serde(default)]
    err_data: String,
    #[serde(default, deserialize_with = "flag")]
    out_truncated: bool,
    #[serde(default, deserialize_with = "flag")]
    err_truncated: bool,
}

/// Perl's JSON has truth as `true` or as 1.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Flag {
        Word(bool),
        Number(i64),
    }
    Ok(match Flag::deserialize(deserializer)? {
        Flag::Word(word) => word,
        Flag::Number(number) => number != 0,
    })
}

/// The result of a command in a virtual machine, not yet cut at the cap.
pub(super) fn decode(command: &Command, frame: Frame, took_ms: u64) -> RunResult {
    let not_run = |reason| RunResult {
        took_ms,
        ..RunResult::not_run(reason)
    };
    if frame.code != 0 {
        return not_run(refused(command, &first_line(&frame.stderr)));
    }
    // The data's bytes stand in the JSON as they are, UTF-8 or not: each byte is read as one character
    // and turned back below.
    let text: String = frame.stdout.iter().map(|b| char::from(*b)).collect();
    let answer: Answer = match serde_json::from_str(text.trim()) {
        Ok(answer) => answer,
        Err(_) if frame.stdout.len() as u64 > super::script::wire_cap(command) => {
            return not_run(NotRun::Truncated {
                cap: command.output_cap,
            });
        }
        Err(error) => {
            return not_run(NotRun::GuestUnreachable {
                detail: format!("qm's answer is not what it should be: {error}"),
            });
        }
    };
    if !answer.exited && answer.exitcode.is_none() && answer.pid.is_some() {
        return not_run(NotRun::TimedOut {
            after_ms: command.time_limit_ms,
        });
    }
    let status = if answer.out_truncated || answer.err_truncated {
        RunStatus::NotRun {
            reason: NotRun::Truncated {
                cap: command.output_cap,
            },
        }
    } else {
        match (answer.signal, answer.exitcode) {
            (Some(signal), _) => RunStatus::NotRun {
                reason: NotRun::Signalled { signal },
            },
            (None, Some(exit)) => RunStatus::Ran { exit },
            (None, None) => RunStatus::NotRun {
                reason: NotRun::GuestUnreachable {
                    detail: "qm did not say how the command ended".into(),
                },
            },
        }
    };
    RunResult {
        status,
        stdout: bytes(&answer.out_data),
        stderr: bytes(&answer.err_data),
        took_ms,
    }
}

fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c)) {
            Ok(byte) => bytes.push(byte),
            // Only a \u escape gets here.
            Err(_) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// `qm` itself failed. The guest agent's own message comes after "Agent error:".
fn refused(command: &Command, said: &str) -> NotRun {
    let in_guest = said.contains("Failed to execute child process");
    if in_guest && said.contains("No such file or directory") {
        NotRun::NotFound {
            program: command.argv.first().cloned().unwrap_or_default(),
        }
    } else if is_refusal(said) {
        NotRun::Denied {
            detail: said.to_owned(),
        }
    } else {
        let detail = if said.is_empty() {
            "qm guest exec failed without a word".into()
        } else {
            said.to_owned()
        };
        NotRun::GuestUnreachable { detail }
    }
}

#[cfg(test)]
mod tests {
    use diagnosis::ids::Vmid;
    use diagnosis::run::Place;

    use super::super::frame::How;
    use super::*;

    fn decoded(code: i32, stdout: &[u8], stderr: &str) -> RunResult {
        let mut command = Command::new(["ip", "route"]);
        command.place = Place::VirtualMachine { vmid: Vmid(100) };
        let frame = Frame {
            index: 0,
            how: How::Ran,
            code,
            took_ms: None,
            stdout: stdout.to_vec(),
            stderr: stderr.into(),
        };
        decode(&command, frame, 7)
    }

    #[test]
    fn the_guests_exit_status_and_output_are_the_result() {
        let result = decoded(
            0,
            b"{\n   \"err-data\" : \"e\\n\",\n   \"exitcode\" : 3,\n   \"exited\" : 1,\n   \"out-data\" : \"default via 10.0.0.1\\n\"\n}\n",
            "",
        );
        assert_eq!(result.status, RunStatus::Ran { exit: 3 });
        assert_eq!(result.stdout, b"default via 10.0.0.1\n");
        assert_eq!(result.stderr, b"e\n");
    }

    #[test]
    fn bytes_survive_that_are_not_utf8_and_those_that_are() {
        let result = decoded(
            0,
            b"{\"exitcode\":0,\"exited\":true,\"out-data\":\"\xff\xc3\xa4\\u0000\"}",
            "",
        );
        assert_eq!(result.stdout, b"\xff\xc3\xa4\0");
    }

    #[test]
    fn a_pid_alone_means_that_the_limit_passed() {
        let result = decoded(
            0,
            b"{\n   \"pid\" : 6290\n}\n",
            "timeout reached, returning pid\n",
        );
        assert!(matches!(
            result.status,
            RunStatus::NotRun {
                reason: NotRun::TimedOut { .. }
            }
        ));
    }

    #[test]
    fn qms_own_failures_keep_their_message() {
        for said in [
            "QEMU guest agent is not running",
            "VM 100 not running",
            "No QEMU guest agent configured",
            "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist",
        ] {
            let result = decoded(255, b"", &format!("{said}\n"));
            assert_eq!(
                result.status,
                RunStatus::NotRun {
                    reason: NotRun::GuestUnreachable {
                        detail: said.into()
                    }
                }
            );
        }
    }

    #[test]
    fn a_program_the_guest_lacks_is_not_found() {
        let result = decoded(
            255,
            b"",
            "Agent error: Guest agent command failed, error was 'Failed to execute child process “ip” (No such file or directory)'\n",
        );
        assert!(
            matches!(result.status, RunStatus::NotRun { reason: NotRun::NotFound { program } } if program == "ip")
        );
    }

    #[test]
    fn output_the_agent_cut_is_marked() {
        let result = decoded(
            0,
            b"{\"exitcode\":0,\"exited\":1,\"out-data\":\"x\",\"out-truncated\":1}",
            "",
        );
        assert!(matches!(
            result.status,
            RunStatus::NotRun {
                reason: NotRun::Truncated { .. }
            }
        ));
    }

    #[test]
    fn an_answer_that_is_no_json_is_no_result() {
        assert!(matches!(
            decoded(0, b"hello", "").status,
            RunStatus::NotRun {
                reason: NotRun::GuestUnreachable { .. }
            }
        ));
    }
}
