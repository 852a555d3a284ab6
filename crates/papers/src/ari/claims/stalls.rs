//! Nagle against delayed acknowledgments, bulk, and the history.

use super::{Findings, Stated, shown};
use crate::ari::open::PHONE_SENDS;
use crate::ari::sample::{Runs, Sample};
use crate::ari::setup::{Control, Policy, SIZES};
use crate::ari::stalls::{Asks, Nagle, Question};
use crate::ari::transfers::{as_described, thousand};
use crate::verdict::{Why, below, directed, value};
use ackord_measure::{Allowed, Claimant};

/// Linux's delayed-ACK timer, as the paper gives it (§3.2), in milliseconds.
const TIMER_MS: f64 = 40.0;

/// Where Nagle waits for a delayed acknowledgment, and what ends it.
pub(super) fn nagle(findings: &Findings<'_>) -> Vec<Stated> {
    let of = |asks, nagle, policy| findings.stalls.of(Question { asks, nagle, policy });
    let mean = |runs: &Runs| thousand(runs.mean(Sample::mean_time_s));
    let phone = |nagle, policy| of(Asks::Phone, nagle, policy);
    let held = phone(Nagle::On, Policy::QuickAck);
    let free = phone(Nagle::Off, Policy::QuickAck);
    let median_ms = |runs: &Runs| runs.mean(Sample::median_time_s).mean * 1e3;
    let wait = held.less(free, Sample::median_time_s).times(1e3);
    let measured_linux = phone(Nagle::On, Policy::Linux);
    vec![
        Stated {
            id: "fig1-nagle-waits".to_owned(),
            by: Claimant::Paper,
            what: "Fig. 1: Nagle makes a question of two writes wait for the delayed-ACK timer"
                .to_owned(),
            unit: "ms",
            paper: Some(TIMER_MS),
            allowed: value(TIMER_MS, 0.1, "stated beforehand: a tenth"),
            measured: wait,
            direction: directed("longer with Nagle", wait),
            why: Why::measured(format!(
                "medians {:.2} ms with Nagle and {:.2} ms without; against a host that \
                 acknowledges like the measured Linux {:.2} ms with Nagle",
                median_ms(held),
                median_ms(free),
                median_ms(measured_linux)
            )),
        },
        Stated {
            id: "nagle-off-no-stall".to_owned(),
            by: Claimant::Paper,
            what: "§3.2: with Nagle off (ARI on the phone that asks) no exchange waits for the \
                   timer (mean)"
                .to_owned(),
            unit: "ms",
            paper: None,
            allowed: Allowed::AtMost { high: TIMER_MS / 2.0 },
            measured: mean(free),
            direction: directed(
                "less than with Nagle",
                thousand(held.less(free, Sample::mean_time_s)),
            ),
            why: Why::measured(format!(
                "mean {} ms against {} ms with Nagle; worst {:.1} ms",
                shown(mean(free), 2),
                shown(mean(held), 2),
                free.times().max * 1e3
            )),
        },
        quick_acks(findings, Policy::Ari, ("", "")),
        quick_acks(findings, Policy::AriRoundedDown, ("-rounded-down", ", its count rounded down")),
        phone_sends(findings),
    ]
}

/// A host that asks with Nagle on, by reading of how many acknowledgments leave at once.
fn quick_acks(findings: &Findings<'_>, policy: Policy, (id, reading): (&str, &str)) -> Stated {
    let host = |policy| findings.stalls.of(Question { asks: Asks::Host, nagle: Nagle::On, policy });
    let mean = |policy| thousand(host(policy).mean(Sample::mean_time_s));
    let ours = mean(policy);
    Stated {
        id: format!("quick-acks-no-stall{id}"),
        by: Claimant::Paper,
        what: format!(
            "§3.2: a host that asks with Nagle on is not made to wait by a phone with ARI{reading} (mean)"
        ),
        unit: "ms",
        paper: None,
        allowed: Allowed::AtMost { high: TIMER_MS / 2.0 },
        measured: ours,
        direction: directed(
            "less than with Linux (paper)",
            thousand(host(Policy::QuickAck).less(host(policy), Sample::mean_time_s)),
        ),
        why: Why::measured(format!(
            "mean {} ms, with Linux (paper) {} ms, with Linux (measured) {} ms; the practical form, which \
             counts anew after a pause: {} ms",
            shown(ours, 2),
            shown(mean(Policy::QuickAck), 2),
            shown(mean(Policy::Linux), 2),
            shown(mean(Policy::AriHistory), 2)
        ))
        .since(
            mean(Policy::AriHistory).mean < ours.mean,
            "The quick acknowledgments of the published count, eight or six, last for four or three \
             exchanges of a connection; of thirty the others wait",
        ),
    }
}

