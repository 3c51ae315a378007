//! What a host is, from several small reads. Each gives a part of [`Platform`];
//! [`merge_platform`] puts them together.

use super::{Output, ParseError, Read, clip};
use crate::facts::{Platform, PlatformKind, Tool};

const fn nothing() -> Platform {
    Platform {
        kind: PlatformKind::Other,
        os: None,
        kernel: None,
        hostname: None,
        cpus: None,
        pve_version: None,
        tools: Vec::new(),
    }
}

/// One platform from its parts. A later part fills what earlier ones left open; a part that could
/// not be read leaves its fields `None`.
pub fn merge_platform<'a>(parts: impl IntoIterator<Item = &'a Platform>) -> Platform {
    let mut whole = nothing();
    for part in parts {
        whole.kind = match (whole.kind, part.kind) {
            (PlatformKind::ProxmoxVe, _) | (_, PlatformKind::ProxmoxVe) => PlatformKind::ProxmoxVe,
            (PlatformKind::Linux, _) | (_, PlatformKind::Linux) => PlatformKind::Linux,
            (PlatformKind::Other, PlatformKind::Other) => PlatformKind::Other,
        };
        whole.os = whole.os.or_else(|| part.os.clone());
        whole.kernel = whole.kernel.or_else(|| part.kernel.clone());
        whole.hostname = whole.hostname.or_else(|| part.hostname.clone());
        whole.cpus = whole.cpus.or(part.cpus);
        whole.pve_version = whole.pve_version.or_else(|| part.pve_version.clone());
        whole.tools.extend(part.tools.iter().cloned());
    }
    whole
}

/// `cat /etc/os-release` (os-release(5)).
pub(super) fn os_release(output: &Output) -> Result<Read<Platform>, ParseError> {
    output.succeeded()?;
    let value = |key: &str| {
        output.stdout.lines().find_map(|line| {
            let value = line.trim().strip_prefix(key)?.strip_prefix('=')?;
            Some(value.trim_matches(['"', '\'']).to_owned())
        })
    };
    let os = value("PRETTY_NAME").or_else(|| value("NAME"));
    match os {
        Some(os) => Ok(Read {
            facts: Platform {
                os: Some(clip(&os)),
                ..nothing()
            },
            unparsed: Vec::new(),
        }),
        None => Err(ParseError::NotUnderstood {
            parser: "os-release",
            detail: "there is no PRETTY_NAME".into(),
        }),
    }
}

/// `uname -s -n -r`.
pub(super) fn uname(output: &Output) -> Result<Read<Platform>, ParseError> {
    output.succeeded()?;
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    match words.as_slice() {
        [system, hostname, kernel] => Ok(Read {
            facts: Platform {
                kind: if *system == "Linux" {
                    PlatformKind::Linux
                } else {
                    PlatformKind::Other
                },
                hostname: Some(clip(hostname)),
                kernel: Some(clip(kernel)),
                ..nothing()
            },
            unparsed: Vec::new(),
        }),
        _ => Err(ParseError::NotUnderstood {
            parser: "uname",
            detail: format!("not three words: “{}”", clip(output.stdout.trim())),
        }),
    }
}

/// `nproc`.
pub(super) fn nproc(output: &Output) -> Result<Read<Platform>, ParseError> {
    output.succeeded()?;
    match output.stdout.trim().parse() {
        Ok(cpus) => Ok(Read {
            facts: Platform {
                cpus: Some(cpus),
                ..nothing()
            },
            unparsed: Vec::new(),
        }),
        Err(_) => Err(ParseError::NotUnderstood {
            parser: "nproc",
            detail: format!("not a number: “{}”", clip(output.stdout.trim())),
        }),
    }
}

/// `pveversion`: `pve-manager/9.0.3/025864202ebb6109 (running kernel: 6.14.8-2-pve)`.
pub(super) fn pve_version(output: &Output) -> Result<Read<Platform>, ParseError> {
    output.succeeded()?;
    let line = output.stdout.lines().map(str::trim).find(|l| !l.is_empty());
    match line.filter(|l| l.starts_with("pve-manager/")) {
        Some(version) => Ok(Read {
            facts: Platform {
                kind: PlatformKind::ProxmoxVe,
                pve_version: Some(clip(version)),
                ..nothing()
            },
            unparsed: Vec::new(),
        }),
        None => Err(ParseError::NotUnderstood {
            parser: "pve-version",
            detail: "there is no line beginning with pve-manager/".into(),
        }),
    }
}

/// One line a tool, `NAME PATH`; a tool that is not there has no path.
pub(super) fn tools(output: &Output) -> Result<Read<Platform>, ParseError> {
    output.succeeded()?;
    let mut tools = Vec::new();
    let mut unparsed = Vec::new();
    for line in output.stdout.lines().filter(|l| !l.trim().is_empty()) {
        match line.split_once(' ') {
            Some((name, path))
                if !name.is_empty() && (path.is_empty() || path.starts_with('/')) =>
            {
                tools.push(Tool {
                    name: clip(name),
                    path: (!path.is_empty()).then(|| clip(path)),
                });
            }
            _ => unparsed.push(clip(line)),
        }
    }
    if tools.is_empty() {
        return Err(ParseError::NotUnderstood {
            parser: "tools",
            detail: "no tool is listed".into(),
        });
    }
    Ok(Read {
        facts: Platform { tools, ..nothing() },
        unparsed,
    })
}
