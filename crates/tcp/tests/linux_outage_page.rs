//! The table of outages in docs/linux-outage.md shows what the endpoint does today.
//!
//! The kernel's columns stay as they were measured; ours are worked out anew. `BLESS=1 cargo test -p
//! ackord-tcp --test tests linux_outage_page` writes them into the page.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the environment: whether to write the page anew"
)]

use crate::kit::outage::{Help, Setup, run};
use ackord_units::Span;
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/linux-outage.md");
/// How the table begins.
const HEAD: &str = "| sender | timestamps | SACK | help |";

const HELP: [(&str, Help); 8] = [
    ("none", Help::None),
    ("freeze", Help::Freeze),
    ("freeze-test", Help::FreezeTest),
    ("replay", Help::Replay),
    ("replay+freeze", Help::ReplayFreeze),
    ("shrink", Help::Shrink),
    ("reserve", Help::Reserve),
    ("reserve+replay", Help::ReserveReplay),
];

/// The word among those that the kit knows.
fn known(word: &str, words: &[&'static str]) -> &'static str {
    words.iter().find(|known| **known == word).unwrap_or_else(|| panic!("{word}?"))
}

fn ours_mbytes(setup: Setup) -> f64 {
    let runs = (0..3).map(|number| run(Setup { run: number, ..setup }).mbytes);
    runs.sum::<f64>() / 3.0
}

/// A row of the table, with our columns as they are today.
fn renewed(row: &str) -> String {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let [sender, timestamps, sack, help, kernel_1, _, _, kernel_2, _, _] = cells[..] else {
        panic!("another table than expected: {row}");
    };
    let on_off = ["on", "off"];
    let setup = Setup {
        congestion: known(sender, &["reno", "cubic"]),
        timestamps: known(timestamps, &on_off),
        sack: known(sack, &on_off),
        help: HELP.iter().find(|(name, _)| *name == help).expect("a help that is known").1,
        ..Setup::default()
    };
    let beside = |kernel: &str, millis| {
        let ours = ours_mbytes(Setup { outage: Span::from_millis(millis), ..setup });
        let measured: f64 = kernel.parse().expect("a number of MB");
        format!("{kernel} | {ours:.2} | {:+.0} %", 100.0 * (ours / measured - 1.0))
    };
    let (short, long) = (beside(kernel_1, 1_500), beside(kernel_2, 2_500));
    format!("| {sender} | {timestamps} | {sack} | {help} | {short} | {long} |")
}

#[test]
fn our_columns_are_what_the_endpoint_does_today() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let mut in_table = false;
    let mut rows = 0;
    let renewed: Vec<String> = page
        .lines()
        .map(|line| {
            in_table = line.starts_with(HEAD) || (in_table && line.starts_with('|'));
            if in_table && !line.starts_with(HEAD) && !line.starts_with("| ---") {
                rows += 1;
                renewed(line)
            } else {
                line.to_owned()
            }
        })
        .collect();
    assert!(rows > 40, "only {rows} rows found");
    let renewed = renewed.join("\n") + "\n";
    if std::env::var_os("BLESS").is_some() {
        fs::write(PAGE, renewed).expect("the page can be written");
    } else {
        let other = page.lines().zip(renewed.lines()).find(|(then, now)| then != now);
        assert_eq!(other, None, "write them anew with BLESS=1");
    }
}
