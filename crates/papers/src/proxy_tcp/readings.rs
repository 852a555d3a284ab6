//! Table 3, and what its "64 kbps^-1" can mean: one error in 64 kbit, or in 64 KByte.

use super::sample::Sample;
use super::setup::{AIR_MBIT_S, BIT_ERRORS, Id, PAYLOAD_BYTES, boxed, errors, lasting};
use crate::cells::{Cell, Cells};
use crate::plan::{Setup, set_each};
use crate::tables::{record, rows};
use ackord_report::document::Table;
use ackord_units::Span;
use serde::Serialize;

/// A way to read the paper's error rate.
#[derive(Debug, PartialEq)]
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

/// A reading of the error rate, a variant of the sender, a box.
pub(super) type Key = (&'static Reading, Id, Id);
pub(super) type Reads = Cells<Key, Sample>;

pub(super) fn keys() -> impl Iterator<Item = Key> {
    let senders = READINGS.iter().flat_map(|reading| VARIANTS.iter().map(move |v| (reading, v.id)));
    senders.flat_map(|(reading, variant)| {
        ["none", "paper", "duplicates"].map(|middle| (reading, variant, middle))
    })
}

pub(super) fn setup((reading, variant, middle): Key, lasts: Span) -> Setup {
    let variant = VARIANTS.iter().find(|known| known.id == variant).expect("one of the list");
    let changes = [errors(reading.bytes), boxed(middle).changes(), set_each(variant.changes)];
    lasting(lasts, BIT_ERRORS, changes.concat())
}

/// The runs of a reading in KByte, or in kbit, of a box and a variant of the sender.
///
/// # Panics
/// If there are none: every variant is run with and without the box.
pub(super) fn of<'a>(
    reads: &'a Reads,
    (unit, rate): (&str, u32),
    (middle, variant): (&str, &str),
) -> &'a Cell<Key, Sample> {
    let wanted = |read: &&Cell<Key, Sample>| {
        let (reading, of_variant, of_middle) = read.key;
        reading.rate == rate
            && reading.label.ends_with(unit)
            && (of_middle, of_variant) == (middle, variant)
    };
    reads.iter().find(wanted).expect("every reading is run")
}

pub(super) fn data(reads: &Reads) -> Vec<impl Serialize> {
    let data = |read: &Cell<Key, Sample>| {
        let (reading, variant, middle) = read.key;
        record! {
            reading: reading.label,
            sender: variant,
            middle_box: middle,
            goodput_mbit_s: read.goodput(),
        }
    };
    reads.iter().map(data).collect()
}

/// Goodput under every reading and variant; the paper's numbers beside them.
pub(super) fn table(reads: &Reads) -> Table {
    let of_each = READINGS.iter().flat_map(|reading| VARIANTS.iter().map(move |v| (reading, v)));
    let goodput = |(reading, variant): &(&'static Reading, &'static Variant), middle| {
        reads.of(&(*reading, variant.id, middle)).goodput()
    };
    let paper = |table: [(u32, f64); 2], rate: u32| {
        table.into_iter().find(|(known, _)| *known == rate).map(|(_, value)| value)
    };
    rows(of_each)
        .words("reading", |(reading, _)| reading.label)
        .words("sender", |(_, variant)| variant.label)
        .mean(("Reno", "Mbit/s"), 3, |row| goodput(row, "none"))
        .number(("paper", "Mbit/s"), 2, |(reading, _)| paper(RENO, reading.rate))
        .mean(("Proxy TCP", "Mbit/s"), 3, |row| goodput(row, "paper"))
        .mean(("also after duplicates", "Mbit/s"), 3, |row| goodput(row, "duplicates"))
        .number(("paper", "Mbit/s"), 2, |(reading, _)| paper(PROXY, reading.rate))
        .number(("Mathis", "Mbit/s"), 3, |(reading, _)| mathis_mbit_s(reading.bytes))
        .titled(
            "Table 3 under each reading of the error rate, and with what the paper leaves open \
             about its sender (goodput; Mathis: what the errors alone allow a Reno sender)",
        )
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
