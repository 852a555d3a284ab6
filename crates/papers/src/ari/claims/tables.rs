//! Tables 1 to 4: times, rates, and what ARI changes about them.

use crate::ari::sample::Sample;
use crate::ari::setup::{Air, Control, Growth, PaperSize, Policy, SIZES, Transfer};
use crate::ari::transfers::{Quantity, Transfers};
use crate::cells::Runs;
use crate::claims::{Stated, TENTH, at_most, directed, paper, shown, tenth, value, within};
use ackord_measure::Allowed;

/// What a clock that shows tenths of a second leaves open, seconds.
const HALF_A_TENTH: f64 = 0.05;
/// Of changes by ARI.
const TOLERANCE_OF_CHANGES: f64 = 0.5;

const QUANTITIES: [Quantity; 2] = [Quantity::Time, Quantity::Rate];

/// One size and control with its runs.
struct Row<'a> {
    size: &'static PaperSize,
    control: Control,
    base: &'a Runs<Sample>,
    ari: &'a Runs<Sample>,
    immediate: &'a Runs<Sample>,
}

/// Of each quantity.
fn rows(transfers: &Transfers) -> impl Iterator<Item = (Quantity, Row<'_>)> {
    let sizes = || Control::ALL.into_iter().flat_map(|c| (0..SIZES.len()).map(move |s| (c, s)));
    let all =
        QUANTITIES.into_iter().flat_map(move |quantity| sizes().map(move |of| (quantity, of)));
    all.map(|(quantity, (control, index))| {
        let of = |policy| transfers.of(&Transfer::as_described(index, control, policy));
        let [base, ari, immediate] = [Policy::QuickAck, Policy::Ari, Policy::Immediate].map(of);
        (quantity, Row { size: &SIZES[index], control, base, ari, immediate })
    })
}

/// The number of the paper's table, and what it is of.
fn table(quantity: Quantity, control: Control) -> (u32, &'static str) {
    match (quantity, control) {
        (Quantity::Time, Control::Cubic) => (1, "time"),
        (Quantity::Time, Control::Reno) => (2, "time"),
        (Quantity::Rate, Control::Cubic) => (3, "rate"),
        (Quantity::Rate, Control::Reno) => (4, "rate"),
    }
}

/// Every time and rate of Tables 1 to 4.
pub(super) fn values(transfers: &Transfers) -> Vec<Stated> {
    let of = |(quantity, row)| [false, true].map(|with_ari| one_value(quantity, &row, with_ari));
    rows(transfers).flat_map(of).collect()
}

fn one_value(quantity: Quantity, row: &Row<'_>, with_ari: bool) -> Stated {
    let Row { size, control, base, ari, .. } = row;
    let [linux_paper, ari_paper] = quantity.paper(size, *control);
    let (table, word) = table(quantity, *control);
    let (runs, published, policy, with) = match with_ari {
        true => (ari, ari_paper, "ari", ", ARI"),
        false => (base, linux_paper, "linux", ""),
    };
    let what = format!("Table {table}: mean {word} of {}, {}{with}", size.label, control.label());
    let id = format!("table{table}-{}-{policy}", size.id);
    let measured = runs.mean(|run| quantity.of(run));
    let claim = paper(id, what, quantity.unit(), measured, allowed(quantity, published))
        .why(value_figures(size, runs, published, quantity));
    if !with_ari {
        return claim;
    }
    let faster = if linux_paper > ari_paper { -1.0 } else { 1.0 };
    let change = ari.change_percent(base, |run| quantity.of(run)).times(faster);
    claim.claims(directed("ARI beside Linux as in the paper", change))
}

/// A tenth, stated beforehand: somewhat less than what a tenth more or fewer damaged frames changes, whose
/// share is this project's choice. Times were read from a clock that shows no less than a tenth of a second.
fn allowed(quantity: Quantity, published: f64) -> Allowed {
    match quantity {
        Quantity::Time if TENTH * published < HALF_A_TENTH => {
            within(published, HALF_A_TENTH, "half of the last digit that the paper shows")
        }
        _ => tenth(published),
    }
}

