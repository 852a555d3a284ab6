//! Minshall's variant of Nagle's algorithm.

use super::{Nagle, NagleConfig, SmallSegment};
use ackord_units::{Knobs, Seq};

/// A small segment waits only while an earlier small one is unacknowledged
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "nagle", name = "minshall", source = "Minshall et al. 2000; Linux")]
pub struct MinshallConfig {}

impl NagleConfig for MinshallConfig {
    fn build(&self) -> Box<dyn Nagle> {
        Box::new(Minshall::default())
    }
}

/// Waits only while an earlier small segment is unacknowledged (Minshall; what Linux does).
#[derive(Clone, Copy, Debug, Default)]
pub struct Minshall {
    last_small_end: Option<Seq>,
}

impl Nagle for Minshall {
    fn may_send(&self, segment: &SmallSegment) -> bool {
        self.last_small_end.is_none_or(|end| end.at_or_before(segment.snd_una))
    }

    fn on_small_sent(&mut self, end: Seq) {
        self.last_small_end = Some(end);
    }
}
