//! Fig. 5 and 6: how fast cwnd grows, ns-3 beside, and what it is good for.

use super::{Findings, Stated, mean_of};
use crate::adaptive_delack::arrivals::Writes;
use crate::adaptive_delack::ns3::Errors;
use crate::adaptive_delack::sample::over;
use crate::adaptive_delack::setup::{DELAYED_NS3, Growth, Policy, STATIC_800, STATIC_900};
use crate::adaptive_delack::simulation::{self, Row};
use crate::verdict::{Why, above, below};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant};

/// How far from ns-3's means ours may be, in per cent.
const BESIDE_NS3_PERCENT: f64 = 10.0;

/// Fig. 5 and 6, for an application that writes messages and for one that has written everything.
pub(super) fn windows(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (writes, rows) in findings.both_ways() {
        for (figure, policy) in [(5, STATIC_900), (6, STATIC_800)] {
            stated.push(at_start(writes, rows, (figure, policy)));
            stated.extend(after_retransmission(writes, rows, (figure, policy)));
        }
        stated.push(over_fig5(writes, rows));
    }
    stated
}

/// In names of claims: nothing for the set-up that the paper describes.
fn suffix(writes: Writes) -> &'static str {
    match writes {
        Writes::Messages => "",
        Writes::AtOnce => "-at-once",
    }
}

/// In words.
fn also(writes: Writes) -> String {
    match writes {
        Writes::Messages => String::new(),
        Writes::AtOnce => format!(", {}", writes.label()),
    }
}

fn of(rows: &[Row], policy: Policy) -> &Row {
    simulation::find(rows, policy, Growth::PerAck)
}

