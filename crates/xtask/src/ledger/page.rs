//! docs/ledger.md: the totals, everything that is not as an RFC asks, and a table per RFC.

use super::entry::{Ledger, SPECS, Status};
use std::fmt::Write;

/// How many rows have this status.
fn count(ledgers: &[Ledger], status: Status) -> usize {
    let sections = ledgers.iter().flat_map(|ledger| &ledger.sections);
    sections.filter(|section| section.status == status).count()
}

/// The totals in a line.
pub(crate) fn totals_line(ledgers: &[Ledger]) -> String {
    let counts = Status::ALL.map(|status| format!("{} {}", count(ledgers, status), status.word()));
    format!("{} RFCs: {}", ledgers.len(), counts.join(", "))
}

/// The whole page.
pub(crate) fn page(ledgers: &[Ledger]) -> String {
    let mut page = String::from(
        "# The ledger: what the RFCs ask of an endpoint, and what becomes of it here\n\n\
         Written by `make generated` from the files in\n\
         [crates/tcp/specs](../crates/tcp/specs/README.md), which `make check` holds to the code and \
         to the\ntests they name. Choices in prose: [tcp.md](tcp.md).\n\n",
    );
    totals(&mut page, ledgers);
    departures(&mut page, ledgers, Status::Deviates, "Where we do otherwise");
    departures(&mut page, ledgers, Status::NotDone, "What is not done");
    page.push_str("## Section by section\n");
    ledgers.iter().for_each(|ledger| table(&mut page, ledger));
    page
}

fn totals(page: &mut String, ledgers: &[Ledger]) {
    let heads = Status::ALL.map(Status::word).join(" | ");
    let _ = writeln!(page, "| RFC | title | {heads} |\n| ---: | --- |{}", " ---: |".repeat(5));
    for ledger in ledgers {
        let one = std::slice::from_ref(ledger);
        let counts = Status::ALL.map(|status| shown(count(one, status))).join(" | ");
        let title = cell(&ledger.title);
        let _ = writeln!(page, "| [{}](#rfc-{}) | {title} | {counts} |", ledger.rfc, ledger.rfc);
    }
    let counts = Status::ALL.map(|status| format!("**{}**", count(ledgers, status))).join(" | ");
    let _ = writeln!(page, "| | **{} RFCs** | {counts} |\n", ledgers.len());
}

/// A count, with nothing for none: the eye finds the others.
fn shown(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

fn departures(page: &mut String, ledgers: &[Ledger], status: Status, heading: &str) {
    let _ = writeln!(page, "## {heading}\n");
    page.push_str("| RFC | asks | we, and why | who could notice |\n| --- | --- | --- | --- |\n");
    for ledger in ledgers {
        for section in ledger.sections.iter().filter(|section| section.status == status) {
            let [asks, deviation, noticed_by] =
                [&section.asks, &section.deviation, &section.noticed_by].map(|text| cell(text));
            let at = place(&section.at);
            let rfc = ledger.rfc;
            let _ = writeln!(page, "| {rfc} {at} | {asks} | {deviation} | {noticed_by} |");
        }
    }
    page.push('\n');
}

fn table(page: &mut String, ledger: &Ledger) {
    let Ledger { rfc, title, file, .. } = ledger;
    let _ = writeln!(
        page,
        "\n<a id=\"rfc-{rfc}\"></a>\n\n### RFC {rfc}: {title}\n\nFrom [{file}](../{SPECS}/{file}).\n"
    );
    page.push_str("| section | asks | status | code | tests |\n| --- | --- | --- | --- | --- |\n");
    for section in &ledger.sections {
        let [code, tests] = [&section.code, &section.tests].map(|names| listed(names));
        let (at, status) = (place(&section.at), section.status.word());
        let _ = writeln!(page, "| {at} | {} | {status} | {code} | {tests} |", cell(&section.asks));
    }
}

/// `3.8.3 MUST-20` as `§3.8.3 MUST-20`.
fn place(at: &str) -> String {
    format!("§{}", cell(at))
}

/// Names in one cell.
fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", short(name))).collect::<Vec<_>>().join("<br>")
}

/// A path without the folders that all have.
pub(crate) fn short(name: &str) -> &str {
    let folders = ["crates/tcp/src/", "scripts/tcp/", "crates/"];
    folders.iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name)
}

/// Text that a table's cell can hold.
pub(crate) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_departure_is_listed_with_its_reason_and_the_totals_add_up() {
        let text = r#"
            rfc = 9999
            title = "A | B"
            [[section]]
            at = "1"
            status = "informative"
            [[section]]
            at = "2"
            asks = "This"
            status = "deviates"
            code = ["crates/tcp/src/rtt.rs::f"]
            tests = ["scripts/tcp/x/y.tcp"]
            deviation = "That"
            noticed_by = "Everyone"
        "#;
        let ledgers = [Ledger::read("rfc9999.toml", text).unwrap()];
        let page = page(&ledgers);
        assert!(page.contains("| 9999 §2 | This | That | Everyone |"), "{page}");
        assert!(page.contains("| §2 | This | deviates | `rtt.rs::f` | `x/y.tcp` |"), "{page}");
        assert!(page.contains("| A \\| B |  | 1 |  |  | 1 |"), "{page}");
        let line = totals_line(&ledgers);
        assert!(line.starts_with("1 RFCs: 0 implemented, 1 deviates, 0 not-done"), "{line}");
    }
}
