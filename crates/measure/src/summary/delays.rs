//! How long the packets of each flow waited at one link.

use crate::{Spread, SpreadSummary};
use ackord_units::{Span, count};
use ackord_wire::FlowId;

/// Collects it for the flows that take the link, which are often few of a run's, and most often in a row.
#[derive(Clone, Debug)]
pub(super) struct FlowDelays {
    /// How many flows the run tells apart.
    flows: u32,
    /// The flow that the first of `delays` belongs to.
    first: u32,
    delays: Vec<Delay>,
}

/// That of one flow.
#[derive(Clone, Debug, Default)]
struct Delay {
    /// Packets that found the link free.
    passed: u64,
    /// The others; boxed, for many flows have none.
    waited: Option<Box<Spread>>,
}

impl FlowDelays {
    /// For a run that tells so many flows apart.
    pub(super) fn new(flows: usize) -> FlowDelays {
        FlowDelays { flows: flows as u32, first: 0, delays: Vec::new() }
    }

    /// A packet found the link free.
    #[inline]
    pub(super) fn passed(&mut self, flow: FlowId) {
        if let Some(delay) = self.of(flow) {
            count(&mut delay.passed);
        }
    }

    /// A packet waited.
    #[inline(always)]
    pub(super) fn waited(&mut self, flow: FlowId, waited: Span) {
        if let Some(delay) = self.of(flow) {
            delay.waited.get_or_insert_with(|| Box::new(Spread::coarse())).add(waited);
        }
    }

    /// That of a flow, unless it is not told apart.
    #[inline]
    fn of(&mut self, flow: FlowId) -> Option<&mut Delay> {
        let place = flow.0.wrapping_sub(self.first) as usize;
        if place < self.delays.len() { self.delays.get_mut(place) } else { self.first_of(flow) }
    }

    #[inline(never)]
    fn first_of(&mut self, FlowId(flow): FlowId) -> Option<&mut Delay> {
        if flow >= self.flows {
            return None;
        }
        if self.delays.is_empty() {
            self.first = flow;
        }
        if let Some(before @ 1..) = self.first.checked_sub(flow) {
            self.delays.splice(0..0, (0..before).map(|_| Delay::default()));
            self.first = flow;
        }
        let place = (flow - self.first) as usize;
        if place >= self.delays.len() {
            self.delays.resize_with(place + 1, Delay::default);
        }
        self.delays.get_mut(place)
    }

    /// By number of flow, for those that had a packet.
    pub(super) fn summaries(&self) -> impl Iterator<Item = (usize, SpreadSummary)> + '_ {
        self.delays.iter().zip(self.first as usize..).filter_map(|(delay, flow)| {
            let summary = match &delay.waited {
                Some(waited) => waited.summary_with_zeros(delay.passed),
                None => Spread::coarse().summary_with_zeros(delay.passed),
            };
            Some((flow, summary?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_come_in_any_order_and_one_beyond_those_told_apart_is_left_out() {
        let mut delays = FlowDelays::new(8);
        for flow in [5, 3, 6, 8, 3] {
            delays.passed(FlowId(flow));
        }
        delays.waited(FlowId(6), Span::from_millis(2));
        let found: Vec<_> = delays
            .summaries()
            .map(|(flow, summary)| (flow, summary.samples, summary.max_ms))
            .collect();
        assert_eq!(found, [(3, 2, 0.0), (5, 1, 0.0), (6, 2, 2.0)]);
    }
}
