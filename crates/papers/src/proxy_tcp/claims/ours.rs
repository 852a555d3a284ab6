//! What this project claims of practical Proxy TCP: level with Snoop against bit errors, back at once
//! after fades that nobody tells it of, harmless where there are none, and dispensable.

use super::super::boxes::{Measured, of};
use super::super::detection::{self, detection, worth};
use super::super::kernel::{self, Beside};
use super::super::sample::Sample;
use super::super::stock;
use super::{AFTER_DEATH, FADING, Findings, TOLERANCE};
use crate::verdict::{Stated, Why, above, below, directed, more};
use ackord_measure::stats::{Estimate, estimate};
use ackord_measure::{Allowed, Claimant};

/// "Level": at least so much of Snoop, percent.
pub(super) const LEVEL: f64 = 97.0;
/// Noticed, or delivered of the ideal: at least, percent.
const NEARLY_ALL: f64 = 95.0;
/// What a box may cost where nothing is to be won, percent.
pub(super) const HARMLESS: f64 = -1.0;

/// All of them.
pub(super) fn ours(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = practical(findings);
    stated.extend(detections(findings));
    stated.extend(stock_linux(findings));
    stated.extend(beside_kernel(findings));
    stated
}

/// This project's claims for practical Proxy TCP.
fn practical(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in ["ns2", "linux", "linux-no-timestamps", "linux-no-sack"] {
        stated.extend([(0, 128), (1, 64)].map(|errors| beside_snoop(findings, sender, errors)));
        stated.extend([1.5, 2.5].map(|lasts| after_fade(findings, sender, lasts)));
        let one = of(findings.boxes, "practical", sender);
        let death = one.after_death_percent(findings.boxes);
        stated.push(Stated {
            id: format!("practical.{sender}.death"),
            by: Claimant::Project,
            what: format!("practical: delivered after its death, of none's, {sender}"),
            unit: "%",
            paper: None,
            allowed: Allowed::AtLeast { low: AFTER_DEATH },
            measured: death,
            direction: above("more than half", &death, 50.0),
            why: Why::measured(format!(
                "{:.0} B were acknowledged and never came",
                one.lost_bytes().mean
            )),
        });
    }
    stated.push(semantics(findings));
    stated
}

fn beside_snoop(findings: &Findings<'_>, sender: &str, (at, rate): (usize, u32)) -> Stated {
    let of = |middle| &of(findings.boxes, middle, sender).errors[at];
    let (ours, snoop, none) = (of("practical"), of("snoop"), of("none"));
    Stated {
        id: format!("practical.{sender}.{rate}"),
        by: Claimant::Project,
        what: format!("practical over Snoop at one error in {rate} KByte, {sender}"),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: LEVEL },
        measured: ours.over(snoop, Sample::goodput_mbit_s).times(100.0),
        direction: directed("above none", ours.less(none, Sample::goodput_mbit_s)),
        why: Why::measured(format!(
            "{:.3} Mbit/s, Snoop {:.3}, none {:.3}",
            ours.goodput().mean,
            snoop.goodput().mean,
            none.goodput().mean
        )),
    }
}

fn after_fade(findings: &Findings<'_>, sender: &str, lasts: f64) -> Stated {
    let sweep = |middle| findings.fades.sweep(middle, sender, lasts);
    let (ours, none) = (sweep("practical"), sweep("none"));
    let share = ours.phases.over(&none.phases, Sample::recovery_s).times(100.0);
    let [wait, without] = [ours, none].map(|sweep| sweep.first_data());
    Stated {
        id: format!("practical.{sender}.fade-{lasts}s"),
        by: Claimant::Project,
        what: format!("practical: wait for new data after {lasts} s, of none's, {sender}"),
        unit: "%",
        paper: None,
        allowed: Allowed::AtMost { high: FADING },
        measured: share,
        direction: below("sooner than none", &share, 100.0),
        why: Why::measured(format!(
            "{:.2} s (most {:.2}), without a box {:.2} (most {:.2})",
            wait.mean, wait.max, without.mean, without.max
        )),
    }
}

fn semantics(findings: &Findings<'_>) -> Stated {
    let early = findings.boxes.iter().filter(|one| {
        matches!(one.middle.id, "paper" | "practical" | "in-path" | "snoop" | "m-tcp" | "none")
    });
    let early = Estimate::exact(early.map(Measured::early_bytes).max().unwrap_or(0) as f64);
    Stated {
        id: "semantics.all".to_owned(),
        by: Claimant::Project,
        what: "acknowledged early by any box but those that split, any sender, the most of any run"
            .to_owned(),
        unit: "B",
        paper: None,
        allowed: Allowed::AtMost { high: 0.0 },
        measured: early,
        direction: below("nothing", &early, 0.0),
        why: Why::measured("").since(
            early.mean <= 0.0,
            "the acknowledgments are the mobile's own, or say no more than they did",
        ),
    }
}

/// Fades are noticed without an oracle, and what is taken for one costs next to nothing.
fn detections(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in ["ns2", "linux"] {
        stated.push(noticed(findings, sender));
        let paths = detection::PATHS.iter().filter(|path| path.id != "errors");
        stated.extend(paths.map(|path| mistaken(findings, path.id, sender)));
    }
    stated
}

