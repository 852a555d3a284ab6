//! Tables 1 to 4: times, rates, and what ARI changes about them.

use super::{Findings, Stated, shown};
use crate::ari::sample::{Runs, Sample};
use crate::ari::setup::{Air, Control, Growth, PaperSize, Policy, SIZES, Setup};
use crate::ari::transfers::{Quantity, as_described, thousand};
use crate::verdict::{Why, below, by_itself, directed, value};
use ackord_measure::{Allowed, Claimant};

/// Of times and rates.
const TOLERANCE: f64 = 0.1;
/// What a clock that shows tenths of a second leaves open, seconds.
const HALF_A_TENTH: f64 = 0.05;
/// Of changes by ARI.
const TOLERANCE_OF_CHANGES: f64 = 0.5;
const HALF: &str = "stated beforehand: half of the paper's change";

const QUANTITIES: [Quantity; 2] = [Quantity::Time, Quantity::Rate];

/// One size and control with its runs.
struct Row<'a> {
    size: &'static PaperSize,
    control: Control,
    base: &'a Runs,
    ari: &'a Runs,
    immediate: &'a Runs,
}

fn rows<'a>(findings: &'a Findings<'_>) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for control in Control::ALL {
        for (index, size) in SIZES.iter().enumerate() {
            let of = |policy| findings.transfers.of(as_described(index, control, policy));
            rows.push(Row {
                size,
                control,
                base: of(Policy::QuickAck),
                ari: of(Policy::Ari),
                immediate: of(Policy::Immediate),
            });
        }
    }
    rows
}

/// The number of the paper's table.
fn number(quantity: Quantity, control: Control) -> u32 {
    match (quantity, control) {
        (Quantity::Time, Control::Cubic) => 1,
        (Quantity::Time, Control::Reno) => 2,
        (Quantity::Rate, Control::Cubic) => 3,
        (Quantity::Rate, Control::Reno) => 4,
    }
}

fn word(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Time => "time",
        Quantity::Rate => "rate",
    }
}

/// Every time and rate of Tables 1 to 4.
pub(super) fn values(findings: &Findings<'_>) -> Vec<Stated> {
    let rows = rows(findings);
    let mut stated = Vec::new();
    for quantity in QUANTITIES {
        for row in &rows {
            stated.extend(["linux", "ari"].map(|policy| one_value(quantity, row, policy)));
        }
    }
    stated
}

fn one_value(quantity: Quantity, row: &Row<'_>, policy: &str) -> Stated {
    let Row { size, control, base, ari, .. } = row;
    let [linux_paper, ari_paper] = quantity.paper(size, *control);
    let mean = |runs: &Runs| runs.mean(|sample| quantity.of(sample));
    let faster = if linux_paper > ari_paper { -1.0 } else { 1.0 };
    let (runs, paper, with, direction) = match policy {
        "ari" => {
            let change = ari.change_percent(base, |sample| quantity.of(sample));
            let direction = directed("ARI beside Linux as in the paper", change.times(faster));
            (ari, ari_paper, ", ARI", direction)
        }
        _ => (base, linux_paper, "", by_itself(&mean(base))),
    };
    let table = number(quantity, *control);
    Stated {
        id: format!("table{table}-{}-{policy}", size.id),
        by: Claimant::Paper,
        what: format!(
            "Table {table}: mean {} of {}, {}{with}",
            word(quantity),
            size.label,
            control.label()
        ),
        unit: quantity.unit(),
        paper: Some(paper),
        allowed: allowed(quantity, paper),
        measured: mean(runs),
        direction,
        why: Why::measured(value_figures(size, runs, paper, quantity)),
    }
}

/// A tenth, stated beforehand: somewhat less than what a tenth more or fewer damaged frames changes, whose
/// share is this project's choice. Times were read from a clock that shows no less than a tenth of a second.
fn allowed(quantity: Quantity, paper: f64) -> Allowed {
    let (tolerance, tolerance_from) = match quantity {
        Quantity::Time if TOLERANCE * paper < HALF_A_TENTH => {
            (HALF_A_TENTH, "half of the last digit that the paper shows")
        }
        _ => (TOLERANCE * paper, "stated beforehand: a tenth"),
    };
    Allowed::Value { value: paper, tolerance, tolerance_from: tolerance_from.to_owned() }
}

