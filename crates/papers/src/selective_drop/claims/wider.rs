//! What practical selective drop has to come up to, and the paper's future work.

use super::sharing::WITHIN_POINTS;
use crate::claims::{Stated, at_least, at_most, more, project};
use crate::selective_drop::setup::FULL_PERCENT;
use crate::selective_drop::wider::Asked;

pub(super) const PRACTICAL: &str = "selective-drop";
pub(super) const PAPER: &str = "selective-drop, paper";
const DROP_TAIL: &str = "drop-tail";
pub(super) const DRR: &str = "DRR";
const FQ_CODEL: &str = "FQ-CoDel";

/// So much less of Jain's index is no worse.
const NO_WORSE: f64 = 0.02;

/// Whom practical mode is compared with: what it replaces, and queues with a line for each connection.
const RIVALS: [&str; 3] = [DROP_TAIL, DRR, FQ_CODEL];

/// Of a rival, in names of claims.
fn suffix(rival: &str) -> &'static str {
    match rival {
        DRR => "-drr",
        FQ_CODEL => "-fq-codel",
        _ => "",
    }
}

/// On each of the paper's links: as fair as DRR and FQ-CoDel, as full as each rival, and less wait.
pub(super) fn practical(asked: &[Asked]) -> Vec<Stated> {
    let links = asked.iter().filter(|asked| asked.question.is_of_the_paper());
    let of_link = |asked: &Asked| {
        let mut stated = vec![fair(asked, DRR), fair(asked, FQ_CODEL)];
        stated.extend(RIVALS.map(|rival| full(asked, rival)));
        stated.extend(RIVALS.map(|rival| wait(asked, rival)));
        stated
    };
    links.flat_map(of_link).collect()
}

fn fair(asked: &Asked, rival: &'static str) -> Stated {
    let [ours, theirs, drop_tail] =
        [PRACTICAL, rival, DROP_TAIL].map(|name| asked.of(name).min_max_percent);
    let name = if rival == DRR { "fair" } else { "fair-fq-codel" };
    let id = format!("practical-{}-{name}", asked.question.id);
    let what = format!(
        "{}, practical: fairness is within {WITHIN_POINTS} points of {rival}'s",
        asked.question.place()
    );
    project(id, what, "points", ours.less(&theirs), at_least(-WITHIN_POINTS))
        .claims(more("fairer than drop-tail", &ours, &drop_tail))
        .why(format!(
            "{:.1} % here, {:.1} % with {rival}, {:.1} % with drop-tail.",
            ours.mean, theirs.mean, drop_tail.mean
        ))
}

/// What a claim is about: a link of the paper's, or another question.
fn place(asked: &Asked) -> (String, &'static str) {
    let question = &asked.question;
    match question.is_of_the_paper() {
        true => (format!("practical-{}", question.id), question.place()),
        false => (question.id.to_owned(), question.title),
    }
}

fn full(asked: &Asked, rival: &str) -> Stated {
    let [with, without] = [PRACTICAL, rival].map(|name| asked.of(name).used_percent);
    let (id, title) = place(asked);
    let what = format!(
        "{title}, practical: the link carries {FULL_PERCENT} % of what it carries with {rival}"
    );
    let share = with.over(&without).times(100.0);
    project(format!("{id}-full{}", suffix(rival)), what, "%", share, at_least(FULL_PERCENT))
        .above("nine tenths of it", 90.0)
        .why(format!("{:.2} % of the link, {:.2} %.", with.mean, without.mean))
}

fn wait(asked: &Asked, rival: &str) -> Stated {
    let [with, without] = [PRACTICAL, rival].map(|name| asked.of(name).delay_p99_ms);
    let (id, title) = place(asked);
    let what = format!("{title}, practical: the 99th percentile of the wait is below {rival}'s");
    let share = with.over(&without).times(100.0);
    project(format!("{id}-wait{}", suffix(rival)), what, "% of it", share, at_most(100.0))
        .below("shorter", 100.0)
        .why(format!("{:.1} ms, {:.1} ms.", with.mean, without.mean))
}

/// Whether what the paper leaves for later is better with its queue than without, and than with the queues
/// that Linux ships.
pub(super) fn future_work(asked: &[Asked]) -> Vec<Stated> {
    let plain = |asked: &&Asked| !asked.question.is_of_the_paper() && !asked.question.is_weighted();
    let mut stated = Vec::new();
    for asked in asked.iter().filter(plain) {
        stated.extend(RIVALS.map(|rival| shares(asked, rival)));
        if asked.question.has_unequal_round_trips() {
            stated.extend(RIVALS.map(|rival| full(asked, rival)));
            stated.extend(RIVALS.map(|rival| wait(asked, rival)));
        }
        for group in ["telnet", "web", "short"] {
            stated.extend(RIVALS.into_iter().filter_map(|rival| quicker(asked, group, rival)));
        }
    }
    stated
}

fn shares(asked: &Asked, rival: &'static str) -> Stated {
    let jain = |name: &str| asked.of(name).jain_index;
    let what = format!(
        "{}: bulk flows share no worse than with {rival} (Jain, within {NO_WORSE})",
        asked.question.title
    );
    let id = format!("{}-fair{}", asked.question.id, suffix(rival));
    project(id, what, "", jain(PRACTICAL).less(&jain(rival)), at_least(-NO_WORSE))
        .above("better", 0.0)
        .why(format!(
            "{:.3} in practical mode, {:.3} with drop-tail, {:.3} in paper mode, {:.3} with DRR, {:.3} \
             with FQ-CoDel; the link is used to {:.1} % ({:.1} % with drop-tail).",
            jain(PRACTICAL).mean,
            jain(DROP_TAIL).mean,
            jain(PAPER).mean,
            jain(DRR).mean,
            jain(FQ_CODEL).mean,
            asked.of(PRACTICAL).used_percent.mean,
            asked.of(DROP_TAIL).used_percent.mean,
        ))
}

/// Nothing where no flow of this group transfers anything.
fn quicker(asked: &Asked, group: &str, rival: &str) -> Option<Stated> {
    let time = |name: &str| asked.of(name).transfer_p99_ms(group);
    let of =
        |name: &str| time(name).map_or("none".to_owned(), |time| format!("{:.0} ms", time.mean));
    let share = time(PRACTICAL)?.over(&time(rival)?).times(100.0);
    let what = format!(
        "{}: the 99th percentile of a {group} transfer's time, of {rival}'s",
        asked.question.title
    );
    let id = format!("{}-{group}{}", asked.question.id, suffix(rival));
    let claim = project(id, what, "%", share, at_most(100.0)).below("quicker", 100.0);
    Some(claim.why(format!(
        "{} in practical mode, {} with drop-tail, {} in paper mode, {} with DRR, {} with CoDel, {} \
         with FQ-CoDel.",
        of(PRACTICAL),
        of(DROP_TAIL),
        of(PAPER),
        of(DRR),
        of("CoDel"),
        of(FQ_CODEL),
    )))
}
