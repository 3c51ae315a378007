//! Renders a batch as a shell script. Arguments are quoted here, once, and nowhere else.

use std::fmt::Write;

use diagnosis::run::{Command, NotRun, Place};

/// The part that is the same for every batch.
const BODY: &str = include_str!("batch.sh");

/// What a host's login shell is asked to run; the script itself comes on its stdin, so that no argument
/// list has a length limit and the end of stdin can tell the script that we have gone.
pub const EXEC: &str = "exec sh -s";

/// `qm guest exec` gets this much longer than the command's own limit, so that it can say itself that
/// the limit passed.
const QM_GRACE_MS: u64 = 5_000;

/// Why a command cannot be put into a script at all: an empty list, no program, or an argument with a
/// NUL byte, which no process can be given.
#[must_use]
pub fn refusal(command: &Command) -> Option<NotRun> {
    let detail = match command.argv.first() {
        None => "the command is empty",
        // A leading `-` would be an option of the shell's `exec`.
        Some(program) if program.is_empty() || program.starts_with('-') => {
            "the command names no program"
        }
        Some(_) if command.argv.iter().any(|a| a.contains('\0')) => {
            "an argument contains a NUL byte"
        }
        Some(_) => return None,
    };
    Some(NotRun::Denied {
        detail: detail.into(),
    })
}

/// Bytes of each stream that the host sends at most for a command. For a VM this is the JSON around the
/// output, which escapes some of it.
#[must_use]
pub fn wire_cap(command: &Command) -> u64 {
    match command.place {
        Place::Host | Place::Container { .. } => command.output_cap,
        Place::VirtualMachine { .. } => command.output_cap.saturating_mul(4).saturating_add(4096),
    }
}

/// How long the host gives a command.
#[must_use]
pub fn host_limit_ms(command: &Command) -> u64 {
    match command.place {
        Place::Host | Place::Container { .. } => command.time_limit_ms.max(1),
        Place::VirtualMachine { .. } => whole_seconds(command.time_limit_ms)
            .saturating_mul(1000)
            .saturating_add(QM_GRACE_MS),
    }
}

fn whole_seconds(ms: u64) -> u64 {
    ms.div_ceil(1000).max(1)
}

/// The script for a batch: no command may have a [`refusal`]. `nonce` is hexadecimal and comes
/// from the operating system's random source.
///
/// # Errors
/// An argument that cannot be quoted.
pub fn render(nonce: &str, batch: &[&Command]) -> Result<String, shlex::QuoteError> {
    let mut script = format!("n={nonce}\ncount={}\n{BODY}", batch.len());
    for (index, command) in batch.iter().enumerate() {
        let limit = host_limit_ms(command);
        // One byte more than the cap tells a cut output from one that just fits.
        let bytes = wire_cap(command).saturating_add(1);
        let _ = write!(
            script,
            "c{index}() {{ job {index} {}.{:03} {} {bytes} ",
            limit / 1000,
            limit % 1000,
            whole_seconds(limit),
        );
        match command.place {
            Place::Host => script.push_str("host "),
            Place::Container { vmid } => {
                let _ = write!(script, "container {vmid} ");
            }
            Place::VirtualMachine { vmid } => {
                let seconds = whole_seconds(command.time_limit_ms);
                let _ = write!(script, "host qm guest exec {vmid} --timeout {seconds} -- ");
            }
        }
        script.push_str(&shlex::try_join(command.argv.iter().map(String::as_str))?);
        script.push_str("; }\n");
    }
    script.push_str("main\n");
    Ok(script)
}

#[cfg(test)]
mod tests {
    use diagnosis::ids::Vmid;

    use super::*;

    fn last_lines(command: &Command) -> String {
        let script = render("abc", &[command]).unwrap();
        assert!(script.starts_with("n=abc\ncount=1\n"));
        script[script.find("\nc0()").unwrap() + 1..].to_owned()
    }

    #[test]
    fn arguments_are_quoted_once() {
        let command = Command::new(["ip", "-j", "$(reboot)", "it's", "", "a\nb"]);
        let lines = last_lines(&command);
        let call = lines
            .strip_prefix("c0() { job 0 10.000 10 1048577 host ")
            .unwrap();
        let call = call.strip_suffix("; }\nmain\n").unwrap();
        assert_eq!(shlex::split(call).unwrap(), command.argv);
    }

    #[test]
    fn places_choose_the_way_in() {
        let mut command = Command::new(["ip", "a"]);
        command.time_limit_ms = 2500;
        command.place = Place::Container { vmid: Vmid(122) };
        assert_eq!(
            last_lines(&command),
            "c0() { job 0 2.500 3 1048577 container 122 ip a; }\nmain\n"
        );
        command.place = Place::VirtualMachine { vmid: Vmid(100) };
        assert_eq!(
            last_lines(&command),
            "c0() { job 0 8.000 8 4198401 host qm guest exec 100 --timeout 3 -- ip a; }\nmain\n"
        );
    }

    #[test]
    fn what_no_process_can_be_given_is_refused() {
        for argv in [vec![], vec![""], vec!["-j"], vec!["ip", "a\0b"]] {
            assert!(refusal(&Command::new(argv.clone())).is_some(), "{argv:?}");
        }
        assert_eq!(refusal(&Command::new(["ip", "-j", "$(reboot)"])), None);
    }
}
