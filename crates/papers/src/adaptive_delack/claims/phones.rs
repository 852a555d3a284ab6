//! Tables 1 and 2 in every reading of the phones' path: megabits, gains, and Eq. 1, which the tables do not use.

use super::{Findings, Stated};
use crate::adaptive_delack::phone_tables::{set_to, setups};
use crate::adaptive_delack::phones::{self, PaperTable, Row, Setup};
use crate::adaptive_delack::readings::Reading;
use crate::adaptive_delack::sample::{Sample, over};
use crate::adaptive_delack::setup::{DELAYED, Growth, LINUX, PAPER, STATIC_400_ALL};
use crate::verdict::{Why, above, below, by_itself};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant};

const THEIR_RUNS: &str = "the 95 % interval of the paper's own runs";

/// Every claim of both tables.
pub(super) fn tables(findings: &Findings<'_>) -> Vec<Stated> {
    let rows = findings.phones;
    let mut stated: Vec<Stated> =
        setups().filter_map(|setup| original_mbit_s(rows, setup)).collect();
    stated.extend(setups().map(|setup| adjusted_mbit_s(rows, setup)));
    stated.extend(setups().map(|setup| gain(rows, setup)));
    stated.extend(setups().map(|setup| equation_1(rows, setup)));
    stated.extend(Growth::BOTH.map(|growth| from_the_neighbour(rows, growth)));
    stated.extend(Growth::BOTH.map(|growth| everyone(rows, growth)));
    stated.extend(Reading::ALL.map(|reading| less_where_busy(rows, reading)));
    stated
}

/// "phones side by side, sender growing per ACK", in words and in names.
fn whose(setup: Setup) -> (String, String) {
    let Setup { reading, growth, .. } = setup;
    (
        format!("{}, sender growing {}", reading.label(), growth.label()),
        format!("{}-{}", reading.word(), growth.word()),
    )
}

fn as_theirs(theirs: &Estimate) -> Allowed {
    Allowed::Value {
        value: theirs.mean,
        tolerance: theirs.ci95.unwrap_or(0.0),
        tolerance_from: THEIR_RUNS.to_owned(),
    }
}

/// What the original timeout gets: a claim only where nothing was fitted to it.
fn original_mbit_s(rows: &[Row], setup: Setup) -> Option<Stated> {
    if setup.reading.free(setup.table).is_some() {
        return None;
    }
    let paper = PaperTable::of(setup.table);
    let measured = phones::original(rows, setup);
    let (words, name) = whose(setup);
    Some(Stated {
        id: format!("table{}-original-{name}", setup.table),
        by: Claimant::Paper,
        what: format!("Table {}: throughput with 200 ms, {words}", setup.table),
        unit: "Mbit/s",
        paper: Some(paper.original().mean),
        allowed: as_theirs(&paper.original()),
        direction: by_itself(&measured),
        measured,
        why: Why::measured(format!(
            "nothing was fitted; {}",
            path_figures(phones::find(rows, setup, DELAYED))
        )),
    })
}

fn adjusted_mbit_s(rows: &[Row], setup: Setup) -> Stated {
    let paper = PaperTable::of(setup.table);
    let row = phones::adjusted(rows, setup);
    let (words, name) = whose(setup);
    Stated {
        id: format!("table{}-adjusted-{name}", setup.table),
        by: Claimant::Paper,
        what: format!("Table {}: throughput with {}, {words}", setup.table, paper.adjusted.label),
        unit: "Mbit/s",
        paper: Some(paper.adjusted().mean),
        allowed: as_theirs(&paper.adjusted()),
        measured: row.goodput(),
        direction: above("more than the original", &phones::gain(rows, row), 1.0),
        why: Why::measured(format!(
            "the original gets {:.2} Mbit/s beside it, {:.2} in the paper{}",
            phones::original(rows, setup).mean,
            paper.original().mean,
            match set_to(row).as_str() {
                "" => "; nothing was fitted".to_owned(),
                fitted => format!(", to which was fitted {fitted}"),
            }
        )),
    }
}

fn gain(rows: &[Row], setup: Setup) -> Stated {
    let paper = PaperTable::of(setup.table);
    let row = phones::adjusted(rows, setup);
    let gain = phones::gain(rows, row);
    let (words, name) = whose(setup);
    Stated {
        id: format!("table{}-gain-{name}", setup.table),
        by: Claimant::Paper,
        what: format!(
            "Table {}: throughput with {} over 200 ms, {words}",
            setup.table, paper.adjusted.label
        ),
        unit: "times",
        paper: Some(paper.gains().mean),
        allowed: as_theirs(&paper.gains()),
        measured: gain,
        direction: above("faster", &gain, 1.0),
        why: why_gain(rows, setup),
    }
}

fn path_figures(row: &Row) -> String {
    format!(
        "a round trip of {:.0} ms, {:.1} fast recoveries and {:.1} timeouts a run",
        row.mean(|sample| sample.rtt_mean_ms),
        row.mean(|sample| sample.fast_recoveries as f64),
        row.mean(|sample| sample.timeouts as f64)
    )
}

