//! Duplication on a link.

use super::DuplicationKnobs;
use crate::link::Duplication;
use ackord_units::{Contradiction, Knobs, RandomStream, Ratio};

/// Packets arrive twice, each with the same probability
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "duplication", name = "random",
    source = "tc-netem(8), duplicate", check = Self::given
)]
pub struct RandomDuplicationKnobs {
    /// Probability that a packet arrives twice; has to be given
    #[knob(source = "set by the scenario")]
    per_packet: Option<Ratio>,
}

impl RandomDuplicationKnobs {
    fn share(&self) -> Result<Ratio, Contradiction> {
        self.per_packet.ok_or_else(|| {
            Contradiction::new("without `per_packet` no packet arrives twice", "a `per_packet`")
        })
    }

    fn given(&self) -> Result<(), Contradiction> {
        self.share().map(drop)
    }
}

impl DuplicationKnobs for RandomDuplicationKnobs {
    fn build(&self, stream: RandomStream) -> Result<Duplication, Contradiction> {
        Ok(Duplication::new(self.share()?, stream))
    }
}
