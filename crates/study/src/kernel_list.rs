//! The kernels that are kept, as a table and as JSON.

use ackord_report::document::{Block, Cell, Document, Section};
use ackord_report::{data, table};
use ackord_uml::{Kept, Kernel, Listing, State};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct ListingJson<'a> {
    folder: &'a Path,
    kernels: Vec<KeptJson<'a>>,
    /// Folders of which nothing is known.
    unreadable: &'a [PathBuf],
}

#[derive(Serialize)]
struct KeptJson<'a> {
    #[serde(flatten)]
    kernel: &'a Kernel,
    state: &'static str,
    /// Null where nothing is wrong.
    why: Option<&'a str>,
}

/// The list for programs.
pub fn json_of(listing: &Listing, folder: &Path) -> String {
    let kernels = listing.kernels.iter().map(kept_json).collect();
    data::to_json(&ListingJson { folder, kernels, unreadable: &listing.unreadable })
}

fn kept_json(kept: &Kept) -> KeptJson<'_> {
    let why = match &kept.state {
        State::Damaged(why) => Some(why.as_str()),
        State::Sound | State::Outdated => None,
    };
    KeptJson { kernel: &kept.kernel, state: word(&kept.state), why }
}

/// The list for people.
pub fn table_of(listing: &Listing, folder: &Path) -> Document {
    let section = Section::new(&format!("In {}", folder.display()));
    let mut section = section.with(match listing.kernels.is_empty() {
        true => Block::Text("None yet: `ackord kernel build`.".to_owned()),
        false => Block::Table(table!(&listing.kernels, |Kept { kernel, state }| [
            words("name") => &kernel.name,
            words("Linux") => &kernel.release,
            numbers("HZ", "") => kernel.hz,
            words("sha256") => kernel.short_hash(),
            words("state") => word(state),
            numbers("binary", "MB") => Cell::number(kernel.bytes as f64 / 1e6, 1),
            words("built") => day(kernel.built_at_unix_s),
            words("source") => kernel.source.to_string(),
        ])),
    });
    let unreadable = listing.unreadable.iter().map(|path| path.display().to_string());
    let unreadable: Vec<_> = unreadable.collect();
    if !unreadable.is_empty() {
        let text = format!("No kernels, and never used: {}.", unreadable.join(", "));
        section = section.with(Block::Text(text));
    }
    Document { title: "Kernels".to_owned(), sections: vec![section], ..Document::default() }
}

fn word(state: &State) -> &'static str {
    match state {
        State::Sound => "sound",
        State::Outdated => "outdated",
        State::Damaged(_) => "damaged",
    }
}

/// The day of a time in seconds since 1970, in UTC: 2026-11-22.
fn day(unix_s: u64) -> String {
    // Years that begin in March have their leap day last; 719468 days lie between 0000-03-01 and 1970.
    let days = unix_s / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + era * 400, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{of_month:02}", if month <= 2 { year + 1 } else { year })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 951_782_400, 1_709_164_800, 1_795_305_600, 4_107_542_399];
        let days = days.map(day);
        assert_eq!(days, ["1970-01-01", "2000-02-29", "2024-02-29", "2026-11-22", "2100-02-28"]);
    }
}
