//! Table 3, and what its "64 kbps^-1" can mean: one error in 64 kbit, or in 64 KByte.

use super::sample::{Outcomes, Samples};
use super::setup::{AIR_MBIT_S, File, PAYLOAD_BYTES, Plan, Runs, boxed, errors, set};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use serde::Serialize;

/// A way to read the paper's error rate.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) label: &'static str,
    /// The paper's name of the rate: 128 or 64.
    pub(super) rate: u32,
    /// One damaged byte in so many.
    pub(super) bytes: f64,
}

/// KByte is 1024 bytes, kbit 1000 bits.
pub(super) static READINGS: [Reading; 4] = [
    Reading { label: "one error in 128 KByte", rate: 128, bytes: 131_072.0 },
    Reading { label: "one error in 64 KByte", rate: 64, bytes: 65_536.0 },
    Reading { label: "one error in 128 kbit", rate: 128, bytes: 16_000.0 },
    Reading { label: "one error in 64 kbit", rate: 64, bytes: 8_000.0 },
];

/// The paper's Table 3: Reno and Proxy TCP at 128 and at 64, Mbit/s.
pub(super) const RENO: [(u32, f64); 2] = [(128, 1.18), (64, 0.67)];
pub(super) const PROXY: [(u32, f64); 2] = [(128, 1.43), (64, 1.39)];

/// What the paper leaves open about its sender.
struct Variant {
    id: &'static str,
    label: &'static str,
    changes: &'static [(&'static str, &'static str)],
}

static VARIANTS: [Variant; 5] = [
    Variant { id: "plain", label: "as in the file", changes: &[] },
    Variant {
        id: "window-20",
        label: "window of 20 packets",
        changes: &[("tcp.max_window", "20")],
    },
    Variant { id: "rto-1s", label: "minimum RTO 1 s", changes: &[("tcp.rto_min", "1 s")] },
    Variant { id: "mss-1460", label: "1460 B packets", changes: &[("tcp.mss", "1460 B")] },
    Variant { id: "delayed", label: "delayed ACKs", changes: &[("tcp.ack", "delayed")] },
];

/// A reading, a variant of the sender and a box, and their runs.
type Planned = (&'static Reading, &'static str, &'static str, Runs);

#[derive(Debug)]
pub(super) struct ReadingPlan(Vec<Planned>);

/// One reading, sender variant and box.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) reading: &'static Reading,
    pub(super) variant: &'static str,
    pub(super) middle: &'static str,
    pub(super) samples: Samples,
}

#[derive(Serialize)]
pub(super) struct ReadData {
    reading: &'static str,
    sender: &'static str,
    middle_box: &'static str,
    goodput_mbit_s: Estimate,
}

pub(super) fn plan(plan: &mut Plan, seeds: u64) -> Result<ReadingPlan, Errors> {
    let mut planned = Vec::new();
    for reading in &READINGS {
        for variant in &VARIANTS {
            for middle in ["none", "paper", "duplicates"] {
                let set_each = |(path, value): &(&str, &str)| set(path, *value);
                let more: Vec<Override> = variant.changes.iter().map(set_each).collect();
                let changes = [errors(reading.bytes), boxed(middle).changes(), more].concat();
                let runs = plan.add(File::BitErrors, changes, seeds)?;
                planned.push((reading, variant.id, middle, runs));
            }
        }
    }
    Ok(ReadingPlan(planned))
}

pub(super) fn read(plan: &ReadingPlan, outcomes: &Outcomes) -> Vec<Read> {
    let one = |(reading, variant, middle, runs): &Planned| Read {
        reading,
        variant,
        middle,
        samples: outcomes.samples(runs),
    };
    plan.0.iter().map(one).collect()
}

