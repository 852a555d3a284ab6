//! What the paper says, with our verdicts and the measured facts behind them.
//!
//! Its Tables 1 and 2 are circles and crosses. A circle becomes a limit on a measured number, a
//! cross its opposite; the limits are stated here, once for every box.

mod fades;
mod ours;
mod paths;

use super::boxes::{Measured, of};
use super::detection::Mistaken;
use super::fading::Fades;
use super::kernel::Beside;
use super::paths::Placed;
use super::readings::{PROXY, RENO, Read, capacity_mbit_s, in_kbyte, mathis_mbit_s};
use super::sample::Sample;
use super::stock::Stock;
use super::windows::Windowed;
use crate::verdict::{Stated, Why, above, below, directed, value};
use ackord_measure::stats::{Estimate, ratio};
use ackord_measure::{Allowed, Claim, Claimant};

/// "Fast retransmission": at least so much of what the errors take is given back.
const GIVEN_BACK: f64 = 50.0;
/// "Fading": new data after at most so much of the time that it takes without a box.
const FADING: f64 = 50.0;
/// "Buffer problem": none where a box keeps no more than a window that fills the path and its
/// queue: 2 Mbit/s for 80 ms, and 50 packets of 1040 bytes; bytes.
const WINDOW_BYTES: f64 = 72_000.0;
/// "Fault tolerance": after the box's death at least so much of what goes through without one.
const AFTER_DEATH: f64 = 90.0;
/// How far a number of the paper may be off.
const TOLERANCE: f64 = 0.1;
/// Where that is from.
const A_TENTH: &str = "stated beforehand: a tenth";

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) reads: &'a [Read],
    pub(super) boxes: &'a [Measured],
    pub(super) fades: &'a Fades,
    pub(super) mistaken: &'a [Mistaken],
    pub(super) stock: &'a [Stock],
    pub(super) kernel: &'a [Beside],
    pub(super) windows: &'a [Windowed],
    pub(super) paths: &'a [Placed],
}