fn value_figures(
    size: &PaperSize,
    runs: &Runs<Sample>,
    published: f64,
    quantity: Quantity,
) -> String {
    let megabits = size.bytes as f64 * 8.0 / 1e6;
    let stands_for = match quantity {
        Quantity::Time => format!("time stands for {:.2} Mbit/s", megabits / published),
        Quantity::Rate => format!("rate stands for {:.3} s", megabits / published),
    };
    format!(
        "mean here {} s ({} Mbit/s), worst {:.3} s: {:.0} packets wait for the air on average, {:.2} \
         timeouts a run; the paper's {stands_for}",
        shown(runs.mean(Sample::time_s), 3),
        shown(runs.mean(Sample::first_rate_mbit_s), 2),
        runs.times().max,
        runs.mean(|run| run.queue_packets).mean,
        runs.mean(|run| run.timeouts).mean,
    )
}

/// What ARI changes: the columns "Rate" of Tables 1 to 4.
pub(super) fn changes(transfers: &Transfers) -> Vec<Stated> {
    rows(transfers).map(|(quantity, row)| change(quantity, &row)).collect()
}

fn change(quantity: Quantity, row: &Row<'_>) -> Stated {
    let Row { size, control, base, ari, immediate } = row;
    let [linux, with_ari] = quantity.paper(size, *control);
    let published = 100.0 * (with_ari / linux - 1.0);
    let measured = ari.change_percent(base, |run| quantity.of(run));
    let (table, word) = table(quantity, *control);
    let what = format!(
        "Table {table}: what ARI changes about the {word} of {}, {}",
        size.label,
        control.label()
    );
    let half =
        value(published, TOLERANCE_OF_CHANGES, "stated beforehand: half of the paper's change");
    let queue = |runs: &Runs<Sample>| runs.mean(|run| run.queue_packets).mean;
    let at_once = immediate.change_percent(base, Sample::time_s);
    paper(format!("table{table}-{}-change", size.id), what, "%", measured, half)
        .claims(directed("the paper's way", measured.times(published.signum())))
        .why(format!(
            "{:.1} acknowledgments instead of {:.1}; {:.0} packets wait for the air on average without ARI \
             and {:.0} with it; one acknowledgment for every segment ({:.0}) changes the time by {} %",
            ari.acks(),
            base.acks(),
            queue(base),
            queue(ari),
            immediate.acks(),
            shown(at_once, 1),
        ))
        .since(
            queue(base) >= 1.0,
            "The air always has something to send, so nothing waits for acknowledgments, and each takes air \
             of its own",
        )
}

/// Where quick acknowledgments have something to hasten: a window that grows with each of them, and
/// round trips that are long beside the transfer.
pub(super) fn distant(transfers: &Transfers) -> [Stated; 3] {
    let of = |growth, policy| {
        let (control, air) = (Control::Reno, Air::Distant);
        transfers.of(&Transfer { size: 0, control, growth, policy, air })
    };
    let stated = |id: &str, what: &str, growth, base| {
        let (runs, base) = (of(growth, Policy::AriHistory), of(growth, base));
        let what = format!(
            "§3.1: acknowledging a usual transfer of 0.1 MB at once makes it shorter, host 20 \
             ms away, {what}"
        );
        let change = runs.change_percent(base, Sample::time_s);
        paper(id, what, "%", change, at_most(-5.0)).below("shorter", 0.0).why(format!(
            "{} ms instead of {} ms, with {:.0} acknowledgments instead of {:.0} and {:.1} ms \
             of air for them instead of {:.1} ms",
            shown(runs.mean_ms(Sample::time_s), 1),
            shown(base.mean_ms(Sample::time_s), 1),
            runs.acks(),
            base.acks(),
            runs.mean(|run| run.up_air_s * 1e3).mean,
            base.mean(|run| run.up_air_s * 1e3).mean,
        ))
    };
    let (per_ack, per_byte) = (Growth::PerAck, Growth::PerByte);
    let (paper, measured) = (Policy::QuickAck, Policy::Linux);
    let per_ack_words = "growing per acknowledgment, against Linux (paper)";
    let linux_words = "growing per acknowledgment, against Linux (measured)";
    [
        stated("distant-per-ack", per_ack_words, per_ack, paper),
        stated("distant-per-ack-linux", linux_words, per_ack, measured),
        stated("distant-per-byte", "growing per byte, against Linux (paper)", per_byte, paper),
    ]
}
