//! The counters of a flow that is no connection.

use crate::{Spread, SpreadSummary};
use ackord_units::{Bytes, Span};
use serde::Serialize;

/// What became of the packets of a datagram flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DatagramSummary {
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets that died on the path, in percent of those sent; null if none was sent. (Those sent
    /// and neither delivered nor lost were under way when the run ended.)
    pub lost_percent: Option<f64>,
    /// How long the delivered ones were under way; quantiles within 1 %.
    pub one_way_delay: Option<SpreadSummary>,
}

/// Collects it.
#[derive(Clone, Debug)]
pub(super) struct DatagramFold {
    sent: u64,
    delivered: u64,
    delivered_bytes: u64,
    delay: Spread,
}

impl DatagramFold {
    pub(super) fn new() -> DatagramFold {
        DatagramFold { sent: 0, delivered: 0, delivered_bytes: 0, delay: Spread::coarse() }
    }

    pub(super) fn sent(&mut self) {
        self.sent += 1;
    }

    pub(super) fn delivered(&mut self, payload: Bytes, delay: Span) {
        self.delivered += 1;
        self.delivered_bytes += payload.get();
        self.delay.add(delay);
    }

    pub(super) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    pub(super) fn summary(&self, lost: u64) -> DatagramSummary {
        DatagramSummary {
            sent: self.sent,
            delivered: self.delivered,
            lost_percent: (self.sent > 0).then(|| lost as f64 / self.sent as f64 * 100.0),
            one_way_delay: self.delay.summary(),
        }
    }
}
