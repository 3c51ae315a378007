//! The way to a host: its jump hosts, outermost first, then the host itself.

use app::hosts::{Host, HostRow};
use diagnosis::ids::HostId;

/// More jump hosts in a row than this are refused.
const LONGEST: usize = 8;

/// Why there is no way to a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    #[error("This host, or a jump host on the way to it, is not in the list any more.")]
    Missing(HostId),
    #[error("The jump hosts lead in a circle: {0}.")]
    Circle(String),
    #[error("More than {LONGEST} jump hosts in a row.")]
    TooLong,
}

/// The hosts on the way to one, the first to connect to first.
///
/// # Errors
/// A host on the way is missing, or the jump hosts lead in a circle.
pub fn hosts_on_the_way(hosts: &[HostRow], to: HostId) -> Result<Vec<&Host>, RouteError> {
    let mut way: Vec<&Host> = Vec::new();
    let mut next = Some(to);
    while let Some(id) = next {
        let host = hosts
            .iter()
            .map(|row| &row.host)
            .find(|host| host.id == id)
            .ok_or(RouteError::Missing(id))?;
        if way.iter().any(|seen| seen.id == id) {
            way.push(host);
            let names: Vec<&str> = way.iter().map(|h| h.name.as_str()).collect();
            return Err(RouteError::Circle(names.join(" → ")));
        }
        if way.len() > LONGEST {
            return Err(RouteError::TooLong);
        }
        way.push(host);
        next = host.jump;
    }
    way.reverse();
    Ok(way)
}

#[cfg(test)]
mod tests {
    use app::hosts::Credential;
    use uuid::Uuid;

    use super::*;

    fn host(n: u128, jump: Option<u128>) -> HostRow {
        HostRow {
            host: Host {
                id: HostId(Uuid::from_u128(n)),
                name: format!("h{n}"),
                address: "192.0.2.1".into(),
                port: 22,
                user: "root".into(),
                credential: Credential::Agent { fingerprint: None },
                jump: jump.map(|j| HostId(Uuid::from_u128(j))),
            },
            jump_name: None,
            checking: false,
            check: None,
        }
    }

    fn way(hosts: &[HostRow], to: u128) -> Result<Vec<String>, RouteError> {
        hosts_on_the_way(hosts, HostId(Uuid::from_u128(to)))
            .map(|w| w.iter().map(|h| h.name.clone()).collect())
    }

    #[test]
    fn the_outermost_jump_host_comes_first() {
        let hosts = [host(1, Some(2)), host(2, Some(3)), host(3, None)];
        assert_eq!(way(&hosts, 1).unwrap(), ["h3", "h2", "h1"]);
        assert_eq!(way(&hosts, 3).unwrap(), ["h3"]);
    }

    #[test]
    fn a_circle_and_a_missing_host_are_named() {
        let hosts = [host(1, Some(2)), host(2, Some(1)), host(4, Some(9))];
        assert_eq!(
            way(&hosts, 1).unwrap_err(),
            RouteError::Circle("h1 → h2 → h1".into())
        );
        assert!(matches!(
            way(&hosts, 4).unwrap_err(),
            RouteError::Missing(_)
        ));
    }
}
