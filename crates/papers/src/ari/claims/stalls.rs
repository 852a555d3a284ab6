//! Nagle against delayed acknowledgments, bulk, and the history.

use crate::ari::bulk;
use crate::ari::measured::Measured;
use crate::ari::open::{self, PHONE_SENDS};
use crate::ari::sample::Sample;
use crate::ari::setup::{Control, Policy, SIZES, Transfer};
use crate::ari::stalls::{Asks, Nagle, Question};
use crate::cells::Runs;
use crate::claims::{Stated, at_least, at_most, between, directed, paper, shown, tenth, value};

/// Linux's delayed-ACK timer, as the paper gives it (§3.2), in milliseconds.
const TIMER_MS: f64 = 40.0;

/// Where Nagle waits for a delayed acknowledgment, and what ends it.
pub(super) fn nagle(measured: &Measured) -> Vec<Stated> {
    let phone = |nagle, policy| measured.stalls.of(&Question { asks: Asks::Phone, nagle, policy });
    let held = phone(Nagle::On, Policy::QuickAck);
    let free = phone(Nagle::Off, Policy::QuickAck);
    let median_ms = |runs: &Runs<Sample>| runs.mean(Sample::median_time_s).mean * 1e3;
    let mean = |runs: &Runs<Sample>| runs.mean_ms(Sample::mean_time_s);
    let wait = held.less(free, Sample::median_time_s).times(1e3);
    vec![
        paper(
            "fig1-nagle-waits",
            "Fig. 1: Nagle makes a question of two writes wait for the delayed-ACK timer",
            "ms",
            wait,
            tenth(TIMER_MS),
        )
        .above("longer with Nagle", 0.0)
        .why(format!(
            "medians {:.2} ms with Nagle and {:.2} ms without; against a host that \
             acknowledges like the measured Linux {:.2} ms with Nagle",
            median_ms(held),
            median_ms(free),
            median_ms(phone(Nagle::On, Policy::Linux))
        )),
        paper(
            "nagle-off-no-stall",
            "§3.2: with Nagle off (ARI on the phone that asks) no exchange waits for the \
             timer (mean)",
            "ms",
            mean(free),
            at_most(TIMER_MS / 2.0),
        )
        .claims(directed("less than with Nagle", held.less(free, Sample::mean_time_s).times(1e3)))
        .why(format!(
            "mean {} ms against {} ms with Nagle; worst {:.1} ms",
            shown(mean(free), 2),
            shown(mean(held), 2),
            free.times().max * 1e3
        )),
        quick_acks(measured, Policy::Ari, ("", "")),
        quick_acks(measured, Policy::AriRoundedDown, ("-rounded-down", ", its count rounded down")),
        phone_sends(measured),
    ]
}

