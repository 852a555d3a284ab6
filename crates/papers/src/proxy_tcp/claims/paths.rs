//! What this project claims of boxes elsewhere: uploads, wire between box and base station, hand-overs.

use super::super::boxes;
use super::super::paths::{APART_MS, GAPS_MS, Knows, LEFT_BEHIND, Place, SHOWN, of, worth};
use super::super::sample::Sample;
use super::super::setup::boxed;
use super::ours::{HARMLESS, LEVEL};
use super::{FADING, Findings};
use crate::verdict::{Stated, Why, above, directed};
use ackord_measure::stats::{Estimate, ratio};
use ackord_measure::{Allowed, Claimant};

/// From the base station to the mobile host and back without waiting, ms.
const AIR_ROUND_TRIP_MS: f64 = 40.0;

pub(super) fn claims(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in SHOWN {
        for middle in ["snoop", "m-tcp", "paper", "practical"] {
            stated.push(upload(findings, middle, sender));
        }
        for middle in ["snoop", "paper", "practical"] {
            stated.push(at_the_queue(findings, middle, sender));
            let apart = APART_MS.iter().filter(|apart| **apart > 0);
            stated.extend(apart.map(|apart| gain_kept(findings, middle, sender, *apart)));
            for gap in GAPS_MS {
                let each = LEFT_BEHIND.map(|left| harmless(findings, (middle, sender), gap, left));
                stated.extend(each);
            }
        }
        stated.extend(GAPS_MS.map(|gap| back_soon(findings, sender, gap)));
    }
    stated
}

fn project(id: String, what: String, measured: Estimate) -> Stated {
    Stated {
        id,
        by: Claimant::Project,
        what,
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: HARMLESS },
        direction: above("within five per cent", &measured, -5.0),
        measured,
        why: Why::default(),
    }
}

/// A box that watches data on its way to the mobile host leaves what it sends alone.
fn upload(findings: &Findings<'_>, middle: &str, sender: &str) -> Stated {
    let cost = worth(findings.paths, Place::Upload, middle, sender);
    let goodput = |middle| of(findings.paths, Place::Upload, middle, sender).goodput().mean;
    let label = boxed(middle).label;
    Stated {
        why: Why::measured(format!(
            "{:.3} Mbit/s, none {:.3}, I-TCP {:.3}",
            goodput(middle),
            goodput("none"),
            goodput("i-tcp")
        )),
        ..project(
            format!("upload.{middle}.{sender}"),
            format!("{label} against none while the mobile host sends, {sender}"),
            cost,
        )
    }
}

/// A box that is not told what the wireless queue refuses is as good as one that is.
fn at_the_queue(findings: &Findings<'_>, middle: &str, sender: &str) -> Stated {
    let apart = of(findings.paths, Place::Apart(0), middle, sender);
    let there = &boxes::of(findings.boxes, middle, sender).errors[1];
    let share = apart.over(there, Sample::goodput_mbit_s).times(100.0);
    let label = boxed(middle).label;
    Stated {
        allowed: Allowed::AtLeast { low: LEVEL },
        direction: above("more than half", &share, 50.0),
        why: Why::measured(format!(
            "{:.3} Mbit/s, at the queue {:.3}",
            apart.goodput().mean,
            there.goodput().mean
        )),
        ..project(
            format!("apart.{middle}.{sender}.0ms"),
            format!(
                "{label} at a router before the base station, of at the base station, {sender}"
            ),
            share,
        )
    }
}

/// A repair takes a round trip between box and mobile host, which the wire lengthens: no more of the gain
/// is lost than that.
fn gain_kept(findings: &Findings<'_>, middle: &str, sender: &str, apart_ms: u32) -> Stated {
    let each = |ms, middle| {
        of(findings.paths, Place::Apart(ms), middle, sender).each(Sample::goodput_mbit_s)
    };
    let gain = |ms| -> Vec<f64> {
        each(ms, middle).iter().zip(each(ms, "none")).map(|(with, none)| with - none).collect()
    };
    // Of no gain there is nothing to keep: in runs too short for a loss.
    let kept = match gain(0).iter().sum::<f64>() {
        0.0 => Estimate::exact(0.0),
        _ => ratio(&gain(apart_ms), &gain(0)).expect("both are run with the same seeds"),
    };
    let kept = kept.times(100.0);
    let bound = 100.0 * AIR_ROUND_TRIP_MS / (AIR_ROUND_TRIP_MS + 2.0 * f64::from(apart_ms));
    let goodput = |ms, middle| of(findings.paths, Place::Apart(ms), middle, sender).goodput().mean;
    let label = boxed(middle).label;
    Stated {
        allowed: Allowed::AtLeast { low: bound },
        direction: above("a gain", &kept, 0.0),
        why: Why::measured(format!(
            "{:.3} Mbit/s, {:.3} with no wire between, none {:.3}; the round trip from box to mobile host \
             is {AIR_ROUND_TRIP_MS:.0} ms, and {} with the wire",
            goodput(apart_ms, middle),
            goodput(0, middle),
            goodput(apart_ms, "none"),
            40 + 2 * apart_ms
        )),
        ..project(
            format!("apart.{middle}.{sender}.{apart_ms}ms"),
            format!(
                "{label}: gain with {apart_ms} ms of wire to the base station, of without, {sender}"
            ),
            kept,
        )
    }
}

/// A second box that knows nothing does no harm.
fn harmless(
    findings: &Findings<'_>,
    (middle, sender): (&str, &str),
    gap: u32,
    left: &'static str,
) -> Stated {
    let place = |knows| Place::Handover(gap, left, knows);
    let cost = worth(findings.paths, place(Knows::Nothing), middle, sender);
    let goodput = |middle, knows| of(findings.paths, place(knows), middle, sender).goodput().mean;
    let label = boxed(middle).label;
    let packets = if left == "loses" { "lost" } else { "late" };
    Stated {
        why: Why::measured(format!(
            "{:.3} Mbit/s, none {:.3}, with a box that was handed everything {:.3}",
            goodput(middle, Knows::Nothing),
            goodput("none", Knows::Nothing),
            goodput(middle, Knows::All)
        )),
        ..project(
            format!("handover.{middle}.{sender}.{gap}ms.{packets}"),
            format!(
                "{label} against none through a hand-over of {gap} ms, packets {packets}, {sender}"
            ),
            cost,
        )
    }
}

/// With a box that knows nothing new data comes as soon after a hand-over as after a fade.
fn back_soon(findings: &Findings<'_>, sender: &str, gap: u32) -> Stated {
    let runs =
        |middle, knows| of(findings.paths, Place::Handover(gap, "loses", knows), middle, sender);
    let (new, none) = (runs("practical", Knows::Nothing), runs("none", Knows::Nothing));
    let share = new.over(none, Sample::recovery_s).times(100.0);
    let wait = |runs: &super::super::sample::Samples| runs.mean(Sample::recovery_s).mean;
    let sooner = none.less(new, Sample::recovery_s);
    Stated {
        allowed: Allowed::AtMost { high: FADING },
        direction: directed("sooner than none", sooner),
        why: Why::measured(format!(
            "{:.2} s, none {:.2}, with a box that was handed everything {:.2}",
            wait(new),
            wait(none),
            wait(runs("practical", Knows::All))
        )),
        ..project(
            format!("handover.practical.{sender}.{gap}ms.wait"),
            format!(
                "practical: wait for new data after a hand-over of {gap} ms, of none's, {sender}"
            ),
            share,
        )
    }
}
