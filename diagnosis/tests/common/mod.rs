//! What the tests share.
#![allow(dead_code, unreachable_pub)]

use std::path::PathBuf;

use diagnosis::knowledge::{Pack, Source};

/// The knowledge of this repository.
pub fn pack() -> Pack {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../knowledge");
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    let sources: Vec<Source<'_>> = files
        .iter()
        .map(|(name, text)| Source { name, text })
        .collect();
    Pack::load(&sources).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"))
    })
}

use std::collections::BTreeMap;

use diagnosis::facts::GuestKind;
use diagnosis::ids::{HostId, TreeId, Vmid};
use diagnosis::run::{Command, RunResult, RunStatus};
use diagnosis::session::{Answer, BoundGuest, Ends};
use diagnosis::verdict::{Conclusion, Finding};
use diagnosis::walk::{Input, Request, Walk};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A fixture file as text.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A recorded result: `NAME.out`, `NAME.err` if there was any, `NAME.exit` if it was not 0.
pub fn recorded(name: &str) -> RunResult {
    let stdout =
        std::fs::read(fixture(&format!("{name}.out"))).unwrap_or_else(|e| panic!("{name}: {e}"));
    let exit = std::fs::read_to_string(fixture(&format!("{name}.exit")))
        .map_or(0, |text| text.trim().parse().unwrap());
    RunResult {
        status: RunStatus::Ran { exit },
        stdout,
        stderr: std::fs::read(fixture(&format!("{name}.err"))).unwrap_or_default(),
        took_ms: 7,
    }
}

/// A result with this standard output.
pub fn ran(exit: i32, stdout: &[u8]) -> RunResult {
    RunResult {
        status: RunStatus::Ran { exit },
        stdout: stdout.to_vec(),
        stderr: Vec::new(),
        took_ms: 7,
    }
}

/// What a person sees as raw output.
pub fn raw(result: &RunResult) -> String {
    [&result.stdout, &result.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat()
}

/// Recordings to walk over.
pub struct Scenario {
    pub name: &'static str,
    pub links: &'static str,
    pub v4: &'static str,
    pub v6: &'static str,
    /// The answer; `?` for "I don't know".
    pub target: &'static str,
    pub guest: String,
    pub kind: GuestKind,
    /// Results by run key that stand in for the recorded ones.
    pub instead: BTreeMap<String, RunResult>,
    pub everything: Option<RunResult>,
}

impl Scenario {
    pub fn new(
        name: &'static str,
        links: &'static str,
        v4: &'static str,
        v6: &'static str,
        target: &'static str,
    ) -> Self {
        Self {
            name,
            links,
            v4,
            v6,
            target,
            guest: "ct122".into(),
            kind: GuestKind::Container,
            instead: BTreeMap::new(),
            everything: None,
        }
    }

    pub fn ends(&self) -> Ends {
        let guest = BoundGuest {
            host: HostId(uuid::Uuid::nil()),
            host_name: "pve2".into(),
            kind: self.kind,
            vmid: Vmid(122),
            name: self.guest.clone(),
        };
        Ends::from([("client".to_owned(), guest)])
    }

    fn result(&self, key: &str) -> RunResult {
        if let Some(result) = self.everything.as_ref().or_else(|| self.instead.get(key)) {
            return result.clone();
        }
        let (v, family) = match key.rsplit_once('/') {
            Some((_, "ip4")) => ("4", self.v4),
            Some((_, "ip6")) => ("6", self.v6),
            _ => return recorded(&format!("walk/{}-links", self.links)),
        };
        let name = key.split('/').nth(1).unwrap();
        let name = match name {
            "gateway" => "gw",
            "gateway_arp" => "arp",
            "target" => "t",
            "neighbours" => "neigh",
            other => other,
        };
        // The recording whose gateway answers ARP alone has the healthy one's routes.
        let family = if name == "routes" && family == "silentgw" {
            "healthy"
        } else {
            family
        };
        recorded(&format!("walk/{family}-{name}{v}"))
    }
}

/// A walk that went to its end.
pub struct Walked {
    pub asked: Vec<String>,
    pub commands: BTreeMap<String, Command>,
    pub results: BTreeMap<String, RunResult>,
    pub findings: Vec<Finding>,
    pub conclusion: Option<Conclusion>,
}

/// Walks the tree over a scenario's recordings.
pub fn walk(pack: &Pack, scenario: &Scenario) -> Walked {
    let tree = &pack.trees[&TreeId::from("local-subnet-only")];
    let (mut walk, mut open) = Walk::start(pack, tree, scenario.ends()).unwrap();
    let mut walked = Walked {
        asked: Vec::new(),
        commands: BTreeMap::new(),
        results: BTreeMap::new(),
        findings: Vec::new(),
        conclusion: None,
    };
    open.reverse();
    while let Some(request) = open.pop() {
        let input = match request {
            Request::Ask { step, .. } => Input::Answer {
                step,
                answer: match scenario.target {
                    "?" => Answer::Unknown,
                    value => Answer::Value(value.into()),
                },
            },
            Request::Check { key, command, .. } => {
                let result = scenario.result(key.as_str());
                walked.asked.push(key.0.clone());
                walked.commands.insert(key.0.clone(), command);
                walked.results.insert(key.0.clone(), result.clone());
                Input::RunDone { key, result }
            }
            Request::Found(finding) => {
                walked.findings.push(finding);
                continue;
            }
            Request::Conclude(conclusion) => {
                assert!(
                    walked.conclusion.is_none(),
                    "{}: concluded twice",
                    scenario.name
                );
                walked.conclusion = Some(conclusion);
                continue;
            }
        };
        let (next, more) = walk
            .step(pack, tree, input)
            .unwrap_or_else(|e| panic!("{}: {e}", scenario.name));
        walk = next;
        for one in more.into_iter().rev() {
            open.insert(0, one);
        }
    }
    assert!(
        walk.is_done(),
        "{}: the walk waits for something",
        scenario.name
    );
    walked
}
