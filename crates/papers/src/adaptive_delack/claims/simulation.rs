//! Fig. 5 and 6: how fast cwnd grows, ns-3 beside, and what it is good for.

use crate::adaptive_delack::measured::Measured;
use crate::adaptive_delack::sample::Sample;
use crate::adaptive_delack::setup::{DELAYED_NS3, Growth, Policy, STATIC_800, STATIC_900};
use crate::adaptive_delack::simulation::{Row, Simulations, Writes};
use crate::cells::Figure;
use crate::claims::{self, Stated, at_least, faster, paper};
use ackord_measure::stats::Estimate;

/// Fig. 5 and 6, for an application that writes messages and for one that has written everything.
pub(super) fn windows(simulations: &Simulations) -> Vec<Stated> {
    let mut stated = Vec::new();
    for writes in Writes::ALL {
        let of = |policy| simulations.of(writes, policy, Growth::PerAck);
        let delayed = of(DELAYED_NS3);
        for (figure, policy) in [(5, STATIC_900), (6, STATIC_800)] {
            stated.push(at_start(figure, of(policy), delayed));
            stated.extend(after_retransmission(figure, of(policy), delayed));
        }
        stated.push(over_fig5(writes, of(STATIC_800), of(STATIC_900)));
    }
    stated
}

/// In names of claims, and in words: nothing for the set-up that the paper describes.
fn suffix(writes: Writes) -> (&'static str, String) {
    match writes {
        Writes::Messages => ("", String::new()),
        Writes::AtOnce => ("-at-once", format!(", {}", writes.label())),
    }
}

fn mean_of<F: Figure>(row: Row<'_>, pick: fn(&Sample) -> F) -> f64 {
    row.damaged.mean(pick).mean
}

fn at_start(figure: u32, small: Row<'_>, delayed: Row<'_>) -> Stated {
    let (id, also) = suffix(small.key.writes);
    let [start, base] = [small, delayed].map(|row| row.cwnd_at_start());
    let what = format!(
        "Fig. {figure}: cwnd grows faster at the start with {}{also}",
        small.key.policy.label
    );
    faster(format!("fig{figure}-start{id}"), what, start.over(&base)).why(format!(
        "cwnd after one second without errors is {:.1} kB instead of {:.1} kB, with {:.0} \
         acknowledgments a run instead of {:.0}",
        start.mean / 1e3,
        base.mean / 1e3,
        mean_of(small, |run| run.acks),
        mean_of(delayed, |run| run.acks),
    ))
}

fn after_retransmission(figure: u32, small: Row<'_>, delayed: Row<'_>) -> Option<Stated> {
    let (id, also) = suffix(small.key.writes);
    let (rate, base) = (small.growth_after_loss()?, delayed.growth_after_loss()?);
    let what = format!(
        "Fig. {figure}: cwnd grows faster after a retransmission with {}{also}",
        small.key.policy.label
    );
    let id = format!("fig{figure}-after-retransmission{id}");
    Some(faster(id, what, rate.over(&base)).why(format!(
        "{:.2} kB/s instead of {:.2} kB/s in the half second after a reduction. In congestion \
         avoidance each ACK adds a segment's share of cwnd: with {:.0} ACKs a run instead of {:.0}, from \
         a mean cwnd of {:.1} kB instead of {:.1} kB.",
        rate.mean / 1e3,
        base.mean / 1e3,
        mean_of(small, |run| run.acks),
        mean_of(delayed, |run| run.acks),
        mean_of(small, |run| run.cwnd_mean_bytes / 1e3),
        mean_of(delayed, |run| run.cwnd_mean_bytes / 1e3)
    )))
}

