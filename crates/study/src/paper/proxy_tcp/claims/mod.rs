//! What the paper says, with our verdicts and the measured facts behind them.
//!
//! Its Tables 1 and 2 are circles and crosses. A circle becomes a limit on a measured number, a
//! cross its opposite; the limits are stated here, once for every box.

mod ours;

use super::boxes::{Measured, of};
use super::detection::Mistaken;
use super::fading::Fades;
use super::kernel::Beside;
use super::readings::{PROXY, RENO, Read, capacity_mbit_s, in_kbyte, mathis_mbit_s};
use super::stock::Stock;
use crate::paper::verdict::{Direction, Expected, Stated};
use ackord_measure::Claim;
use ackord_measure::stats::{Estimate, estimate};

/// "Fast retransmission": at least so much of what the errors take is given back.
const GIVEN_BACK: f64 = 50.0;
/// "Fading": new data after at most so much of the time that it takes without a box.
const FADING: f64 = 50.0;
/// "Buffer problem": none where a box keeps no more than a window that fills the path and its
/// queue: 2 Mbit/s for 80 ms, and 50 packets of 1040 bytes; bytes.
const WINDOW_BYTES: f64 = 72_000.0;
/// "Fault tolerance": after the box's death at least so much of what goes through without one.
const AFTER_DEATH: f64 = 90.0;
/// How far a number of Table 3 may be off; ns-2's own spread between the variants of the sender is
/// as wide.
const TOLERANCE: f64 = 0.15;

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) reads: &'a [Read],
    pub(super) boxes: &'a [Measured],
    pub(super) fades: &'a Fades,
    pub(super) mistaken: &'a [Mistaken],
    pub(super) stock: &'a [Stock],
    pub(super) kernel: &'a [Beside],
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
    stated.extend(figures(findings));
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
    stated.into_iter().map(Stated::judged).collect()
}

/// A value that is no mean of runs.
fn single(value: f64) -> Estimate {
    estimate(&[value]).expect("one value")
}