/// A host that asks with Nagle on, by reading of how many acknowledgments leave at once.
fn quick_acks(measured: &Measured, policy: Policy, (id, reading): (&str, &str)) -> Stated {
    let host =
        |policy| measured.stalls.of(&Question { asks: Asks::Host, nagle: Nagle::On, policy });
    let mean = |policy| host(policy).mean_ms(Sample::mean_time_s);
    let ours = mean(policy);
    let what = format!(
        "§3.2: a host that asks with Nagle on is not made to wait by a phone with ARI{reading} (mean)"
    );
    let less = host(Policy::QuickAck).less(host(policy), Sample::mean_time_s).times(1e3);
    paper(format!("quick-acks-no-stall{id}"), what, "ms", ours, at_most(TIMER_MS / 2.0))
        .claims(directed("less than with Linux (paper)", less))
        .why(format!(
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
        )
}

/// The other reading: the phone sends, and only the Nagle half of ARI can act.
fn phone_sends(measured: &Measured) -> Stated {
    let [base, ari] = [Policy::QuickAck, Policy::Ari]
        .map(|policy| open::find(&measured.open, PHONE_SENDS, policy).expect("both were tried"));
    let published = 100.0 * (SIZES[3].time_s.ari_reno / SIZES[3].time_s.reno - 1.0);
    let what = "Table 2 read the other way: what ARI changes about 1 MB that the phone sends, Reno";
    let half = value(published, 0.5, "stated beforehand: half of the paper's change");
    let change = ari.change_percent(base, Sample::time_s);
    paper("table2-1mb-change-phone-sends", what, "%", change, half).below("shorter", 0.0).why(
        format!(
            "{} ms and {} ms; the host acknowledges as before, and Nagle off changes at most the last \
             segment",
            shown(ari.mean_ms(Sample::time_s), 1),
            shown(base.mean_ms(Sample::time_s), 1)
        ),
    )
}

/// What ARI does to bulk, and what its history is for.
pub(super) fn bulk(measured: &Measured) -> Vec<Stated> {
    let [load, back] = small_writes(measured);
    let [quick_acks, count] = counts(measured);
    vec![quick_acks, load, back, count]
}

/// Small writes without Nagle, and with it back on.
fn small_writes(measured: &Measured) -> [Stated; 2] {
    let of = |id| bulk::of(&measured.nagle, id);
    let [on, off, again] = ["minshall", "ari-short", "ari-bulk"].map(of);
    let segments = |runs: &Runs<Sample>| runs.mean(|run| run.segments).mean;
    let air_s = |runs: &Runs<Sample>| runs.mean(Sample::air_s).mean;
    let more = off.change_percent(on, |run| run.segments);
    let back = again.change_percent(on, |run| run.segments);
    let fewer = off.change_percent(again, |run| run.segments);
    [
        paper(
            "nagle-off-load",
            "§3.2: without Nagle a bulk stream in small writes loads the path (segments more \
             than with it)",
            "%",
            more,
            at_least(25.0),
        )
        .above("more", 0.0)
        .why(format!(
            "{:.0} segments instead of {:.0}, {:.2} s of air instead of {:.2} s; 4 MB take {} \
             s instead of {} s",
            segments(off),
            segments(on),
            air_s(off),
            air_s(on),
            shown(off.mean(|run| run.lasted_s), 2),
            shown(on.mean(|run| run.lasted_s), 2)
        )),
        paper(
            "history-bulk-nagle",
            "§3.2: a history of bulk brings Nagle, and its saving, back (segments more than \
             Linux's)",
            "%",
            back,
            between(-5.0, 5.0),
        )
        .claims(directed("fewer than without Nagle", fewer))
        .why(format!(
            "{:.0} segments; RFC 896's rule, which ARI turns on again, alone: {:.0}",
            segments(again),
            segments(of("on"))
        )),
    ]
}

/// What quick acknowledgments cost on a long transfer, and how the history bounds them.
fn counts(measured: &Measured) -> [Stated; 2] {
    let last = SIZES.len() - 1;
    let of = |policy| measured.transfers.of(&Transfer::as_described(last, Control::Reno, policy));
    let [base, ari, linux] = [Policy::QuickAck, Policy::Ari, Policy::Linux].map(of);
    let [whole, bounded, bulk, small] = ["ari-1m-paper", "ari-1m", "ari-1m-bulk", "ari-2k"]
        .map(|id| bulk::of(&measured.counts, id));
    [
        paper(
            "quick-ack-load",
            "§3.2: ARI adds few acknowledgments to a transfer of 1 MB",
            "%",
            ari.change_percent(base, |run| run.acks),
            at_most(5.0),
        )
        .below("few", 5.0)
        .why(format!(
            "{:.0} instead of {:.0}; the measured Linux sends {:.0}",
            ari.acks(),
            base.acks(),
            linux.acks()
        )),
        paper(
            "history-count",
            "§3.2: the history keeps a long transfer from too many quick acknowledgments \
             (acknowledgments less than with a count for all of 1 MB)",
            "%",
            bounded.change_percent(whole, |run| run.acks),
            at_most(-25.0),
        )
        .below("fewer", 0.0)
        .why(format!(
            "a most frequent size of 1 MB gives a count of 3732 and {:.0} acknowledgments ({} \
             ms); bounded at 512 {:.0} ({} ms); with a verdict of bulk {:.0}; with 2 kB {:.0}",
            whole.acks(),
            shown(whole.mean_ms(Sample::time_s), 1),
            bounded.acks(),
            shown(bounded.mean_ms(Sample::time_s), 1),
            bulk.acks(),
            small.acks()
        )),
    ]
}
