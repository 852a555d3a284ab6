//! What the paper claims, with our verdicts and the measured facts behind them.
//!
//! A number may be off by a tenth, the phones' gains by the 95 % interval of the paper's own runs.

use super::ato::{self, LARGE, SMALL};
use super::ns3::{Band, Errors};
use super::phones::{self, TABLES, Variant};
use super::sample::{Sample, over};
use super::setup::{DELAYED, DELAYED_NS3, Growth, IMMEDIATE, LINUX, PAPER, STATIC_800, STATIC_900};
use super::simulation;
use crate::paper::verdict::{Stated, Why, above, below};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claim, Claimant};

/// How far from ns-3's means ours may be, in per cent.
const BESIDE_NS3_PERCENT: f64 = 10.0;

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) simulation: &'a [simulation::Row],
    pub(super) band: &'a Band,
    pub(super) phones: &'a [phones::Row],
    pub(super) variants: &'a [Variant],
    pub(super) ato: &'a [ato::Row],
}

/// Every claim, in the order of the paper.
pub(super) fn claims(findings: &Findings<'_>) -> Vec<Claim> {
    let mut stated = windows(findings);
    stated.extend(beside_ns3(findings));
    stated.extend(transfers(findings));
    stated.extend(tables(findings));
    stated.extend(gain_of_a(findings));
    stated.into_iter().map(Stated::judged).collect()
}

/// Fig. 5 and 6: how fast cwnd grows.
fn windows(findings: &Findings<'_>) -> Vec<Stated> {
    let row = |policy| simulation::find(findings.simulation, policy, Growth::PerAck);
    let delayed = row(DELAYED_NS3);
    let base_start = delayed.cwnd_at_start();
    let mut stated = Vec::new();
    for (figure, policy) in [(5, STATIC_900), (6, STATIC_800)] {
        let small = row(policy);
        let start = small.cwnd_at_start().over(&base_start);
        stated.push(Stated {
            id: format!("fig{figure}-start"),
            by: Claimant::Paper,
            what: format!("Fig. {figure}: cwnd grows faster at the start with {}", policy.label),
            unit: "times",
            paper: None,
            allowed: Allowed::AtLeast { low: 1.0 },
            measured: start,
            direction: above("faster", &start, 1.0),
            why: Why::measured(format!(
                "cwnd after one second without errors is {:.1} kB instead of {:.1} kB, with {:.0} \
                 acknowledgments a run instead of {:.0}",
                small.cwnd_at_start().mean / 1e3,
                base_start.mean / 1e3,
                mean_of(small, |sample| sample.acks as f64),
                mean_of(delayed, |sample| sample.acks as f64),
            )),
        });
        if let (Some(rate), Some(base)) = (small.growth_after_loss(), delayed.growth_after_loss()) {
            let ratio = rate.over(&base);
            stated.push(Stated {
                id: format!("fig{figure}-after-retransmission"),
                by: Claimant::Paper,
                what: format!(
                    "Fig. {figure}: cwnd grows faster after a retransmission with {}",
                    policy.label
                ),
                unit: "times",
            paper: None,
                allowed: Allowed::AtLeast { low: 1.0 },
                measured: ratio,
                direction: above("faster", &ratio, 1.0),
                why: Why::measured(format!(
                    "{:.2} kB/s instead of {:.2} kB/s in the half second after a reduction. In \
                     congestion avoidance each ACK adds a segment's share of cwnd: with {:.0} ACKs a \
                     run instead of {:.0}, from a mean cwnd of {:.1} kB instead of {:.1} kB.",
                    rate.mean / 1e3,
                    base.mean / 1e3,
                    mean_of(small, |sample| sample.acks as f64),
                    mean_of(delayed, |sample| sample.acks as f64),
                    mean_of(small, |sample| sample.cwnd_mean_bytes / 1e3),
                    mean_of(delayed, |sample| sample.cwnd_mean_bytes / 1e3)
                )),
            });
        }
    }
    let (fast, slow) = (row(STATIC_800), row(STATIC_900));
    let gain = fast.cwnd_gain_over(slow);
    let [fast_acks, slow_acks] = [fast, slow].map(|row| mean_of(row, |sample| sample.acks as f64));
    stated.push(Stated {
        id: "fig6-over-fig5".to_owned(),
        by: Claimant::Paper,
        what: "0.8 ms makes cwnd grow faster than 0.9 ms (mean cwnd)".to_owned(),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: gain,
        direction: above("faster", &gain, 1.0),
        why: Why::measured(format!("{fast_acks:.0} ACKs a run instead of {slow_acks:.0}.")).since(
            fast_acks > 1.5 * slow_acks,
            "The second segment of a message, 556 bytes of IP, arrives 0.89 ms after the first: a timer \
             of 0.9 ms still joins their acknowledgments, one of 0.8 ms never does",
        ),
    });
    stated
}

