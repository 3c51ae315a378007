use crate::facts::{Guest, GuestStatus, Platform};
use crate::table::{Cell, Line, Style, Table};

pub(super) fn guests(guests: &[Guest]) -> Table {
    let rows = guests
        .iter()
        .map(|guest| {
            let status = match &guest.status {
                GuestStatus::Running => "running",
                GuestStatus::Stopped => "stopped",
                GuestStatus::Other(word) => word,
            };
            vec![
                Cell::name(format!("{} {}", guest.kind.short(), guest.vmid)),
                Cell::code(&guest.name),
                Cell::text(status),
            ]
        })
        .collect();
    Table::new(
        &["guest", "name", "status"],
        "The host has no guests.",
        rows,
    )
}

pub(super) fn platform(platform: &Platform) -> Table {
    let mut rows = vec![
        ("platform", Cell::text(platform.kind.name())),
        ("system", Cell::maybe(platform.os.as_ref())),
        ("kernel", Cell::maybe(platform.kernel.as_ref())),
        ("host name", Cell::maybe(platform.hostname.as_ref())),
        ("CPUs", Cell::maybe(platform.cpus)),
    ];
    if platform.pve_version.is_some() {
        rows.push(("pveversion", Cell::maybe(platform.pve_version.as_ref())));
    }
    if !platform.tools.is_empty() {
        let tools = platform
            .expected_tools()
            .map(|tool| match &tool.path {
                Some(path) => Line::new(Style::Code, &tool.name).note(Some(path.clone())),
                None => Line::new(Style::Warn, &tool.name).note(Some("missing".into())),
            })
            .collect();
        rows.push(("tools", Cell(tools)));
    }
    Table::pairs(rows)
}