/// The other reading: the phone sends, and only the Nagle half of ARI can act.
fn phone_sends(findings: &Findings<'_>) -> Stated {
    let base = findings.open.of(PHONE_SENDS, Policy::QuickAck);
    let ari = findings.open.of(PHONE_SENDS, Policy::Ari);
    let measured = ari.change_percent(base, Sample::time_s);
    let paper = 100.0 * (SIZES[3].time_s.ari_reno / SIZES[3].time_s.reno - 1.0);
    Stated {
        id: "table2-1mb-change-phone-sends".to_owned(),
        by: Claimant::Paper,
        what: "Table 2 read the other way: what ARI changes about 1 MB that the phone sends, Reno"
            .to_owned(),
        unit: "%",
        paper: Some(paper),
        allowed: value(paper, 0.5, "stated beforehand: half of the paper's change"),
        measured,
        direction: below("shorter", &measured, 0.0),
        why: Why::measured(format!(
            "{} ms and {} ms; the host acknowledges as before, and Nagle off changes at most the last \
             segment",
            shown(thousand(ari.mean(Sample::time_s)), 1),
            shown(thousand(base.mean(Sample::time_s)), 1)
        )),
    }
}

/// What ARI does to bulk, and what its history is for.
pub(super) fn bulk(findings: &Findings<'_>) -> Vec<Stated> {
    let [load, back] = small_writes(findings);
    let [quick_acks, count] = counts(findings);
    vec![quick_acks, load, back, count]
}

fn acks(run: &Sample) -> f64 {
    run.acks as f64
}

/// Small writes without Nagle, and with it back on.
fn small_writes(findings: &Findings<'_>) -> [Stated; 2] {
    let bulk = findings.bulk;
    let (on, off) = (bulk.nagle("minshall"), bulk.nagle("ari-short"));
    let again = bulk.nagle("ari-bulk");
    let segments = |run: &Sample| run.segments as f64;
    let air_s = |runs: &Runs| runs.mean(|run| run.down_air_s + run.up_air_s).mean;
    let more = off.change_percent(on, segments);
    let back = again.change_percent(on, segments);
    [
        Stated {
            id: "nagle-off-load".to_owned(),
            by: Claimant::Paper,
            what:
                "§3.2: without Nagle a bulk stream in small writes loads the path (segments more \
                   than with it)"
                    .to_owned(),
            unit: "%",
            paper: None,
            allowed: Allowed::AtLeast { low: 25.0 },
            measured: more,
            direction: directed("more", more),
            why: Why::measured(format!(
                "{:.0} segments instead of {:.0}, {:.2} s of air instead of {:.2} s; 4 MB take {} \
                 s instead of {} s",
                off.mean(segments).mean,
                on.mean(segments).mean,
                air_s(off),
                air_s(on),
                shown(off.mean(|run| run.lasted_s), 2),
                shown(on.mean(|run| run.lasted_s), 2)
            )),
        },
        Stated {
            id: "history-bulk-nagle".to_owned(),
            by: Claimant::Paper,
            what: "§3.2: a history of bulk brings Nagle, and its saving, back (segments more than \
                   Linux's)"
                .to_owned(),
            unit: "%",
            paper: None,
            allowed: Allowed::Between { low: -5.0, high: 5.0 },
            measured: back,
            direction: directed("fewer than without Nagle", off.change_percent(again, segments)),
            why: Why::measured(format!(
                "{:.0} segments; RFC 896's rule, which ARI turns on again, alone: {:.0}",
                again.mean(segments).mean,
                bulk.nagle("on").mean(segments).mean
            )),
        },
    ]
}

/// What quick acknowledgments cost on a long transfer, and how the history bounds them.
fn counts(findings: &Findings<'_>) -> [Stated; 2] {
    let bulk = findings.bulk;
    let of = |policy| findings.transfers.of(as_described(SIZES.len() - 1, Control::Reno, policy));
    let (base, ari) = (of(Policy::QuickAck), of(Policy::Ari));
    let (whole, bounded) = (bulk.count("ari-1m-paper"), bulk.count("ari-1m"));
    let (added, fewer) = (ari.change_percent(base, acks), bounded.change_percent(whole, acks));
    [
        Stated {
            id: "quick-ack-load".to_owned(),
            by: Claimant::Paper,
            what: "§3.2: ARI adds few acknowledgments to a transfer of 1 MB".to_owned(),
            unit: "%",
            paper: None,
            allowed: Allowed::AtMost { high: 5.0 },
            measured: added,
            direction: below("few", &added, 5.0),
            why: Why::measured(format!(
                "{:.0} instead of {:.0}; the measured Linux sends {:.0}",
                ari.mean(acks).mean,
                base.mean(acks).mean,
                of(Policy::Linux).mean(acks).mean
            )),
        },
        Stated {
            id: "history-count".to_owned(),
            by: Claimant::Paper,
            what: "§3.2: the history keeps a long transfer from too many quick acknowledgments \
                   (acknowledgments less than with a count for all of 1 MB)"
                .to_owned(),
            unit: "%",
            paper: None,
            allowed: Allowed::AtMost { high: -25.0 },
            measured: fewer,
            direction: below("fewer", &fewer, 0.0),
            why: Why::measured(format!(
                "a most frequent size of 1 MB gives a count of 3732 and {:.0} acknowledgments ({} \
                 ms); bounded at 512 {:.0} ({} ms); with a verdict of bulk {:.0}; with 2 kB {:.0}",
                whole.mean(acks).mean,
                shown(thousand(whole.mean(Sample::time_s)), 1),
                bounded.mean(acks).mean,
                shown(thousand(bounded.mean(Sample::time_s)), 1),
                bulk.count("ari-1m-bulk").mean(acks).mean,
                bulk.count("ari-2k").mean(acks).mean
            )),
        },
    ]
}