/// Table 3, read as errors per KByte.
fn table_3(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (middle, numbers, label) in [("none", RENO, "Reno"), ("paper", PROXY, "Proxy TCP")] {
        for (rate, value) in numbers {
            let read = in_kbyte(findings.reads, rate, middle);
            let measured = read.samples.goodput();
            let reno = in_kbyte(findings.reads, rate, "none").samples.goodput().mean;
            stated.push(Stated {
                id: format!("table3.{rate}.{middle}"),
                what: format!("{label} at one error in {rate} KByte"),
                unit: "Mbit/s",
                paper: Some(value),
                expected: Expected::Value { value, tolerance: TOLERANCE },
                direction: Direction::agrees_if(middle == "none" || measured.mean > reno),
                why: format!(
                    "read as kbit the rate gives Reno {:.3}; the errors alone allow a Reno sender \
                     {:.2}, the link carries {:.2} Mbit/s of payload. {:.0} retransmissions by the \
                     sender and {:.1} timeouts in 100 s",
                    in_kbit(findings.reads, rate),
                    mathis_mbit_s(read.reading.bytes),
                    capacity_mbit_s(),
                    read.samples.mean(|run| run.retransmitted as f64).mean,
                    read.samples.mean(|run| run.timeouts as f64).mean,
                ),
                measured,
            });
        }
    }
    for (rate, percent) in [(128, 25.0), (64, 93.0)] {
        let of = |middle| in_kbyte(findings.reads, rate, middle).samples.goodput().mean;
        let (none, with) = (of("none"), of("paper"));
        let of_table = |table: [(u32, f64); 2]| {
            table.iter().find(|(known, _)| *known == rate).map_or(f64::NAN, |(_, value)| *value)
        };
        stated.push(Stated {
            id: format!("text.{rate}.gain"),
            what: format!("Proxy TCP above Reno at one error in {rate} KByte"),
            unit: "%",
            paper: Some(percent),
            expected: Expected::Value { value: percent, tolerance: TOLERANCE },
            measured: single(100.0 * (with / none - 1.0)),
            direction: Direction::agrees_if(with > none),
            why: format!(
                "the paper's own Table 3 has {:+.0} %",
                100.0 * (of_table(PROXY) / of_table(RENO) - 1.0)
            ),
        });
    }
    stated
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

/// Fig. 6, 7 and 8.
fn figures(findings: &Findings<'_>) -> Vec<Stated> {
    let fades = findings.fades;
    let ahead = fades.packets_ahead("paper");
    let recovery = |middle, lasts| fades.sweep(middle, "ns2", lasts).first_data();
    let reno = recovery("none", 2.5);
    let mut stated = vec![
        Stated {
            id: "fig6.ahead".to_owned(),
            what: "Proxy TCP ahead of Reno after 5 s with two short fades".to_owned(),
            unit: "packets",
            paper: Some(90.0),
            expected: Expected::Value { value: 90.0, tolerance: 0.25 },
            measured: ahead,
            direction: Direction::agrees_if(ahead.mean > 0.0),
            why: format!(
                "practical {:+.0} packets; over seeds from {:.0} to {:.0}",
                fades.packets_ahead("practical").mean,
                ahead.min,
                ahead.max
            ),
        },
        Stated {
            id: "fig8.reno-waits".to_owned(),
            what: "how long Reno does not notice that a fade of 2.5 s is over".to_owned(),
            unit: "s",
            paper: Some(1.0),
            expected: Expected::Value { value: 1.0, tolerance: 0.25 },
            measured: reno,
            direction: Direction::agrees_if(reno.mean > 0.1),
            why: format!(
                "it depends on the phase of the back-off: from {:.2} to {:.2} s over the phases; \
                 after 1.5 s {:.2} s",
                reno.min,
                reno.max,
                recovery("none", 1.5).mean
            ),
        },
    ];
    for (lasts, figure) in [(1.5, 7), (2.5, 8)] {
        let sweep = fades.sweep("paper", "ns2", lasts);
        let back = sweep.rate_back();
        let none = fades.sweep("none", "ns2", lasts).rate_back();
        let share = 100.0 * back.mean / none.mean;
        stated.push(Stated {
            id: format!("fig{figure}.old-rate"),
            what: format!(
                "Proxy TCP's time back to its old rate after {lasts} s, of Reno's: at most half"
            ),
            unit: "%",
            paper: None,
            expected: Expected::AtMost(50.0),
            measured: single(share),
            direction: Direction::agrees_if(share < 100.0),
            why: format!(
                "{:.2} s and {:.2} s; first new data after {:.2} s and {:.2} s; timeouts {:.1} and \
                 {:.1}",
                back.mean,
                none.mean,
                sweep.first_data().mean,
                recovery("none", lasts).mean,
                sweep.phases.mean(|run| run.timeouts as f64).mean,
                fades.sweep("none", "ns2", lasts).phases.mean(|run| run.timeouts as f64).mean,
            ),
        });
    }
    stated
}

/// A circle (`says`) or a cross of Table 1 or 2, with the paper's sender.
fn circle(
    findings: &Findings<'_>,
    (table, middle): (&str, &'static str),
    column: usize,
    says: bool,
) -> Stated {
    let one = of(findings.boxes, middle, "ns2");
    let none = of(findings.boxes, "none", "ns2");
    let label = one.middle.label;
    let (name, what, unit, measured, limit, higher, why) = match column {
        FAST => {
            let [with, without] = [one, none].map(|of| of.errors[1].goodput().mean);
            let back = 100.0 * (with - without) / (capacity_mbit_s() - without);
            let what = "of what errors at one in 64 KByte take, given back";
            let why = format!("{with:.3} Mbit/s, {without:.3} without a box");
            ("fast-retransmission", what, "%", back, GIVEN_BACK, true, why)
        }
        SEMANTICS => {
            let what = "acknowledged before the mobile had it, at most";
            let early = one.early_bytes() as f64;
            ("semantics", what, "B", early, 0.0, false, "over both error rates".to_owned())
        }
        BUFFER => {
            let what = "kept in the box, at most";
            let kept = one.peak_kept_bytes() as f64;
            let why = format!("a window that fills path and queue is {WINDOW_BYTES:.0} B");
            ("buffer", what, "B", kept, WINDOW_BYTES, false, why)
        }
        FADE => {
            let wait = |middle| findings.fades.sweep(middle, "ns2", 2.5).first_data().mean;
            let (with, without) = (wait(middle), wait("none"));
            let what = "wait for new data after 2.5 s, of the wait without a box";
            let why = format!("{with:.2} s, {without:.2} s without a box");
            ("fading", what, "%", 100.0 * with / without, FADING, false, why)
        }
        _ => {
            debug_assert_eq!(column, FAULT, "the last column");
            let share = one.after_death_percent(findings.boxes).mean;
            let what = "delivered after the box's death, of what goes through without one";
            let why = format!("{:.0} B were acknowledged and never came", one.lost_bytes().mean);
            ("fault-tolerance", what, "%", share, AFTER_DEATH, true, why)
        }
    };
    // A cross is the opposite limit; for a count of bytes that may not be zero, one byte.
    let expected = match (higher, says) {
        (true, true) => Expected::AtLeast(limit),
        (false, false) => Expected::AtLeast(limit.max(1.0)),
        (true, false) | (false, true) => Expected::AtMost(limit),
    };
    let holds = matches!(expected, Expected::AtLeast(limit) if measured >= limit)
        || matches!(expected, Expected::AtMost(limit) if measured <= limit);
    let mark = if says { "O" } else { "X" };
    Stated {
        id: format!("{table}.{middle}.{name}"),
        what: format!("{label}, {mark}: {what}"),
        unit,
        paper: None,
        expected,
        measured: single(measured),
        direction: Direction::agrees_if(holds),
        why,
    }
}
