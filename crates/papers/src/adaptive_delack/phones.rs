//! §5 of the paper: Tables 1 and 2 on every path that its words allow (`readings.rs`), with the original timeout, the
//! paper's and others.

use super::fit::Fit;
use super::paper_tables::{PaperTable, TABLES};
use super::readings::{Reading, Values};
use super::sample::Sample;
use super::setup::{DELAYED, Growth, IMMEDIATE, LINUX, PAPER, PRACTICAL, Policy, STATIC_400_ALL};
use crate::cells::{Cell, Cells, Runs, over};
use crate::plan::{self, set};
use crate::tables::record;
use ackord_measure::stats::{Estimate, ratio};
use ackord_units::Span;
use serde::Serialize;

/// A reading of the path of a table, and a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) reading: Reading,
    /// 1 or 2.
    pub(super) table: u32,
    pub(super) growth: Growth,
}

/// A receiver on the path of a table.
pub(super) type Key = (Setup, Policy);

pub(super) struct Phones {
    pub(super) runs: Cells<Key, Sample>,
    pub(super) fits: Vec<Fit>,
}

fn policies(table: &PaperTable, reading: Reading) -> Vec<Policy> {
    let mut policies = vec![DELAYED, table.adjusted, PAPER, LINUX];
    match (reading, table.number) {
        (Reading::Alone, _) => policies.extend([PRACTICAL, IMMEDIATE]),
        (Reading::SideBySide, 1) => policies.push(STATIC_400_ALL),
        _ => {}
    }
    policies
}

/// Every reading of both tables.
pub(super) fn setups() -> impl Iterator<Item = Setup> {
    let tables =
        TABLES.iter().flat_map(|table| Reading::ALL.map(|reading| (table.number, reading)));
    tables.flat_map(|(table, reading)| Growth::ALL.map(|growth| Setup { reading, table, growth }))
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    setups().flat_map(|setup| {
        let policies = policies(PaperTable::of(setup.table), setup.reading);
        policies.into_iter().map(move |policy| (setup, policy))
    })
}

pub(super) fn setup((setup, policy): Key, fits: &[Fit], lasts: Span) -> plan::Setup {
    let Setup { reading, table, growth } = setup;
    let table = PaperTable::of(table);
    let changes = reading.changes(table, values(fits, setup));
    let length = set("duration", lasts.to_string());
    let runs = plan::Setup::new(reading.file(), changes).with([policy.set(), growth.set(), length]);
    let is_papers = policy == DELAYED || policy == table.adjusted;
    if is_papers { runs.with_series() } else { runs }
}

/// What a reading was set to.
fn values(fits: &[Fit], setup: Setup) -> Values {
    let fit = fits.iter().find(|fit| (fit.reading, fit.growth) == (setup.reading, setup.growth));
    fit.expect("every reading is fitted").values
}

impl Phones {
    pub(super) fn values(&self, setup: Setup) -> Values {
        values(&self.fits, setup)
    }

    pub(super) fn of(&self, setup: Setup, policy: Policy) -> &Runs<Sample> {
        self.runs.of(&(setup, policy))
    }

    /// With the paper's timeout.
    pub(super) fn adjusted(&self, setup: Setup) -> &Runs<Sample> {
        self.of(setup, PaperTable::of(setup.table).adjusted)
    }

    /// What stands as the original beside a policy, run by run in Mbit/s: side by side it is the neighbour, which has
    /// the original timeout; otherwise the phone itself with the original timeout. Table 2's phone was measured with
    /// one timeout after the other in any reading.
    pub(super) fn original_of(&self, setup: Setup, policy: Policy) -> Vec<f64> {
        if (setup.reading, setup.table) == (Reading::SideBySide, 1) {
            return self.of(setup, policy).each(|run| run.neighbour_mbit_s);
        }
        self.of(setup, DELAYED).each(|run| run.goodput_mbit_s)
    }

    /// Goodput of the original beside the paper's timeout.
    pub(super) fn original(&self, setup: Setup) -> Estimate {
        over(&self.original_of(setup, PaperTable::of(setup.table).adjusted))
    }

    /// Goodput of a policy over its original's.
    pub(super) fn gain(&self, setup: Setup, policy: Policy) -> Estimate {
        let goodput = self.of(setup, policy).each(|run| run.goodput_mbit_s);
        ratio(&goodput, &self.original_of(setup, policy)).expect("runs come in pairs")
    }

    /// The same with the paper's timeout.
    pub(super) fn adjusted_gain(&self, setup: Setup) -> Estimate {
        self.gain(setup, PaperTable::of(setup.table).adjusted)
    }

    pub(super) fn data(&self) -> Vec<impl Serialize> {
        let data = |row: &'_ Cell<Key, Sample>| {
            let (setup, policy) = row.key;
            record! {
                reading: setup.reading,
                table: setup.table,
                values: self.values(setup),
                policy: policy.id,
                growth: setup.growth,
                runs: row.runs.0.clone(),
            }
        };
        self.runs.iter().map(data).collect()
    }
}

impl Runs<Sample> {
    pub(super) fn goodput(&self) -> Estimate {
        self.mean(|run| run.goodput_mbit_s)
    }
}