fn over_fig5(writes: Writes, fast: Row<'_>, slow: Row<'_>) -> Stated {
    let (id, also) = suffix(writes);
    let [fast_acks, slow_acks] = [fast, slow].map(|row| mean_of(row, |run| run.acks));
    let what = format!("0.8 ms makes cwnd grow faster than 0.9 ms (mean cwnd){also}");
    let gain = fast.cwnd_gain_over(slow);
    let claim = faster(format!("fig6-over-fig5{id}"), what, gain)
        .why(format!("{fast_acks:.0} ACKs a run instead of {slow_acks:.0}."));
    match writes {
        Writes::Messages => claim.since(
            fast_acks > 1.5 * slow_acks,
            "The second segment of a message, 556 bytes of IP, arrives 0.89 ms after the first: a \
             timer of 0.9 ms still joins their acknowledgments, one of 0.8 ms never does",
        ),
        Writes::AtOnce => claim.since(
            fast_acks < 1.1 * slow_acks,
            "Full segments arrive 0.94 ms apart, and neither timer joins two acknowledgments: Fig. 5 \
             and 6 differ only where second segments are short",
        ),
    }
}

/// The same in ns-3, number by number.
pub(super) fn beside_ns3(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (timeout_ms, policy) in [(200.0, DELAYED_NS3), (0.9, STATIC_900), (0.8, STATIC_800)] {
        let Some(setup) = measured.band.setup(timeout_ms, true) else { continue };
        let row = measured.simulations.of(Writes::Messages, policy, Growth::PerAck);
        let beside = |id: &str, what: &str, ns3: Estimate, ours: Estimate| {
            let off = ours.over(&ns3).plus(-1.0).times(100.0);
            let id = format!("ns3-{id}-{}", policy.id);
            let what = format!("{what} with {timeout_ms} ms, off ns-3's");
            claims::beside(id, what, off).why(format!(
                "{:.0} here and {:.0} in ns-3. {:.1} segments a run are retransmitted here and \
                 {:.1} there, and what arrives behind a hole is acknowledged at once.",
                ours.mean,
                ns3.mean,
                mean_of(row, |run| run.retransmitted_segments),
                setup.retransmitted_segments()
            ))
        };
        let acks = row.damaged.mean(|run| run.acks);
        let cwnd = row.damaged.mean(|run| run.cwnd_mean_bytes);
        stated.push(beside("acks", "ACKs", setup.acks(), acks));
        stated.push(beside("cwnd", "mean cwnd", setup.cwnd_mean_bytes(), cwnd));
    }
    stated
}

/// Whether a larger cwnd makes the transfer faster, and whether it is larger for every sender.
pub(super) fn transfers(measured: &Measured) -> [Stated; 2] {
    let row = |policy: Policy, growth| measured.simulations.of(Writes::Messages, policy, growth);
    let both = |growth| [row(STATIC_800, growth), row(DELAYED_NS3, growth)];
    let [small, delayed] = both(Growth::PerAck);
    let speed = small.speed_over(delayed);
    let done = mean_of(small, |run| run.completion_s);
    let ns3 = measured.band.setup(0.8, true).map(|setup| setup.done_s());
    let per_ack = small.cwnd_gain_over(delayed).mean;
    let [byte_small, byte_delayed] = both(Growth::PerByte);
    let per_byte = byte_small.cwnd_gain_over(byte_delayed);
    [
        paper(
            "sim-faster",
            "§4.4: the larger cwnd makes the transfer faster (0.8 ms over 200 ms)",
            "times",
            speed,
            at_least(1.01),
        )
        .above("faster", 1.0)
        .why(format!(
            "All is there after {done:.3} s (ns-3: {:.3} s). The paper shows cwnd here, no \
             throughput.",
            ns3.figure()
        ))
        .since(
            (speed.mean - 1.0).abs() < 0.01,
            "The application writes 1 Mbit/s on a path of 5, and cwnd never holds it up for long",
        ),
        paper(
            "sim-every-sender",
            "§2.2: frequent ACKs make cwnd grow faster, also for senders that count bytes",
            "times",
            per_byte,
            at_least(1.05),
        )
        .above("faster", 1.0)
        .why(format!(
            "Mean cwnd with 0.8 ms over 200 ms. The paper's rule, a segment for every ACK, gives \
             {per_ack:.2}"
        ))
        .since(
            per_byte.mean < per_ack,
            "A sender that grows by the bytes acknowledged (RFC 3465, Linux) gets the same from \
             one ACK for two segments as from two",
        ),
    ]
}
