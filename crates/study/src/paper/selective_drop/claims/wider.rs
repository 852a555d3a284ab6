//! What practical selective drop has to come up to, and the paper's future work.

use super::Stated;
use super::sharing::WITHIN_POINTS;
use crate::paper::selective_drop::setup::FULL_PERCENT;
use crate::paper::selective_drop::wider::Asked;
use crate::paper::verdict::{Why, below, directed, more};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant};

const PRACTICAL: &str = "selective-drop";
const PAPER: &str = "selective-drop, paper";
const DROP_TAIL: &str = "drop-tail";
const DRR: &str = "DRR";
const FQ_CODEL: &str = "FQ-CoDel";

/// So much less of Jain's index is no worse.
const NO_WORSE: f64 = 0.02;

/// On each of the paper's links: as fair as DRR and FQ-CoDel, as full as drop-tail, and less wait.
pub(super) fn practical(asked: &[Asked]) -> Vec<Stated> {
    let links = asked.iter().filter(|asked| asked.question.is_of_the_paper());
    links
        .flat_map(|asked| [fair(asked, DRR), fair(asked, FQ_CODEL), full(asked), wait(asked)])
        .collect()
}

/// A claim about practical mode on one of the paper's links; its direction is that it is fairer than drop-tail.
fn on_link(
    asked: &Asked,
    (what, words, unit): (&str, String, &'static str),
    (allowed, measured, why): (Allowed, Estimate, String),
) -> Stated {
    let fairness = |name: &str| asked.of(name).min_max_percent;
    Stated {
        id: format!("practical-{}-{what}", asked.question.id),
        by: Claimant::Project,
        what: format!("{}, practical: {words}", asked.question.place()),
        unit,
        paper: None,
        allowed,
        measured,
        direction: more("fairer than drop-tail", &fairness(PRACTICAL), &fairness(DROP_TAIL)),
        why: Why::measured(why),
    }
}

fn fair(asked: &Asked, rival: &'static str) -> Stated {
    let fairness = |name: &str| asked.of(name).min_max_percent;
    let id = if rival == DRR { "fair" } else { "fair-fq-codel" };
    let words = format!("fairness is within {WITHIN_POINTS} points of {rival}'s");
    let why = format!(
        "{:.1} % here, {:.1} % with {rival}, {:.1} % with drop-tail.",
        fairness(PRACTICAL).mean,
        fairness(rival).mean,
        fairness(DROP_TAIL).mean
    );
    let apart = fairness(PRACTICAL).less(&fairness(rival));
    on_link(asked, (id, words, "points"), (Allowed::AtLeast { low: -WITHIN_POINTS }, apart, why))
}

fn full(asked: &Asked) -> Stated {
    let [with, without] = [PRACTICAL, DROP_TAIL].map(|name| asked.of(name).used_percent);
    let words = format!("the link carries {FULL_PERCENT} % of what it carries with drop-tail");
    let why = format!("{:.2} % of the link, {:.2} %.", with.mean, without.mean);
    let share = with.over(&without).times(100.0);
    on_link(asked, ("full", words, "%"), (Allowed::AtLeast { low: FULL_PERCENT }, share, why))
}

fn wait(asked: &Asked) -> Stated {
    let [with, without] = [PRACTICAL, DROP_TAIL].map(|name| asked.of(name).delay_p99_ms);
    let words = "the 99th percentile of the wait is below drop-tail's".to_owned();
    let why = format!("{:.1} ms, {:.1} ms.", with.mean, without.mean);
    let share = with.over(&without).times(100.0);
    on_link(asked, ("wait", words, "% of it"), (Allowed::AtMost { high: 100.0 }, share, why))
}

/// Whether what the paper leaves for later is better with its queue than without, and than with the queues
/// that Linux ships.
pub(super) fn future_work(asked: &[Asked]) -> Vec<Stated> {
    let others = asked.iter().filter(|asked| !asked.question.is_of_the_paper());
    let mut stated = Vec::new();
    for asked in others {
        stated.extend([DROP_TAIL, DRR, FQ_CODEL].map(|rival| shares(asked, rival)));
        for group in ["telnet", "web", "short"] {
            let time = |name: &str| asked.of(name).transfer_p99_ms(group);
            if let (Some(with), Some(without)) = (time(PRACTICAL), time(DROP_TAIL)) {
                stated.push(quicker(asked, group, (with, without)));
            }
        }
    }
    stated
}

fn shares(asked: &Asked, rival: &'static str) -> Stated {
    let jain = |name: &str| asked.of(name).jain_index;
    let id = match rival {
        DRR => "fair-drr",
        FQ_CODEL => "fair-fq-codel",
        _ => "fair",
    };
    let more = jain(PRACTICAL).less(&jain(rival));
    Stated {
        id: format!("{}-{id}", asked.question.id),
        by: Claimant::Project,
        what: format!(
            "{}: bulk flows share no worse than with {rival} (Jain, within {NO_WORSE})",
            asked.question.title
        ),
        unit: "",
        paper: None,
        allowed: Allowed::AtLeast { low: -NO_WORSE },
        measured: more,
        direction: directed("better", more),
        why: Why::measured(format!(
            "{:.3} in practical mode, {:.3} with drop-tail, {:.3} in paper mode, {:.3} with DRR, {:.3} \
             with FQ-CoDel; the link is used to {:.1} % ({:.1} % with drop-tail).",
            jain(PRACTICAL).mean,
            jain(DROP_TAIL).mean,
            jain(PAPER).mean,
            jain(DRR).mean,
            jain(FQ_CODEL).mean,
            asked.of(PRACTICAL).used_percent.mean,
            asked.of(DROP_TAIL).used_percent.mean,
        )),
    }
}

fn quicker(asked: &Asked, group: &str, (with, without): (Estimate, Estimate)) -> Stated {
    let of = |name: &str| {
        let time = asked.of(name).transfer_p99_ms(group);
        time.map_or("none".to_owned(), |time| format!("{:.0} ms", time.mean))
    };
    let share = with.over(&without).times(100.0);
    Stated {
        id: format!("{}-{group}", asked.question.id),
        by: Claimant::Project,
        what: format!(
            "{}: the 99th percentile of a {group} transfer's time, of drop-tail's",
            asked.question.title
        ),
        unit: "%",
        paper: None,
        allowed: Allowed::AtMost { high: 100.0 },
        measured: share,
        direction: below("quicker", &share, 100.0),
        why: Why::measured(format!(
            "{} in practical mode, {} with drop-tail, {} in paper mode, {} with DRR, {} with CoDel, {} \
             with FQ-CoDel.",
            of(PRACTICAL),
            of(DROP_TAIL),
            of(PAPER),
            of(DRR),
            of("CoDel"),
            of(FQ_CODEL),
        )),
    }
}