fn at_start(writes: Writes, rows: &[Row], (figure, policy): (u32, Policy)) -> Stated {
    let (small, delayed) = (of(rows, policy), of(rows, DELAYED_NS3));
    let base = delayed.cwnd_at_start();
    let start = small.cwnd_at_start().over(&base);
    Stated {
        id: format!("fig{figure}-start{}", suffix(writes)),
        by: Claimant::Paper,
        what: format!(
            "Fig. {figure}: cwnd grows faster at the start with {}{}",
            policy.label,
            also(writes)
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: start,
        direction: above("faster", &start, 1.0),
        why: Why::measured(format!(
            "cwnd after one second without errors is {:.1} kB instead of {:.1} kB, with {:.0} \
             acknowledgments a run instead of {:.0}",
            small.cwnd_at_start().mean / 1e3,
            base.mean / 1e3,
            mean_of(small, |sample| sample.acks as f64),
            mean_of(delayed, |sample| sample.acks as f64),
        )),
    }
}

fn after_retransmission(
    writes: Writes,
    rows: &[Row],
    (figure, policy): (u32, Policy),
) -> Option<Stated> {
    let (small, delayed) = (of(rows, policy), of(rows, DELAYED_NS3));
    let (rate, base) = (small.growth_after_loss()?, delayed.growth_after_loss()?);
    let ratio = rate.over(&base);
    Some(Stated {
        id: format!("fig{figure}-after-retransmission{}", suffix(writes)),
        by: Claimant::Paper,
        what: format!(
            "Fig. {figure}: cwnd grows faster after a retransmission with {}{}",
            policy.label,
            also(writes)
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: ratio,
        direction: above("faster", &ratio, 1.0),
        why: Why::measured(format!(
            "{:.2} kB/s instead of {:.2} kB/s in the half second after a reduction. In congestion \
             avoidance each ACK adds a segment's share of cwnd: with {:.0} ACKs a run instead of {:.0}, from \
             a mean cwnd of {:.1} kB instead of {:.1} kB.",
            rate.mean / 1e3,
            base.mean / 1e3,
            mean_of(small, |sample| sample.acks as f64),
            mean_of(delayed, |sample| sample.acks as f64),
            mean_of(small, |sample| sample.cwnd_mean_bytes / 1e3),
            mean_of(delayed, |sample| sample.cwnd_mean_bytes / 1e3)
        )),
    })
}

fn over_fig5(writes: Writes, rows: &[Row]) -> Stated {
    let (fast, slow) = (of(rows, STATIC_800), of(rows, STATIC_900));
    let gain = fast.cwnd_gain_over(slow);
    let [fast_acks, slow_acks] = [fast, slow].map(|row| mean_of(row, |sample| sample.acks as f64));
    let why = Why::measured(format!("{fast_acks:.0} ACKs a run instead of {slow_acks:.0}."));
    Stated {
        id: format!("fig6-over-fig5{}", suffix(writes)),
        by: Claimant::Paper,
        what: format!(
            "0.8 ms makes cwnd grow faster than 0.9 ms (mean cwnd){}",
            also(writes)
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: gain,
        direction: above("faster", &gain, 1.0),
        why: match writes {
            Writes::Messages => why.since(
                fast_acks > 1.5 * slow_acks,
                "The second segment of a message, 556 bytes of IP, arrives 0.89 ms after the first: a \
                 timer of 0.9 ms still joins their acknowledgments, one of 0.8 ms never does",
            ),
            Writes::AtOnce => why.since(
                fast_acks < 1.1 * slow_acks,
                "Full segments arrive 0.94 ms apart, and neither timer joins two acknowledgments: Fig. 5 \
                 and 6 differ only where second segments are short",
            ),
        },
    }
}

/// The same in ns-3, number by number.
pub(super) fn beside_ns3(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (timeout_ms, policy) in [(200.0, DELAYED_NS3), (0.9, STATIC_900), (0.8, STATIC_800)] {
        let Some(setup) = findings.band.setup(timeout_ms, Errors::Yes) else { continue };
        let row = simulation::find(findings.simulation, policy, Growth::PerAck);
        let mut beside = |id: &str, what: &str, ns3: Estimate, measured: Estimate| {
            let off = measured.over(&ns3).plus(-1.0).times(100.0);
            stated.push(Stated {
                id: format!("ns3-{id}-{}", policy.id),
                by: Claimant::Project,
                what: format!("{what} with {timeout_ms} ms, off ns-3's"),
                unit: "%",
                paper: None,
                allowed: Allowed::Between { low: -BESIDE_NS3_PERCENT, high: BESIDE_NS3_PERCENT },
                direction: below("within a half", &off.magnitude(), 50.0),
                measured: off,
                why: Why::measured(format!(
                    "{:.0} here and {:.0} in ns-3. {:.1} segments a run are retransmitted here and \
                     {:.1} there, and what arrives behind a hole is acknowledged at once.",
                    measured.mean,
                    ns3.mean,
                    mean_of(row, |sample| sample.retransmitted_segments as f64),
                    setup.retransmitted_segments()
                )),
            });
        };
        let acks = over(&row.damaged, |sample| sample.acks as f64);
        beside("acks", "ACKs", setup.acks(), acks);
        let cwnd = over(&row.damaged, |sample| sample.cwnd_mean_bytes);
        beside("cwnd", "mean cwnd", setup.cwnd_mean_bytes(), cwnd);
    }
    stated
}

/// Whether a larger cwnd makes the transfer faster, and whether it is larger for every sender.
pub(super) fn transfers(findings: &Findings<'_>) -> Vec<Stated> {
    let row = |policy, growth| simulation::find(findings.simulation, policy, growth);
    let (delayed, small) = (row(DELAYED_NS3, Growth::PerAck), row(STATIC_800, Growth::PerAck));
    let speed = small.speed_over(delayed);
    let done = over(&small.damaged, |sample| sample.completion_s.unwrap_or(f64::NAN)).mean;
    let ns3 = findings.band.setup(0.8, Errors::Yes).map(|setup| setup.done_s().mean);
    let (byte_delayed, byte_small) =
        (row(DELAYED_NS3, Growth::PerByte), row(STATIC_800, Growth::PerByte));
    let per_ack = small.cwnd_gain_over(delayed).mean;
    let per_byte = byte_small.cwnd_gain_over(byte_delayed);
    vec![
        Stated {
            id: "sim-faster".to_owned(),
            by: Claimant::Paper,
            what: "§4.4: the larger cwnd makes the transfer faster (0.8 ms over 200 ms)".to_owned(),
            unit: "times",
            paper: None,
            allowed: Allowed::AtLeast { low: 1.01 },
            measured: speed,
            direction: above("faster", &speed, 1.0),
            why: Why::measured(format!(
                "All is there after {done:.3} s (ns-3: {:.3} s). The paper shows cwnd here, no \
                 throughput.",
                ns3.unwrap_or(f64::NAN)
            ))
            .since(
                (speed.mean - 1.0).abs() < 0.01,
                "The application writes 1 Mbit/s on a path of 5, and cwnd never holds it up for long",
            ),
        },
        Stated {
            id: "sim-every-sender".to_owned(),
            by: Claimant::Paper,
            what: "§2.2: frequent ACKs make cwnd grow faster, also for senders that count bytes"
                .to_owned(),
            unit: "times",
            paper: None,
            allowed: Allowed::AtLeast { low: 1.05 },
            measured: per_byte,
            direction: above("faster", &per_byte, 1.0),
            why: Why::measured(format!(
                "Mean cwnd with 0.8 ms over 200 ms. The paper's rule, a segment for every ACK, gives \
                 {per_ack:.2}"
            ))
            .since(
                per_byte.mean < per_ack,
                "A sender that grows by the octets acknowledged (RFC 3465, Linux) gets the same from \
                 one ACK for two segments as from two",
            ),
        },
    ]
}
