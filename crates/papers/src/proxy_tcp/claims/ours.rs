//! What this project claims of practical Proxy TCP: level with Snoop against bit errors, back at once
//! after fades that nobody tells it of, harmless where there are none, and dispensable.

use super::super::boxes::Boxed;
use super::super::detection::{self, detection, worth};
use super::super::kernel::{self, Beside};
use super::super::measured::Measured;
use super::super::sample::Sample;
use super::super::setup::{Id, Sender};
use super::super::stock;
use super::limits::{AFTER_DEATH, FADING, HARMLESS, LEVEL, NEARLY_ALL};
use crate::claims::{Stated, at_least, at_most, beside, directed, more, project};
use ackord_measure::stats::Estimate;

/// All of them.
pub(super) fn ours(measured: &Measured) -> Vec<Stated> {
    let mut stated = practical(measured);
    stated.extend(detections(measured));
    stated.extend(stock_linux(measured));
    stated.extend(beside_kernel(measured));
    stated
}

/// This project's claims for practical Proxy TCP.
fn practical(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in ["ns2", "linux", "linux-no-timestamps", "linux-no-sack"] {
        stated.extend([(0, 128), (1, 64)].map(|errors| beside_snoop(measured, sender, errors)));
        stated.extend([1.5, 2.5].map(|lasts| after_fade(measured, sender, lasts)));
        let one = measured.boxes.of("practical", sender);
        let what = format!("practical: delivered after its death, of none's, {sender}");
        let id = format!("practical.{sender}.death");
        stated.push(
            project(id, what, "%", one.after_death_percent(), at_least(AFTER_DEATH))
                .above("more than half", 50.0)
                .why(format!("{:.0} B were acknowledged and never came", one.lost_bytes().mean)),
        );
    }
    stated.push(semantics(measured));
    stated
}

fn beside_snoop(measured: &Measured, sender: Id, (at, rate): (usize, u32)) -> Stated {
    let [ours, snoop, none] =
        ["practical", "snoop", "none"].map(|middle| measured.boxes.of(middle, sender).errors(at));
    let share = ours.over(snoop, Sample::goodput_mbit_s).times(100.0);
    let what = format!("practical over Snoop at one error in {rate} KByte, {sender}");
    project(format!("practical.{sender}.{rate}"), what, "%", share, at_least(LEVEL))
        .claims(directed("above none", ours.less(none, Sample::goodput_mbit_s)))
        .why(format!(
            "{:.3} Mbit/s, Snoop {:.3}, none {:.3}",
            ours.goodput().mean,
            snoop.goodput().mean,
            none.goodput().mean
        ))
}

fn after_fade(measured: &Measured, sender: Id, lasts: f64) -> Stated {
    let both = ["practical", "none"].map(|middle| measured.fades.sweep(middle, sender, lasts));
    let share = both[0].over(both[1], Sample::recovery_s).times(100.0);
    let [wait, without] = both.map(|sweep| sweep.first_data());
    let what = format!("practical: wait for new data after {lasts} s, of none's, {sender}");
    project(format!("practical.{sender}.fade-{lasts}s"), what, "%", share, at_most(FADING))
        .below("sooner than none", 100.0)
        .why(format!(
            "{:.2} s (most {:.2}), without a box {:.2} (most {:.2})",
            wait.mean, wait.max, without.mean, without.max
        ))
}

fn semantics(measured: &Measured) -> Stated {
    let early = measured.boxes.each().filter(|one| {
        matches!(one.pair.0, "paper" | "practical" | "in-path" | "snoop" | "m-tcp" | "none")
    });
    let early = Estimate::exact(early.map(Boxed::early_bytes).max().unwrap_or(0) as f64);
    let what =
        "acknowledged early by any box but those that split, any sender, the most of any run";
    project("semantics.all", what, "B", early, at_most(0.0)).below("nothing", 0.0).since(
        early.mean <= 0.0,
        "the acknowledgments are the mobile's own, or say no more than they did",
    )
}

/// Fades are noticed without an oracle, and what is taken for one costs next to nothing.
fn detections(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in ["ns2", "linux"] {
        stated.push(noticed(measured, sender));
        let paths = detection::PATHS.iter().filter(|path| path.id != "errors");
        stated.extend(paths.map(|path| mistaken(measured, path.id, sender)));
    }
    stated
}