fn mean_of(row: &simulation::Row, pick: fn(&Sample) -> f64) -> f64 {
    over(&row.damaged, pick).mean
}

/// The same in ns-3, number by number.
fn beside_ns3(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (timeout_ms, policy) in [(200.0, DELAYED_NS3), (0.9, STATIC_900), (0.8, STATIC_800)] {
        let Some(setup) = findings.band.setup(timeout_ms, Errors::Yes) else { continue };
        let row = simulation::find(findings.simulation, policy, Growth::PerAck);
        let mut beside = |id: &str, what: &str, ns3: Estimate, measured: Estimate| {
            let off = measured.over(&ns3).plus(-1.0).times(100.0);
            let magnitude = if off.mean < 0.0 { off.times(-1.0) } else { off };
            stated.push(Stated {
                id: format!("ns3-{id}-{}", policy.id),
                by: Claimant::Project,
                what: format!("{what} with {timeout_ms} ms, off ns-3's"),
                unit: "%",
                paper: None,
                allowed: Allowed::Between { low: -BESIDE_NS3_PERCENT, high: BESIDE_NS3_PERCENT },
                direction: below("within a half", &magnitude, 50.0),
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
fn transfers(findings: &Findings<'_>) -> Vec<Stated> {
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

/// Tables 1 and 2.
fn tables(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    let gain_of = |table: phones::PaperTable, growth| {
        let adjusted = phones::find(findings.phones, table.number, table.adjusted, growth);
        let base = phones::find(findings.phones, table.number, DELAYED, growth);
        phones::gain(&adjusted.samples, &base.samples)
    };
    for (table, growth) in TABLES.into_iter().flat_map(|table| Growth::BOTH.map(|g| (table, g))) {
        let paper = table.gains();
        let gain = gain_of(table, growth);
        stated.push(Stated {
            id: format!("table{}-gain-{}", table.number, growth.word()),
            by: Claimant::Paper,
            what: format!(
                "Table {}: throughput with {} over 200 ms, sender growing {}",
                table.number,
                table.adjusted.label,
                growth.label()
            ),
            unit: "times",
            paper: Some(paper.mean),
            allowed: Allowed::Value {
                value: paper.mean,
                tolerance: paper.ci95.unwrap_or(0.0),
                tolerance_from: "the 95 % interval of the paper's own runs".to_owned(),
            },
            measured: gain,
            direction: above("faster", &gain, 1.0),
            why: why_phones(findings, table, growth),
        });
    }
    for (table, growth) in TABLES.into_iter().flat_map(|table| Growth::BOTH.map(|g| (table, g))) {
        stated.push(equation_1(findings, table, growth));
    }
    let [one, two] = TABLES.map(|table| gain_of(table, Growth::PerAck));
    let less = two.over(&one);
    stated.push(Stated {
        id: "table2-less".to_owned(),
        by: Claimant::Paper,
        what: "§5.3: the gain is smaller where the channel is busy (Table 2 over Table 1)"
            .to_owned(),
        unit: "times",
        paper: Some(TABLES[1].gains().mean / TABLES[0].gains().mean),
        allowed: Allowed::AtMost { high: 1.0 },
        measured: less,
        direction: below("less", &less, 1.0),
        why: Why::measured(format!(
            "{:.3} on the busy channel, where the timeout is 0.6 ms, and {:.3} on the idle one, sender \
             growing per ACK",
            two.mean, one.mean
        )),
    });
    stated
}

/// The paper's tables are of fixed timeouts; what it proposes is one that follows the gaps.
fn equation_1(findings: &Findings<'_>, table: phones::PaperTable, growth: Growth) -> Stated {
    let row = |policy| phones::find(findings.phones, table.number, policy, growth);
    let over_delayed = |policy| phones::gain(&row(policy).samples, &row(DELAYED).samples);
    let gain = over_delayed(PAPER);
    let acks = |policy| over(&row(policy).samples, Sample::acks_per_segment).mean;
    Stated {
        id: format!("equation1-table{}-{}", table.number, growth.word()),
        by: Claimant::Paper,
        what: format!(
            "§3.2: throughput with Eq. 1 over 200 ms on the path of Table {}, sender growing {}",
            table.number,
            growth.label()
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        direction: above("faster", &gain, 1.0),
        measured: gain,
        why: Why::measured(format!(
            "{:.2} acknowledgments a segment instead of {:.2}; the fixed {} gains {:.3}, one for every \
             segment {:.3}",
            acks(PAPER),
            acks(DELAYED),
            table.adjusted.label,
            over_delayed(table.adjusted).mean,
            over_delayed(IMMEDIATE).mean
        )),
    }
}

fn why_phones(findings: &Findings<'_>, table: phones::PaperTable, growth: Growth) -> Why {
    let row = |policy| phones::find(findings.phones, table.number, policy, growth);
    let (adjusted, delayed, linux) = (row(table.adjusted), row(DELAYED), row(LINUX));
    let air = |row: &phones::Row| {
        over(&row.samples, |sample| sample.ack_air_percent.unwrap_or(f64::NAN)).mean
    };
    let acks = |row: &phones::Row| over(&row.samples, |sample| sample.acks_per_segment()).mean;
    let variants = findings.variants.iter().filter(|variant| variant.growth == growth);
    let best = variants.max_by(|a, b| a.gain().mean.total_cmp(&b.gain().mean));
    let best = best.map_or(String::new(), |variant| {
        format!(
            " Of the paths tried the most is gained with \"{}\": {:.3}.",
            variant.label,
            variant.gain().mean
        )
    });
    let over_linux = phones::gain(&adjusted.samples, &linux.samples);
    Why::measured(format!(
        "On the modelled path the original gets {:.1} Mbit/s, {:.1} in the paper. ACKs take their turn on \
         the air: {:.2} per segment and {:.1} % of the time instead of {:.2} and \
         {:.1} %.{best} Over a Linux receiver: {:.3}.",
        over(&delayed.samples, |sample| sample.goodput_mbit_s).mean,
        table.original_mbit_s(),
        acks(adjusted),
        air(adjusted),
        acks(delayed),
        air(delayed),
        over_linux.mean
    ))
}

/// §3.2: what a large `a` does.
fn gain_of_a(findings: &Findings<'_>) -> Vec<Stated> {
    let (small, large) = (ato::find(findings.ato, SMALL, 0), ato::find(findings.ato, LARGE, 0));
    let (most, least) = (large.ato(|ato| ato.max_ms), large.ato(|ato| ato.min_ms));
    let small_most = small.ato(|ato| ato.max_ms).mean;
    let small_least = small.ato(|ato| ato.min_ms).mean;
    let gap = ato::find(findings.ato, "1.0", 0).ato(|ato| ato.max_ms).mean;
    vec![
        Stated {
            id: "ato-least".to_owned(),
            by: Claimant::Paper,
            what: format!("§3.2: with a large a (here {LARGE}) the ATO falls as low as 0.2 ms"),
            unit: "ms",
            paper: Some(0.2),
            allowed: Allowed::AtMost { high: 0.2 },
            measured: least,
            direction: below("lower than with the small a", &least, small_least),
            why: Why::measured(format!(
                "With {SMALL} it stays above {small_least:.2} ms. A frame of 1500 B takes 0.326 ms at \
                 54 Mbit/s with its overheads and no backoff, so gaps are no shorter; the paper's \
                 phones saw 0.27 ms."
            )),
        },
        Stated {
            id: "ato-most".to_owned(),
            by: Claimant::Paper,
            what: format!("§3.2: with a large a (here {LARGE}) the ATO rises as high as 5 s"),
            unit: "ms",
            paper: Some(5_000.0),
            allowed: Allowed::AtLeast { low: 5_000.0 },
            measured: most,
            direction: above("higher than with the small a", &most, small_most),
            why: Why::measured(format!(
                "With {SMALL} the largest is {small_most:.0} ms. The longest gap between segments in \
                 these runs is {gap:.0} ms."
            ))
            .since(gap < 1_000.0, "Nothing here interrupts the radio for seconds"),
        },
    ]
}
