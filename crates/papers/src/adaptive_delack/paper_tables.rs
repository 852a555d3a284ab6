//! Tables 1 and 2 as the paper has them (§5).

use super::setup::{Policy, STATIC_400, STATIC_600};
use crate::cells::over;
use ackord_measure::stats::Estimate;

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
        over(&self.runs.iter().copied().map(of).collect::<Vec<_>>())
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