fn noticed(measured: &Measured, sender: Id) -> Stated {
    let sweep = measured.fades.sweep("practical", sender, 2.5);
    let share = sweep.mean(|run| if run.detection_s().is_some() { 100.0 } else { 0.0 });
    let what = format!("fades of 2.5 s that practical notices while they last, {sender}");
    project(format!("detection.{sender}"), what, "%", share, at_least(NEARLY_ALL))
        .above("more than half", 50.0)
        .why(detection(sweep).map_or("never".to_owned(), |found| {
            format!("after {:.0} ms, {:.0} at most", found.mean * 1e3, found.max * 1e3)
        }))
}

fn mistaken(measured: &Measured, path: Id, sender: Id) -> Stated {
    let pair = ("practical", sender);
    let cost = worth(&measured.mistaken, path, pair);
    let what = format!("practical against none on a path without fades ({path}), {sender}");
    let holds = detection::holds(measured.mistaken.of(&(path, pair))).mean;
    project(format!("mistaken.{sender}.{path}"), what, "%", cost, at_least(HARMLESS))
        .above("within five per cent", -5.0)
        .why(format!("{holds:.2} holds in 100 s"))
}

/// Practical Proxy TCP with stock Linux senders: near the ideal, and the paper's freeze is not.
fn stock_linux(measured: &Measured) -> Vec<Stated> {
    let outages = stock::SENDERS.iter().flat_map(|sender| stock::OUTAGES.map(|out| (sender, out)));
    let claim = |(sender, outage_s): (&Sender, f64)| {
        let of = |middle| measured.stock.of(middle, sender.id, outage_s);
        let ideal_mb = measured.stock.ideal_mb(sender.id, outage_s);
        let percent = |middle| of(middle).mean(Sample::delivered_mb).times(100.0 / ideal_mb);
        let what =
            format!("practical through an outage of {outage_s} s, of the ideal, {}", sender.label);
        let id = format!("stock.{}.{outage_s}s", sender.id);
        project(id, what, "%", percent("practical"), at_least(NEARLY_ALL))
            .claims(directed("above none", of("practical").less(of("none"), Sample::delivered_mb)))
            .why(format!(
                "none {:.0} %, Snoop {:.0} %, the paper's mode {:.0} %, in path {:.0} %",
                percent("none").mean,
                percent("snoop").mean,
                percent("paper").mean,
                percent("in-path").mean
            ))
    };
    outages.map(claim).collect()
}

/// The box before a stock kernel: near the ideal there too, and the `linux` profile as the kernel.
fn beside_kernel(measured: &Measured) -> Vec<Stated> {
    let practical = measured.kernel.iter().filter(|one| one.middle == "practical");
    let worth = practical.map(|one| on_kernel(measured, one));
    let with_sack = measured.kernel.iter().filter(|one| one.sender != "no-sack");
    worth.chain(with_sack.map(profile)).collect()
}

fn on_kernel(measured: &Measured, one: &Beside) -> Stated {
    let none = measured.kernel.iter().find(|other| {
        (other.sender, other.outage_s, other.middle) == (one.sender, one.outage_s, "none")
    });
    let none = none.expect("every sender was put through without a box, too").kernel_mb;
    let what = format!(
        "practical before a stock kernel through an outage of {} s, of the ideal, {}",
        one.outage_s, one.sender
    );
    let id = format!("on-kernel.{}.{}s", one.sender, one.outage_s);
    project(id, what, "%", one.kernel_of_ideal_percent, at_least(NEARLY_ALL))
        .claims(more("above none", &one.kernel_mb, &none))
        .why(format!(
            "{}: {:.2} MB in 10 s, {:.2} without a box, over {} phases",
            kernel::version(),
            one.kernel_mb.mean,
            none.mean,
            one.kernel_mb.runs
        ))
}

/// Within a tenth of the kernel, whatever the box.
fn profile(one: &Beside) -> Stated {
    let what = format!(
        "linux {} off a stock kernel through {} s out, box: {}",
        one.sender, one.outage_s, one.middle
    );
    let id = format!("kernel.{}.{}.{}s", one.sender, one.middle, one.outage_s);
    beside(id, what, one.off_percent).why(format!(
        "{}: {:.2} MB, here {:.2}, over {} phases",
        kernel::version(),
        one.kernel_mb.mean,
        one.ours_mb.mean,
        one.kernel_mb.runs
    ))
}
