//! What the paper says, with our verdicts and the measured facts behind them.
//!
//! Its Tables 1 and 2 are circles and crosses. A circle becomes a limit on a measured number, a
//! cross its opposite; the limits are stated here, once for every box.

mod fades;
mod limits;
mod ours;
mod paths;

use super::boxes::Boxed;
use super::measured::Measured;
use super::readings::{PROXY, RENO, capacity_mbit_s, mathis_mbit_s, of};
use super::sample::Sample;
use super::setup::{Id, boxed};
use crate::cells::pairs;
use crate::claims::{Stated, at_least, at_most, directed, paper, tenth};
use ackord_measure::stats::{Estimate, ratio};
use limits::{AFTER_DEATH, FADING, GIVEN_BACK, WINDOW_BYTES};

/// What a box is said to have, by column.
struct Row {
    middle: Id,
    says: [Option<bool>; 5],
}

const FAST: usize = 0;
const SEMANTICS: usize = 1;
const BUFFER: usize = 2;
const FADE: usize = 3;
const FAULT: usize = 4;

/// Table 1: fast retransmission, semantics, buffer, fading, fault tolerance.
static TABLE_1: [Row; 4] = [
    Row { middle: "i-tcp", says: [Some(true), Some(false), Some(false), Some(false), Some(false)] },
    Row { middle: "mtcp", says: [Some(true), Some(false), Some(false), Some(false), Some(false)] },
    Row { middle: "snoop", says: [Some(true), Some(true), Some(false), Some(false), Some(false)] },
    Row { middle: "m-tcp", says: [Some(true), Some(true), Some(true), Some(true), Some(false)] },
];

/// Table 2, which leaves fault tolerance out and finds no buffer problem in Snoop.
static TABLE_2: [Row; 4] = [
    Row { middle: "snoop", says: [Some(true), Some(true), Some(true), Some(false), None] },
    Row { middle: "i-tcp", says: [Some(true), Some(false), Some(false), Some(false), None] },
    Row { middle: "mtcp", says: [Some(true), Some(false), Some(false), Some(false), None] },
    // Its text claims the last column as well (features 3 and 5 of section 3.2).
    Row { middle: "paper", says: [Some(true), Some(true), Some(true), Some(true), Some(true)] },
];

pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let mut stated = table_3(measured);
    stated.push(reno_waits(measured));
    stated.extend(fades::claims(measured));
    for (table, rows) in [("table1", &TABLE_1), ("table2", &TABLE_2)] {
        for row in rows {
            for (column, says) in row.says.iter().enumerate() {
                stated.extend(says.map(|says| circle(measured, (table, row.middle), column, says)));
            }
        }
    }
    stated.extend(ours::ours(measured));
    stated.extend(paths::claims(measured));
    stated
}

/// Table 3, read as errors per KByte: each reading of the box, with a window that never binds and with ns-2's
/// default.
fn table_3(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (variant, id, window) in [("plain", "", ""), ("window-20", ".window-20", ", window 20")] {
        for (middle, numbers, label) in [
            ("none", RENO, "Reno"),
            ("paper", PROXY, "Proxy TCP"),
            ("duplicates", PROXY, "Proxy TCP that acknowledges after duplicates, too,"),
        ] {
            for (rate, published) in numbers {
                let id = format!("table3.{rate}.{middle}{id}");
                let what = format!("{label} at one error in {rate} KByte{window}");
                stated.push(at_rate(measured, (id, what), rate, (middle, variant), published));
            }
        }
    }
    let gains = [(128, 25.0), (64, 93.0)];
    stated.extend(gains.map(|(rate, percent)| gain_of(measured, rate, percent)));
    stated
}

fn at_rate(
    measured: &Measured,
    (id, what): (String, String),
    rate: u32,
    (middle, variant): (&str, &str),
    published: f64,
) -> Stated {
    let read = |middle| of(&measured.reads, ("KByte", rate), (middle, variant));
    let runs = read(middle);
    let ours = read(if middle == "none" { "paper" } else { middle });
    let gain = ours.less(read("none"), Sample::goodput_mbit_s);
    let in_kbit = of(&measured.reads, ("kbit", rate), ("none", "plain"));
    paper(id, what, "Mbit/s", runs.goodput(), tenth(published))
        .claims(directed("Proxy TCP above Reno", gain))
        .why(format!(
            "read as kbit the rate gives Reno {:.3}; the errors alone allow a Reno sender {:.2}, the link \
             carries {:.2} Mbit/s of payload. {:.0} retransmissions by the sender and {:.1} timeouts in \
             100 s",
            in_kbit.goodput().mean,
            mathis_mbit_s(runs.key.0.bytes),
            capacity_mbit_s(),
            runs.mean(|run| run.retransmitted).mean,
            runs.mean(|run| run.timeouts).mean,
        ))
}

