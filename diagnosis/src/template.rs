//! Conditions and texts: minijinja with strict undefined values, a limit on work, and the functions
//! that conditions call. All of minijinja is behind this module.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::LazyLock;

use minijinja::value::{Serde, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::derived;
use crate::verdict::Family;

/// Steps of minijinja's machine that one template may take.
const FUEL: u64 = 100_000;

/// The names conditions call, which are therefore no variables.
pub(crate) const FUNCTIONS: [&str; 9] = [
    "family_of",
    "other_family",
    "beyond_a_subnet",
    "global_addresses",
    "refused_addresses",
    "on_link",
    "resolution_failed",
    "neighbour",
    "way",
];

/// The values a template may read, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context(BTreeMap<String, Value>);

impl Context {
    pub(crate) fn set<T: Serialize>(&mut self, name: &str, value: T) {
        self.0.insert(name.to_owned(), Value::from(Serde(value)));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    fn value(&self) -> Value {
        Value::from(self.0.clone())
    }
}

/// Evaluates conditions and renders texts.
pub(crate) struct Templates(Environment<'static>);

impl Templates {
    /// The one environment: it holds functions alone, and making it costs more than most conditions.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<Templates> = LazyLock::new(Templates::new);
        &SHARED
    }

    fn new() -> Self {
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.set_fuel(Some(FUEL));
        env.set_recursion_limit(32);
        env.add_test("known", |value: Value| {
            !value.is_undefined() && !value.is_none()
        });
        env.add_filter("family_name", |family: String| {
            read_family(&family).map(Family::name)
        });
        env.add_filter("family_option", |family: String| {
            read_family(&family).map(|f| match f {
                Family::Ip4 => "-4",
                Family::Ip6 => "-6",
            })
        });
        env.add_function("family_of", |ip: Value| -> Result<Value, Error> {
            Ok(optional_ip(&ip)?.map_or_else(
                || Value::from(()),
                |ip| Value::from(derived::family_of(ip).key()),
            ))
        });
        env.add_function("other_family", |family: String| {
            read_family(&family).map(|f| match f {
                Family::Ip4 => Family::Ip6.key(),
                Family::Ip6 => Family::Ip4.key(),
            })
        });
        env.add_function("beyond_a_subnet", |ip: Value| -> Result<bool, Error> {
            Ok(derived::beyond_a_subnet(known_ip(&ip)?))
        });
        env.add_function("global_addresses", |links: Value, family: String| {
            let links: Vec<_> = facts(&links)?;
            give(derived::global_addresses(&links, read_family(&family)?))
        });
        env.add_function("refused_addresses", |links: Value, family: String| {
            let links: Vec<_> = facts(&links)?;
            give(derived::refused_addresses(&links, read_family(&family)?))
        });
        env.add_function(
            "on_link",
            |links: Value, ip: Value| -> Result<bool, Error> {
                let links: Vec<_> = facts(&links)?;
                Ok(derived::on_link(&links, known_ip(&ip)?))
            },
        );
        env.add_function(
            "resolution_failed",
            |neighbours: Value, ip: Value, device: String| -> Result<bool, Error> {
                let neighbours: Vec<_> = facts(&neighbours)?;
                Ok(derived::resolution_failed(
                    &neighbours,
                    known_ip(&ip)?,
                    Some(&device),
                ))
            },
        );
        env.add_function("neighbour", |neighbours: Value, ip: Value| {
            let neighbours: Vec<_> = facts(&neighbours)?;
            give(derived::neighbour(&neighbours, known_ip(&ip)?, None))
        });
        env.add_function("way", |routes: Value, family: String, target: Value| {
            let routes: Vec<_> = facts(&routes)?;
            give(derived::way(
                &routes,
                read_family(&family)?,
                optional_ip(&target)?,
            ))
        });
        Self(env)
    }

    /// A condition's answer. Anything but yes or no is an error: an empty list is not "no".
    pub(crate) fn decide(&self, condition: &str, context: &Context) -> Result<bool, String> {
        let value = self
            .0
            .compile_expression(condition)
            .and_then(|e| e.eval(context.value()))
            .map_err(|e| words(&e))?;
        if value.is_undefined() {
            return Err("it reads a value that is not known".into());
        }
        match value.kind() {
            ValueKind::Bool => Ok(value.is_true()),
            kind => Err(format!("it gives a {kind}, not yes or no")),
        }
    }

    pub(crate) fn render(&self, template: &str, context: &Context) -> Result<String, String> {
        self.0
            .render_str(template, context.value())
            .map_err(|e| words(&e))
    }

    /// The paths of variables that a condition reads.
    pub(crate) fn condition_reads(&self, condition: &str) -> Result<BTreeSet<String>, String> {
        let expression = self
            .0
            .compile_expression(condition)
            .map_err(|e| words(&e))?;
        self.words_are_known(condition)?;
        Ok(variables(expression.undeclared_variables(true)))
    }

    /// The paths of variables that a text reads.
    pub(crate) fn template_reads(&self, template: &str) -> Result<BTreeSet<String>, String> {
        let compiled = self.0.template_from_str(template).map_err(|e| words(&e))?;
        for part in template.split('{').skip(1) {
            // What stands between the braces: `{{ … }}` and `{% … %}`.
            let inside = part.split(['}']).next().unwrap_or(part);
            self.words_are_known(inside)?;
        }
        Ok(variables(compiled.undeclared_variables(true)))
    }

    /// minijinja looks for filters and tests only when it comes to them, which may be at 2 a.m.
    fn words_are_known(&self, expression: &str) -> Result<(), String> {
        let code = without_strings(expression);
        for part in code.split('|').skip(1) {
            let name = leading_word(part);
            self.try_word(
                &format!("{{{{ 0 | {name} }}}}"),
                name,
                ErrorKind::UnknownFilter,
            )?;
        }
        let mut rest = code.split_whitespace().peekable();
        while let Some(word) = rest.next() {
            if word == "is" {
                rest.next_if_eq(&"not");
                let name = rest.peek().map_or("", |w| leading_word(w));
                self.try_word(
                    &format!("{{{{ 0 is {name} }}}}"),
                    name,
                    ErrorKind::UnknownTest,
                )?;
            }
        }
        Ok(())
    }

    fn try_word(&self, probe: &str, name: &str, unknown: ErrorKind) -> Result<(), String> {
        match self.0.render_str(probe, ()) {
            Err(e) if e.kind() == unknown => Err(format!("{unknown}: {name}")),
            _ => Ok(()),
        }
    }
}

/// An expression with its string literals left out.
fn without_strings(expression: &str) -> String {
    let mut code = String::new();
    let mut quote = None;
    let mut escaped = false;
    for c in expression.chars() {
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            None => code.push(c),
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
        }
    }
    code
}

fn leading_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

fn variables(all: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    all.into_iter()
        .filter(|path| {
            let root = path.split('.').next().unwrap_or(path);
            !FUNCTIONS.contains(&root)
        })
        .collect()
}

fn words(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

fn refused(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what.into())
}

/// Facts that were handed to a function by a condition.
fn facts<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    if value.is_undefined() || value.is_none() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    serde_json::to_value(value)
        .and_then(serde_json::from_value)
        .map_err(|e| refused(format!("not the facts this function reads: {e}")))
}

