//! Outages of a link, with their knobs.

use super::{BuildError, keyword, needed, optional};
use crate::link::{Outage, OutageEffect, Sojourn, SojournShape, Windows};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

const LONGEST: Span = Span::from_secs(86_400);
const SHAPES: KnobKind = KnobKind::Choice(&["exponential", "uniform", "constant", "lognormal"]);

const DOES: Knob = Knob {
    name: "does",
    kind: KnobKind::Choice(&["loses", "holds"]),
    default: "loses",
    doc: "`loses`: every packet whose transmission overlaps the outage is lost, as in a fade; \
          `holds`: none is begun, packets wait, as in a hand-over",
    source: "Proxy TCP Fig. 6 to 8: fades at given times, in which packets are lost",
};

const DIRECTIONS: Knob = Knob {
    name: "directions",
    kind: KnobKind::Choice(&["together", "apart"]),
    default: "together",
    doc: "Whether both directions of the link are out at the same times, or each is drawn for \
          itself",
    source: "a fade takes data and acknowledgments alike",
};

const fn knob(
    name: &'static str,
    kind: KnobKind,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Knob {
    Knob { name, kind, default, doc, source }
}

/// When a link may be out.
pub static OUTAGE: &[Mechanism] = &[
    Mechanism {
        name: "schedule",
        family: "outage",
        summary: "The link is out at given times, once or again and again",
        source: "set by the scenario",
        knobs: &[
            knob(
                "from",
                KnobKind::SpanList { min: Span::ZERO, max: LONGEST },
                "",
                "When outages begin, from the start of the run (with `every`: of each period), in \
                 order",
                "set by the scenario",
            ),
            knob(
                "for",
                KnobKind::SpanList { min: Span::from_nanos(1), max: LONGEST },
                "",
                "How long they last: one for all, or one for each",
                "set by the scenario",
            ),
            knob(
                "every",
                KnobKind::Span { min: Span::from_micros(1), max: LONGEST },
                "",
                "After how long the whole list begins anew; never when absent",
                "set by the scenario",
            ),
            DOES,
        ],
    },
    Mechanism {
        name: "random",
        family: "outage",
        summary: "The link is up and out by turns, for times drawn at random; it begins up",
        source: "alternating renewal process; with exponential times the on/off fade of Gilbert \
                 1960 in continuous time",
        knobs: &[
            knob(
                "up",
                KnobKind::Span { min: Span::from_micros(1), max: LONGEST },
                "10 s",
                "Mean time from one outage to the next",
                "set by the scenario",
            ),
            knob(
                "down",
                KnobKind::Span { min: Span::from_micros(1), max: LONGEST },
                "1 s",
                "Mean length of an outage",
                "set by the scenario",
            ),
            knob(
                "up_distribution",
                SHAPES,
                "exponential",
                "What the times up are drawn from; `uniform` is from 0 to twice the mean",
                "no memory: the next outage is as likely at any time",
            ),
            knob(
                "down_distribution",
                SHAPES,
                "exponential",
                "What the lengths are drawn from",
                "as `up_distribution`",
            ),
            knob(
                "variation",
                KnobKind::Number { min: 0.01, max: 10.0 },
                "1",
                "Standard deviation of `lognormal` times, as a multiple of their mean",
                "that of exponential times",
            ),
            DOES,
            DIRECTIONS,
        ],
    },
];

/// What is wrong with an outage as a whole, each knob being valid by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutageProblem {
    /// A schedule without one of its lists.
    #[error("a `schedule` needs both `from` and `for`")]
    ListMissing,
    /// As many lengths as beginnings, or one.
    #[error("`from` has {from} times and `for` {lengths}")]
    ListsDiffer {
        /// Beginnings.
        from: usize,
        /// Lengths.
        lengths: usize,
    },
    /// Two outages overlap, or are not in order.
    #[error("the outage from {next} begins before the one from {first} is over")]
    Overlap {
        /// When the first begins.
        first: Span,
        /// When the one after it begins.
        next: Span,
    },
    /// The list goes on when it should begin anew.
    #[error("the outages end after {end}, but begin anew every {every}")]
    LongerThanPeriod {
        /// When the last is over.
        end: Span,
        /// The period.
        every: Span,
    },
}

impl OutageProblem {
    /// What would be right.
    pub const ALLOWED: &'static str =
        "`from` and `for` lists, in order and without overlap, all within `every`";
}

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_outage(choice: &Choice) -> Result<(), OutageProblem> {
    if choice.mechanism.name == "schedule" { schedule(choice).map(drop) } else { Ok(()) }
}

/// Whether both directions of the link are to be out at the same times: they then get the same
/// stream.
pub fn outage_is_shared(choice: &Choice) -> bool {
    match choice.mechanism.knob("directions") {
        None => true,
        Some(_) => keyword(choice, "directions", DIRECTION_WORDS) != Ok(Drawn::Apart),
    }
}

/// Whether packets are to wait for the end of an outage.
pub fn outage_holds(choice: &Choice) -> bool {
    effect(choice) == Ok(OutageEffect::Holds)
}

