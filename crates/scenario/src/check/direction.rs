//! One direction of a link: its keys, and those that exclude each other.

use super::choice::{agrees, choice};
use super::name_set::NameSet;
use super::reader::{Field, Reader, join};
use super::report::Report;
use super::written::fits;
use crate::error::Wrong;
use crate::keys;
use crate::model::{Direction, TraceFile};
use ackord_path::registry::{
    CorruptionChoice, DuplicationChoice, JitterChoice, LossChoice, MediumChoice, OutageChoice,
    PolicerChoice, QueueChoice, RateChangesChoice, ShaperChoice,
};
use ackord_units::{Choice, Rate, Span};

/// One direction while it is being read. `None` stands for a value that is wrong or missing.
#[derive(Clone)]
pub(super) struct Draft {
    rate: Option<Rate>,
    delay: Option<Span>,
    jitter: Perhaps<JitterChoice>,
    rate_changes: Perhaps<RateChangesChoice>,
    trace: Perhaps<TraceFile>,
    shaper: Perhaps<ShaperChoice>,
    policer: Perhaps<PolicerChoice>,
    queue: Option<QueueChoice>,
    outage: Perhaps<OutageChoice>,
    loss: Perhaps<LossChoice>,
    corrupt: Perhaps<CorruptionChoice>,
    duplicate: Perhaps<DuplicationChoice>,
}

/// What may also be absent, where it could be made out.
type Perhaps<T> = Option<Option<T>>;

/// Reads the keys of one direction.
struct Keys<'a, 'r> {
    report: &'a mut Report,
    reader: &'a Reader<'r>,
    flows: &'a NameSet,
    /// What holds where a key is absent.
    inherited: Option<&'a Draft>,
}

impl Draft {
    /// The direction that a link's own keys describe.
    pub(super) fn forward(report: &mut Report, reader: &Reader<'_>, flows: &NameSet) -> Draft {
        Keys { report, reader, flows, inherited: None }.read()
    }

    /// The direction that differs from `forward` in the keys of `reader`.
    pub(super) fn reverse(
        report: &mut Report,
        reader: &Reader<'_>,
        flows: &NameSet,
        forward: &Draft,
    ) -> Draft {
        Keys { report, reader, flows, inherited: Some(forward) }.read()
    }

    pub(super) fn complete(&self) -> Option<Direction> {
        Some(Direction {
            rate: self.rate?,
            delay: self.delay?,
            jitter: self.jitter.clone()?,
            rate_changes: self.rate_changes.clone()?,
            trace: self.trace.clone()?,
            shaper: self.shaper.clone()?,
            policer: self.policer.clone()?,
            queue: self.queue.clone()?,
            outage: self.outage.clone()?,
            loss: self.loss.clone()?,
            corrupt: self.corrupt.clone()?,
            duplicate: self.duplicate.clone()?,
        })
    }