fn why_gain(rows: &[Row], setup: Setup) -> Why {
    let (row, delayed) = (phones::adjusted(rows, setup), phones::find(rows, setup, DELAYED));
    let air = |row: &Row| row.mean(|sample| sample.ack_air_percent.unwrap_or(f64::NAN));
    let acks = |row: &Row| row.mean(Sample::acks_per_segment);
    let linux = phones::find(rows, setup, LINUX).goodput().mean;
    let figures = format!(
        "{:.2} Mbit/s; {:.2} ACKs a segment and {:.1} % of the time on the air for them, with 200 ms {:.2} and \
         {:.1} %; the path with 200 ms: {}. A Linux receiver in its place gets {linux:.2} Mbit/s.",
        row.goodput().mean,
        acks(row),
        air(row),
        acks(delayed),
        air(delayed),
        path_figures(delayed),
    );
    if setup.reading != Reading::SideBySide {
        return Why::measured(figures);
    }
    Why::measured(format!(
        "{figures} The first neighbour gets {:.2} beside it; with 200 ms at every phone it is {:.2} and {:.2}.",
        neighbour(row).mean,
        delayed.goodput().mean,
        neighbour(delayed).mean
    ))
}

/// What the first phone beside this one gets.
fn neighbour(row: &Row) -> Estimate {
    over(&row.samples, |sample| sample.neighbour_mbit_s.unwrap_or(f64::NAN))
}

/// Whose throughput the small timeout adds.
fn from_the_neighbour(rows: &[Row], growth: Growth) -> Stated {
    let setup = Setup { reading: Reading::SideBySide, table: 1, growth };
    let (row, delayed) = (phones::adjusted(rows, setup), phones::find(rows, setup, DELAYED));
    let left = neighbour(row).over(&neighbour(delayed));
    Stated {
        id: format!("neighbour-{}", growth.word()),
        by: Claimant::Project,
        what: format!(
            "a phone with 200 ms gets less beside one with 0.4 ms than beside one with 200 ms, sender \
             growing {}",
            growth.label()
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtMost { high: 1.0 },
        measured: left,
        direction: below("less", &left, 1.0),
        why: Why::measured(format!(
            "{:.2} Mbit/s instead of {:.2}; the other gets {:.2} instead of {:.2}",
            neighbour(row).mean,
            neighbour(delayed).mean,
            row.goodput().mean,
            delayed.goodput().mean
        )),
    }
}

/// Where every phone has the small timeout nobody is left to gain from.
fn everyone(rows: &[Row], growth: Growth) -> Stated {
    let setup = Setup { reading: Reading::SideBySide, table: 1, growth };
    let all = phones::find(rows, setup, STATIC_400_ALL);
    let none = phones::find(rows, setup, DELAYED);
    let both = |row: &Row| {
        over(&row.samples, |sample| sample.goodput_mbit_s + sample.neighbour_mbit_s.unwrap_or(0.0))
    };
    let share = both(all).over(&both(none));
    Stated {
        id: format!("everyone-{}", growth.word()),
        by: Claimant::Project,
        what: format!(
            "two phones side by side get less together where both have 0.4 ms than where both have 200 ms, \
             sender growing {}",
            growth.label()
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtMost { high: 1.0 },
        measured: share,
        direction: below("less", &share, 1.0),
        why: Why::measured(format!(
            "{:.2} Mbit/s together instead of {:.2}; {:.2} ACKs a segment instead of {:.2}",
            both(all).mean,
            both(none).mean,
            all.mean(Sample::acks_per_segment),
            none.mean(Sample::acks_per_segment)
        )),
    }
}

/// The paper's tables are of fixed timeouts; what it proposes is one that follows the gaps.
fn equation_1(rows: &[Row], setup: Setup) -> Stated {
    let paper = PaperTable::of(setup.table);
    let row = |policy| phones::find(rows, setup, policy);
    let gain = |policy| phones::gain(rows, row(policy));
    let acks = |policy| row(policy).mean(Sample::acks_per_segment);
    let (words, name) = whose(setup);
    Stated {
        id: format!("equation1-table{}-{name}", setup.table),
        by: Claimant::Paper,
        what: format!(
            "§3.2: throughput with Eq. 1 over 200 ms on the path of Table {}, {words}",
            setup.table
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        direction: above("faster", &gain(PAPER), 1.0),
        measured: gain(PAPER),
        why: Why::measured(format!(
            "{:.2} acknowledgments a segment instead of {:.2}; the fixed {} gains {:.3}, a Linux receiver {:.3}",
            acks(PAPER),
            acks(DELAYED),
            paper.adjusted.label,
            gain(paper.adjusted).mean,
            gain(LINUX).mean
        )),
    }
}

fn less_where_busy(rows: &[Row], reading: Reading) -> Stated {
    let gain = |table| {
        let setup = Setup { reading, table, growth: Growth::PerAck };
        phones::gain(rows, phones::adjusted(rows, setup))
    };
    let [one, two] = [1, 2].map(gain);
    let less = two.over(&one);
    let theirs = |number| PaperTable::of(number).gains().mean;
    Stated {
        id: format!("table2-less-{}", reading.word()),
        by: Claimant::Paper,
        what: format!(
            "§5.3: the gain is smaller where the channel is busy (Table 2 over Table 1), {}",
            reading.label()
        ),
        unit: "times",
        paper: Some(theirs(2) / theirs(1)),
        allowed: Allowed::AtMost { high: 1.0 },
        measured: less,
        direction: below("less", &less, 1.0),
        why: Why::measured(format!(
            "{:.3} on the busy channel, where the timeout is 0.6 ms, and {:.3} on the idle one, sender \
             growing per ACK",
            two.mean, one.mean
        )),
    }
}