fn noticed(findings: &Findings<'_>, sender: &str) -> Stated {
    let phases = &findings.fades.sweep("practical", sender, 2.5).phases;
    let each = phases.each(|run| if run.detection_s().is_some() { 100.0 } else { 0.0 });
    let share = estimate(&each).expect("every sweep has phases");
    let found = detection(findings.fades, "practical", sender, 2.5);
    Stated {
        id: format!("detection.{sender}"),
        by: Claimant::Project,
        what: format!("fades of 2.5 s that practical notices while they last, {sender}"),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: NEARLY_ALL },
        measured: share,
        direction: above("more than half", &share, 50.0),
        why: Why::measured(found.map_or("never".to_owned(), |found| {
            format!("after {:.0} ms, {:.0} at most", found.mean * 1e3, found.max * 1e3)
        })),
    }
}

fn mistaken(findings: &Findings<'_>, path: &str, sender: &str) -> Stated {
    let cost = worth(findings.mistaken, path, "practical", sender);
    let holds = findings
        .mistaken
        .iter()
        .find(|one| (one.path.id, one.middle.id, one.sender.id) == (path, "practical", sender));
    Stated {
        id: format!("mistaken.{sender}.{path}"),
        by: Claimant::Project,
        what: format!("practical against none on a path without fades ({path}), {sender}"),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: HARMLESS },
        measured: cost,
        direction: above("within five per cent", &cost, -5.0),
        why: Why::measured(format!(
            "{:.2} holds in 100 s",
            holds.map_or(f64::NAN, |one| one.holds().mean)
        )),
    }
}

/// Practical Proxy TCP with stock Linux senders: near the ideal, and the paper's freeze is not.
fn stock_linux(findings: &Findings<'_>) -> Vec<Stated> {
    let outages = stock::SENDERS.iter().flat_map(|sender| stock::OUTAGES.map(|out| (sender, out)));
    let claim = |(sender, outage_s): (&super::super::setup::Sender, f64)| {
        let of = |middle| stock::of(findings.stock, middle, sender.id, outage_s);
        let percent = |middle| of(middle).delivered().times(100.0 / of(middle).ideal_mb);
        Stated {
            id: format!("stock.{}.{outage_s}s", sender.id),
            by: Claimant::Project,
            what: format!(
                "practical through an outage of {outage_s} s, of the ideal, {}",
                sender.label
            ),
            unit: "%",
            paper: None,
            allowed: Allowed::AtLeast { low: NEARLY_ALL },
            measured: percent("practical"),
            direction: directed(
                "above none",
                of("practical").samples.less(&of("none").samples, Sample::delivered_mb),
            ),
            why: Why::measured(format!(
                "none {:.0} %, Snoop {:.0} %, the paper's mode {:.0} %, in path {:.0} %",
                percent("none").mean,
                percent("snoop").mean,
                percent("paper").mean,
                percent("in-path").mean
            )),
        }
    };
    outages.map(claim).collect()
}

/// The box before a stock kernel: near the ideal there too, and the `linux` profile as the kernel.
fn beside_kernel(findings: &Findings<'_>) -> Vec<Stated> {
    let practical = findings.kernel.iter().filter(|one| one.middle == "practical");
    let worth = practical.map(|one| on_kernel(findings, one));
    let with_sack = findings.kernel.iter().filter(|one| one.sender != "no-sack");
    worth.chain(with_sack.map(profile)).collect()
}

fn on_kernel(findings: &Findings<'_>, one: &Beside) -> Stated {
    let none = findings.kernel.iter().find(|other| {
        (other.sender, other.outage_s, other.middle) == (one.sender, one.outage_s, "none")
    });
    let none = none.expect("every sender was put through without a box, too").kernel_mb;
    Stated {
        id: format!("on-kernel.{}.{}s", one.sender, one.outage_s),
        by: Claimant::Project,
        what: format!(
            "practical before a stock kernel through an outage of {} s, of the ideal, {}",
            one.outage_s, one.sender
        ),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: NEARLY_ALL },
        measured: one.kernel_of_ideal_percent,
        direction: more("above none", &one.kernel_mb, &none),
        why: Why::measured(format!(
            "{}: {:.2} MB in 10 s, {:.2} without a box, over {} phases",
            kernel::version(),
            one.kernel_mb.mean,
            none.mean,
            one.kernel_mb.runs
        )),
    }
}

/// Within a tenth of the kernel, whatever the box.
fn profile(one: &Beside) -> Stated {
    let off = one.off_percent;
    let magnitude = off.magnitude();
    Stated {
        id: format!("kernel.{}.{}.{}s", one.sender, one.middle, one.outage_s),
        by: Claimant::Project,
        what: format!(
            "linux {} off a stock kernel through {} s out, box: {}",
            one.sender, one.outage_s, one.middle
        ),
        unit: "%",
        paper: None,
        allowed: Allowed::Between { low: -100.0 * TOLERANCE, high: 100.0 * TOLERANCE },
        measured: off,
        direction: below("within a half", &magnitude, 50.0),
        why: Why::measured(format!(
            "{}: {:.2} MB, here {:.2}, over {} phases",
            kernel::version(),
            one.kernel_mb.mean,
            one.ours_mb.mean,
            one.kernel_mb.runs
        )),
    }
}
