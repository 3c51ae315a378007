//! `bridge -j vlan show` (bridge/vlan.c of iproute2): a list of ports from 4.19 on, an object keyed
//! by port before; `vlanEnd` for ranges with `-compressvlans`.

use serde_json::Value;

use super::json::{self, Object};
use super::{Output, ParseError, Read, clip};
use crate::facts::{PortVlans, VlanRange};

pub(super) fn parse(output: &Output) -> Result<Read<Vec<PortVlans>>, ParseError> {
    let mut facts = Vec::new();
    let mut unparsed = Vec::new();
    match json::document(output, "bridge-vlan")? {
        Value::Array(items) => {
            for item in items {
                match item.as_object() {
                    Some(o) if o.is_empty() => {}
                    Some(o) => match (json::text(o, "ifname"), o.get("vlans")) {
                        (Some(name), Some(Value::Array(vlans))) => {
                            facts.push(port(name, vlans, &mut unparsed));
                        }
                        _ => unparsed.push(clip(&item.to_string())),
                    },
                    None => unparsed.push(clip(&item.to_string())),
                }
            }
        }
        Value::Object(ports) => {
            for (name, vlans) in &ports {
                match vlans {
                    Value::Array(vlans) => facts.push(port(name, vlans, &mut unparsed)),
                    other => unparsed.push(clip(&format!("{name}: {other}"))),
                }
            }
        }
        other => {
            return Err(ParseError::NotUnderstood {
                parser: "bridge-vlan",
                detail: format!("neither a list nor an object: {}", clip(&other.to_string())),
            });
        }
    }
    Ok(Read { facts, unparsed })
}

fn port(name: &str, entries: &[Value], unparsed: &mut Vec<String>) -> PortVlans {
    let mut pvid = None;
    let mut vlans: Vec<VlanRange> = Vec::new();
    for entry in entries {
        let Some((range, is_pvid)) = entry.as_object().and_then(range) else {
            unparsed.push(clip(&format!("{name}: {entry}")));
            continue;
        };
        if is_pvid {
            pvid = Some(range.first);
        }
        // Without -compressvlans each VLAN has its own entry; neighbours with equal flags are one range.
        match vlans.last_mut() {
            Some(last)
                if last.untagged == range.untagged
                    && last.last.checked_add(1) == Some(range.first) =>
            {
                last.last = range.last;
            }
            _ => vlans.push(range),
        }
    }
    PortVlans {
        port: json::interface(name).to_owned(),
        pvid,
        vlans,
    }
}

fn range(object: &Object) -> Option<(VlanRange, bool)> {
    let first = json::number(object, "vlan")?;
    let last = match object.get("vlanEnd") {
        Some(_) => json::number(object, "vlanEnd")?,
        None => first,
    };
    let flags = json::texts(object, "flags");
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    let range = VlanRange {
        first,
        last,
        untagged: has("Egress Untagged"),
    };
    (first <= last && last <= 4095).then_some((range, has("PVID")))
}
