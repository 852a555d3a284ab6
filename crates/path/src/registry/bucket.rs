//! Policers and shapers, with their knobs.

use super::{BuildError, needed};
use crate::link::{Shaper, TokenBucket};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Rate};

const RATE: Knob = Knob {
    name: "rate",
    kind: KnobKind::Rate {
        min: Rate::from_bits_per_sec(1),
        max: Rate::from_bits_per_sec(1_000_000_000_000),
    },
    default: "",
    doc: "How fast tokens come; has to be given",
    source: "tc-police(8), tc-tbf(8): rate",
};

const BURST: Knob = Knob {
    name: "burst",
    kind: KnobKind::Bytes { min: Bytes(1_500), max: Bytes(10_000_000_000) },
    default: "",
    doc: "Octets of IP packets that pass at once after a silence, as many as the bucket holds; has \
          to be given",
    source: "tc-police(8), tc-tbf(8): burst",
};

/// What may drop packets before a link's queue.
pub static POLICER: &[Mechanism] = &[Mechanism {
    name: "token-bucket",
    family: "policer",
    summary: "What comes faster than a rate, beyond a burst, is dropped before the queue",
    source: "RFC 2475 §2.3.3.3; tc-police(8)",
    knobs: &[RATE, BURST],
}];

/// What may hold back a link's transmitter.
pub static SHAPER: &[Mechanism] = &[Mechanism {
    name: "token-bucket",
    family: "shaper",
    summary: "A burst leaves at the link's rate, then packets wait in the queue for a lower one",
    source: "RFC 2475 §2.3.3.4; tc-tbf(8)",
    knobs: &[RATE, BURST],
}];

/// What is wrong with a token bucket as a whole, each knob being valid by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a `token-bucket` needs `{0}`")]
pub struct BucketProblem(&'static str);

impl BucketProblem {
    /// What would be right.
    pub const ALLOWED: &'static str = "`rate` and `burst`, as in `{ kind = \"token-bucket\", rate = \
                                       \"10 Mbit/s\", burst = \"100 kB\" }`";
}

/// Whether a policer or shaper with valid knobs makes sense as a whole.
pub fn check_bucket(choice: &Choice) -> Result<(), BucketProblem> {
    let missing = ["rate", "burst"].into_iter().find(|knob| choice.value(knob).is_none());
    missing.map_or(Ok(()), |knob| Err(BucketProblem(knob)))
}

/// The policer somebody chose.
pub fn build_policer(choice: &Choice) -> Result<TokenBucket, BuildError> {
    let rate = needed(choice, "rate", KnobValue::as_rate)?;
    Ok(TokenBucket::new(rate, needed(choice, "burst", KnobValue::as_bytes)?))
}

/// The shaper somebody chose for a link of rate `line`.
pub fn build_shaper(choice: &Choice, line: Rate) -> Result<Shaper, BuildError> {
    Ok(Shaper::new(build_policer(choice)?, line))
}

/// The rate to which a link of rate `line` comes down behind this shaper.
pub fn shaped_rate(choice: Option<&Choice>, line: Rate) -> Rate {
    let rate = choice.and_then(|choice| choice.value("rate")?.as_rate());
    rate.map_or(line, |rate| rate.min(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_needs_both_of_its_knobs() {
        let mbit = Rate::from_mbits_per_sec;
        for mechanism in [&POLICER[0], &SHAPER[0]] {
            let choice = Choice::of(mechanism);
            assert_eq!(check_bucket(&choice), Err(BucketProblem("rate")));
            let choice = choice.with("rate", KnobValue::Rate(mbit(2)));
            assert_eq!(check_bucket(&choice), Err(BucketProblem("burst")));
            assert!(build_shaper(&choice, mbit(10)).is_err());
            let choice = choice.with("burst", KnobValue::Bytes(Bytes(3_000)));
            assert_eq!(check_bucket(&choice), Ok(()));
            assert!(build_shaper(&choice, mbit(10)).is_ok());
            assert_eq!(shaped_rate(Some(&choice), mbit(10)), mbit(2));
            assert_eq!(shaped_rate(Some(&choice), mbit(1)), mbit(1));
        }
    }
}