/// The gains that the text names.
fn gain_of(measured: &Measured, rate: u32, percent: f64) -> Stated {
    let read = |middle| of(&measured.reads, ("KByte", rate), (middle, "plain"));
    let gain = read("paper").over(read("none"), Sample::goodput_mbit_s).plus(-1.0).times(100.0);
    let of_table = |table: [(u32, f64); 2]| {
        table.iter().find(|(known, _)| *known == rate).map_or(f64::NAN, |(_, value)| *value)
    };
    let what = format!("Proxy TCP above Reno at one error in {rate} KByte");
    paper(format!("text.{rate}.gain"), what, "%", gain, tenth(percent)).above("a gain", 0.0).why(
        format!(
            "the paper's own Table 3 has {:+.0} %",
            100.0 * (of_table(PROXY) / of_table(RENO) - 1.0)
        ),
    )
}

/// Fig. 8: how long a sender of its own accord waits.
fn reno_waits(measured: &Measured) -> Stated {
    let [wait, short] =
        [2.5, 1.5].map(|lasts| measured.fades.sweep("none", "ns2", lasts).first_data());
    let what = "how long Reno does not notice that a fade of 2.5 s is over";
    paper("fig8.reno-waits", what, "s", wait, tenth(1.0))
        // A round trip of 80 ms is nothing that has to be noticed.
        .above("longer than a round trip", 0.1)
        .why(format!(
            "from {:.2} to {:.2} s over the phases of its beginning; after 1.5 s {:.2} s",
            wait.min, wait.max, short.mean
        ))
}

/// A column of Tables 1 and 2 as a number: what it is called, its unit, the limit of a circle, and whether
/// more is better.
struct Column {
    name: &'static str,
    what: &'static str,
    unit: &'static str,
    limit: f64,
    more_is_better: bool,
}

static COLUMNS: [Column; 5] = [
    Column {
        name: "fast-retransmission",
        what: "of what errors at one in 64 KByte take, given back",
        unit: "%",
        limit: GIVEN_BACK,
        more_is_better: true,
    },
    Column {
        name: "semantics",
        what: "acknowledged before the mobile had it, the most of any run",
        unit: "B",
        limit: 0.0,
        more_is_better: false,
    },
    Column {
        name: "buffer",
        what: "kept in the box, the most of any run",
        unit: "B",
        limit: WINDOW_BYTES,
        more_is_better: false,
    },
    Column {
        name: "fading",
        what: "wait for new data after 2.5 s, of the wait without a box",
        unit: "%",
        limit: FADING,
        more_is_better: false,
    },
    Column {
        name: "fault-tolerance",
        what: "delivered after the box's death, of what goes through without one",
        unit: "%",
        limit: AFTER_DEATH,
        more_is_better: true,
    },
];

/// A circle (`says`) or a cross of Table 1 or 2, with the paper's sender.
fn circle(measured: &Measured, (table, middle): (&str, Id), column: usize, says: bool) -> Stated {
    let Column { name, what, unit, limit, more_is_better } = COLUMNS[column];
    let (number, figures) = of_column(measured, middle, column);
    let mark = if says { "O" } else { "X" };
    let what = format!("{}, {mark}: {what}", boxed(middle).label);
    let id = format!("{table}.{middle}.{name}");
    let direction = "on the limit's side that the mark says";
    // A cross is the opposite limit; for a count of bytes that may not be zero, one byte.
    let claim = match (more_is_better, says) {
        (true, true) => paper(id, what, unit, number, at_least(limit)).above(direction, limit),
        (false, false) => {
            paper(id, what, unit, number, at_least(limit.max(1.0))).above(direction, limit)
        }
        _ => paper(id, what, unit, number, at_most(limit)).below(direction, limit),
    };
    claim.why(figures)
}

/// What was measured of a box for one column, and the figures behind it.
fn of_column(measured: &Measured, middle: Id, column: usize) -> (Estimate, String) {
    let both: [Boxed<'_>; 2] = [middle, "none"].map(|middle| measured.boxes.of(middle, "ns2"));
    let one = both[0];
    match column {
        FAST => {
            let [with, without] = both.map(|of| of.errors(1).each(Sample::goodput_mbit_s));
            let taken: Vec<f64> =
                without.iter().map(|without| capacity_mbit_s() - without).collect();
            let given = pairs(&with, &without, |with, without| with - without);
            let back = ratio(&given, &taken).expect("both are run with the same seeds");
            let [with, without] = both.map(|of| of.errors(1).goodput().mean);
            (back.times(100.0), format!("{with:.3} Mbit/s, {without:.3} without a box"))
        }
        SEMANTICS => {
            (Estimate::exact(one.early_bytes() as f64), "over both error rates".to_owned())
        }
        BUFFER => {
            let figures = format!("a window that fills path and queue is {WINDOW_BYTES:.0} B");
            (Estimate::exact(one.peak_kept_bytes() as f64), figures)
        }
        FADE => {
            let [with, without] =
                [middle, "none"].map(|middle| measured.fades.sweep(middle, "ns2", 2.5));
            let share = with.over(without, Sample::recovery_s).times(100.0);
            let [with, without] = [with, without].map(|sweep| sweep.first_data().mean);
            (share, format!("{with:.2} s, {without:.2} s without a box"))
        }
        _ => {
            debug_assert_eq!(column, FAULT, "the last column");
            let lost = one.lost_bytes().mean;
            let figures = format!("{lost:.0} B were acknowledged and never came");
            (one.after_death_percent(), figures)
        }
    }
}
