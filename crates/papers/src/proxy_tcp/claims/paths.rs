//! What this project claims of boxes elsewhere: uploads, wire between box and base station, handovers.

use super::super::measured::Measured;
use super::super::paths::{APART_MS, GAPS_MS, Knows, LEFT_BEHIND, Place, SHOWN, of, worth};
use super::super::sample::Sample;
use super::super::setup::{Id, boxed};
use super::limits::{FADING, HARMLESS, LEVEL};
use crate::cells::pairs;
use crate::claims::{Stated, at_least, at_most, directed, project};
use ackord_measure::stats::{Estimate, ratio};

/// From the base station to the mobile host and back without waiting, ms.
const AIR_ROUND_TRIP_MS: f64 = 40.0;

pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in SHOWN {
        for middle in ["snoop", "m-tcp", "paper", "practical"] {
            stated.push(upload(measured, middle, sender));
        }
        for middle in ["snoop", "paper", "practical"] {
            stated.push(at_the_queue(measured, middle, sender));
            let apart = APART_MS.iter().filter(|apart| **apart > 0);
            stated.extend(apart.map(|apart| gain_kept(measured, middle, sender, *apart)));
            for gap in GAPS_MS {
                let each = LEFT_BEHIND.map(|left| harmless(measured, (middle, sender), gap, left));
                stated.extend(each);
            }
        }
        stated.extend(GAPS_MS.map(|gap| back_soon(measured, sender, gap)));
    }
    stated
}

/// A box costs next to nothing, in percent.
fn costs_nothing(id: String, what: String, cost: Estimate) -> Stated {
    project(id, what, "%", cost, at_least(HARMLESS)).above("within five per cent", -5.0)
}

/// A box that watches data on its way to the mobile host leaves what it sends alone.
fn upload(measured: &Measured, middle: Id, sender: Id) -> Stated {
    let cost = worth(&measured.paths, Place::Upload, middle, sender);
    let goodput = |middle| of(&measured.paths, Place::Upload, middle, sender).goodput().mean;
    let label = boxed(middle).label;
    let what = format!("{label} against none while the mobile host sends, {sender}");
    costs_nothing(format!("upload.{middle}.{sender}"), what, cost).why(format!(
        "{:.3} Mbit/s, none {:.3}, I-TCP {:.3}",
        goodput(middle),
        goodput("none"),
        goodput("i-tcp")
    ))
}

/// A box that is not told what the wireless queue refuses is as good as one that is.
fn at_the_queue(measured: &Measured, middle: Id, sender: Id) -> Stated {
    let apart = of(&measured.paths, Place::Apart(0), middle, sender);
    let there = measured.boxes.of(middle, sender).errors(1);
    let share = apart.over(there, Sample::goodput_mbit_s).times(100.0);
    let what = format!(
        "{} at a router before the base station, of at the base station, {sender}",
        boxed(middle).label
    );
    project(format!("apart.{middle}.{sender}.0ms"), what, "%", share, at_least(LEVEL))
        .above("more than half", 50.0)
        .why(format!(
            "{:.3} Mbit/s, at the queue {:.3}",
            apart.goodput().mean,
            there.goodput().mean
        ))
}

/// A retransmission takes a round trip between box and mobile host, which the wire lengthens: no more of the gain
/// is lost than that.
fn gain_kept(measured: &Measured, middle: Id, sender: Id, apart_ms: u32) -> Stated {
    let runs = |ms, middle| of(&measured.paths, Place::Apart(ms), middle, sender);
    let each = |ms, middle| runs(ms, middle).each(Sample::goodput_mbit_s);
    let gain = |ms| pairs(&each(ms, middle), &each(ms, "none"), |with, none| with - none);
    // Of no gain there is nothing to keep: in runs too short for a loss.
    let kept = match gain(0).iter().sum::<f64>() {
        0.0 => Estimate::exact(0.0),
        _ => ratio(&gain(apart_ms), &gain(0)).expect("both are run with the same seeds"),
    };
    let bound = 100.0 * AIR_ROUND_TRIP_MS / (AIR_ROUND_TRIP_MS + 2.0 * f64::from(apart_ms));
    let goodput = |ms, middle| runs(ms, middle).goodput().mean;
    let what = format!(
        "{}: gain with {apart_ms} ms of wire to the base station, of without, {sender}",
        boxed(middle).label
    );
    let id = format!("apart.{middle}.{sender}.{apart_ms}ms");
    project(id, what, "%", kept.times(100.0), at_least(bound)).above("a gain", 0.0).why(format!(
        "{:.3} Mbit/s, {:.3} with no wire between, none {:.3}; the round trip from box to mobile host \
         is {AIR_ROUND_TRIP_MS:.0} ms, and {} with the wire",
        goodput(apart_ms, middle),
        goodput(0, middle),
        goodput(apart_ms, "none"),
        40 + 2 * apart_ms
    ))
}

/// A second box that knows nothing does no harm.
fn harmless(measured: &Measured, (middle, sender): (Id, Id), gap: u32, left: Id) -> Stated {
    let place = |knows| Place::Handover(gap, left, knows);
    let cost = worth(&measured.paths, place(Knows::Nothing), middle, sender);
    let goodput = |middle, knows| of(&measured.paths, place(knows), middle, sender).goodput().mean;
    let packets = if left == "loses" { "lost" } else { "late" };
    let what = format!(
        "{} against none through a handover of {gap} ms, packets {packets}, {sender}",
        boxed(middle).label
    );
    let id = format!("handover.{middle}.{sender}.{gap}ms.{packets}");
    costs_nothing(id, what, cost).why(format!(
        "{:.3} Mbit/s, none {:.3}, with a box that was handed everything {:.3}",
        goodput(middle, Knows::Nothing),
        goodput("none", Knows::Nothing),
        goodput(middle, Knows::All)
    ))
}

/// With a box that knows nothing new data comes as soon after a handover as after a fade.
fn back_soon(measured: &Measured, sender: Id, gap: u32) -> Stated {
    let runs =
        |middle, knows| of(&measured.paths, Place::Handover(gap, "loses", knows), middle, sender);
    let (new, none) = (runs("practical", Knows::Nothing), runs("none", Knows::Nothing));
    let share = new.over(none, Sample::recovery_s).times(100.0);
    let what =
        format!("practical: wait for new data after a handover of {gap} ms, of none's, {sender}");
    project(format!("handover.practical.{sender}.{gap}ms.wait"), what, "%", share, at_most(FADING))
        .claims(directed("sooner than none", none.less(new, Sample::recovery_s)))
        .why(format!(
            "{:.2} s, none {:.2}, with a box that was handed everything {:.2}",
            new.first_data().mean,
            none.first_data().mean,
            runs("practical", Knows::All).first_data().mean
        ))
}
