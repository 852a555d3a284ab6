//! ARI's half at the sender.

use super::{Nagle, NagleConfig, Off, On, SmallSegment};
use crate::ack::{VERDICT, Verdict};
use ackord_units::Knobs;

/// Off, but on for applications that move bulk: the sender's half of ARI
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "nagle", name = "ari", source = "Lee et al. 2016 Alg. 1, §3.2")]
pub struct AriNagleConfig {
    /// What the application's history says: short transfers, or streams and copies in bulk
    #[knob(like = VERDICT)]
    pub verdict: Verdict,
}

impl NagleConfig for AriNagleConfig {
    fn build(&self) -> Box<dyn Nagle> {
        Box::new(Ari::new(self.verdict))
    }
}

/// ARI's half at the sender (Lee et al. 2016, Algorithm 1 line 2 and §3.2): never waits, unless the
/// application's history says that it moves bulk; then Nagle's algorithm is back.
#[derive(Clone, Copy, Debug)]
pub struct Ari {
    verdict: Verdict,
}

impl Ari {
    /// Nagle's algorithm by the verdict on the application.
    pub fn new(verdict: Verdict) -> Ari {
        Ari { verdict }
    }
}

impl Nagle for Ari {
    fn may_send(&self, segment: &SmallSegment) -> bool {
        match self.verdict {
            Verdict::Short => Off.may_send(segment),
            Verdict::Bulk => On.may_send(segment),
        }
    }
}
