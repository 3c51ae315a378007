use jiff::Timestamp;
use jiff::tz::TimeZone;
use leptos::prelude::*;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// For people, such as "28 Nov 2026, 15:02:09 UTC", and for programs: the same text on the server and
/// in the browser.
fn utc(at: Timestamp) -> (String, String) {
    let t = TimeZone::UTC.to_datetime(at);
    let month = usize::try_from(t.month() - 1)
        .ok()
        .and_then(|i| MONTHS.get(i))
        .copied()
        .unwrap_or("?");
    let clock = format!("{:02}:{:02}:{:02}", t.hour(), t.minute(), t.second());
    (
        format!("{} {month} {}, {clock} UTC", t.day(), t.year()),
        format!("{:04}-{:02}-{:02}T{clock}Z", t.year(), t.month(), t.day()),
    )
}

/// A moment.
#[component]
pub(crate) fn At(time: Timestamp) -> impl IntoView {
    let (words, datetime) = utc(time);
    view! { <time datetime=datetime>{words}</time> }
}

/// Such as "12 ms", "1.4 s" or "2 min 5 s".
#[must_use]
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
    }
}

/// Such as "1 host" and "3 hosts".
#[must_use]
pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {many}")
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, utc};

    #[test]
    fn times_are_utc_and_to_the_second() {
        let at = "2026-11-08T05:02:09.75Z".parse().unwrap();
        let (words, datetime) = utc(at);
        assert_eq!(words, "8 Nov 2026, 05:02:09 UTC");
        assert_eq!(datetime, "2026-11-08T05:02:09Z");
    }

    #[test]
    fn durations_have_a_unit_that_fits() {
        assert_eq!(duration(999), "999 ms");
        assert_eq!(duration(1450), "1.4 s");
        assert_eq!(duration(125_000), "2 min 5 s");
    }
}
