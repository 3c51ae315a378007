use std::net::IpAddr;

use super::ParameterType;

impl ParameterType {
    /// The value in its canonical form, if it is of this type. Nothing else becomes an argument.
    #[must_use]
    pub fn canonical(self, text: &str) -> Option<String> {
        match self {
            // dev_valid_name() of the kernel, and nothing that a tool would take for an option.
            Self::Interface => {
                let valid = (1..=15).contains(&text.len())
                    && !matches!(text, "." | "..")
                    && !text.starts_with('-')
                    && !text
                        .chars()
                        .any(|c| c == '/' || c == ':' || c.is_whitespace() || c.is_control());
                valid.then(|| text.to_owned())
            }
            Self::Ip => text.parse::<IpAddr>().ok().map(|ip| ip.to_string()),
            Self::Cidr => {
                let (ip, length) = text.split_once('/')?;
                let ip: IpAddr = ip.parse().ok()?;
                let length: u8 = length.parse().ok()?;
                (length <= if ip.is_ipv4() { 32 } else { 128 }).then(|| format!("{ip}/{length}"))
            }
            Self::Mac => {
                let parts: Vec<&str> = text.split(':').collect();
                let valid = parts.len() == 6
                    && parts
                        .iter()
                        .all(|p| p.len() == 2 && p.chars().all(|c| c.is_ascii_hexdigit()));
                valid.then(|| text.to_ascii_lowercase())
            }
            Self::Vmid => text
                .parse::<u32>()
                .ok()
                .filter(|n| (100..=999_999_999).contains(n))
                .map(|n| n.to_string()),
            Self::Port => text
                .parse::<u16>()
                .ok()
                .filter(|n| *n > 0)
                .map(|n| n.to_string()),
            Self::Integer => text.parse::<i64>().ok().map(|n| n.to_string()),
            Self::Family => matches!(text, "ip4" | "ip6").then(|| text.to_owned()),
        }
    }

    /// What a value of this type looks like, for messages.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Interface => "the name of an interface, such as eth0",
            Self::Ip => "an IP address, such as 192.0.2.1 or 2001:db8::1",
            Self::Cidr => "an address with a prefix length, such as 192.0.2.0/24",
            Self::Mac => "a MAC address, such as bc:24:11:10:9a:74",
            Self::Vmid => "the number of a guest, such as 100",
            Self::Port => "a port number from 1 to 65535",
            Self::Integer => "a whole number",
            Self::Family => "ip4 or ip6",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ParameterType::*;

    #[test]
    fn only_values_of_the_type_pass() {
        let cases = [
            (Interface, "eth0", Some("eth0")),
            (Interface, "vmbr0.10", Some("vmbr0.10")),
            (Interface, "-j", None),
            (Interface, "a b", None),
            (Interface, "a/b", None),
            (Interface, "", None),
            (Interface, "abcdefghijklmnop", None),
            (Interface, "$(reboot)", Some("$(reboot)")),
            (Ip, "192.0.2.1", Some("192.0.2.1")),
            (Ip, "2001:DB8::0001", Some("2001:db8::1")),
            (Ip, "192.0.2.1; reboot", None),
            (Ip, "192.0.2.256", None),
            (Ip, "-1", None),
            (Cidr, "192.0.2.0/24", Some("192.0.2.0/24")),
            (Cidr, "192.0.2.0/33", None),
            (Cidr, "192.0.2.0", None),
            (Mac, "BC:24:11:10:9A:74", Some("bc:24:11:10:9a:74")),
            (Mac, "bc:24:11:10:9a", None),
            (Vmid, "122", Some("122")),
            (Vmid, "99", None),
            (Port, "0", None),
            (Port, "65535", Some("65535")),
            (Integer, "-3", Some("-3")),
            (Integer, "1e3", None),
            (Family, "ip4", Some("ip4")),
            (Family, "ip5", None),
        ];
        for (kind, text, expect) in cases {
            assert_eq!(kind.canonical(text).as_deref(), expect, "{kind:?} {text:?}");
        }
    }
}
