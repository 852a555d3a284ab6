//! §5 of the paper: Tables 1 and 2 on every path that its words allow (`readings.rs`), with the original timeout, the
//! paper's and others.

use super::Extent;
use super::fit::Fit;
use super::readings::{Reading, Values};
use super::sample::{Outcomes, Sample, over};
use super::setup::{
    DELAYED, Growth, IMMEDIATE, LINUX, PAPER, PRACTICAL, Plan, Policy, Runs, STATIC_400,
    STATIC_400_ALL, STATIC_600, set,
};
use ackord_measure::stats::{self, Estimate, estimate};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
use serde::Serialize;

/// A table of the paper: Mbit/s with the original timeout and with the adjusted one.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaperTable {
    pub(super) number: u32,
    pub(super) label: &'static str,
    pub(super) adjusted: Policy,
    runs: &'static [(f64, f64)],
    /// Other phones on the channel.
    pub(super) others: u32,
}

/// Lee et al. 2015 Tables 1 and 2.
pub(super) const TABLES: [PaperTable; 2] = [
    PaperTable {
        number: 1,
        label: "Table 1: nobody else on the channel",
        adjusted: STATIC_400,
        runs: &[(7.04, 8.43), (8.01, 8.29), (7.19, 8.40), (7.33, 8.45), (7.00, 7.85)],
        others: 0,
    },
    PaperTable {
        number: 2,
        label: "Table 2: two other phones busy",
        adjusted: STATIC_600,
        runs: &[(6.34, 6.74), (5.65, 5.69), (5.84, 6.27), (5.81, 6.10)],
        others: 2,
    },
];

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) reading: Reading,
    /// 1 or 2.
    pub(super) table: u32,
    pub(super) growth: Growth,
}

#[derive(Debug)]
pub(super) struct PhonesPlan(Vec<(Setup, Values, Policy, Runs)>);

/// A receiver on the path of a table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) setup: Setup,
    pub(super) values: Values,
    pub(super) policy: Policy,
    pub(super) samples: Vec<Sample>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct RowData {
    reading: Reading,
    table: u32,
    values: Values,
    policy: &'static str,
    growth: Growth,
    runs: Vec<Sample>,
}

impl PaperTable {
    /// The table of this number.
    pub(super) fn of(number: u32) -> &'static PaperTable {
        TABLES.iter().find(|table| table.number == number).expect("there are two")
    }

    /// Adjusted over original of each of the paper's runs.
    pub(super) fn gains(&self) -> Estimate {
        self.column(|(original, adjusted)| adjusted / original)
    }

    pub(super) fn original(&self) -> Estimate {
        self.column(|(original, _)| original)
    }

    pub(super) fn adjusted(&self) -> Estimate {
        self.column(|(_, adjusted)| adjusted)
    }

    fn column(&self, of: fn((f64, f64)) -> f64) -> Estimate {
        let values: Vec<f64> = self.runs.iter().copied().map(of).collect();
        estimate(&values).expect("the table has runs")
    }

    fn policies(&self, reading: Reading) -> Vec<Policy> {
        let mut policies = vec![DELAYED, self.adjusted, PAPER, LINUX];
        match (reading, self.number) {
            (Reading::Alone, _) => policies.extend([PRACTICAL, IMMEDIATE]),
            (Reading::SideBySide, 1) => policies.push(STATIC_400_ALL),
            _ => {}
        }
        policies
    }
}

pub(super) fn plan(plan: &mut Plan, fits: &[Fit], extent: &Extent) -> Result<PhonesPlan, Errors> {
    let mut rows = Vec::new();
    for (table, fit) in TABLES.iter().flat_map(|table| fits.iter().map(move |fit| (table, fit))) {
        let Fit { reading, growth, values } = *fit;
        for policy in table.policies(reading) {
            let mut changes = reading.changes(table, values);
            changes.extend([policy.set(), growth.set(), set("duration", extent.phone.to_string())]);
            let is_papers = policy == DELAYED || policy == table.adjusted;
            let series = if is_papers { KeepSeries::Yes } else { KeepSeries::No };
            let runs = plan.runs(reading.file(), &changes, extent.phones, series)?;
            rows.push((Setup { reading, table: table.number, growth }, values, policy, runs));
        }
    }
    Ok(PhonesPlan(rows))
}

pub(super) fn read(plan: &PhonesPlan, outcomes: &Outcomes) -> Vec<Row> {
    let row = |(setup, values, policy, runs): &(Setup, Values, Policy, Runs)| Row {
        setup: *setup,
        values: *values,
        policy: *policy,
        samples: outcomes.samples(runs),
    };
    plan.0.iter().map(row).collect()
}

/// The row of a policy.
pub(super) fn find(rows: &[Row], setup: Setup, policy: Policy) -> &Row {
    let found = rows.iter().find(|row| row.setup == setup && row.policy == policy);
    found.expect("every policy of a table is run in every reading with both growth rules")
}

/// The row with the paper's timeout.
pub(super) fn adjusted(rows: &[Row], setup: Setup) -> &Row {
    find(rows, setup, PaperTable::of(setup.table).adjusted)
}

/// What stands as the original beside a row, run by run in Mbit/s: side by side it is the neighbour, which has the
/// original timeout; otherwise the phone itself with the original timeout. Table 2's phone was measured with one
/// timeout after the other in any reading.
pub(super) fn original_of(rows: &[Row], row: &Row) -> Vec<f64> {
    let goodput = |samples: &[Sample]| samples.iter().map(|sample| sample.goodput_mbit_s).collect();
    if (row.setup.reading, row.setup.table) == (Reading::SideBySide, 1) {
        let neighbour = |sample: &Sample| sample.neighbour_mbit_s.unwrap_or(f64::NAN);
        return row.samples.iter().map(neighbour).collect();
    }
    goodput(&find(rows, row.setup, DELAYED).samples)
}

/// Goodput of the original beside the paper's timeout.
pub(super) fn original(rows: &[Row], setup: Setup) -> Estimate {
    estimate(&original_of(rows, adjusted(rows, setup))).expect("every set-up has a run")
}

/// Goodput of a row over its original's.
pub(super) fn gain(rows: &[Row], row: &Row) -> Estimate {
    let goodput: Vec<f64> = row.samples.iter().map(|sample| sample.goodput_mbit_s).collect();
    stats::ratio(&goodput, &original_of(rows, row)).expect("runs come in pairs")
}

impl Row {
    pub(super) fn goodput(&self) -> Estimate {
        over(&self.samples, |sample| sample.goodput_mbit_s)
    }

    pub(super) fn mean(&self, pick: impl Fn(&Sample) -> f64) -> f64 {
        over(&self.samples, pick).mean
    }

    pub(super) fn data(&self) -> RowData {
        RowData {
            reading: self.setup.reading,
            table: self.setup.table,
            values: self.values,
            policy: self.policy.id,
            growth: self.setup.growth,
            runs: self.samples.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_gains_are_those_of_its_runs() {
        let [one, two] = TABLES.map(|table| table.gains());
        // 8.43 over 7.04 and 8.29 over 8.01 are the paper's extremes.
        assert!((one.max - 1.197).abs() < 0.001 && (one.min - 1.035).abs() < 0.001, "{one:?}");
        assert!((two.max - 1.074).abs() < 0.001 && (two.min - 1.007).abs() < 0.001, "{two:?}");
        assert_eq!((one.runs, two.runs), (5, 4));
        let [one, two] = TABLES.map(|table| table.original());
        assert!((one.mean - 7.314).abs() < 1e-9 && (two.mean - 5.91).abs() < 1e-9);
    }
}
