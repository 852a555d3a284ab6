//! Shapers: what is held back beyond a rate.

use super::ShaperKnobs;
use super::bucket::BucketKnobs;
use crate::link::Shaper;
use ackord_units::{Contradiction, Knobs, Rate};

/// A burst leaves at the link's rate, then packets wait in the queue for a lower one
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "shaper", name = "token-bucket",
    source = "RFC 2475 §2.3.3.4; tc-tbf(8)", check = Self::given
)]
pub struct TokenBucketShaperKnobs {
    #[knob(flatten)]
    bucket: BucketKnobs,
}

impl TokenBucketShaperKnobs {
    fn given(&self) -> Result<(), Contradiction> {
        self.bucket.tokens().map(drop)
    }
}

impl ShaperKnobs for TokenBucketShaperKnobs {
    fn build(&self, line: Rate) -> Result<Shaper, Contradiction> {
        Ok(Shaper::new(self.bucket.tokens()?, line))
    }

    fn shaped(&self, line: Rate) -> Rate {
        self.bucket.rate.map_or(line, |rate| rate.min(line))
    }
}

#[cfg(test)]
mod tests {
    use super::super::PolicerKnobs;
    use super::super::bucket::TokenBucketPolicerKnobs;
    use super::*;
    use ackord_units::Bytes;

    #[test]
    fn a_bucket_needs_both_of_its_knobs() {
        let mbit = Rate::from_mbits_per_sec;
        let shaper = |rate, burst| TokenBucketShaperKnobs { bucket: BucketKnobs { rate, burst } };
        let refused = |knobs: TokenBucketShaperKnobs| knobs.check().expect_err("incomplete").why;
        assert_eq!(refused(shaper(None, None)), "a `token-bucket` needs `rate`");
        let half = shaper(Some(mbit(2)), None);
        assert!(half.build(mbit(10)).is_err());
        assert_eq!(refused(half), "a `token-bucket` needs `burst`");
        let whole = shaper(Some(mbit(2)), Some(Bytes(3_000)));
        assert_eq!(whole.check(), Ok(()));
        assert!(whole.build(mbit(10)).is_ok());
        assert_eq!((whole.shaped(mbit(10)), whole.shaped(mbit(1))), (mbit(2), mbit(1)));
        let policer = TokenBucketPolicerKnobs { bucket: whole.bucket };
        assert!(policer.check().is_ok() && policer.build().is_ok());
        assert!(TokenBucketPolicerKnobs::default().build().is_err());
    }
}