/// What a box is said to have, by column.
struct Row {
    middle: &'static str,
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

pub(super) fn claims(findings: &Findings<'_>) -> Vec<Claim> {
    let mut stated = table_3(findings);
    stated.push(reno_waits(findings));
    stated.extend(fades::claims(findings));
    for (table, rows) in [("table1", &TABLE_1), ("table2", &TABLE_2)] {
        for row in rows {
            for (column, says) in row.says.iter().enumerate() {
                if let Some(says) = says {
                    stated.push(circle(findings, (table, row.middle), column, *says));
                }
            }
        }
    }
    stated.extend(ours::ours(findings));
    stated.extend(paths::claims(findings));
    stated.into_iter().map(Stated::judged).collect()
}

/// Table 3, read as errors per KByte: each reading of the box, with a window that never binds and with ns-2's
/// default.
fn table_3(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (variant, id, window) in [("plain", "", ""), ("window-20", ".window-20", ", window 20")] {
        for (middle, numbers, label) in [
            ("none", RENO, "Reno"),
            ("paper", PROXY, "Proxy TCP"),
            ("duplicates", PROXY, "Proxy TCP that acknowledges after duplicates, too,"),
        ] {
            for (rate, paper) in numbers {
                let name = (
                    format!("table3.{rate}.{middle}{id}"),
                    format!("{label} at one error in {rate} KByte{window}"),
                );
                stated.push(at_rate(findings, name, rate, (middle, variant), paper));
            }
        }
    }
    stated
        .extend([(128, 25.0), (64, 93.0)].map(|(rate, percent)| gain_of(findings, rate, percent)));
    stated
}

fn at_rate(
    findings: &Findings<'_>,
    (id, what): (String, String),
    rate: u32,
    (middle, variant): (&str, &str),
    paper: f64,
) -> Stated {
    let of = |middle| in_kbyte(findings.reads, rate, (middle, variant));
    let (read, measured) = (of(middle), of(middle).samples.goodput());
    let ours = of(if middle == "none" { "paper" } else { middle });
    let gain = ours.samples.less(&of("none").samples, Sample::goodput_mbit_s);
    Stated {
        id,
        by: Claimant::Paper,
        what,
        unit: "Mbit/s",
        paper: Some(paper),
        allowed: value(paper, TOLERANCE, A_TENTH),
        direction: directed("Proxy TCP above Reno", gain),
        why: Why::measured(format!(
            "read as kbit the rate gives Reno {:.3}; the errors alone allow a Reno sender {:.2}, the link \
             carries {:.2} Mbit/s of payload. {:.0} retransmissions by the sender and {:.1} timeouts in \
             100 s",
            in_kbit(findings.reads, rate),
            mathis_mbit_s(read.reading.bytes),
            capacity_mbit_s(),
            read.samples.mean(|run| run.retransmitted as f64).mean,
            read.samples.mean(|run| run.timeouts as f64).mean,
        )),
        measured,
    }
}

/// The gains that the text names.
fn gain_of(findings: &Findings<'_>, rate: u32, percent: f64) -> Stated {
    let of = |middle| &in_kbyte(findings.reads, rate, (middle, "plain")).samples;
    let gain = of("paper").over(of("none"), Sample::goodput_mbit_s).plus(-1.0).times(100.0);
    let of_table = |table: [(u32, f64); 2]| {
        table.iter().find(|(known, _)| *known == rate).map_or(f64::NAN, |(_, value)| *value)
    };
    Stated {
        id: format!("text.{rate}.gain"),
        by: Claimant::Paper,
        what: format!("Proxy TCP above Reno at one error in {rate} KByte"),
        unit: "%",
        paper: Some(percent),
        allowed: value(percent, TOLERANCE, A_TENTH),
        direction: directed("a gain", gain),
        why: Why::measured(format!(
            "the paper's own Table 3 has {:+.0} %",
            100.0 * (of_table(PROXY) / of_table(RENO) - 1.0)
        )),
        measured: gain,
    }
}

fn in_kbit(reads: &[Read], rate: u32) -> f64 {
    let wanted = |read: &&Read| {
        read.reading.rate == rate
            && read.reading.bytes < 20_000.0
            && read.middle == "none"
            && read.variant == "plain"
    };
    reads.iter().find(wanted).map_or(f64::NAN, |read| read.samples.goodput().mean)
}

/// Fig. 8: how long a sender of its own accord waits.
fn reno_waits(findings: &Findings<'_>) -> Stated {
    let [long, short] = [2.5, 1.5].map(|lasts| findings.fades.sweep("none", "ns2", lasts));
    let wait = long.first_data();
    Stated {
        id: "fig8.reno-waits".to_owned(),
        by: Claimant::Paper,
        what: "how long Reno does not notice that a fade of 2.5 s is over".to_owned(),
        unit: "s",
        paper: Some(1.0),
        allowed: value(1.0, TOLERANCE, A_TENTH),
        measured: wait,
        // A round trip of 80 ms is nothing that has to be noticed.
        direction: above("longer than a round trip", &wait, 0.1),
        why: Why::measured(format!(
            "from {:.2} to {:.2} s over the phases of its beginning; after 1.5 s {:.2} s",
            wait.min,
            wait.max,
            short.first_data().mean
        )),
    }
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
fn circle(
    findings: &Findings<'_>,
    (table, middle): (&str, &'static str),
    column: usize,
    says: bool,
) -> Stated {
    let Column { name, what, unit, limit, more_is_better } = COLUMNS[column];
    let (measured, figures) = of_column(findings, middle, column);
    // A cross is the opposite limit; for a count of bytes that may not be zero, one byte.
    let allowed = match (more_is_better, says) {
        (true, true) => Allowed::AtLeast { low: limit },
        (false, false) => Allowed::AtLeast { low: limit.max(1.0) },
        (true, false) | (false, true) => Allowed::AtMost { high: limit },
    };
    let direction = match allowed {
        Allowed::AtMost { .. } => below("on the limit's side that the mark says", &measured, limit),
        _ => above("on the limit's side that the mark says", &measured, limit),
    };
    let mark = if says { "O" } else { "X" };
    let label = of(findings.boxes, middle, "ns2").middle.label;
    Stated {
        id: format!("{table}.{middle}.{name}"),
        by: Claimant::Paper,
        what: format!("{label}, {mark}: {what}"),
        unit,
        paper: None,
        allowed,
        measured,
        direction,
        why: Why::measured(figures),
    }
}

/// What was measured of a box for one column, and the figures behind it.
fn of_column(findings: &Findings<'_>, middle: &'static str, column: usize) -> (Estimate, String) {
    let [one, none] = [middle, "none"].map(|middle| of(findings.boxes, middle, "ns2"));
    match column {
        FAST => {
            let [with, without] = [one, none].map(|of| of.errors[1].each(Sample::goodput_mbit_s));
            let taken: Vec<f64> =
                without.iter().map(|without| capacity_mbit_s() - without).collect();
            let given: Vec<f64> = with.iter().zip(&without).map(|(with, w)| with - w).collect();
            let back = ratio(&given, &taken).expect("both are run with the same seeds");
            let [with, without] = [one, none].map(|of| of.errors[1].goodput().mean);
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
            let wait = |middle| findings.fades.sweep(middle, "ns2", 2.5);
            let (with, without) = (wait(middle), wait("none"));
            let share = with.phases.over(&without.phases, Sample::recovery_s).times(100.0);
            let [with, without] = [with, without].map(|sweep| sweep.first_data().mean);
            (share, format!("{with:.2} s, {without:.2} s without a box"))
        }
        _ => {
            debug_assert_eq!(column, FAULT, "the last column");
            let lost = one.lost_bytes().mean;
            let figures = format!("{lost:.0} B were acknowledged and never came");
            (one.after_death_percent(findings.boxes), figures)
        }
    }
}
