//! Damage and duplication on a link, with their knobs.

use super::loss::{LossProblem, check_rates, error_rate};
use super::{BuildError, keyword, needed};
use crate::link::{CaughtBy, Corruption, Duplication};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism};

const fn probability(name: &'static str, doc: &'static str) -> Knob {
    Knob { name, kind: KnobKind::Ratio, default: "", doc, source: "set by the scenario" }
}

/// What a link may damage.
pub static CORRUPTION: &[Mechanism] = &[Mechanism {
    name: "random",
    family: "corruption",
    summary: "Packets are damaged independently, with one probability per packet, per byte or per \
              bit",
    source: "tc-netem(8), corrupt; RFC 9293 §3.1: a segment whose checksum does not hold is \
             discarded",
    knobs: &[
        probability("per_packet", "Probability that a packet is damaged; one of the three"),
        probability("per_byte", "Probability p for each byte: n bytes are damaged with 1-(1-p)^n"),
        probability("per_bit", "Probability p for each bit: n bits are damaged with 1-(1-p)^n"),
        Knob {
            name: "caught_by",
            kind: KnobKind::Choice(&["host", "link"]),
            default: "host",
            doc: "`host`: the packet is carried on and its destination discards it, for its \
                  checksum does not hold; `link`: it is dropped at the far end of this link",
            source: "RFC 3819, on error detection: a link may deliver damaged packets or discard them",
        },
    ],
}];

/// What a link may deliver twice.
pub static DUPLICATION: &[Mechanism] = &[Mechanism {
    name: "random",
    family: "duplication",
    summary: "Packets arrive twice, each with the same probability",
    source: "tc-netem(8), duplicate",
    knobs: &[probability("per_packet", "Probability that a packet arrives twice; has to be given")],
}];

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_corruption(choice: &Choice) -> Result<(), LossProblem> {
    check_rates(choice)
}

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_duplication(choice: &Choice) -> Result<(), LossProblem> {
    match choice.value("per_packet") {
        Some(_) => Ok(()),
        None => Err(LossProblem::NoShare),
    }
}

/// The damage somebody chose, drawing from the link's own stream.
pub fn build_corruption(choice: &Choice, stream: Stream) -> Result<Corruption, BuildError> {
    let catchers = [("host", CaughtBy::Host), ("link", CaughtBy::Link)];
    let caught_by = keyword(choice, "caught_by", &catchers)?;
    Ok(Corruption::new(error_rate(choice)?, caught_by, stream))
}

/// The duplication somebody chose, drawing from the link's own stream.
pub fn build_duplication(choice: &Choice, stream: Stream) -> Result<Duplication, BuildError> {
    Ok(Duplication::new(needed(choice, "per_packet", KnobValue::as_ratio)?, stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Ratio;

    #[test]
    fn what_says_no_probability_is_a_problem() {
        let share = || KnobValue::Ratio(Ratio::new(0.1).expect("a share"));
        let (damage, twice) = (Choice::of(&CORRUPTION[0]), Choice::of(&DUPLICATION[0]));
        let stream = || Stream::for_element(1, "x");
        assert_eq!(check_corruption(&damage), Err(LossProblem::NoRate));
        assert!(build_corruption(&damage, stream()).is_err());
        assert_eq!(check_duplication(&twice), Err(LossProblem::NoShare));
        assert!(build_duplication(&twice, stream()).is_err());
        let damage = damage.with("per_byte", share());
        assert_eq!(check_corruption(&damage), Ok(()));
        assert!(build_corruption(&damage, stream()).is_ok());
        let both = damage.with("per_bit", share());
        assert!(matches!(check_corruption(&both), Err(LossProblem::ManyRates(_))));
        assert!(build_duplication(&twice.with("per_packet", share()), stream()).is_ok());
    }
}
