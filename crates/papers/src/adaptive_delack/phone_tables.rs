//! The tables about the phones: Tables 1 and 2 in every reading, what each reading is set to and looks like, and what
//! the policies cost on the air.

use super::paper_tables::PaperTable;
use super::phones::{Key, Phones, Setup, setups};
use super::readings::Reading;
use super::sample::Sample;
use super::setup::{DELAYED, LINUX};
use super::shape::{FIG7_S, Gaps};
use crate::cells::Cell;
use crate::tables::{interval, rows};
use ackord_measure::stats::mean;
use ackord_report::document::{self, Table};

/// Table 1 or 2.
pub(super) fn table(phones: &Phones, number: u32) -> Table {
    let paper = PaperTable::of(number);
    let of_table = phones.runs.iter().filter(|row| row.key.0.table == number);
    let is_adjusted = |row: &Cell<Key, Sample>| row.key.1 == paper.adjusted;
    rows(of_table)
        .words("path", |row| row.key.0.reading.label())
        .words("grows", |row| row.key.0.growth.label())
        .words("receiver", |row| row.key.1.label)
        .number(("paper", "Mbit/s"), 2, |row| match row.key.1 {
            DELAYED => Some(paper.original()),
            _ => is_adjusted(row).then(|| paper.adjusted()),
        })
        .mean(("here", "Mbit/s"), 2, |row| row.goodput())
        .number(("original beside", "Mbit/s"), 2, |row| {
            mean(&phones.original_of(row.key.0, row.key.1))
        })
        .cell(("paper's gain", ""), |row| match is_adjusted(row) {
            true => interval(paper.gains(), 2),
            false => document::Cell::Missing,
        })
        .mean(("gain", ""), 3, |row| phones.gain(row.key.0, row.key.1))
        .mean(("over linux", ""), 3, |row| {
            row.over(phones.of(row.key.0, LINUX), |run| run.goodput_mbit_s)
        })
        .titled(paper.label)
}

/// What each reading is set to, and what its path is like with the original timeout; last what Fig. 7 shows.
pub(super) fn reading_table(phones: &Phones) -> Table {
    use document::Cell;
    let runs = |setup: &Setup| phones.of(*setup, DELAYED);
    let mut table = rows(setups())
        .words("path", |setup| setup.reading.label())
        .words("table", |setup| setup.table.to_string())
        .words("grows", |setup| setup.growth.label())
        .words("set", |setup| set_to(phones, *setup))
        .mean(("RTT", "ms"), 1, |setup| runs(setup).mean(|run| run.rtt_mean_ms))
        .mean(("recoveries", "per run"), 1, |setup| {
            runs(setup).mean(|run| run.fast_recoveries + run.timeouts)
        })
        .mean(("gaps to 0.6 ms", "%"), 1, |setup| {
            runs(setup).mean(|run| run.shape().gaps.single_percent)
        })
        .mean(("over 2 ms", "%"), 1, |setup| {
            runs(setup).mean(|run| run.shape().gaps.pauses_percent)
        })
        .titled("The readings of the phones' path with the original timeout");
    let seven = Gaps::of(&FIG7_S);
    table.rows.push(vec![
        Cell::text("Fig. 7"),
        Cell::Missing,
        Cell::Missing,
        Cell::text(format!("{} gaps", seven.count)),
        Cell::Missing,
        Cell::Missing,
        Cell::number(seven.single_percent, 1),
        Cell::number(seven.pauses_percent, 1),
    ]);
    table
}

/// "frames damaged: 51.2 %", or nothing.
pub(super) fn set_to(phones: &Phones, setup: Setup) -> String {
    let shown = |table, value: Option<f64>| {
        let free = setup.reading.free(table)?;
        Some(format!("{}: {} {}", free.label, value?, free.unit))
    };
    let values = phones.values(setup);
    let one = shown(1, values.table_1);
    let two = shown(2, values.table_2).filter(|_| setup.table == 2);
    one.into_iter().chain(two).collect::<Vec<_>>().join(", ")
}

/// What the policies cost on the air.
pub(super) fn cost_table(phones: &Phones) -> Table {
    rows(phones.runs.iter().filter(|row| row.key.0.reading == Reading::Alone))
        .words("table", |row| row.key.0.table.to_string())
        .words("sender grows", |row| row.key.0.growth.label())
        .words("receiver", |row| row.key.1.label)
        .mean(("ACKs per segment", ""), 2, |row| row.mean(Sample::acks_per_segment))
        .mean(("airtime of data", "%"), 1, |row| row.mean(|run| run.data_air_percent))
        .mean(("of ACKs", "%"), 1, |row| row.mean(|run| run.ack_air_percent))
        .titled("ACKs and airtime where one phone is alone, the server near")
}