fn effect(choice: &Choice) -> Result<OutageEffect, BuildError> {
    keyword(choice, "does", &[("loses", OutageEffect::Loses), ("holds", OutageEffect::Holds)])
}

/// How the two directions of a link come by their outages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drawn {
    Together,
    Apart,
}

const DIRECTION_WORDS: &[(&str, Drawn)] = &[("together", Drawn::Together), ("apart", Drawn::Apart)];

/// The outages somebody chose, drawn from this stream.
pub fn build_outage(choice: &Choice, stream: Stream) -> Result<Outage, BuildError> {
    let windows = match choice.mechanism.name {
        "schedule" => {
            let list = schedule(choice).map_err(|_| BuildError::WrongValue { knob: "from" })?;
            Windows::Listed { list, every: optional(choice, "every", KnobValue::as_span)? }
        }
        "random" => {
            keyword(choice, "directions", DIRECTION_WORDS)?;
            Windows::Drawn {
                between: sojourn(choice, "up", "up_distribution")?,
                length: sojourn(choice, "down", "down_distribution")?,
                stream,
            }
        }
        name => {
            return Err(BuildError::UnknownMechanism { family: "outage", name: name.to_owned() });
        }
    };
    Ok(Outage::new(windows, effect(choice)?))
}

fn sojourn(
    choice: &Choice,
    mean: &'static str,
    distribution: &'static str,
) -> Result<Sojourn, BuildError> {
    let variation = needed(choice, "variation", KnobValue::as_number)?;
    let shapes = [
        ("exponential", SojournShape::Exponential),
        ("uniform", SojournShape::Uniform),
        ("constant", SojournShape::Constant),
        ("lognormal", SojournShape::Lognormal { variation }),
    ];
    let shape = keyword(choice, distribution, &shapes)?;
    Ok(Sojourn { mean: needed(choice, mean, KnobValue::as_span)?, shape })
}

/// The windows of a schedule: when each begins and how long it lasts.
fn schedule(choice: &Choice) -> Result<Vec<(Span, Span)>, OutageProblem> {
    let list = |knob| choice.value(knob).and_then(|value| value.as_span_list());
    let (Some(from), Some(lengths)) = (list("from"), list("for")) else {
        return Err(OutageProblem::ListMissing);
    };
    let lengths = match lengths.as_slice() {
        [one] => vec![*one; from.len()],
        _ => lengths,
    };
    if from.len() != lengths.len() {
        return Err(OutageProblem::ListsDiffer { from: from.len(), lengths: lengths.len() });
    }
    let windows: Vec<_> = from.into_iter().zip(lengths).collect();
    for pair in windows.windows(2) {
        let ((first, lasts), (next, _)) = (pair[0], pair[1]);
        if next < first + lasts {
            return Err(OutageProblem::Overlap { first, next });
        }
    }
    let end = windows.last().map_or(Span::ZERO, |&(from, lasts)| from + lasts);
    match choice.value("every").and_then(|value| value.as_span()) {
        Some(every) if every < end => Err(OutageProblem::LongerThanPeriod { end, every }),
        _ => Ok(windows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(millis: &[u64]) -> KnobValue {
        KnobValue::SpanList(millis.iter().copied().map(Span::from_millis).collect())
    }

    fn scheduled(from: &[u64], lengths: &[u64]) -> Choice {
        Choice::of(&OUTAGE[0]).with("from", spans(from)).with("for", spans(lengths))
    }

    #[test]
    fn one_length_serves_all_and_lists_have_to_agree() {
        assert_eq!(check_outage(&scheduled(&[10, 50], &[20])), Ok(()));
        assert_eq!(check_outage(&scheduled(&[10, 50], &[40, 20])), Ok(()));
        let differ = OutageProblem::ListsDiffer { from: 3, lengths: 2 };
        assert_eq!(check_outage(&scheduled(&[1, 2, 3], &[1, 1])), Err(differ));
        assert_eq!(check_outage(&Choice::of(&OUTAGE[0])), Err(OutageProblem::ListMissing));
    }

    #[test]
    fn windows_that_overlap_or_outlast_their_period_are_problems() {
        let ms = Span::from_millis;
        let overlap = OutageProblem::Overlap { first: ms(10), next: ms(50) };
        assert_eq!(check_outage(&scheduled(&[10, 50], &[41])), Err(overlap));
        let periodic = scheduled(&[10], &[20]).with("every", KnobValue::Span(ms(29)));
        let long = OutageProblem::LongerThanPeriod { end: ms(30), every: ms(29) };
        assert_eq!(check_outage(&periodic), Err(long));
        assert!(build_outage(&periodic, Stream::for_element(1, "outage")).is_err());
    }

    #[test]
    fn directions_fade_together_unless_they_are_told_not_to() {
        let random = Choice::of(&OUTAGE[1]);
        assert!(outage_is_shared(&random) && outage_is_shared(&scheduled(&[1], &[1])));
        let apart = random.with("directions", KnobValue::Choice("apart".to_owned()));
        assert!(!outage_is_shared(&apart));
    }
}
