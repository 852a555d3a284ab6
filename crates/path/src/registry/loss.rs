//! Loss models of a link, applied after the queue, to packets on the wire.

use super::LossKnobs;
use crate::link::{Changes, ErrorRate, GilbertConfig, LossModel};
use ackord_units::{Contradiction, Knobs, RandomStream, Ratio, Span};

/// Independent losses with one probability per packet, per byte or per bit
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "loss-model", name = "random",
    source = "Bernoulli loss", check = Self::one_rate
)]
pub struct RandomLossKnobs {
    /// Probability that a packet is lost, whatever its length; exactly one of the three is given
    #[knob(source = "set by the scenario")]
    pub per_packet: Option<Ratio>,
    /// Probability p that a byte of the IP packet is damaged: n bytes are lost with 1-(1-p)^n
    #[knob(source = "ns-3 RateErrorModel, ERROR_UNIT_BYTE")]
    pub per_byte: Option<Ratio>,
    /// Probability p that a bit of the IP packet is damaged: n bits are lost with 1-(1-p)^n
    #[knob(source = "ns-3 RateErrorModel, ERROR_UNIT_BIT")]
    pub per_bit: Option<Ratio>,
}

impl RandomLossKnobs {
    fn one_rate(&self) -> Result<(), Contradiction> {
        error_rate(self.per_packet, self.per_byte, self.per_bit).map(drop)
    }
}

impl LossKnobs for RandomLossKnobs {
    fn build(&self, stream: RandomStream) -> Result<LossModel, Contradiction> {
        let rate = error_rate(self.per_packet, self.per_byte, self.per_bit)?;
        Ok(LossModel::random(rate, stream))
    }
}

/// The one probability that is given.
pub(super) fn error_rate(
    per_packet: Option<Ratio>,
    per_byte: Option<Ratio>,
    per_bit: Option<Ratio>,
) -> Result<ErrorRate, Contradiction> {
    let rates = [
        per_packet.map(|rate| ("per_packet", ErrorRate::PerPacket(rate))),
        per_byte.map(|rate| ("per_byte", ErrorRate::PerByte(rate))),
        per_bit.map(|rate| ("per_bit", ErrorRate::PerBit(rate))),
    ];
    let given: Vec<_> = rates.into_iter().flatten().collect();
    let allowed = "exactly one of `per_packet`, `per_byte` and `per_bit`";
    match given.as_slice() {
        [] => Err(Contradiction::new("without a probability nothing happens", allowed)),
        [(_, rate)] => Ok(*rate),
        _ => {
            let names: Vec<_> = given.iter().map(|(name, _)| *name).collect();
            Err(Contradiction::new(format!("{} exclude each other", backquoted(&names)), allowed))
        }
    }
}

/// Losses in two states, which change from packet to packet or with time
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "loss-model", name = "gilbert-elliott",
    source = "Gilbert 1960; Elliott 1963; Hasslinger and Hohlfeld 2008", check = Self::one_pair
)]
pub struct GilbertElliottKnobs {
    /// Probability p that the state is bad for the next packet after a good one; with `bad_to_good`
    #[knob(source = "Gilbert 1960: P")]
    good_to_bad: Option<Ratio>,
    /// Probability r that the state is good for the next packet after a bad one
    #[knob(source = "Gilbert 1960: p")]
    bad_to_good: Option<Ratio>,
    /// Mean of the exponential times in the good state; in place of probabilities, with `bad_for`
    #[knob(
        min = Span::from_micros(1), max = Span::from_secs(86_400), source = "set by the scenario"
    )]
    good_for: Option<Span>,
    /// Mean of the exponential times in the bad state
    #[knob(
        min = Span::from_micros(1), max = Span::from_secs(86_400), source = "set by the scenario"
    )]
    bad_for: Option<Span>,
    /// Probability of loss in the good state
    #[knob(default = "0 %", source = "Gilbert 1960")]
    loss_in_good: Ratio,
    /// Probability of loss in the bad state
    #[knob(default = "100 %", source = "set by the scenario")]
    loss_in_bad: Ratio,
}

impl GilbertElliottKnobs {
    fn one_pair(&self) -> Result<(), Contradiction> {
        self.changes().map(drop)
    }

    /// What moves the state: one pair of knobs, and not the other.
    fn changes(&self) -> Result<Changes, Contradiction> {
        let allowed = "`good_to_bad` and `bad_to_good`, or `good_for` and `bad_for`";
        match (self.good_to_bad, self.bad_to_good, self.good_for, self.bad_for) {
            (Some(good_to_bad), Some(bad_to_good), None, None) => {
                Ok(Changes::PerPacket { good_to_bad, bad_to_good })
            }
            (None, None, Some(good_for), Some(bad_for)) => {
                Ok(Changes::InTime { good_for, bad_for })
            }
            (None, None, None, None) => {
                Err(Contradiction::new("nothing says how the state changes", allowed))
            }
            _ => {
                let all = ["good_to_bad", "bad_to_good", "good_for", "bad_for"];
                let given: Vec<_> =
                    all.into_iter().filter(|knob| self.knob_value(knob).is_some()).collect();
                let why = format!("{} do not say how the state changes", backquoted(&given));
                Err(Contradiction::new(why, allowed))
            }
        }
    }
}

