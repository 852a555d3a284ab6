//! Gilbert-Elliott loss against its closed forms.

#![expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]

use crate::common::{at_us, deliver_until, link, one_link, packet};
use ackord_events::{DropReason, NoSink};
use ackord_path::{Changes, GilbertConfig, LinkConfig, LossModel};
use ackord_units::{RandomStream, Rate, Ratio, Span};

fn ratio(value: f64) -> Ratio {
    Ratio::new(value).expect("a share")
}

/// Which of so many packets are lost, one every `gap_us`.
fn losses(config: GilbertConfig, seed: u64, packets: u64, gap_us: u64) -> Vec<bool> {
    let stream = RandomStream::for_element(seed, "links/a/loss");
    let loss = Some(LossModel::gilbert(config, stream));
    let rate = Rate::from_mbits_per_sec(1_000);
    let (mut graph, id) = one_link(LinkConfig { loss, rate, ..link(0, 1) });
    let mut lost = vec![true; packets as usize];
    for n in 0..packets {
        graph.handle_packet(at_us(gap_us * n), packet(1, 100, n), &mut NoSink);
        for delivery in deliver_until(&mut graph, at_us(gap_us * n), &mut NoSink) {
            lost[delivery.packet.tag as usize] = false;
        }
    }
    for delivery in crate::common::deliver_all(&mut graph, &mut NoSink) {
        lost[delivery.packet.tag as usize] = false;
    }
    let counted = graph.link_stats(id).drops.of(DropReason::RandomLoss);
    assert_eq!(counted, lost.iter().filter(|lost| **lost).count() as u64);
    lost
}

/// Share of packets lost, and mean length of a run of losses.
fn share_and_burst(lost: &[bool]) -> (f64, f64) {
    let count = lost.iter().filter(|lost| **lost).count() as f64;
    let starts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    (count / lost.len() as f64, count / starts)
}

/// The four-parameter chain: stationary loss, probability that a packet and the next are lost.
fn closed_form(p: f64, r: f64, in_good: f64, in_bad: f64) -> (f64, f64) {
    let bad = p / (p + r);
    let good = 1.0 - bad;
    let loss = good * in_good + bad * in_bad;
    let both = good * in_good * ((1.0 - p) * in_good + p * in_bad)
        + bad * in_bad * (r * in_good + (1.0 - r) * in_bad);
    (loss, both)
}

#[test]
fn per_packet_the_loss_and_the_bursts_are_those_of_the_chain() {
    for (seed, p, r, in_good, in_bad) in [
        (1, 0.01, 0.25, 0.0, 1.0),
        (2, 0.05, 0.10, 0.0, 0.5),
        (3, 0.002, 0.02, 0.001, 0.8),
        (4, 0.3, 0.9, 0.01, 0.9),
    ] {
        let changes = Changes::PerPacket { good_to_bad: ratio(p), bad_to_good: ratio(r) };
        let config =
            GilbertConfig { changes, loss_in_good: ratio(in_good), loss_in_bad: ratio(in_bad) };
        let packets = 400_000;
        let (share, burst) = share_and_burst(&losses(config, seed, packets, 50));
        let (loss, both) = closed_form(p, r, in_good, in_bad);
        // The states of a two-state chain are correlated by (1-p-r)^k: the variance of a mean over
        // n packets is that of independent ones times at most (2 - p - r) / (p + r).
        let inflation = ((2.0 - p - r) / (p + r)).max(1.0);
        let deviation = (loss * (1.0 - loss) * inflation / packets as f64).sqrt();
        assert!((share - loss).abs() < 4.0 * deviation, "{share} for {loss}");
        let expected_burst = loss / (loss - both);
        // Four standard errors of a mean of geometric lengths (deviation below its mean).
        let bursts = packets as f64 * (loss - both);
        let error = 4.0 * expected_burst / bursts.sqrt();
        assert!((burst - expected_burst).abs() < error, "{burst} for {expected_burst}");
    }
}

#[test]
fn gilbert_by_loss_and_burst_has_that_loss_in_such_bursts() {
    for (mean_loss, mean_burst) in [(0.02, 1.0), (0.02, 4.0), (0.1, 10.0)] {
        let changes = Changes::of_bursts(ratio(mean_loss), mean_burst).expect("such a chain");
        assert!((changes.bad_share().get() - mean_loss).abs() < 1e-12);
        let config = GilbertConfig { changes, loss_in_good: Ratio::ZERO, loss_in_bad: Ratio::ONE };
        let packets = 400_000_u64;
        let (share, burst) = share_and_burst(&losses(config, 7, packets, 50));
        let bursts = packets as f64 * mean_loss / mean_burst;
        // A share is bursts times length: both vary, each by less than its mean.
        let error = 4.0 * 2f64.sqrt() / bursts.sqrt();
        assert!((share / mean_loss - 1.0).abs() < error, "{share} for {mean_loss}");
        assert!((burst / mean_burst - 1.0).abs() < error, "{burst} for {mean_burst}");
    }
    assert_eq!(Changes::of_bursts(ratio(0.9), 1.0), None, "losses that never come twice in a row");
}

#[test]
fn in_time_the_loss_does_not_depend_on_how_often_one_sends() {
    let (good, bad) = (Span::from_millis(90), Span::from_millis(10));
    let changes = Changes::InTime { good_for: good, bad_for: bad };
    let config = GilbertConfig { changes, loss_in_good: Ratio::ZERO, loss_in_bad: Ratio::ONE };
    for gap_us in [500, 5_000, 50_000] {
        let packets = 200_000_u64;
        let (share, burst) = share_and_burst(&losses(config, 1, packets, gap_us));
        // From one packet to the next the states are correlated by e^(-t/T), 1/T = 1/good + 1/bad.
        let kept = (-(gap_us as f64) / 9_000.0).exp();
        let deviation = (0.1 * 0.9 * (1.0 + kept) / (1.0 - kept) / packets as f64).sqrt();
        assert!((share - 0.1).abs() < 4.0 * deviation, "{share} at {gap_us} us");
        // Still bad a gap later: pi + (1 - pi) e^(-t/T).
        let expected = 1.0 / (1.0 - (0.1 + 0.9 * kept));
        let error = 4.0 * expected / (packets as f64 * 0.1 / expected).sqrt();
        assert!((burst - expected).abs() < error, "{burst} for {expected} at {gap_us} us");
    }
}

#[test]
fn the_first_packets_are_lost_as_often_as_all_others() {
    let changes = Changes::PerPacket { good_to_bad: ratio(0.001), bad_to_good: ratio(0.001) };
    let config = GilbertConfig { changes, loss_in_good: Ratio::ZERO, loss_in_bad: Ratio::ONE };
    let first_lost = (0..2_000).filter(|&seed| losses(config, seed, 1, 1)[0]).count() as f64;
    // Binomial(2000, 1/2): a deviation of 22.4, four of them.
    assert!((first_lost - 1_000.0).abs() < 90.0, "{first_lost}");
    let changes = Changes::InTime { good_for: Span::from_secs(300), bad_for: Span::from_secs(100) };
    let config = GilbertConfig { changes, ..config };
    let first_lost = (0..2_000).filter(|&seed| losses(config, seed, 1, 1)[0]).count() as f64;
    // Binomial(2000, 1/4): a deviation of 19.4.
    assert!((first_lost - 500.0).abs() < 78.0, "{first_lost}");
}
