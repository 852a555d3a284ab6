//! The tables in docs/linux-outage.md show what the endpoint does today.
//!
//! The kernel's columns stay as they were measured; ours are worked out anew. `BLESS=1 cargo test -p
//! ackord-tcp --test tests linux_outage_page` writes them into the page.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the environment: whether to write the page anew"
)]

use crate::kit::outage::{Help, Outcome, Setup, run};
use ackord_units::Span;
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/linux-outage.md");

/// How each table begins, and what writes a row of it anew from its cells.
const TABLES: [(&str, Renew); 3] = [
    ("| sender | timestamps | SACK | help |", delivered_through_outages),
    ("| sender | help | 1.5 s: kernel |", new_data_after_outages),
    ("| sender | timestamps | help | 1 %: kernel |", delivered_beside_losses),
];
type Renew = fn(&[&str]) -> String;

const HELP: [(&str, Help); 10] = [
    ("none", Help::None),
    ("freeze", Help::Freeze),
    ("freeze-test", Help::FreezeTest),
    ("replay", Help::Replay),
    ("replay+freeze", Help::ReplayFreeze),
    ("shrink", Help::Shrink),
    ("reserve", Help::Reserve),
    ("reserve+replay", Help::ReserveReplay),
    ("local", Help::Local),
    ("local+suppress", Help::LocalSuppress),
];

/// The word among those that the kit knows.
fn known(word: &str, words: &[&'static str]) -> &'static str {
    words.iter().find(|known| **known == word).unwrap_or_else(|| panic!("{word}?"))
}

fn setup(sender: &str, timestamps: &str, help: &str) -> Setup {
    Setup {
        congestion: known(sender, &["reno", "cubic"]),
        timestamps: known(timestamps, &["on", "off"]),
        help: HELP.iter().find(|(name, _)| *name == help).expect("a help that is known").1,
        ..Setup::default()
    }
}

fn runs<T>(setup: Setup, runs: u32, figure: fn(&Outcome) -> T) -> Vec<T> {
    (0..runs).map(|number| figure(&run(Setup { run: number, ..setup }))).collect()
}

fn mean_of_three(setup: Setup, millis: u64, figure: fn(&Outcome) -> f64) -> f64 {
    let setup = Setup { outage: Span::from_millis(millis), ..setup };
    runs(setup, 3, figure).iter().sum::<f64>() / 3.0
}

fn delivered_through_outages(cells: &[&str]) -> String {
    let [sender, timestamps, sack, help, kernel_1, _, _, kernel_2, _, _] = cells else {
        panic!("another table than expected: {cells:?}");
    };
    let setup = Setup { sack: known(sack, &["on", "off"]), ..setup(sender, timestamps, help) };
    let beside = |kernel: &str, millis| {
        let ours = mean_of_three(setup, millis, |outcome| outcome.mbytes);
        let measured: f64 = kernel.parse().expect("a number of MB");
        format!("{kernel} | {ours:.2} | {:+.0} %", 100.0 * (ours / measured - 1.0))
    };
    let (short, long) = (beside(kernel_1, 1_500), beside(kernel_2, 2_500));
    format!("| {sender} | {timestamps} | {sack} | {help} | {short} | {long} |")
}

fn new_data_after_outages(cells: &[&str]) -> String {
    let [sender, help, kernel_1, _, kernel_2, _] = cells else {
        panic!("another table than expected: {cells:?}");
    };
    let ours = |millis| {
        mean_of_three(setup(sender, "on", help), millis, |outcome| {
            outcome.new_data_after.map_or(f64::NAN, Span::as_secs_f64)
        })
    };
    let (short, long) = (ours(1_500), ours(2_500));
    format!("| {sender} | {help} | {kernel_1} | {short:.2} | {kernel_2} | {long:.2} |")
}

fn delivered_beside_losses(cells: &[&str]) -> String {
    let [sender, timestamps, help, kernel_1, _, kernel_2, _] = cells else {
        panic!("another table than expected: {cells:?}");
    };
    if *sender == "bbr" {
        // Of the kernel alone.
        return format!("| {sender} | {timestamps} | {help} | {kernel_1} | | {kernel_2} | |");
    }
    let ours = |loss_per_mille| {
        let setup = Setup { loss_per_mille, ..setup(sender, timestamps, help) };
        let mut mbytes = runs(setup, 7, |outcome| outcome.mbytes);
        mbytes.sort_by(f64::total_cmp);
        format!("{:.1} ({:.1}-{:.1})", mbytes[3], mbytes[0], mbytes[6])
    };
    let (few, many) = (ours(10), ours(50));
    format!("| {sender} | {timestamps} | {help} | {kernel_1} | {few} | {kernel_2} | {many} |")
}

#[test]
fn our_columns_are_what_the_endpoint_does_today() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let mut table = None;
    let mut rows = 0;
    let mut renewed = String::new();
    for line in page.lines() {
        let begins = TABLES.iter().find(|(head, _)| line.starts_with(head));
        table = begins.map(|(_, renew)| renew).or(table.filter(|_| line.starts_with('|')));
        match table.filter(|_| begins.is_none() && !line.starts_with("| ---")) {
            Some(renew) => {
                rows += 1;
                let cells = line.trim_matches('|').split('|').map(str::trim);
                renewed += &renew(&cells.collect::<Vec<_>>());
            }
            None => renewed += line,
        }
        renewed.push('\n');
    }
    assert!(rows > 60, "only {rows} rows found");
    if std::env::var_os("BLESS").is_some() {
        fs::write(PAGE, renewed).expect("the page can be written");
    } else {
        let other = page.lines().zip(renewed.lines()).find(|(then, now)| then != now);
        assert_eq!(other, None, "write them anew with BLESS=1");
    }
}
