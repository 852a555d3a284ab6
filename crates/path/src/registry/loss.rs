//! Loss models of a link, with their knobs.

use super::{BuildError, needed, optional};
use crate::link::{Changes, ErrorRate, GilbertConfig, LossModel};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Ratio, Span};

const fn probability(name: &'static str, doc: &'static str, source: &'static str) -> Knob {
    Knob { name, kind: KnobKind::Ratio, default: "", doc, source }
}

/// Loss models of a link, applied after the queue, to packets on the wire.
pub static LOSS: &[Mechanism] = &[RANDOM, GILBERT_ELLIOTT, GILBERT];

const RANDOM: Mechanism = Mechanism {
    name: "random",
    family: "loss-model",
    summary: "Independent losses with one probability per packet, per byte or per bit",
    source: "Bernoulli loss",
    knobs: &[
        probability(
            "per_packet",
            "Probability that a packet is lost, whatever its length; exactly one of the three is \
             given",
            "set by the scenario",
        ),
        probability(
            "per_byte",
            "Probability p that a byte of the IP packet is damaged: n bytes are lost with \
             1-(1-p)^n",
            "ns-3 RateErrorModel, ERROR_UNIT_BYTE",
        ),
        probability(
            "per_bit",
            "Probability p that a bit of the IP packet is damaged: n bits are lost with 1-(1-p)^n",
            "ns-3 RateErrorModel, ERROR_UNIT_BIT",
        ),
    ],
};

const GILBERT_ELLIOTT: Mechanism = Mechanism {
    name: "gilbert-elliott",
    family: "loss-model",
    summary: "Losses in two states, which change from packet to packet or with time",
    source: "Gilbert 1960; Elliott 1963; Hasslinger and Hohlfeld 2008",
    knobs: &[
        probability(
            "good_to_bad",
            "Probability p that the state is bad for the next packet after a good one; with \
             `bad_to_good`",
            "Gilbert 1960: P",
        ),
        probability(
            "bad_to_good",
            "Probability r that the state is good for the next packet after a bad one",
            "Gilbert 1960: p",
        ),
        mean_time(
            "good_for",
            "Mean of the exponential times in the good state; in place of probabilities, with \
             `bad_for`",
        ),
        mean_time("bad_for", "Mean of the exponential times in the bad state"),
        Knob {
            default: "0 %",
            ..probability("loss_in_good", "Probability of loss in the good state", "Gilbert 1960")
        },
        Knob {
            default: "100 %",
            ..probability(
                "loss_in_bad",
                "Probability of loss in the bad state",
                "set by the scenario",
            )
        },
    ],
};

const GILBERT: Mechanism = Mechanism {
    name: "gilbert",
    family: "loss-model",
    summary: "Losses in bursts, given by how much is lost and how long bursts are",
    source: "Gilbert 1960 with a bad state that loses all: r = 1/burst, p = r loss/(1-loss)",
    knobs: &[
        Knob {
            default: "1 %",
            ..probability(
                "mean_loss",
                "Share of packets lost in the long run",
                "set by the scenario",
            )
        },
        Knob {
            name: "mean_burst",
            kind: KnobKind::Number { min: 1.0, max: 1e6 },
            default: "4",
            doc: "Mean number of packets lost in a row",
            source: "set by the scenario",
        },
    ],
};

const fn mean_time(name: &'static str, doc: &'static str) -> Knob {
    let kind = KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(86_400) };
    Knob { name, kind, default: "", doc, source: "set by the scenario" }
}

const RATES: [&str; 3] = ["per_packet", "per_byte", "per_bit"];

