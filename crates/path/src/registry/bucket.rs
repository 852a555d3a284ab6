//! Policers: what is dropped beyond a rate.

use super::PolicerKnobs;
use crate::link::TokenBucket;
use ackord_units::{Bytes, Contradiction, Knobs, Rate};

/// A token bucket's two knobs.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
pub(super) struct BucketKnobs {
    /// How fast tokens come; has to be given
    #[knob(
        min = Rate::from_bits_per_sec(1), max = Rate::from_bits_per_sec(1_000_000_000_000),
        source = "tc-police(8), tc-tbf(8): rate"
    )]
    pub(super) rate: Option<Rate>,
    /// Bytes of IP packets that pass at once after a silence, as many as the bucket holds; has to be
    /// given
    #[knob(
        min = Bytes(1_500), max = Bytes(10_000_000_000), source = "tc-police(8), tc-tbf(8): burst"
    )]
    pub(super) burst: Option<Bytes>,
}

impl BucketKnobs {
    pub(super) fn tokens(&self) -> Result<TokenBucket, Contradiction> {
        let missing = |knob| {
            let why = format!("a `token-bucket` needs `{knob}`");
            let allowed = "`rate` and `burst`, as in `{ kind = \"token-bucket\", rate = \"10 Mbit/s\", \
                           burst = \"100 kB\" }`";
            Contradiction::new(why, allowed)
        };
        let rate = self.rate.ok_or_else(|| missing("rate"))?;
        Ok(TokenBucket::new(rate, self.burst.ok_or_else(|| missing("burst"))?))
    }
}

/// What comes faster than a rate, beyond a burst, is dropped before the queue
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "policer", name = "token-bucket",
    source = "RFC 2475 §2.3.3.3; tc-police(8)", check = Self::given
)]
pub struct TokenBucketPolicerKnobs {
    #[knob(flatten)]
    pub(super) bucket: BucketKnobs,
}

impl TokenBucketPolicerKnobs {
    fn given(&self) -> Result<(), Contradiction> {
        self.bucket.tokens().map(drop)
    }
}

impl PolicerKnobs for TokenBucketPolicerKnobs {
    fn build(&self) -> Result<TokenBucket, Contradiction> {
        self.bucket.tokens()
    }
}