fn give<T: Serialize>(value: T) -> Result<Value, Error> {
    Ok(Value::from(Serde(
        serde_json::to_value(value).map_err(|e| refused(e.to_string()))?,
    )))
}

/// An address, or `None` for a value that is there and says that nothing is known.
fn optional_ip(value: &Value) -> Result<Option<IpAddr>, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Ok(None);
    }
    value
        .as_str()
        .and_then(|t| t.parse().ok())
        .map(Some)
        .ok_or_else(|| refused("not an IP address"))
}

fn known_ip(value: &Value) -> Result<IpAddr, Error> {
    optional_ip(value)?.ok_or_else(|| Error::from(ErrorKind::UndefinedError))
}

fn read_family(text: &str) -> Result<Family, Error> {
    match text {
        "ip4" => Ok(Family::Ip4),
        "ip6" => Ok(Family::Ip6),
        other => Err(refused(format!("“{other}” is not ip4 or ip6"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_yes_or_no_or_an_error_and_never_a_guess() {
        let templates = Templates::new();
        let mut context = Context::default();
        context.set("ping", serde_json::json!({"received": 3, "target": null}));
        context.set("answers", serde_json::json!({"target": null}));
        context.set("list", serde_json::json!([]));
        let cases = [
            ("ping.received > 0", Ok(true)),
            ("ping.received == 0", Ok(false)),
            ("ping.gone == 0", Err(())),
            ("ping.gone > 0", Err(())),
            ("ping.gone", Err(())),
            ("not ping.gone", Err(())),
            ("gone", Err(())),
            ("gone.received == 0", Err(())),
            ("gone is known", Ok(false)),
            ("gone is not known", Ok(true)),
            ("ping.gone is known", Ok(false)),
            ("answers.target is known", Ok(false)),
            ("answers.target is not known or gone", Ok(true)),
            ("list", Err(())),
            ("list | length == 0", Ok(true)),
            ("gone | length == 0", Err(())),
            ("family_of('192.0.2.1') == 'ip4'", Ok(true)),
            ("family_of(answers.target) == 'ip4'", Ok(false)),
            ("family_of(gone) == 'ip4'", Err(())),
            ("gone != 3", Err(())),
            ("gone == gone2", Err(())),
            ("3 in gone", Err(())),
            ("range(100000000) | list | length > 0", Err(())),
        ];
        for (condition, expect) in cases {
            let got = templates.decide(condition, &context).map_err(|_| ());
            assert_eq!(got, expect, "{condition}");
        }
    }

    #[test]
    fn the_functions_are_the_declared_ones() {
        let templates = Templates::new();
        for name in FUNCTIONS {
            assert!(templates.0.globals().any(|(n, _)| n == name), "{name}");
        }
    }
}