/// What is wrong with a loss model as a whole, each knob being valid by itself.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LossProblem {
    /// Nothing says how much is lost.
    #[error("without a probability nothing happens")]
    NoRate,
    /// Two or more knobs say how much is lost.
    #[error("{} exclude each other", backquoted(.0))]
    ManyRates(Vec<&'static str>),
    /// Nothing says how the state changes.
    #[error("nothing says how the state changes")]
    NoChange,
    /// Nothing says how many packets arrive twice.
    #[error("without `per_packet` no packet arrives twice")]
    NoShare,
    /// Not one pair of the knobs that change the state, and not the other.
    #[error("{} do not say how the state changes", backquoted(.0))]
    NoPair(Vec<&'static str>),
    /// No chain loses so much in bursts so short.
    #[error("bursts of {mean_burst} packets on average cannot make {mean_loss} of all")]
    BurstsTooShort {
        /// Share of packets lost.
        mean_loss: Ratio,
        /// Packets lost in a row.
        mean_burst: f64,
    },
}

impl LossProblem {
    /// What would be right.
    pub fn allowed(&self) -> &'static str {
        match self {
            LossProblem::NoRate | LossProblem::ManyRates(_) => {
                "exactly one of `per_packet`, `per_byte` and `per_bit`"
            }
            LossProblem::NoShare => "a `per_packet`",
            LossProblem::NoPair(_) | LossProblem::NoChange => {
                "`good_to_bad` and `bad_to_good`, or `good_for` and `bad_for`"
            }
            LossProblem::BurstsTooShort { .. } => "a `mean_burst` of loss / (1 - loss) or more",
        }
    }
}

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_loss(choice: &Choice) -> Result<(), LossProblem> {
    match choice.mechanism.name {
        "gilbert-elliott" => check_pairs(choice),
        "gilbert" => {
            let mean_loss = choice.value("mean_loss").and_then(|value| value.as_ratio());
            let mean_burst = choice.value("mean_burst").and_then(|value| value.as_number());
            let (mean_loss, mean_burst) =
                (mean_loss.unwrap_or(Ratio::ZERO), mean_burst.unwrap_or(1.0));
            match Changes::of_bursts(mean_loss, mean_burst) {
                Some(_) => Ok(()),
                None => Err(LossProblem::BurstsTooShort { mean_loss, mean_burst }),
            }
        }
        _ => check_rates(choice),
    }
}

/// Of the knobs that change the state one pair, as they stand in [`GILBERT_ELLIOTT`].
fn check_pairs(choice: &Choice) -> Result<(), LossProblem> {
    const CHANGES: [&str; 4] = ["good_to_bad", "bad_to_good", "good_for", "bad_for"];
    let given: Vec<_> =
        CHANGES.into_iter().filter(|knob| choice.settings.0.contains_key(*knob)).collect();
    match given.as_slice() {
        ["good_to_bad", "bad_to_good"] | ["good_for", "bad_for"] => Ok(()),
        [] => Err(LossProblem::NoChange),
        _ => Err(LossProblem::NoPair(given)),
    }
}

/// Exactly one of [`RATES`].
pub(super) fn check_rates(choice: &Choice) -> Result<(), LossProblem> {
    let given: Vec<_> =
        RATES.into_iter().filter(|knob| choice.settings.0.contains_key(*knob)).collect();
    match given.len() {
        0 => Err(LossProblem::NoRate),
        1 => Ok(()),
        _ => Err(LossProblem::ManyRates(given)),
    }
}

/// The loss model somebody chose, drawing from the link's own stream.
pub fn build_loss(choice: &Choice, stream: Stream) -> Result<LossModel, BuildError> {
    match choice.mechanism.name {
        "random" => Ok(LossModel::random(error_rate(choice)?, stream)),
        "gilbert-elliott" => {
            let config = GilbertConfig {
                changes: changes(choice)?,
                loss_in_good: needed(choice, "loss_in_good", KnobValue::as_ratio)?,
                loss_in_bad: needed(choice, "loss_in_bad", KnobValue::as_ratio)?,
            };
            Ok(LossModel::gilbert(config, stream))
        }
        "gilbert" => {
            let loss = needed(choice, "mean_loss", KnobValue::as_ratio)?;
            let burst = needed(choice, "mean_burst", KnobValue::as_number)?;
            let changes = Changes::of_bursts(loss, burst)
                .ok_or(BuildError::WrongValue { knob: "mean_burst" })?;
            let (loss_in_good, loss_in_bad) = (Ratio::ZERO, Ratio::ONE);
            Ok(LossModel::gilbert(GilbertConfig { changes, loss_in_good, loss_in_bad }, stream))
        }
        name => Err(BuildError::UnknownMechanism { family: "loss-model", name: name.to_owned() }),
    }
}

