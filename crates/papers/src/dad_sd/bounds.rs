//! What theory says beside the measurements: the hop's capacity, and the rate at which loss alone
//! would hold a Reno sender.

use super::curves::{Points, curve};
use super::sample::Run;
use super::setup::{
    HEADER_BYTES, HOP_MBIT_S, Interval, LOSS, PAYLOAD_BYTES, Place, WINDOW_PACKETS, mean_delay_ms,
};
use crate::cells::Cell;
use crate::tables::rows;
use ackord_report::document::Table;

/// Payload that the hop can carry, Mbit/s.
pub(super) fn capacity_mbit_s() -> f64 {
    HOP_MBIT_S * PAYLOAD_BYTES / (PAYLOAD_BYTES + HEADER_BYTES)
}

/// The round trip without queues, in seconds: the drawn mean both ways, two access links of 1 ms
/// each way, and the transmissions of a data packet.
pub(super) fn base_rtt_s(tenths: u32) -> f64 {
    let packet_bits = (PAYLOAD_BYTES + HEADER_BYTES) * 8.0;
    let sending = packet_bits / (HOP_MBIT_S * 1e6) + 2.0 * packet_bits / 10e6;
    (2.0 * mean_delay_ms(tenths) as f64 + 4.0) / 1e3 + sending
}

/// Mathis et al. 1997 Eq. 3, an acknowledgment for every packet: sqrt(3/2) segments per round trip
/// and root of the loss probability.
pub(super) fn mathis_mbit_s(rtt_s: f64) -> f64 {
    (1.5_f64).sqrt() / (rtt_s * LOSS.sqrt()) * PAYLOAD_BYTES * 8.0 / 1e6
}

/// Padhye et al. 1998 Eq. 30, an acknowledgment for every packet, with a first timeout of
/// `timeout_s`.
pub(super) fn padhye_mbit_s(rtt_s: f64, timeout_s: f64) -> f64 {
    let p = LOSS;
    let spent = rtt_s * (2.0 * p / 3.0).sqrt()
        + timeout_s * (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    (1.0 / spent).min(WINDOW_PACKETS / rtt_s) * PAYLOAD_BYTES * 8.0 / 1e6
}

/// The bounds at every tau, with the round trip of the queueless path and with the one measured
/// under practical DAD-SD, which fills the path best of the paper's kind.
pub(super) fn table(points: &Points, interval: Interval) -> Table {
    let base = |point: &Cell<Place, Run>| base_rtt_s(point.key.tenths);
    let rtt = |point: &Cell<Place, Run>| point.mean(Run::rtt_ms).mean / 1e3;
    let capacity = capacity_mbit_s();
    rows(curve(points, "practical", interval).0)
        .number(("tau", ""), 1, |point| point.key.tau())
        .number(("base RTT", "ms"), 0, |point| base(point) * 1e3)
        .number(("measured", "ms"), 0, |point| rtt(point) * 1e3)
        .number(("capacity", "Mbit/s"), 3, |_| capacity)
        .number(("Mathis", "Mbit/s"), 3, |point| mathis_mbit_s(base(point)).min(capacity))
        .number(("at measured RTT", "Mbit/s"), 3, |point| mathis_mbit_s(rtt(point)).min(capacity))
        // Four round trips is the usual stand-in for the first timeout.
        .number(("Padhye", "Mbit/s"), 3, |point| {
            padhye_mbit_s(rtt(point), 4.0 * rtt(point)).min(capacity)
        })
        .titled(format!(
            "Bounds: the hop's payload capacity, and a Reno sender held by the 0.1 % loss alone \
             (measured RTT: practical DAD-SD, {} ms)",
            interval.millis
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_give_what_their_papers_say() {
        assert!((capacity_mbit_s() - 2.922).abs() < 0.001);
        // A tenth of a second and a loss in a thousand: 38.7 packets a round trip.
        assert!((mathis_mbit_s(0.1) / (387.3 * 12_000.0 / 1e6) - 1.0).abs() < 0.001);
        // Without timeouts Padhye is Mathis.
        assert!((padhye_mbit_s(0.2, 0.0) / mathis_mbit_s(0.2) - 1.0).abs() < 1e-9);
        assert!(padhye_mbit_s(0.2, 0.8) < mathis_mbit_s(0.2));
    }
}