fn value_figures(size: &PaperSize, runs: &Runs, paper: f64, quantity: Quantity) -> String {
    let times = runs.times();
    let megabits = size.bytes as f64 * 8.0 / 1e6;
    let stands_for = match quantity {
        Quantity::Time => format!("time stands for {:.2} Mbit/s", megabits / paper),
        Quantity::Rate => format!("rate stands for {:.3} s", megabits / paper),
    };
    format!(
        "mean here {} s ({} Mbit/s), worst {:.3} s: {:.0} packets wait for the air on average, {:.2} \
         timeouts a run; the paper's {stands_for}",
        shown(runs.mean(Sample::time_s), 3),
        shown(runs.mean(Sample::first_rate_mbit_s), 2),
        times.max,
        runs.mean(|run| run.queue_packets).mean,
        runs.mean(|run| run.timeouts as f64).mean,
    )
}

/// What ARI changes: the columns "Rate" of Tables 1 to 4.
pub(super) fn changes(findings: &Findings<'_>) -> Vec<Stated> {
    let rows = rows(findings);
    let mut stated = Vec::new();
    for quantity in QUANTITIES {
        stated.extend(rows.iter().map(|row| change(quantity, row)));
    }
    stated
}

/// Where quick acknowledgments have something to hasten: a window that grows with each of them, and
/// round trips that are long beside the transfer.
pub(super) fn distant(findings: &Findings<'_>) -> Vec<Stated> {
    let of = |growth, policy| {
        let (control, air) = (Control::Reno, Air::Distant);
        findings.transfers.of(Setup { size: 0, control, growth, policy, air })
    };
    let stated = |id: &str, what: &str, growth, base| {
        let (runs, base) = (of(growth, Policy::AriHistory), of(growth, base));
        let measured = runs.change_percent(base, Sample::time_s);
        let acks = |runs: &Runs| runs.mean(|run| run.acks as f64).mean;
        Stated {
            id: id.to_owned(),
            by: Claimant::Paper,
            what: format!(
                "§3.1: acknowledging a usual transfer of 0.1 MB at once makes it shorter, host 20 \
                 ms away, {what}"
            ),
            unit: "%",
            paper: None,
            allowed: Allowed::AtMost { high: -5.0 },
            measured,
            direction: below("shorter", &measured, 0.0),
            why: Why::measured(format!(
                "{} ms instead of {} ms, with {:.0} acknowledgments instead of {:.0} and {:.1} ms \
                 of air for them instead of {:.1} ms",
                shown(thousand(runs.mean(Sample::time_s)), 1),
                shown(thousand(base.mean(Sample::time_s)), 1),
                acks(runs),
                acks(base),
                runs.mean(|run| run.up_air_s * 1e3).mean,
                base.mean(|run| run.up_air_s * 1e3).mean,
            )),
        }
    };
    let (per_ack, per_byte) = (Growth::PerAck, Growth::PerByte);
    vec![
        stated(
            "distant-per-ack",
            "growing per acknowledgment, against Linux (paper)",
            per_ack,
            Policy::QuickAck,
        ),
        stated(
            "distant-per-ack-linux",
            "growing per acknowledgment, against Linux (measured)",
            per_ack,
            Policy::Linux,
        ),
        stated(
            "distant-per-byte",
            "growing per byte, against Linux (paper)",
            per_byte,
            Policy::QuickAck,
        ),
    ]
}

fn change(quantity: Quantity, row: &Row<'_>) -> Stated {
    let Row { size, control, base, ari, .. } = row;
    let [paper, paper_ari] = quantity.paper(size, *control);
    let paper = 100.0 * (paper_ari / paper - 1.0);
    let measured = ari.change_percent(base, |sample| quantity.of(sample));
    let table = number(quantity, *control);
    Stated {
        id: format!("table{table}-{}-change", size.id),
        by: Claimant::Paper,
        what: format!(
            "Table {table}: what ARI changes about the {} of {}, {}",
            word(quantity),
            size.label,
            control.label()
        ),
        unit: "%",
        paper: Some(paper),
        allowed: value(paper, TOLERANCE_OF_CHANGES, HALF),
        measured,
        direction: directed("the paper's way", measured.times(paper.signum())),
        why: change_reason(row),
    }
}

fn change_reason(row: &Row<'_>) -> Why {
    let Row { base, ari, immediate, .. } = row;
    let acks = |runs: &Runs| runs.mean(|run| run.acks as f64).mean;
    let queue = |runs: &Runs| runs.mean(|run| run.queue_packets).mean;
    let at_once = immediate.change_percent(base, Sample::time_s);
    Why::measured(format!(
        "{:.1} acknowledgments instead of {:.1}; {:.0} packets wait for the air on average without ARI \
         and {:.0} with it; one acknowledgment for every segment ({:.0}) changes the time by {} %",
        acks(ari),
        acks(base),
        queue(base),
        queue(ari),
        acks(immediate),
        shown(at_once, 1),
    ))
    .since(
        queue(base) >= 1.0,
        "The air always has something to send, so nothing waits for acknowledgments, and each takes air \
         of its own",
    )
}