/// What moves the state of `gilbert-elliott`.
fn changes(choice: &Choice) -> Result<Changes, BuildError> {
    let good_to_bad = optional(choice, "good_to_bad", KnobValue::as_ratio)?;
    let bad_to_good = optional(choice, "bad_to_good", KnobValue::as_ratio)?;
    let good_for = optional(choice, "good_for", KnobValue::as_span)?;
    let bad_for = optional(choice, "bad_for", KnobValue::as_span)?;
    match (good_to_bad, bad_to_good, good_for, bad_for) {
        (Some(good_to_bad), Some(bad_to_good), None, None) => {
            Ok(Changes::PerPacket { good_to_bad, bad_to_good })
        }
        (None, None, Some(good_for), Some(bad_for)) => Ok(Changes::InTime { good_for, bad_for }),
        _ => Err(BuildError::WrongValue { knob: "good_to_bad" }),
    }
}

/// The one of [`RATES`] that is given.
pub(super) fn error_rate(choice: &Choice) -> Result<ErrorRate, BuildError> {
    let given = |knob| optional(choice, knob, KnobValue::as_ratio);
    let rates = [
        given("per_packet")?.map(ErrorRate::PerPacket),
        given("per_byte")?.map(ErrorRate::PerByte),
        given("per_bit")?.map(ErrorRate::PerBit),
    ];
    let mut rates = rates.into_iter().flatten();
    match (rates.next(), rates.next()) {
        (Some(rate), None) => Ok(rate),
        _ => Err(BuildError::WrongValue { knob: "per_packet" }),
    }
}

fn backquoted(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(knobs: &[&str]) -> Choice {
        let value = || KnobValue::Ratio(Ratio::new(0.01).expect("a share"));
        knobs.iter().fold(Choice::of(&LOSS[0]), |choice, knob| choice.with(knob, value()))
    }

    #[test]
    fn exactly_one_rate_is_needed_and_each_of_them_will_do() {
        let stream = || Stream::for_element(1, "loss");
        for knob in RATES {
            assert_eq!(check_loss(&random(&[knob])), Ok(()));
            assert!(build_loss(&random(&[knob]), stream()).is_ok());
        }
        assert_eq!(check_loss(&random(&[])), Err(LossProblem::NoRate));
        let two = random(&["per_packet", "per_bit"]);
        assert_eq!(check_loss(&two), Err(LossProblem::ManyRates(vec!["per_packet", "per_bit"])));
        assert!(build_loss(&two, stream()).is_err());
        assert!(build_loss(&random(&[]), stream()).is_err());
    }

    #[test]
    fn what_changes_the_state_is_one_pair_of_knobs() {
        let ratio = |value| KnobValue::Ratio(Ratio::new(value).expect("a share"));
        let stream = || Stream::for_element(1, "loss");
        let elliott = Choice::of(&LOSS[1]);
        assert_eq!(check_loss(&elliott), Err(LossProblem::NoChange));
        let half = elliott.clone().with("good_to_bad", ratio(0.1));
        assert_eq!(check_loss(&half), Err(LossProblem::NoPair(vec!["good_to_bad"])));
        assert!(build_loss(&half, stream()).is_err());
        let pair = half.with("bad_to_good", ratio(0.3));
        assert_eq!(check_loss(&pair), Ok(()));
        assert!(build_loss(&pair, stream()).is_ok());
        let too_many = pair.with("bad_for", KnobValue::Span(Span::from_millis(1)));
        assert!(matches!(check_loss(&too_many), Err(LossProblem::NoPair(_))));
        let times = elliott
            .with("good_for", KnobValue::Span(Span::from_millis(9)))
            .with("bad_for", KnobValue::Span(Span::from_millis(1)));
        assert!(check_loss(&times).is_ok() && build_loss(&times, stream()).is_ok());
    }

    #[test]
    fn bursts_that_cannot_make_the_loss_are_refused() {
        let gilbert = Choice::of(&LOSS[2]);
        assert!(check_loss(&gilbert).is_ok() && build_loss(&gilbert, stream_of()).is_ok());
        let much = gilbert.with("mean_loss", KnobValue::Ratio(Ratio::new(0.9).expect("a share")));
        assert!(matches!(check_loss(&much), Err(LossProblem::BurstsTooShort { .. })));
        assert!(build_loss(&much, stream_of()).is_err());
    }

    fn stream_of() -> Stream {
        Stream::for_element(1, "loss")
    }
}
