//! One direction of a link: its keys, and those that exclude each other.

use super::Report;
use super::choice::{Family, choice, registered};
use super::names::NameSet;
use super::reader::{Reader, join};
use crate::error::Wrong;
use crate::model::{Direction, TraceFile};
use ackord_path::registry::{self, BucketProblem, LossProblem, OutageProblem, RateChangesProblem};
use ackord_units::{Choice, Mechanism, Rate, Span};

/// One direction while it is being read. `None` stands for a value that is wrong or missing.
#[derive(Clone)]
pub(super) struct Draft {
    rate: Option<Rate>,
    delay: Option<Span>,
    jitter: Perhaps<Choice>,
    rate_changes: Perhaps<Choice>,
    trace: Perhaps<TraceFile>,
    shaper: Perhaps<Choice>,
    policer: Perhaps<Choice>,
    queue: Option<Choice>,
    outage: Perhaps<Choice>,
    loss: Perhaps<Choice>,
    corrupt: Perhaps<Choice>,
    duplicate: Perhaps<Choice>,
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

/// What is wrong with a choice as a whole, and what would be right.
type Unsound = (String, &'static str);

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
        medium: Option<&Choice>,
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
        let shared = medium.is_some_and(registry::medium_is_shared);
        if shared && outage.is_some_and(registry::outage_holds) {
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
            jitter: self
                .perhaps(("jitter", registry::JITTER), before.map(|b| &b.jitter), |_| Ok(())),
            rate_changes: self.perhaps(
                ("rate_changes", registry::RATE_CHANGES),
                before.map(|b| &b.rate_changes),
                |choice| {
                    registry::check_rate_changes(choice)
                        .map_err(|problem| (problem.to_string(), RateChangesProblem::ALLOWED))
                },
            ),
            trace: self.trace(),
            shaper: self.bucket(("shaper", registry::SHAPER), before.map(|b| &b.shaper)),
            policer: self.bucket(("policer", registry::POLICER), before.map(|b| &b.policer)),
            outage: self.perhaps(
                ("outage", registry::OUTAGE),
                before.map(|b| &b.outage),
                |choice| {
                    registry::check_outage(choice)
                        .map_err(|problem| (problem.to_string(), OutageProblem::ALLOWED))
                },
            ),
            loss: self.perhaps(("loss", registry::LOSS), before.map(|b| &b.loss), |choice| {
                registry::check_loss(choice).map_err(unlikely)
            }),
            corrupt: self.perhaps(
                ("corrupt", registry::CORRUPTION),
                before.map(|b| &b.corrupt),
                |choice| registry::check_corruption(choice).map_err(unlikely),
            ),
            duplicate: self.perhaps(
                ("duplicate", registry::DUPLICATION),
                before.map(|b| &b.duplicate),
                |choice| registry::check_duplication(choice).map_err(unlikely),
            ),
        }
    }

    fn queue(&mut self) -> Option<Choice> {
        let default = registered(registry::QUEUE, "drop-tail");
        let inherited = match self.inherited {
            Some(before) => before.queue.as_ref(),
            None => Some(&default),
        };
        let Some(field) = self.reader.get("queue") else { return inherited.cloned() };
        let mechanisms = registry::QUEUE;
        choice(
            self.report,
            &field,
            Family { key: "queue", mechanisms, inherited, own: None, flows: self.flows },
        )
    }

    fn bucket(
        &mut self,
        of: (&'static str, &'static [Mechanism]),
        inherited: Option<&Perhaps<Choice>>,
    ) -> Perhaps<Choice> {
        self.perhaps(of, inherited, |choice| {
            registry::check_bucket(choice)
                .map_err(|problem| (problem.to_string(), BucketProblem::ALLOWED))
        })
    }

    /// A choice that may also be `none` and has to make sense as a whole.
    fn perhaps(
        &mut self,
        (key, mechanisms): (&'static str, &'static [Mechanism]),
        inherited: Option<&Perhaps<Choice>>,
        check: impl Fn(&Choice) -> Result<(), Unsound>,
    ) -> Perhaps<Choice> {
        let Some(field) = self.reader.get(key) else {
            return inherited.cloned().unwrap_or(Some(None));
        };
        if field.item.as_text() == Some("none") {
            return Some(None);
        }
        let before = self.report.problems.len();
        let inherited = inherited.and_then(|perhaps| perhaps.as_ref()?.as_ref());
        let family = Family { key, mechanisms, inherited, own: None, flows: self.flows };
        let chosen = choice(self.report, &field, family)?;
        if self.report.problems.len() > before {
            return None;
        }
        if let Err((why, allowed)) = check(&chosen) {
            let allowed = allowed.to_owned();
            field.report(self.report, Wrong::BadValue { why, allowed });
            return None;
        }
        Some(Some(chosen))
    }

    fn trace(&mut self) -> Perhaps<TraceFile> {
        match self.reader.get("trace") {
            None => self.inherited.map_or(Some(None), |before| before.trace.clone()),
            Some(field) if field.item.as_text() == Some("none") => Some(None),
            Some(field) => super::trace::trace(self.report, field).map(Some),
        }
    }
}

fn unlikely(problem: LossProblem) -> Unsound {
    (problem.to_string(), problem.allowed())
}
