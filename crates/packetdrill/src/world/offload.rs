//! What segmentation offload leaves to be seen on a wire where segments go one by one: a kernel hands
//! several segments of new data over as one packet, sets PSH on each such packet of two or more
//! (__tcp_transmit_skb), and whoever cuts it up leaves PSH to the last piece. The same packets, or
//! what is left of them, are what is retransmitted.
//!
//! That a kernel waits for more to send at once (tcp_tso_should_defer) is the endpoint's.

use ackord_tcp::{Outbound, Snapshot, offload_segments};
use ackord_wire::Flags;
use std::collections::BTreeMap;

/// How the stream was cut into packets: where each begins and ends.
#[derive(Debug, Default)]
pub(super) struct Packets {
    ends: BTreeMap<u64, u64>,
    /// Stream offset of what is sent for the first time next.
    next: u64,
}

/// How many segments a packet has at most (tcp_cwnd_test): at least `least`, and half of cwnd at most.
pub(super) fn most_segments(snapshot: &Snapshot, pacing_rate: u64, least: u64) -> u64 {
    let half = snapshot.cwnd.get() / snapshot.smss.get().max(1) / 2;
    offload_segments(snapshot.smss, pacing_rate, snapshot.min_rtt).max(least).min(half).max(1)
}

impl Packets {
    /// Sets PSH as packets of at most `most` segments would have it. The segments left at once, each
    /// at its stream offset.
    pub(super) fn set_push(&mut self, burst: &mut [(u64, Outbound)], (most, smss): (u64, u64)) {
        self.cut(burst, (most, smss));
        for index in 1..burst.len() {
            let [(before_at, before), (at, this)] = &mut burst[index - 1..=index] else { continue };
            let (len, at) = (u64::from(before.segment.payload_len), *at);
            let follows = len > 0 && this.segment.payload_len > 0 && *before_at + len == at;
            let packet = self.ends.range(..=*before_at).next_back().map(|(_, &end)| end);
            if !follows || packet.is_none_or(|end| at >= end) {
                continue;
            }
            // Of one packet: PSH moves on to the later segment.
            before.segment.flags = without_push(before.segment.flags);
            this.segment.flags = this.segment.flags | Flags::PSH;
        }
    }

    /// What is acknowledged is not retransmitted.
    pub(super) fn forget_below(&mut self, offset: u64) {
        while let Some(entry) = self.ends.first_entry().filter(|entry| *entry.get() <= offset) {
            entry.remove();
        }
    }

    /// Notes the packets of what is sent for the first time.
    fn cut(&mut self, burst: &[(u64, Outbound)], (most, smss): (u64, u64)) {
        let mut open: Option<(u64, u64)> = None;
        for (at, outbound) in burst {
            let len = u64::from(outbound.segment.payload_len);
            if len == 0 || *at < self.next {
                continue;
            }
            self.next = *at + len;
            let (start, count) = match open {
                Some((start, count)) if count < most => (start, count + 1),
                _ => (*at, 1),
            };
            self.ends.insert(start, self.next);
            // A short segment is the last of its packet, and so is one that ends what was written.
            let ends = len < smss || outbound.segment.flags.contains(Flags::PSH);
            open = (!ends).then_some((start, count));
        }
    }
}

/// The same without PSH.
pub(super) fn without_push(flags: Flags) -> Flags {
    Flags::from_bits(flags.bits() & !Flags::PSH.bits())
}