/// The runs of a reading in KByte, of a box and a variant of the sender.
///
/// # Panics
/// If there are none: every variant is run with and without the box.
pub(super) fn in_kbyte<'a>(
    reads: &'a [Read],
    rate: u32,
    (middle, variant): (&str, &str),
) -> &'a Read {
    let wanted = |read: &&Read| {
        read.reading.rate == rate
            && read.reading.bytes > 20_000.0
            && (read.middle, read.variant) == (middle, variant)
    };
    reads.iter().find(wanted).expect("every reading is run")
}

impl Read {
    pub(super) fn data(&self) -> ReadData {
        ReadData {
            reading: self.reading.label,
            sender: self.variant,
            middle_box: self.middle,
            goodput_mbit_s: self.samples.goodput(),
        }
    }
}

/// Goodput under every reading and variant; the paper's numbers beside them.
pub(super) fn table(reads: &[Read]) -> Table {
    let columns = vec![
        Column::words("reading"),
        Column::words("sender"),
        Column::numbers("Reno", "Mbit/s"),
        Column::numbers("paper", "Mbit/s"),
        Column::numbers("Proxy TCP", "Mbit/s"),
        Column::numbers("also after duplicates", "Mbit/s"),
        Column::numbers("paper", "Mbit/s"),
        Column::numbers("Mathis", "Mbit/s"),
    ];
    let mut rows = Vec::new();
    for reading in &READINGS {
        for variant in &VARIANTS {
            let goodput = |middle: &str| {
                let found = reads.iter().find(|read| {
                    read.reading.label == reading.label
                        && read.variant == variant.id
                        && read.middle == middle
                });
                let estimate = found.map(|read| read.samples.goodput());
                estimate.map_or(Cell::Missing, |estimate| Cell::Interval {
                    mean: estimate.mean,
                    half_width: estimate.ci95,
                    decimals: 3,
                })
            };
            let paper = |table: &[(u32, f64)]| {
                let found = table.iter().find(|(rate, _)| *rate == reading.rate);
                Cell::number(found.map(|(_, value)| *value), 2)
            };
            rows.push(vec![
                Cell::text(reading.label),
                Cell::text(variant.label),
                goodput("none"),
                paper(&RENO),
                goodput("paper"),
                goodput("duplicates"),
                paper(&PROXY),
                Cell::number(mathis_mbit_s(reading.bytes), 3),
            ]);
        }
    }
    Table {
        caption:
            "Table 3 under each reading of the error rate, and with what the paper leaves open \
                  about its sender (goodput; Mathis: what the errors alone allow a Reno sender)"
                .to_owned(),
        columns,
        rows,
    }
}

/// The wireless link's payload capacity, Mbit/s.
pub(super) fn capacity_mbit_s() -> f64 {
    AIR_MBIT_S * PAYLOAD_BYTES / (PAYLOAD_BYTES + 40.0)
}

/// Mathis et al. 1997 Eq. 3 with an acknowledgment for every packet, no more than the capacity.
#[expect(clippy::disallowed_methods, reason = "a figure of a report")]
pub(super) fn mathis_mbit_s(bytes_per_error: f64) -> f64 {
    let loss = 1.0 - (1.0 - 1.0 / bytes_per_error).powf(PAYLOAD_BYTES + 40.0);
    // Four times 20 ms, and the packet's transmissions at both links.
    let rtt_s = 0.080 + (PAYLOAD_BYTES + 40.0) * 8.0 * (1.0 / 10e6 + 1.0 / 2e6);
    let rate = 1.5_f64.sqrt() / (rtt_s * loss.sqrt()) * PAYLOAD_BYTES * 8.0 / 1e6;
    rate.min(capacity_mbit_s())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_what_their_formulas_say() {
        assert!((capacity_mbit_s() - 1.923).abs() < 0.001);
        // 1040 bytes of 65536: 1.58 % loss, 86.2 ... ms; sqrt(1.5 / 0.0157) packets a round trip.
        let found = mathis_mbit_s(65_536.0);
        assert!((found - 9.76 * 8_000.0 / 0.085 / 1e6).abs() < 0.01, "{found}");
        assert_eq!(mathis_mbit_s(1e9), capacity_mbit_s());
    }
}