impl LossKnobs for GilbertElliottKnobs {
    fn build(&self, stream: RandomStream) -> Result<LossModel, Contradiction> {
        let config = GilbertConfig {
            changes: self.changes()?,
            loss_in_good: self.loss_in_good,
            loss_in_bad: self.loss_in_bad,
        };
        Ok(LossModel::gilbert(config, stream))
    }
}

/// Losses in bursts, given by how much is lost and how long bursts are
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "loss-model", name = "gilbert",
    source = "Gilbert 1960 with a bad state that loses all: r = 1/burst, p = r loss/(1-loss)", check = Self::long_enough
)]
pub struct GilbertKnobs {
    /// Share of packets lost in the long run
    #[knob(default = "1 %", source = "set by the scenario")]
    mean_loss: Ratio,
    /// Mean number of packets lost in a row
    #[knob(min = 1.0, max = 1e6, default = "4", source = "set by the scenario")]
    mean_burst: f64,
}

impl GilbertKnobs {
    fn long_enough(&self) -> Result<(), Contradiction> {
        self.changes().map(drop)
    }

    fn changes(&self) -> Result<Changes, Contradiction> {
        let (mean_loss, mean_burst) = (self.mean_loss, self.mean_burst);
        Changes::of_bursts(mean_loss, mean_burst).ok_or_else(|| {
            let why =
                format!("bursts of {mean_burst} packets on average cannot make {mean_loss} of all");
            Contradiction::new(why, "a `mean_burst` of loss / (1 - loss) or more")
        })
    }
}

impl LossKnobs for GilbertKnobs {
    fn build(&self, stream: RandomStream) -> Result<LossModel, Contradiction> {
        let (loss_in_good, loss_in_bad) = (Ratio::ZERO, Ratio::ONE);
        let config = GilbertConfig { changes: self.changes()?, loss_in_good, loss_in_bad };
        Ok(LossModel::gilbert(config, stream))
    }
}

fn backquoted(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(value: f64) -> Option<Ratio> {
        Some(Ratio::new(value).expect("a share"))
    }

    fn stream() -> RandomStream {
        RandomStream::for_element(1, "loss")
    }

    fn why<T: std::fmt::Debug>(refused: Result<T, Contradiction>) -> String {
        refused.expect_err("a contradiction").why
    }

    #[test]
    fn exactly_one_rate_is_needed_and_each_of_them_will_do() {
        let one = share(0.01);
        let random =
            |per_packet, per_byte, per_bit| RandomLossKnobs { per_packet, per_byte, per_bit };
        for knobs in [random(one, None, None), random(None, one, None), random(None, None, one)] {
            assert_eq!(knobs.check(), Ok(()));
            assert!(knobs.build(stream()).is_ok());
        }
        let none = random(None, None, None);
        assert_eq!(why(none.check()), "without a probability nothing happens");
        assert!(none.build(stream()).is_err());
        let two = random(one, None, one);
        assert_eq!(why(two.check()), "`per_packet` and `per_bit` exclude each other");
        assert!(two.build(stream()).is_err());
    }

    #[test]
    fn what_changes_the_state_is_one_pair_of_knobs() {
        let elliott = GilbertElliottKnobs::default();
        assert_eq!(why(elliott.check()), "nothing says how the state changes");
        let half = GilbertElliottKnobs { good_to_bad: share(0.1), ..elliott.clone() };
        assert_eq!(why(half.check()), "`good_to_bad` do not say how the state changes");
        assert!(half.build(stream()).is_err());
        let pair = GilbertElliottKnobs { bad_to_good: share(0.3), ..half };
        assert_eq!(pair.check(), Ok(()));
        assert!(pair.build(stream()).is_ok());
        let too_many = GilbertElliottKnobs { bad_for: Some(Span::from_millis(1)), ..pair };
        assert!(too_many.check().is_err());
        let (good_for, bad_for) = (Some(Span::from_millis(9)), Some(Span::from_millis(1)));
        let times = GilbertElliottKnobs { good_for, bad_for, ..elliott };
        assert!(times.check().is_ok() && times.build(stream()).is_ok());
    }

    #[test]
    fn bursts_that_cannot_make_the_loss_are_refused() {
        let gilbert = GilbertKnobs::default();
        assert!(gilbert.check().is_ok() && gilbert.build(stream()).is_ok());
        let much = GilbertKnobs { mean_loss: share(0.9).expect("a share"), ..gilbert };
        assert!(why(much.check()).contains("cannot make"));
        assert!(much.build(stream()).is_err());
    }
}
