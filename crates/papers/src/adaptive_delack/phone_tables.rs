//! The tables about the phones: Tables 1 and 2 in every reading, what each reading is set to and looks like, and what
//! the policies cost on the air.

use super::phones::{self, PaperTable, Row, Setup, TABLES};
use super::readings::Reading;
use super::sample::{Sample, over, ratio};
use super::setup::{DELAYED, Growth, LINUX};
use super::shape::{FIG7_S, Gaps};
use super::simulation::interval;
use ackord_report::document::{Cell, Column, Table};

/// Table 1 or 2.
pub(super) fn table(rows: &[Row], number: u32) -> Table {
    let columns = vec![
        Column::words("path"),
        Column::words("grows"),
        Column::words("receiver"),
        Column::numbers("paper", "Mbit/s"),
        Column::numbers("here", "Mbit/s"),
        Column::numbers("original beside", "Mbit/s"),
        Column::numbers("paper's gain", ""),
        Column::numbers("gain", ""),
        Column::numbers("over linux", ""),
    ];
    let paper = PaperTable::of(number);
    let cells = |row: &Row| {
        let is_adjusted = row.policy == paper.adjusted;
        let given = match row.policy {
            policy if policy == DELAYED => Some(paper.original().mean),
            _ => is_adjusted.then(|| paper.adjusted().mean),
        };
        let linux = phones::find(rows, row.setup, LINUX);
        let original = phones::original_of(rows, row);
        let original = original.iter().sum::<f64>() / original.len() as f64;
        vec![
            Cell::text(row.setup.reading.label()),
            Cell::text(row.setup.growth.label()),
            Cell::text(row.policy.label),
            Cell::number(given, 2),
            interval(&row.goodput(), 2),
            Cell::number(Some(original), 2),
            if is_adjusted { interval(&paper.gains(), 2) } else { Cell::Missing },
            interval(&phones::gain(rows, row), 3),
            interval(&ratio((&row.samples, &linux.samples), |sample| sample.goodput_mbit_s), 3),
        ]
    };
    Table {
        caption: paper.label.to_owned(),
        columns,
        rows: rows.iter().filter(|row| row.setup.table == number).map(cells).collect(),
    }
}

/// What each reading is set to, and what its path is like with the original timeout; last what Fig. 7 shows.
pub(super) fn reading_table(rows: &[Row]) -> Table {
    let columns = vec![
        Column::words("path"),
        Column::words("table"),
        Column::words("grows"),
        Column::words("set"),
        Column::numbers("RTT", "ms"),
        Column::numbers("repairs", "per run"),
        Column::numbers("gaps to 0.6 ms", "%"),
        Column::numbers("over 2 ms", "%"),
    ];
    let cells = |setup: Setup| {
        let row = phones::find(rows, setup, DELAYED);
        let repairs = |sample: &Sample| (sample.fast_recoveries + sample.timeouts) as f64;
        vec![
            Cell::text(setup.reading.label()),
            Cell::text(setup.table.to_string()),
            Cell::text(setup.growth.label()),
            Cell::text(set_to(row)),
            interval(&over(&row.samples, |sample| sample.rtt_mean_ms), 1),
            interval(&over(&row.samples, repairs), 1),
            interval(&over(&row.samples, |sample| sample.shape().gaps.single_percent), 1),
            interval(&over(&row.samples, |sample| sample.shape().gaps.pauses_percent), 1),
        ]
    };
    let mut lines: Vec<_> = setups().map(cells).collect();
    let (words, seven) = (Cell::text("Fig. 7"), Gaps::of(&FIG7_S));
    let nothing = || Cell::Missing;
    lines.push(vec![
        words,
        nothing(),
        nothing(),
        Cell::text(format!("{} gaps", seven.count)),
        nothing(),
        nothing(),
        Cell::number(Some(seven.single_percent), 1),
        Cell::number(Some(seven.pauses_percent), 1),
    ]);
    let caption = "The readings of the phones' path with the original timeout";
    Table { caption: caption.to_owned(), columns, rows: lines }
}

/// Every reading of both tables.
pub(super) fn setups() -> impl Iterator<Item = Setup> {
    let tables =
        TABLES.iter().flat_map(|table| Reading::ALL.map(|reading| (table.number, reading)));
    tables.flat_map(|(table, reading)| Growth::BOTH.map(|growth| Setup { reading, table, growth }))
}

/// "frames damaged: 51.2 %", or nothing.
pub(super) fn set_to(row: &Row) -> String {
    let shown = |table, value: Option<f64>| {
        let free = row.setup.reading.free(table)?;
        Some(format!("{}: {} {}", free.label, value?, free.unit))
    };
    let one = shown(1, row.values.table_1);
    let two = shown(2, row.values.table_2).filter(|_| row.setup.table == 2);
    one.into_iter().chain(two).collect::<Vec<_>>().join(", ")
}

/// What the policies cost on the air.
pub(super) fn cost_table(rows: &[Row]) -> Table {
    let columns = vec![
        Column::words("table"),
        Column::words("sender grows"),
        Column::words("receiver"),
        Column::numbers("ACKs per segment", ""),
        Column::numbers("airtime of data", "%"),
        Column::numbers("of ACKs", "%"),
    ];
    let cells = |row: &Row| {
        let of = |pick: fn(&Sample) -> f64, decimals| interval(&over(&row.samples, pick), decimals);
        vec![
            Cell::text(row.setup.table.to_string()),
            Cell::text(row.setup.growth.label()),
            Cell::text(row.policy.label),
            of(Sample::acks_per_segment, 2),
            of(|sample| sample.data_air_percent.unwrap_or(f64::NAN), 1),
            of(|sample| sample.ack_air_percent.unwrap_or(f64::NAN), 1),
        ]
    };
    let rows = rows.iter().filter(|row| row.setup.reading == Reading::Alone);
    let caption = "ACKs and airtime where one phone is alone, the server near";
    Table { caption: caption.to_owned(), columns, rows: rows.map(cells).collect() }
}
