//! What practical selective drop has to come up to, and the paper's future work.

use super::Stated;
use crate::paper::selective_drop::setup::FULL_PERCENT;
use crate::paper::selective_drop::wider::{Answer, Asked};
use crate::paper::verdict::{Direction, Expected};
use ackord_measure::stats::Estimate;

const PRACTICAL: &str = "selective-drop";
const PAPER: &str = "selective-drop, paper";
const DROP_TAIL: &str = "drop-tail";
const DRR: &str = "DRR";

/// So many percentage points less than DRR's fairness are still as fair.
const WITHIN_POINTS: f64 = 3.0;

/// On each of the paper's links: as fair as DRR, as full as drop-tail, and less wait.
pub(super) fn practical(asked: &[Asked]) -> Vec<Stated> {
    let links = asked.iter().filter(|asked| asked.question.is_of_the_paper());
    let stated = links.flat_map(|asked| {
        let [practical, drr, drop_tail] = [PRACTICAL, DRR, DROP_TAIL].map(|name| asked.of(name));
        let fairness = |answer: &Answer| answer.min_max_percent.mean;
        let used = |answer: &Answer| answer.used_percent.mean;
        let p99 = |answer: &Answer| answer.delay_p99_ms.mean;
        let place = asked.question.place();
        let apart = fairness(practical) - fairness(drr);
        let full = 100.0 * used(practical) / used(drop_tail);
        let wait = 100.0 * p99(practical) / p99(drop_tail);
        let claim = |what: &str, words: String, unit, expected, (measured, why)| Stated {
            id: format!("practical-{}-{what}", asked.question.id),
            what: format!("{place}, practical: {words}"),
            unit,
            paper: None,
            expected,
            measured,
            ci95: None,
            runs: practical.used_percent.runs,
            direction: Direction::agrees_if(fairness(practical) > fairness(drop_tail)),
            why,
        };
        [
            claim(
                "fair",
                format!("fairness is within {WITHIN_POINTS} points of DRR's"),
                "points",
                Expected::AtLeast(-WITHIN_POINTS),
                (
                    apart,
                    format!(
                        "{:.1} % here, {:.1} % with DRR, {:.1} % with drop-tail.",
                        fairness(practical),
                        fairness(drr),
                        fairness(drop_tail)
                    ),
                ),
            ),
            claim(
                "full",
                format!("the link carries {FULL_PERCENT} % of what it carries with drop-tail"),
                "%",
                Expected::AtLeast(FULL_PERCENT),
                (full, format!("{:.2} % of the link, {:.2} %.", used(practical), used(drop_tail))),
            ),
            claim(
                "wait",
                "the 99th percentile of the wait is below drop-tail's".to_owned(),
                "% of it",
                Expected::AtMost(100.0),
                (wait, format!("{:.1} ms, {:.1} ms.", p99(practical), p99(drop_tail))),
            ),
        ]
    });
    stated.collect()
}

/// Whether what the paper leaves for later is better with its queue than without, and what use of the
/// link that costs.
pub(super) fn future_work(asked: &[Asked]) -> Vec<Stated> {
    let others: Vec<&Asked> =
        asked.iter().filter(|asked| !asked.question.is_of_the_paper()).collect();
    let mut stated = Vec::new();
    for asked in &others {
        let title = asked.question.title;
        let jain = |name: &str| asked.of(name).jain_index;
        let (with, without) = (jain(PRACTICAL), jain(DROP_TAIL));
        stated.push(Stated {
            id: format!("{}-fair", asked.question.id),
            what: format!("{title}: bulk flows share no worse than with drop-tail (Jain)"),
            unit: "",
            paper: None,
            expected: Expected::AtLeast(without.mean),
            measured: with.mean,
            ci95: with.ci95,
            runs: with.runs,
            direction: Direction::agrees_if(with.mean > without.mean - 0.02),
            why: format!(
                "{:.3} with drop-tail, {:.3} in paper mode, {:.3} with DRR, {:.3} with FQ-CoDel; the \
                 link is used to {:.1} % ({:.1} % with drop-tail).",
                without.mean,
                jain(PAPER).mean,
                jain(DRR).mean,
                jain("FQ-CoDel").mean,
                asked.of(PRACTICAL).used_percent.mean,
                asked.of(DROP_TAIL).used_percent.mean,
            ),
        });
        for group in ["telnet", "web", "short"] {
            let time = |name: &str| asked.of(name).transfer_p99_ms(group);
            if let (Some(with), Some(without)) = (time(PRACTICAL), time(DROP_TAIL)) {
                stated.push(quicker(asked, group, (with, without)));
            }
        }
    }
    stated
}

fn quicker(asked: &Asked, group: &str, (with, without): (Estimate, Estimate)) -> Stated {
    let of = |name: &str| {
        let time = asked.of(name).transfer_p99_ms(group);
        time.map_or("none".to_owned(), |time| format!("{:.0} ms", time.mean))
    };
    Stated {
        id: format!("{}-{group}", asked.question.id),
        what: format!(
            "{}: the 99th percentile of a {group} transfer's time is below drop-tail's",
            asked.question.title
        ),
        unit: "ms",
        paper: None,
        expected: Expected::AtMost(without.mean),
        measured: with.mean,
        ci95: with.ci95,
        runs: with.runs,
        direction: Direction::agrees_if(with.mean < without.mean),
        why: format!(
            "{} with drop-tail, {} in paper mode, {} with DRR, {} with CoDel, {} with FQ-CoDel.",
            of(DROP_TAIL),
            of(PAPER),
            of(DRR),
            of("CoDel"),
            of("FQ-CoDel"),
        ),
    }
}
