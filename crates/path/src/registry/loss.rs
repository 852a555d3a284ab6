//! Loss models of a link, with their knobs.

use super::{BuildError, optional};
use crate::link::{ErrorRate, LossModel};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism};

const fn probability(name: &'static str, doc: &'static str, source: &'static str) -> Knob {
    Knob { name, kind: KnobKind::Ratio, default: "", doc, source }
}

/// Loss models of a link, applied after the queue, to packets on the wire.
pub static LOSS: &[Mechanism] = &[Mechanism {
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
}];

const RATES: [&str; 3] = ["per_packet", "per_byte", "per_bit"];

/// What is wrong with a loss model as a whole, each knob being valid by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LossProblem {
    /// Nothing says how much is lost.
    #[error("`random` loss without a probability loses nothing")]
    NoRate,
    /// Two or more knobs say how much is lost.
    #[error("{} exclude each other", backquoted(.0))]
    ManyRates(Vec<&'static str>),
}

impl LossProblem {
    /// What would be right.
    pub const ALLOWED: &'static str = "exactly one of `per_packet`, `per_byte` and `per_bit`";
}

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_loss(choice: &Choice) -> Result<(), LossProblem> {
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
        "random" => {
            let given = |knob| optional(choice, knob, KnobValue::as_ratio);
            let rates = [
                given("per_packet")?.map(ErrorRate::PerPacket),
                given("per_byte")?.map(ErrorRate::PerByte),
                given("per_bit")?.map(ErrorRate::PerBit),
            ];
            let mut rates = rates.into_iter().flatten();
            match (rates.next(), rates.next()) {
                (Some(rate), None) => Ok(LossModel::random(rate, stream)),
                _ => Err(BuildError::WrongValue { knob: "per_packet" }),
            }
        }
        name => Err(BuildError::UnknownMechanism { family: "loss-model", name: name.to_owned() }),
    }
}

fn backquoted(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Ratio;

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
}
