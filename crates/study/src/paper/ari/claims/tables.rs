//! Tables 1 to 4: times, rates, and what ARI changes about them.

use super::{Findings, Stated, shown};
use crate::paper::ari::sample::{Runs, Sample};
use crate::paper::ari::setup::{Air, Control, Growth, PaperSize, Policy, SIZES, Setup};
use crate::paper::ari::transfers::{Quantity, as_described, thousand};
use crate::paper::verdict::{Direction, Expected};
use ackord_measure::stats::Estimate;

/// Of times (as the clock shows them) and rates.
const TOLERANCE: f64 = 0.1;
/// Of changes by ARI.
const TOLERANCE_OF_CHANGES: f64 = 0.5;

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
            let paper = quantity.paper(row.size, row.control);
            for ((policy, runs), paper) in
                [("linux", row.base), ("ari", row.ari)].into_iter().zip(paper)
            {
                stated.push(value(quantity, row, (policy, runs), paper));
            }
        }
    }
    stated
}

fn value(quantity: Quantity, row: &Row<'_>, (policy, runs): (&str, &Runs), paper: f64) -> Stated {
    let Row { size, control, .. } = row;
    let measured = match quantity {
        Quantity::Time => runs.mean(Sample::shown_s),
        Quantity::Rate => runs.mean(Sample::first_rate_mbit_s),
    };
    let with = if policy == "ari" { ", ARI" } else { "" };
    let table = number(quantity, *control);
    Stated {
        id: format!("table{table}-{}-{policy}", size.id),
        what: format!(
            "Table {table}: mean {} of {}, {}{with}",
            word(quantity),
            size.label,
            control.label()
        ),
        unit: quantity.unit(),
        paper: Some(paper),
        expected: Expected::Value { value: paper, tolerance: TOLERANCE },
        measured,
        direction: Direction::Agrees,
        why: value_reason(size, runs, paper, quantity),
    }
}

fn value_reason(size: &PaperSize, runs: &Runs, paper: f64, quantity: Quantity) -> String {
    let times = runs.times();
    let facts = format!(
        "mean here {} s ({} Mbit/s), worst {:.3} s: the air is the limit, {:.0} packets wait for \
         it on average, {:.2} timeouts a run",
        shown(runs.mean(Sample::time_s), 3),
        shown(runs.mean(Sample::first_rate_mbit_s), 2),
        times.max,
        runs.mean(|run| run.queue_packets).mean,
        runs.mean(|run| run.timeouts as f64).mean,
    );
    let megabits = size.bytes as f64 * 8.0 / 1e6;
    match quantity {
        Quantity::Time => format!(
            "{facts}; the paper's time is of a clock of 0.1 s and stands for {:.2} Mbit/s",
            megabits / paper
        ),
        Quantity::Rate => format!("{facts}; the paper's rate stands for {:.3} s", megabits / paper),
    }
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
            what: format!(
                "§3.1: acknowledging a usual transfer of 0.1 MB at once makes it shorter, host 20 \
                 ms away, {what}"
            ),
            unit: "%",
            paper: None,
            expected: Expected::AtMost(-5.0),
            measured,
            direction: Direction::agrees_if(is_told_apart(measured, -1.0)),
            why: format!(
                "{} ms instead of {} ms, with {:.0} acknowledgments instead of {:.0} and {:.1} ms \
                 of air for them instead of {:.1} ms",
                shown(thousand(runs.mean(Sample::time_s)), 1),
                shown(thousand(base.mean(Sample::time_s)), 1),
                acks(runs),
                acks(base),
                runs.mean(|run| run.up_air_s * 1e3).mean,
                base.mean(|run| run.up_air_s * 1e3).mean,
            ),
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
        what: format!(
            "Table {table}: what ARI changes about the {} of {}, {}",
            word(quantity),
            size.label,
            control.label()
        ),
        unit: "%",
        paper: Some(paper),
        expected: Expected::Value { value: paper, tolerance: TOLERANCE_OF_CHANGES },
        measured,
        direction: Direction::agrees_if(is_told_apart(measured, paper)),
        why: change_reason(row),
    }
}

/// Whether the change goes the paper's way and its interval leaves out no change at all.
fn is_told_apart(measured: Estimate, paper: f64) -> bool {
    measured.mean * paper > 0.0 && measured.mean.abs() > measured.ci95.unwrap_or(0.0)
}

fn change_reason(row: &Row<'_>) -> String {
    let Row { base, ari, immediate, .. } = row;
    let acks = |runs: &Runs| runs.mean(|run| run.acks as f64).mean;
    let queue = |runs: &Runs| runs.mean(|run| run.queue_packets).mean;
    format!(
        "{:.1} acknowledgments instead of {:.1}; {:.0} packets wait for the air on average either \
         way, so nothing waits for acknowledgments; one for every segment ({:.0}) changes the \
         time by {} %, for each takes air of its own",
        acks(ari),
        acks(base),
        queue(base),
        acks(immediate),
        shown(immediate.change_percent(base, Sample::time_s), 1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_only_if_its_interval_leaves_out_no_change() {
        let estimate = |mean, ci95| Estimate {
            runs: 30,
            mean,
            std_dev: None,
            ci95: Some(ci95),
            min: mean,
            max: mean,
        };
        assert!(is_told_apart(estimate(-3.0, 1.0), -30.0));
        assert!(!is_told_apart(estimate(-1.0, 3.0), -30.0));
        assert!(!is_told_apart(estimate(3.0, 1.0), -30.0));
    }
}
