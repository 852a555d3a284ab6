//! What this project claims of practical Proxy TCP: level with Snoop against bit errors, back at once
//! after fades that nobody tells it of, harmless where there are none, and dispensable.

use super::super::boxes::{Measured, of};
use super::super::detection::{self, detection, worth};
use super::super::kernel::{self, Beside};
use super::super::stock;
use super::{AFTER_DEATH, FADING, Findings, single};
use crate::paper::verdict::{Direction, Expected, Stated};

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
        for (at, rate) in [(0, 128), (1, 64)] {
            let of = |middle| of(findings.boxes, middle, sender).errors[at].goodput();
            let (ours, snoop, none) = (of("practical"), of("snoop"), of("none"));
            let ratio = 100.0 * ours.mean / snoop.mean;
            stated.push(Stated {
                id: format!("practical.{sender}.{rate}"),
                what: format!("practical over Snoop at one error in {rate} KByte, {sender}"),
                unit: "%",
                paper: None,
                // Level: within what single seeds scatter.
                expected: Expected::AtLeast(97.0),
                measured: single(ratio),
                direction: Direction::agrees_if(ours.mean > none.mean),
                why: format!(
                    "{:.3} Mbit/s, Snoop {:.3}, none {:.3}",
                    ours.mean, snoop.mean, none.mean
                ),
            });
        }
        for lasts in [1.5, 2.5] {
            let wait = |middle| findings.fades.sweep(middle, sender, lasts).first_data();
            let (ours, none) = (wait("practical"), wait("none"));
            stated.push(Stated {
                id: format!("practical.{sender}.fade-{lasts}s"),
                what: format!("practical: wait for new data after {lasts} s, of none's, {sender}"),
                unit: "%",
                paper: None,
                expected: Expected::AtMost(FADING),
                measured: single(100.0 * ours.mean / none.mean),
                direction: Direction::agrees_if(ours.mean < none.mean),
                why: format!(
                    "{:.2} s (most {:.2}), without a box {:.2} (most {:.2})",
                    ours.mean, ours.max, none.mean, none.max
                ),
            });
        }
        let one = of(findings.boxes, "practical", sender);
        let death = one.after_death_percent(findings.boxes);
        stated.push(Stated {
            id: format!("practical.{sender}.death"),
            what: format!("practical: delivered after its death, of none's, {sender}"),
            unit: "%",
            paper: None,
            expected: Expected::AtLeast(AFTER_DEATH),
            measured: death,
            direction: Direction::agrees_if(death.mean > 50.0),
            why: format!("{:.0} B were acknowledged and never came", one.lost_bytes().mean),
        });
    }
    let early = findings.boxes.iter().filter(|one| {
        matches!(one.middle.id, "paper" | "practical" | "in-path" | "snoop" | "m-tcp" | "none")
    });
    let early = early.map(Measured::early_bytes).max().unwrap_or(0);
    stated.push(Stated {
        id: "semantics.all".to_owned(),
        what: "acknowledged early by any box but those that split, any sender".to_owned(),
        unit: "B",
        paper: None,
        expected: Expected::AtMost(0.0),
        measured: single(early as f64),
        direction: Direction::agrees_if(early == 0),
        why: "the acknowledgments are the mobile's own, or say no more than they did".to_owned(),
    });
    stated
}

/// Fades are noticed without an oracle, and what is taken for one costs next to nothing.
fn detections(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in ["ns2", "linux"] {
        let phases = findings.fades.sweep("practical", sender, 2.5).phases.0.len();
        let found = detection(findings.fades, "practical", sender, 2.5);
        let noticed = found.map_or(0.0, |found| 100.0 * f64::from(found.runs) / phases as f64);
        stated.push(Stated {
            id: format!("detection.{sender}"),
            what: format!("fades of 2.5 s that practical notices while they last, {sender}"),
            unit: "%",
            paper: None,
            expected: Expected::AtLeast(95.0),
            measured: single(noticed),
            direction: Direction::agrees_if(noticed > 50.0),
            why: found.map_or("never".to_owned(), |found| {
                format!("after {:.0} ms, {:.0} at most", found.mean * 1e3, found.max * 1e3)
            }),
        });
        for path in detection::PATHS.iter().filter(|path| path.id != "errors") {
            let cost = worth(findings.mistaken, path.id, "practical", sender);
            let holds = findings.mistaken.iter().find(|one| {
                (one.path.id, one.middle.id, one.sender.id) == (path.id, "practical", sender)
            });
            stated.push(Stated {
                id: format!("mistaken.{sender}.{}", path.id),
                what: format!(
                    "practical against none on a path without fades ({}), {sender}",
                    path.id
                ),
                unit: "%",
                paper: None,
                expected: Expected::AtLeast(-1.0),
                measured: cost,
                direction: Direction::agrees_if(cost.mean > -5.0),
                why: format!(
                    "{:.2} holds in 100 s",
                    holds.map_or(f64::NAN, |one| one.holds().mean)
                ),
            });
        }
    }
    stated
}

/// Practical Proxy TCP with stock Linux senders: near the ideal, and the paper's freeze is not.
fn stock_linux(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for sender in &stock::SENDERS {
        for outage_s in stock::OUTAGES {
            let share = |middle| {
                let one = stock::of(findings.stock, middle, sender.id, outage_s);
                100.0 * one.delivered().mean / one.ideal_mb
            };
            let ours = share("practical");
            stated.push(Stated {
                id: format!("stock.{}.{outage_s}s", sender.id),
                what: format!(
                    "practical through an outage of {outage_s} s, of the ideal, {}",
                    sender.label
                ),
                unit: "%",
                paper: None,
                expected: Expected::AtLeast(95.0),
                measured: single(ours),
                direction: Direction::agrees_if(ours > share("none")),
                why: format!(
                    "none {:.0} %, Snoop {:.0} %, the paper's mode {:.0} %, in path {:.0} %",
                    share("none"),
                    share("snoop"),
                    share("paper"),
                    share("in-path")
                ),
            });
        }
    }
    stated
}

/// The `linux` profile as a real kernel, with SACK: within a tenth without a box, and with data
/// repeated after the outage.
fn beside_kernel(findings: &Findings<'_>) -> Vec<Stated> {
    let with_sack = findings.kernel.iter().filter(|one| one.sender != "no-sack");
    let claim = |one: &Beside| Stated {
        id: format!("kernel.{}.{}.{}s", one.sender, one.middle, one.outage_s),
        what: format!(
            "linux {} as a kernel through {} s out, box: {}",
            one.sender, one.outage_s, one.middle
        ),
        unit: "MB",
        paper: None,
        expected: Expected::Value { value: one.kernel_mb, tolerance: 0.1 },
        measured: single(one.ours_mb),
        direction: Direction::agrees_if(one.percent().abs() < 50.0),
        why: format!(
            "{}: {:.2} MB over {} runs; the paper's box is told of the outage there and notices it \
             by itself here",
            kernel::version(),
            one.kernel_mb,
            one.kernel_runs
        ),
    };
    with_sack.map(claim).collect()
}
