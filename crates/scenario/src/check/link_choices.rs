//! What may be chosen for a link: queue, jitter, outages, loss, medium.

use super::Report;
use super::choice::{Family, choice};
use super::names::NameSet;
use super::reader::Reader;
use crate::error::Wrong;
use ackord_path::registry;
use ackord_units::Choice;
use std::fmt::Display;

pub(super) fn queue(
    report: &mut Report,
    reader: &Reader<'_>,
    flows: &NameSet,
    inherited: Option<&Choice>,
) -> Option<Choice> {
    let Some(field) = reader.get("queue") else { return inherited.cloned() };
    let family = Family { key: "queue", mechanisms: registry::QUEUE, inherited, flows };
    choice(report, &field, family)
}

pub(super) fn jitter(
    report: &mut Report,
    reader: &Reader<'_>,
    flows: &NameSet,
    inherited: Option<&Choice>,
) -> Option<Option<Choice>> {
    let family = Family { key: "jitter", mechanisms: registry::JITTER, inherited, flows };
    perhaps(report, reader, family)
}

pub(super) fn outage(
    report: &mut Report,
    reader: &Reader<'_>,
    flows: &NameSet,
    inherited: Option<&Choice>,
) -> Option<Option<Choice>> {
    let family = Family { key: "outage", mechanisms: registry::OUTAGE, inherited, flows };
    let allowed = registry::OutageProblem::ALLOWED;
    perhaps_sound(report, reader, family, allowed, registry::check_outage)
}

pub(super) fn loss(
    report: &mut Report,
    reader: &Reader<'_>,
    flows: &NameSet,
    inherited: Option<&Choice>,
) -> Option<Option<Choice>> {
    let family = Family { key: "loss", mechanisms: registry::LOSS, inherited, flows };
    let allowed = registry::LossProblem::ALLOWED;
    perhaps_sound(report, reader, family, allowed, registry::check_loss)
}

/// A choice that may also be `none` and has to make sense as a whole.
fn perhaps_sound<P: Display>(
    report: &mut Report,
    reader: &Reader<'_>,
    family: Family<'_>,
    allowed: &str,
    check: impl Fn(&Choice) -> Result<(), P>,
) -> Option<Option<Choice>> {
    let before = report.problems.len();
    let chosen = perhaps(report, reader, family)?;
    if report.problems.len() > before {
        return None;
    }
    let (Some(field), Some(choice)) = (reader.get(family.key), &chosen) else {
        return Some(chosen);
    };
    if let Err(problem) = check(choice) {
        let (why, allowed) = (problem.to_string(), allowed.to_owned());
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(chosen)
}

/// A choice that may also be `none`.
fn perhaps(report: &mut Report, reader: &Reader<'_>, family: Family<'_>) -> Option<Option<Choice>> {
    let Some(field) = reader.get(family.key) else { return Some(family.inherited.cloned()) };
    if field.item.as_text() == Some("none") {
        return Some(None);
    }
    choice(report, &field, family).map(Some)
}

/// What both directions share; nothing also where it is wrong, which has then been reported.
pub(super) fn medium(report: &mut Report, reader: &Reader<'_>, flows: &NameSet) -> Option<Choice> {
    let field = reader.get("medium")?;
    if field.item.as_text() == Some("none") {
        return None;
    }
    let family = Family { key: "medium", mechanisms: registry::MEDIUM, inherited: None, flows };
    let chosen = choice(report, &field, family)?;
    if let Err(problem) = registry::check_medium(&chosen) {
        let allowed = registry::MediumProblem::ALLOWED.to_owned();
        field.report(report, Wrong::BadValue { why: problem.to_string(), allowed });
    }
    Some(chosen)
}
