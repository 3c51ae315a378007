//! Commands: what a check or collector runs, and that a read-only one only reads.

use std::collections::BTreeSet;

use super::{Draft, LoadError, places::Places};
use crate::knowledge::{Check, Inside, ParameterType};
use crate::run::Safety;
use crate::template::Templates;

pub(super) fn check(draft: &mut Draft) {
    let templates = Templates::shared();
    let mut errors = Vec::new();
    for collector in draft.collectors.values() {
        let at = &collector.places;
        let value = &collector.value;
        if value.run.is_empty() {
            errors.push(at.error(&["run"], "the command is empty"));
        }
        for (index, argument) in value.run.iter().enumerate() {
            // The braces of a template; a collector has nothing to fill them with.
            if argument.contains("{{") || argument.contains("{%") {
                errors.push(at.error(
                    &["run", &index.to_string()],
                    "a collector has no parameters, so its arguments are no templates",
                ));
            }
        }
        allowed(value.safety, &value.run, at, &mut errors);
    }
    for check in draft.checks.values() {
        one_check(templates, &check.value, &check.places, &mut errors);
    }
    draft.errors.extend(errors);
}

fn one_check(templates: &Templates, check: &Check, at: &Places, errors: &mut Vec<LoadError>) {
    if check.collects.is_empty() == check.run.is_empty() {
        errors.push(at.error(
            &["check"],
            "a check either selects collectors (`collects`) or runs a command (`run`)",
        ));
        return;
    }
    if check.run.is_empty() {
        if check.parse.is_some() || !check.parameters.is_empty() || check.inside == Inside::Guest {
            errors.push(at.error(
                &["collects"],
                "a check that selects collectors has no `parse`, `parameters` or `in` of its own",
            ));
        }
        return;
    }
    if check.parse.is_none() {
        errors.push(at.error(
            &["run"],
            "a check that runs a command says how it is read: `parse`",
        ));
    }
    for name in check.parameters.keys() {
        if !is_identifier(name) {
            errors.push(at.error(
                &["parameters", name],
                format!("“{name}” cannot be read in a template: letters, digits and _ only"),
            ));
        }
    }
    let mut read = BTreeSet::new();
    for (index, argument) in check.run.iter().enumerate() {
        let path = ["run", &index.to_string()];
        match templates.template_reads(argument) {
            Err(why) => {
                errors.push(at.error(&path, format!("this template does not compile: {why}")))
            }
            Ok(reads) => {
                for name in reads {
                    if check.parameters.contains_key(&name) {
                        read.insert(name);
                    } else {
                        errors
                            .push(at.error(&path, format!("the check has no parameter “{name}”")));
                    }
                }
            }
        }
    }
    for name in check.parameters.keys().filter(|n| !read.contains(*n)) {
        errors.push(at.error(&["parameters", name], format!("no argument reads “{name}”")));
    }
    // An argument is written as it is; only parameters whose values cannot be taken for options may stand
    // where a tool reads options.
    let integers = |a: &String| {
        check.parameters.iter().any(|(n, k)| {
            *k == ParameterType::Integer && a.contains(n.as_str()) && a.contains("{{")
        })
    };
    if let Some(index) = check.run.iter().position(integers) {
        let before = index.checked_sub(1).and_then(|i| check.run.get(i));
        if !before.is_some_and(|b| b.starts_with('-')) {
            errors.push(at.error(
                &["run", &index.to_string()],
                "a whole number may be negative, so it stands only behind an option that takes a value",
            ));
        }
    }
    allowed(check.safety, &check.run, at, errors);
}

pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn allowed(safety: Safety, run: &[String], at: &Places, errors: &mut Vec<LoadError>) {
    let Some(program) = run.first() else {
        return;
    };
    if is_template(program) {
        errors.push(at.error(&["run", "0"], "the program's name is no template"));
        return;
    }
    let verdict = match safety {
        Safety::ReadOnly => reads_only(run),
        Safety::GeneratesTraffic => {
            if matches!(program.as_str(), "ping" | "arping") {
                Ok(())
            } else {
                Err("only ping and arping generate traffic".to_owned())
            }
        }
        Safety::CapturesTraffic => Err("no command that captures traffic is known yet".to_owned()),
    };
    if let Err(why) = verdict {
        errors.push(at.error(&["run"], why));
    }
}

fn is_template(argument: &str) -> bool {
    argument.contains("{{") || argument.contains("{%") || argument.contains("{#")
}

/// `{{ NAME | family_option }}` and nothing else.
fn is_family_option(argument: &str) -> bool {
    argument
        .strip_prefix("{{")
        .and_then(|a| a.strip_suffix("}}"))
        .and_then(|a| a.split_once('|'))
        .is_some_and(|(name, filter)| {
            is_identifier(name.trim()) && filter.trim() == "family_option"
        })
}

/// What stands for `family_option`, the one template that may stand among options.
const FAMILY: &str = "-4";

