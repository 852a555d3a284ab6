//! Weights (paper §4.1): the paper says that a weighted connection can be made to perform better than the
//! others. This project says more of its own form: shares are as the weights.

use super::sharing::WITHIN_POINTS;
use super::wider::{DRR, PAPER, PRACTICAL};
use crate::cells::least;
use crate::claims::{Stated, TENTH, at_least, listed, more, paper, project};
use crate::selective_drop::wider::Asked;

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
    let ratio = |asked: &'a Asked| {
        let of = |group| asked.of(PAPER).goodput_mbit_s(group);
        Some((asked, of(favourite)?.over(&of(other)?)))
    };
    let each: Vec<_> = links.filter_map(ratio).collect();
    let all = listed(each.iter().map(|(_, ratio)| *ratio), 2);
    let (asked, least) = least(each)?;
    let what = format!(
        "the paper's Q_thresh, {favourite} weighs twice {other}: it gets more (least of four links)"
    );
    let claim = paper(format!("weights-{favourite}-ahead"), what, "times", least, at_least(1.0));
    Some(claim.above("more than the other", 1.0).why(format!(
        "Its rate is {all} times the other's on the four links, least on {}; the paper gives no numbers.",
        asked.question.place()
    )))
}

/// This project's: rates over weights are as even as DRR's, which counts bytes.
fn as_drr(asked: &Asked) -> Stated {
    let [ours, drr, papers] = [PRACTICAL, DRR, PAPER].map(|name| asked.of(name).min_max_percent);
    let what = format!(
        "{}, practical: rates over weights are as even as DRR's within {WITHIN_POINTS} points",
        asked.question.caption()
    );
    let id = format!("{}-drr", asked.question.id);
    project(id, what, "points", ours.less(&drr), at_least(-WITHIN_POINTS))
        .claims(more("more even than the paper's form", &ours, &papers))
        .why(format!(
            "The smaller over the larger is {:.1} % in practical mode, {:.1} % with DRR, {:.1} % in paper \
             mode.",
            ours.mean, drr.mean, papers.mean
        ))
}

/// This project's: all want all they can get, so that the weighted max-min shares are as the weights.
fn as_weights(weighted: &[&Asked]) -> Option<Stated> {
    let each = weighted.iter().map(|asked| (asked, asked.of(PRACTICAL).min_max_percent));
    let (asked, measured) = least(each)?;
    let what = "practical: every rate is its weighted max-min share, a tenth off at most (smallest over \
                largest of rates over weights, least of nine)";
    let claim = project("weights-max-min", what, "%", measured, at_least(100.0 * (1.0 - TENTH)));
    Some(claim.above("nobody gets twice what its weight is worth", 50.0).why(format!(
        "{}: {:.1} %, single runs from {:.1} to {:.1} %.",
        asked.question.caption(),
        measured.mean,
        measured.min,
        measured.max
    )))
}
