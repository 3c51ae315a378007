//! Malformed packs: each is refused at its line.

use super::*;

const CHECKS: &str = "\
check: routes
title: Routes
run: [ip, -j, \"{{ family | family_option }}\", route, show]
parse: ip-route
in: guest
parameters: {family: family}
---
check: probe
title: Probe
run: [ping, -n, -c, \"3\", \"{{ address }}\"]
parse: ping
in: guest
safety: generates-traffic
parameters: {address: ip}
---
cause: broken
title: Broken
where: \"{{ client.label }}\"
explanation: It is broken.
remedy: Mend it.
---
symptom: it-fails
title: It fails
summary: Something fails.
tree: tree
---
";

const TREE: &str = "\
tree: tree
title: A tree
ends:
  client: {kind: guest, title: Which guest?}
start: ask
steps:
  ask:
    title: Which address
    why: To try it.
    ask:
      question: Which?
      as: target
      type: ip
      if_unknown: nothing is tried
      then: look
  look:
    title: Look
    why: To see.
    checks:
      - check: probe
        on: client
        as: ping
        with: {address: \"{{ answers.target }}\"}
    unless_run: {undetermined: {reason: it did not run}}
    outcomes:
      - when: ping.received > 0
        verdict: pass
        message: It answers.
        no-fault: true
      - when: ping.received == 0
        verdict: fail
        message: It does not answer.
        evidence: [{from: ping, says: Nothing came back.}]
        cause: broken
      - otherwise: true
        verdict: inconclusive
        message: Nobody knows.
        undetermined: {reason: nobody knows}
";

fn load(text: &str) -> Result<Pack, Vec<LoadError>> {
    Pack::load(&[Source {
        name: "pack.yaml",
        text,
    }])
}

#[test]
fn the_pack_that_the_faults_are_put_into_loads() {
    let pack = load(&format!("{CHECKS}{TREE}")).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(pack.trees.len(), 1);
}

/// Each puts one fault into the pack: what is replaced, by what, a word of the line (as it then is) that
/// must be named, and words of the message.
const FAULTS: &[(&str, &str, &str, &str)] = &[
    (
        "    why: To see.",
        "    why: To see.\n    colour: red",
        "colour: red",
        "unknown field",
    ),
    (
        "    why: To see.",
        "    why: To see.\n    why: Again.",
        "why: Again",
        "duplicate",
    ),
    (
        "check: probe\ntitle: Probe",
        "check: routes\ntitle: Probe",
        "check: routes\ntitle: Probe",
        "already in",
    ),
    (
        "cause: broken\ntitle: Broken",
        "reason: broken\ntitle: Broken",
        "reason: broken",
        "not with `reason`",
    ),
    (
        "then: look",
        "then: nowhere",
        "then: nowhere",
        "no step “nowhere”",
    ),
    (
        "        cause: broken",
        "        cause: gone",
        "        cause: gone",
        "no cause “gone”",
    ),
    (
        "      - check: probe",
        "      - check: gone",
        "- check: gone",
        "no check “gone”",
    ),
    (
        "        on: client",
        "        on: server",
        "on: server",
        "no end “server”",
    ),
    (
        "summary: Something fails.\ntree: tree",
        "summary: Something fails.\ntree: gone",
        "tree: gone",
        "no tree “gone”",
    ),
    ("start: ask", "start: gone", "start: gone", "no step “gone”"),
    (
        "start: ask",
        "start: look",
        "  ask:\n    title",
        "no way leads",
    ),
    (
        "        no-fault: true",
        "        goto: ask",
        "  look:",
        "leads back",
    ),
    (
        "    checks:\n      - check: probe",
        "    ask: {question: a, as: b, type: ip, if_unknown: c, then: look}\n    checks:\n      - check: probe",
        "ask: {question: a",
        "not both",
    ),
    (
        "      question: Which?\n",
        "",
        "      then: look",
        "question",
    ),
    (
        "      - otherwise: true\n        verdict: inconclusive\n        message: Nobody knows.\n        undetermined: {reason: nobody knows}\n",
        "",
        "      - when: ping.received == 0",
        "the last outcome is `otherwise",
    ),
    (
        "      - otherwise: true\n        verdict: inconclusive",
        "      - otherwise: true\n        verdict: pass",
        "verdict: pass\n        message: Nobody",
        "only be inconclusive",
    ),
    (
        "        verdict: fail",
        "        verdict: warn",
        "        cause: broken",
        "only the verdict fail",
    ),
    (
        "        evidence: [{from: ping, says: Nothing came back.}]\n",
        "",
        "        cause: broken",
        "needs `evidence`",
    ),
    (
        "    unless_run: {undetermined: {reason: it did not run}}\n",
        "",
        "  look:",
        "`unless_run`",
    ),
    (
        "unless_run: {undetermined: {reason: it did not run}}",
        "unless_run: {cause: broken}",
        "unless_run: {cause",
        "proves nothing",
    ),
    (
        "when: ping.received > 0",
        "when: ping.received >",
        "when: ping.received >\n",
        "does not compile",
    ),
    (
        "when: ping.received > 0",
        "when: pong.received > 0",
        "when: pong",
        "called “pong”",
    ),
    (
        "when: ping.received > 0",
        "when: ping.recieved > 0",
        "when: ping.recieved",
        "has no “recieved”",
    ),
    (
        "when: ping.received > 0",
        "when: answers.other == 'a'",
        "when: answers.other",
        "answered as “other”",
    ),
    (
        "when: ping.received > 0",
        "when: client.colour == 'red'",
        "when: client.colour",
        "has no “colour”",
    ),
    (
        "when: ping.received > 0",
        "when: family == 'ip4'",
        "when: family",
        "does not run per family",
    ),
    (
        "        as: ping\n",
        "        as: ping\n        when: ping.received > 0\n",
        "        when: ping.received > 0\n        with",
        "called “ping”",
    ),
    (
        "message: It answers.",
        "message: \"{{ gone.x }}\"",
        "message: \"{{ gone.x",
        "called “gone”",
    ),
    (
        "message: It answers.",
        "message: \"{{ client.name \"",
        "message: \"{{ client.name \"",
        "does not compile",
    ),
    (
        "{address: \"{{ answers.target }}\"}",
        "{adress: \"192.0.2.1\"}",
        "{adress",
        "no parameter “adress”",
    ),
    (
        "        with: {address: \"{{ answers.target }}\"}\n",
        "",
        "- check: probe",
        "needs the parameter “address”",
    ),
    (
        "{address: \"{{ answers.target }}\"}",
        "{address: eth0}",
        "with: {address: eth0}",
        "not an IP address",
    ),
    (
        "route, show]",
        "route, add, default]",
        "route, add, default]",
        "table of commands that only read",
    ),
    (
        "\"{{ address }}\"]",
        "\"{{ adress }}\"]",
        "\"{{ adress }}\"]",
        "no parameter “adress”",
    ),
    (
        "parameters: {address: ip}",
        "parameters: {address: word}",
        "{address: word}",
        "unknown variant",
    ),
    ("from: ping,", "from: pong,", "{from: pong", "called “pong”"),
    (
        "        no-fault: true",
        "        no-fault: true\n        goto: ask",
        "      - when: ping.received > 0",
        "exactly one of",
    ),
    (
        "        no-fault: true\n",
        "",
        "      - when: ping.received > 0",
        "exactly one of",
    ),
    (
        "        as: ping\n",
        "        as: answers\n",
        "as: answers",
        "already means something",
    ),
    (
        "where: \"{{ client.label }}\"",
        "where: \"{{ server.label }}\"",
        "where: \"{{ server",
        "called “server”",
    ),
    (
        "tree: tree\ntitle: A tree",
        "tree: tree\ntitle: [A tree",
        "ends:",
        "illegal",
    ),
    (
        "explanation: It is broken.",
        "explanation: \"{{ client.label | shout }}\"",
        "explanation: \"{{ client",
        "shout",
    ),
];

#[test]
fn every_fault_is_refused_at_its_line() {
    let good = format!("{CHECKS}{TREE}");
    let mut wrong = Vec::new();
    for (from, to, at, words) in FAULTS {
        assert!(good.contains(from), "the pack has no “{from}”");
        let text = good.replacen(from, to, 1);
        let offset = text.find(at).unwrap_or_else(|| panic!("no “{at}”"));
        // The first word of the place, so that leading spaces do not count.
        let offset = offset + (at.len() - at.trim_start().len());
        let line = text[..offset].matches('\n').count() + 1;
        match load(&text) {
            Ok(_) => wrong.push(format!("loaded: {to}")),
            Err(errors) => {
                let fits = errors
                    .iter()
                    .any(|e| e.line == line && e.message.contains(words) && e.column > 0);
                if !fits {
                    wrong.push(format!(
                        "{to:?}: line {line} “{words}” expected, got {errors:#?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(FAULTS.len() > 20);
}

#[test]
fn several_faults_are_all_named() {
    let text = format!("{CHECKS}{TREE}")
        .replace("then: look", "then: nowhere")
        .replace("on: client", "on: server");
    assert_eq!(load(&text).unwrap_err().len(), 2);
}

#[test]
fn files_that_cost_too_much_are_refused() {
    let long = format!("{}# {}", CHECKS, "x".repeat(5 << 20));
    let error = &load(&long).unwrap_err()[0];
    assert!(error.message.contains("at most"), "{error}");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let refs = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{refs}]\n"));
    }
    assert!(!load(&bomb).unwrap_err()[0].message.is_empty());
    let deep = format!("tree: {}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(load(&deep).is_err());
    assert!(load("\u{0}\u{1}").is_err());
    assert!(load("just text").is_err());
    assert!(load("[]").is_err());
    assert!(load("").is_ok_and(|p| p.trees.is_empty()));
}

#[test]
fn the_hash_is_the_contents() {
    let good = format!("{CHECKS}{TREE}");
    let hash = |sources: &[Source<'_>]| Pack::load(sources).unwrap().hash.unwrap();
    let a = Source {
        name: "a.yaml",
        text: CHECKS,
    };
    let b = Source {
        name: "b.yaml",
        text: TREE,
    };
    assert_eq!(hash(&[a, b]), hash(&[b, a]));
    let changed = TREE.replace("It answers.", "It does answer.");
    assert_ne!(
        hash(&[a, b]),
        hash(&[
            a,
            Source {
                name: "b.yaml",
                text: &changed
            }
        ])
    );
    assert_ne!(
        hash(&[a, b]),
        hash(&[Source {
            name: "a.yaml",
            text: &good
        }])
    );
}