    /// Reports what cannot be on one link with its medium or with each other; `key` is where the
    /// direction's keys stand.
    pub(super) fn check_pace(
        &self,
        report: &mut Report,
        reader: &Reader<'_>,
        medium: Option<&MediumChoice>,
    ) {
        let has = |perhaps: bool, key| perhaps.then_some(key);
        let paced: Vec<&'static str> = [
            has(self.trace.as_ref().is_some_and(Option::is_some), "trace"),
            has(self.rate_changes.as_ref().is_some_and(Option::is_some), "rate_changes"),
            has(self.shaper.as_ref().is_some_and(Option::is_some), "shaper"),
            has(medium.is_some(), "medium"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if let [first, second, ..] = paced[..] {
            let why = format!("`{first}` and `{second}` both say when packets are sent");
            let allowed = "one of `trace`, `rate_changes`, `shaper` and `medium`".to_owned();
            let path = join(&reader.path, first);
            report.add(reader.place_of(first), &path, Wrong::BadValue { why, allowed });
        }
        let outage = self.outage.as_ref().and_then(Option::as_ref);
        let shared = matches!(medium, Some(MediumChoice::Wifi(_)));
        if shared && outage.is_some_and(|outage| outage.config().holds()) {
            let why = "an outage cannot hold back the turns of a medium".to_owned();
            let allowed = "`does = \"loses\"` on a link with such a `medium`".to_owned();
            let path = join(&reader.path, "outage");
            report.add(reader.place_of("outage"), &path, Wrong::BadValue { why, allowed });
        }
    }
}

impl Keys<'_, '_> {
    fn read(mut self) -> Draft {
        let before = self.inherited;
        let rate = match (self.reader.get("rate"), before) {
            (None, Some(before)) => before.rate,
            _ => self.reader.rate(self.report, "rate"),
        };
        let delay = match (self.reader.get("delay"), before) {
            (None, Some(before)) => before.delay,
            _ => self.reader.span(self.report, "delay"),
        };
        Draft {
            rate,
            delay,
            queue: self.queue(),
            jitter: self.perhaps("jitter", |draft| &draft.jitter),
            rate_changes: self.perhaps("rate_changes", |draft| &draft.rate_changes),
            trace: self.trace(),
            shaper: self.perhaps("shaper", |draft| &draft.shaper),
            policer: self.perhaps("policer", |draft| &draft.policer),
            outage: self.perhaps("outage", |draft| &draft.outage),
            loss: self.perhaps("loss", |draft| &draft.loss),
            corrupt: self.perhaps("corrupt", |draft| &draft.corrupt),
            duplicate: self.perhaps("duplicate", |draft| &draft.duplicate),
        }
    }

    fn queue(&mut self) -> Option<QueueChoice> {
        let default = QueueChoice::named("drop-tail").expect("it is listed");
        let inherited = match self.inherited {
            Some(before) => before.queue.clone(),
            None => Some(default),
        };
        let Some(field) = self.reader.get("queue") else { return inherited };
        let inherited = self.refers_to(&field, inherited, |draft| draft.queue);
        choice(self.report, &field, ("queue", self.flows), inherited.as_ref())
    }

    /// A choice that may also be `none` and has to make sense as a whole.
    fn perhaps<C: Choice>(
        &mut self,
        key: &'static str,
        of: fn(&Draft) -> &Perhaps<C>,
    ) -> Perhaps<C> {
        let inherited = self.inherited.map(of).cloned();
        let Some(field) = self.reader.get(key) else { return inherited.unwrap_or(Some(None)) };
        if field.item.as_text() == Some("none") {
            return Some(None);
        }
        let before = self.report.problems.len();
        let inherited = inherited.flatten().flatten();
        let inherited = self.refers_to(&field, inherited, |draft| of(&draft).clone().flatten());
        let chosen = choice(self.report, &field, (key, self.flows), inherited.as_ref())?;
        if self.report.problems.len() > before || !agrees(self.report, &field, &chosen) {
            return None;
        }
        Some(Some(chosen))
    }

    /// Returns the choice to which a table without `kind` refers: the inherited one, or what the file itself has
    /// there if an override put a mechanism in its place that lacks some of the table's keys.
    fn refers_to<C: Choice>(
        &self,
        field: &Field<'_>,
        inherited: Option<C>,
        of: impl Fn(Draft) -> Option<C>,
    ) -> Option<C> {
        let as_knobs = |chosen: &'_ C| -> bool { fits(field, Some(chosen)) };
        if self.inherited.is_none() || inherited.as_ref().map_or(fits(field, None), as_knobs) {
            return inherited;
        }
        self.written().and_then(of).filter(as_knobs).or(inherited)
    }

    /// Returns the inherited direction as the file has it without overrides.
    fn written(&self) -> Option<Draft> {
        let path = self.reader.path.strip_suffix(".reverse")?;
        let mut quiet = self.report.quiet();
        let link = self.report.written(path)?;
        let reader = Reader::new(&mut quiet, link, path.to_owned(), keys::LINK, "a link")?;
        Some(Draft::forward(&mut quiet, &reader, self.flows))
    }

    fn trace(&mut self) -> Perhaps<TraceFile> {
        match self.reader.get("trace") {
            None => self.inherited.map_or(Some(None), |before| before.trace.clone()),
            Some(field) if field.item.as_text() == Some("none") => Some(None),
            Some(field) => super::trace::trace(self.report, field).map(Some),
        }
    }
}
