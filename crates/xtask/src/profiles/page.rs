//! docs/profiles.md: the profiles side by side, then each with sources and tests.

use super::held::{FILE, Held};
use super::rows::{Row, rows};
use crate::ledger::{Ledger, cell, short};
use ackord_tcp::registry::{PROFILES, Profile};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The whole page.
pub(crate) fn page(file: &str, ledgers: &[Ledger]) -> Result<String, String> {
    let held = Held::read(file).map_err(|error| format!("{FILE}: {error}"))?;
    let mut page = String::from(
        "# The profiles, knob by knob\n\n\
         Written by `make generated` from the registry and from\n\
         [crates/tcp/specs/profiles.toml](../crates/tcp/specs/profiles.toml), which names the tests. \
         `make check`\nrefuses a knob without a source or without a test that exists. A value that \
         is not said is none:\nthe mechanism works it out.\n\n\
         Answers of a stock kernel: [linux-profile.md](linux-profile.md). `ackord list profiles` prints \
         values\nand sources.\n\n",
    );
    let profiles: Vec<(&Profile, Vec<Row>)> =
        PROFILES.iter().map(|profile| (profile, rows(profile))).collect();
    side_by_side(&mut page, &profiles);
    for (profile, rows) in &profiles {
        let _ = writeln!(page, "\n## `{}`\n\n{}.\n", profile.name, profile.summary);
        page.push_str("| knob | value | source | held by |\n| --- | --- | --- | --- |\n");
        for row in rows {
            let tests: Vec<String> =
                held.tests(profile.name, row).map(|name| format!("`{}`", short(name))).collect();
            let source = linked(&cell(row.source), ledgers);
            let (key, value) = (&row.key, row.shown());
            let _ = writeln!(page, "| `{key}` | {value} | {source} | {} |", tests.join("<br>"));
        }
    }
    Ok(page)
}

/// Every knob of any profile, in the order in which they are first seen, with each one's value.
fn side_by_side(page: &mut String, profiles: &[(&Profile, Vec<Row>)]) {
    let names: Vec<String> =
        profiles.iter().map(|(profile, _)| format!("`{}`", profile.name)).collect();
    let _ =
        writeln!(page, "| knob | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    let mut keys: Vec<&str> = Vec::new();
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (column, (_, rows)) in profiles.iter().enumerate() {
        let mut before = None;
        for row in rows {
            let cells = values.entry(row.key.as_str()).or_insert_with(|| {
                let place = before.and_then(|key| keys.iter().position(|known| *known == key));
                keys.insert(place.map_or(0, |place| place + 1), &row.key);
                vec!["–"; profiles.len()]
            });
            cells[column] = row.shown();
            before = Some(row.key.as_str());
        }
    }
    for key in keys {
        let _ = writeln!(page, "| `{key}` | {} |", values[key].join(" | "));
    }
}

/// The source with its first RFC linked to the ledger, where that has the RFC.
fn linked(source: &str, ledgers: &[Ledger]) -> String {
    let cited = ledgers.iter().filter_map(|Ledger { rfc, .. }| {
        let name = format!("RFC {rfc}");
        let at = source.find(&name)?;
        let whole = !source[at + name.len()..].starts_with(|c: char| c.is_ascii_digit());
        whole.then_some((at, name, rfc))
    });
    match cited.min() {
        None => source.to_owned(),
        Some((_, name, rfc)) => {
            source.replacen(&name, &format!("[{name}](ledger.md#rfc-{rfc})"), 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_row_for_every_knob_of_every_profile() {
        let page = page("[linux]\nrto_min = [\"crates/live/tests/a.rs::b\"]\n", &[]).unwrap();
        assert!(page.contains("| `rto_min` | 1 s | 200 ms | 200 ms |"), "{page}");
        assert!(page.contains("| `loss.tlp` | – | on | – |"), "{page}");
        assert!(page.contains("`live/tests/a.rs::b` |"), "{page}");
        assert!(page.contains("| `max_window` | none |"), "{page}");
    }

    #[test]
    fn an_rfc_with_a_ledger_is_linked() {
        let ledger = Ledger::read("rfc6298.toml", "rfc = 6298\ntitle = \"t\"\n").unwrap();
        let linked = linked("RFC 6298 §2.4; Linux", &[ledger]);
        assert_eq!(linked, "[RFC 6298](ledger.md#rfc-6298) §2.4; Linux");
    }
}
