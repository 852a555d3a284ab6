//! Weights (paper §4.1): the paper says that a weighted connection can be made to perform better than the
//! others. This project says more of its own form: shares are as the weights.

use super::sharing::WITHIN_POINTS;
use super::wider::{DRR, PAPER, PRACTICAL};
use super::{Stated, TOLERANCE};
use crate::selective_drop::wider::Asked;
use crate::verdict::{Why, above, more};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant};

/// The two forms' claims.
pub(super) fn weights(asked: &[Asked]) -> Vec<Stated> {
    let weighted: Vec<&Asked> = asked.iter().filter(|asked| asked.question.is_weighted()).collect();
    let mut stated = Vec::new();
    for (favourite, other) in [("reno", "vegas"), ("vegas", "reno")] {
        let prefix = format!("weights-{favourite}");
        let links = weighted.iter().filter(|asked| asked.question.id.starts_with(&prefix));
        stated.extend(ahead(favourite, other, links.copied()));
    }
    stated.extend(weighted.iter().map(|asked| as_drr(asked)));
    stated.extend(as_weights(&weighted));
    stated
}

/// The paper's: who weighs twice as much performs better, on the link where it does least.
fn ahead<'a>(
    favourite: &str,
    other: &str,
    links: impl Iterator<Item = &'a Asked>,
) -> Option<Stated> {
    let ratio = |asked: &Asked| {
        let of = |group| asked.of(PAPER).goodput_mbit_s(group);
        Some(of(favourite)?.over(&of(other)?))
    };
    let each: Vec<(&Asked, Estimate)> =
        links.filter_map(|asked| Some((asked, ratio(asked)?))).collect();
    let least = each.iter().min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean))?;
    let all: Vec<String> = each.iter().map(|(_, ratio)| format!("{:.2}", ratio.mean)).collect();
    Some(Stated {
        id: format!("weights-{favourite}-ahead"),
        by: Claimant::Paper,
        what: format!(
            "the paper's Q_thresh, {favourite} weighs twice {other}: it gets more (least of four links)"
        ),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: least.1,
        direction: above("more than the other", &least.1, 1.0),
        why: Why::measured(format!(
            "Its rate is {} times the other's on the four links, least on {}; the paper gives no numbers.",
            all.join(", "),
            least.0.question.place()
        )),
    })
}

/// This project's: rates over weights are as even as DRR's, which counts bytes.
fn as_drr(asked: &Asked) -> Stated {
    let fairness = |name: &str| asked.of(name).min_max_percent;
    Stated {
        id: format!("{}-drr", asked.question.id),
        by: Claimant::Project,
        what: format!(
            "{}, practical: rates over weights are as even as DRR's within {WITHIN_POINTS} points",
            asked.question.caption()
        ),
        unit: "points",
        paper: None,
        allowed: Allowed::AtLeast { low: -WITHIN_POINTS },
        measured: fairness(PRACTICAL).less(&fairness(DRR)),
        direction: more("more even than the paper's form", &fairness(PRACTICAL), &fairness(PAPER)),
        why: Why::measured(format!(
            "The smaller over the larger is {:.1} % in practical mode, {:.1} % with DRR, {:.1} % in paper \
             mode.",
            fairness(PRACTICAL).mean,
            fairness(DRR).mean,
            fairness(PAPER).mean
        )),
    }
}

/// This project's: all want all they can get, so that the weighted max-min shares are as the weights.
fn as_weights(weighted: &[&Asked]) -> Option<Stated> {
    let fairness = |asked: &Asked| asked.of(PRACTICAL).min_max_percent;
    let each = weighted.iter().map(|asked| (asked, fairness(asked)));
    let (least, measured) = each.min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean))?;
    Some(Stated {
        id: "weights-max-min".to_owned(),
        by: Claimant::Project,
        what: "practical: every rate is its weighted max-min share, a tenth off at most (smallest over \
               largest of rates over weights, least of nine)"
            .to_owned(),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: 100.0 * (1.0 - TOLERANCE) },
        measured,
        direction: above("nobody gets twice what its weight is worth", &measured, 50.0),
        why: Why::measured(format!(
            "{}: {:.1} %, single runs from {:.1} to {:.1} %.",
            least.question.caption(),
            measured.mean,
            measured.min,
            measured.max
        )),
    })
}
