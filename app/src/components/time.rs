use jiff::Timestamp;
use jiff::tz::TimeZone;
use leptos::prelude::*;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Such as "28 Nov 2026, 15:02:09 UTC": the same text on the server and in the browser.
#[must_use]
pub(crate) fn utc(at: Timestamp) -> String {
    let t = TimeZone::UTC.to_datetime(at);
    let month = usize::try_from(t.month() - 1)
        .ok()
        .and_then(|i| MONTHS.get(i))
        .copied()
        .unwrap_or("?");
    format!(
        "{} {month} {}, {:02}:{:02}:{:02} UTC",
        t.day(),
        t.year(),
        t.hour(),
        t.minute(),
        t.second()
    )
}

/// A moment.
#[component]
pub(crate) fn At(time: Timestamp) -> impl IntoView {
    view! { <time datetime=time.to_string()>{utc(time)}</time> }
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
        assert_eq!(utc(at), "8 Nov 2026, 05:02:09 UTC");
    }

    #[test]
    fn durations_have_a_unit_that_fits() {
        assert_eq!(duration(999), "999 ms");
        assert_eq!(duration(1450), "1.4 s");
        assert_eq!(duration(125_000), "2 min 5 s");
    }
}