/// The table of commands that only read.
fn reads_only(run: &[String]) -> Result<(), String> {
    let words: Vec<&str> = run
        .iter()
        .map(|a| {
            if is_family_option(a) {
                FAMILY
            } else {
                a.as_str()
            }
        })
        .collect();
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    let shown = run.join(" ");
    let good = match *program {
        "ip" => ip(arguments),
        "bridge" => verbs(
            arguments,
            &[
                "-j",
                "-json",
                "-p",
                "-pretty",
                "-d",
                "-details",
                "-s",
                "-statistics",
                "-compressvlans",
                "-oneline",
                "-N",
            ],
            &["vlan", "link", "fdb", "mdb"],
            &["show", "list", "get"],
        ),
        "tc" => verbs(
            arguments,
            &[
                "-j",
                "-json",
                "-p",
                "-pretty",
                "-d",
                "-details",
                "-s",
                "-statistics",
                "-raw",
            ],
            &["qdisc", "class", "filter", "chain"],
            &["show", "list", "ls"],
        ),
        "cat" => {
            arguments
                .iter()
                .all(|a| a.starts_with('/') && !is_template(a))
                && !arguments.is_empty()
        }
        "uname" | "nproc" | "pveversion" => true,
        "pct" | "qm" => arguments
            .first()
            .is_some_and(|verb| matches!(*verb, "list" | "config" | "status")),
        "pvesh" => arguments.first() == Some(&"get"),
        "ethtool" => arguments.iter().all(|a| {
            !a.starts_with('-')
                || matches!(
                    *a,
                    "-a" | "-c" | "-g" | "-i" | "-k" | "-l" | "-S" | "-T" | "-P" | "-m" | "--json"
                )
        }),
        "sysctl" => arguments.iter().all(|a| {
            matches!(*a, "-n" | "-a" | "-e" | "-N") || !(a.starts_with('-') || a.contains('='))
        }),
        "nft" => {
            let rest: Vec<&&str> = arguments
                .iter()
                .skip_while(|a| {
                    matches!(
                        **a,
                        "-j" | "-a" | "-s" | "-n" | "--json" | "--handle" | "--stateless"
                    )
                })
                .collect();
            rest.first() == Some(&&"list")
        }
        "iptables-save" | "ip6tables-save" => !arguments.contains(&"-M"),
        "sh" => matches!(arguments, ["-c", text] if is_tool_list(text)),
        _ => false,
    };
    if good {
        Ok(())
    } else {
        Err(format!(
            "“{shown}” is not in the table of commands that only read"
        ))
    }
}

/// Options of a known set, then one object, then a verb that reads or nothing.
fn verbs(arguments: &[&str], options: &[&str], objects: &[&str], verbs: &[&str]) -> bool {
    let mut rest = arguments.iter().skip_while(|a| options.contains(*a));
    rest.next().is_some_and(|object| objects.contains(object))
        && rest.next().is_none_or(|verb| verbs.contains(verb))
}

fn ip(arguments: &[&str]) -> bool {
    let options = [
        "-j",
        "-json",
        "-p",
        "-pretty",
        "-d",
        "-details",
        "-s",
        "-statistics",
        "-4",
        "-6",
        "-br",
        "-brief",
        "-o",
        "-oneline",
        "-N",
    ];
    let objects = [
        "addr",
        "address",
        "link",
        "route",
        "neigh",
        "neighbour",
        "rule",
        "netns",
    ];
    let words = ["show", "list", "ls", "get"];
    verbs(arguments, &options, &objects, &words)
}

/// The one shell text: it looks for tools by name and takes no parameters.
const TOOL_LIST: (&str, &str) = (
    "for t in ",
    r#"; do printf '%s %s\n' "$t" "$(command -v "$t")"; done"#,
);

fn is_tool_list(text: &str) -> bool {
    text.strip_prefix(TOOL_LIST.0)
        .and_then(|t| t.strip_suffix(TOOL_LIST.1))
        .is_some_and(|names| {
            names
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == ' ')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_told_from_what_changes() {
        let cases = [
            ("ip -j -d addr", true),
            ("ip -j -p -4 route show table all", true),
            ("ip -j {{ family | family_option }} neigh show", true),
            ("ip route get 192.0.2.1", true),
            ("ip route add default via 192.0.2.1", false),
            ("ip link set eth0 down", false),
            ("ip -batch /tmp/x", false),
            ("ip neigh flush dev eth0", false),
            ("ip route flush cache", false),
            ("ip {{ verb }} addr", false),
            ("ip netns exec x reboot", false),
            ("bridge -j -compressvlans vlan show", true),
            ("bridge vlan add vid 2 dev eth0", false),
            ("cat /etc/os-release", true),
            ("cat", false),
            ("cat {{ path }}", false),
            ("pct list", true),
            ("pct exec 122 -- reboot", false),
            ("qm guest exec 100 reboot", false),
            ("pvesh get /nodes", true),
            ("pvesh set /nodes", false),
            ("ethtool -k eth0", true),
            ("ethtool -K eth0 tso off", false),
            ("ethtool -s eth0 speed 10", false),
            ("sysctl -n net.ipv4.ip_forward", true),
            ("sysctl -w net.ipv4.ip_forward=1", false),
            ("sysctl net.ipv4.ip_forward=1", false),
            ("sysctl -p", false),
            ("nft -j list ruleset", true),
            ("nft flush ruleset", false),
            ("nft -f /tmp/x", false),
            ("tc -s qdisc show dev eth0", true),
            ("tc qdisc add dev eth0 root netem", false),
            ("iptables-save", true),
            ("iptables -t nat -S", false),
            ("rm -rf /", false),
            ("sh -c reboot", false),
        ];
        for (line, expect) in cases {
            let run: Vec<String> = if line.contains("{{ family") {
                ["ip", "-j", "{{ family | family_option }}", "neigh", "show"]
                    .map(String::from)
                    .to_vec()
            } else {
                line.split(' ').map(String::from).collect()
            };
            assert_eq!(reads_only(&run).is_ok(), expect, "{line}");
        }
    }

    #[test]
    fn the_shell_is_for_the_list_of_tools_only() {
        let good = format!("{}ip bridge lxc-info{}", TOOL_LIST.0, TOOL_LIST.1);
        let bad = format!("{}ip; reboot{}", TOOL_LIST.0, TOOL_LIST.1);
        for (text, expect) in [(good, true), (bad, false)] {
            let run = vec!["sh".to_owned(), "-c".to_owned(), text.clone()];
            assert_eq!(reads_only(&run).is_ok(), expect, "{text}");
        }
    }
}
