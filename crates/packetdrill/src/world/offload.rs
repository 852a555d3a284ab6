//! What segmentation offload leaves to be seen on a wire where segments go one by one: a kernel hands
//! several segments of new data over as one packet, sets PSH on each such packet of two or more
//! (__tcp_transmit_skb), and whoever cuts it up leaves PSH to the last piece. The same packets, or
//! what is left of them, are what is retransmitted.
//!
//! That a kernel waits for more to send at once (tcp_tso_should_defer) is the endpoint's.

use ackord_tcp::{Outbound, Snapshot, offload_rate, offload_segments};
use ackord_wire::Flags;
use std::collections::BTreeMap;

/// How the stream was cut into packets.
#[derive(Debug)]
pub(super) struct Offload {
    /// net.ipv4.tcp_min_tso_segs.
    least: u64,
    /// Where each packet begins and ends.
    ends: BTreeMap<u64, u64>,
    /// Stream offset of what is sent for the first time next.
    next: u64,
}

/// Bytes in a second: the control's own, or the kernel's 2 cwnd/SRTT in slow start and 1.2 beyond.
pub(super) fn pacing_rate(snapshot: &Snapshot) -> u64 {
    match snapshot.pacing_rate {
        Some(rate) => rate.as_bits_per_sec() / 8,
        None => offload_rate(snapshot.cwnd, snapshot.ssthresh, snapshot.srtt),
    }
}

impl Offload {
    /// Packets of no fewer than `least` segments if there is as much to send.
    pub(super) fn new(least: u64) -> Offload {
        Offload { least, ends: BTreeMap::new(), next: 0 }
    }

    /// Sets PSH as a kernel's packets would have it. The segments left at once, each at its stream
    /// offset.
    pub(super) fn set_push(&mut self, burst: &mut [(u64, Outbound)], snapshot: &Snapshot) {
        self.cut(burst, (most_segments(snapshot, self.least), snapshot.smss.get()));
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

/// How many segments a packet has at most (tcp_cwnd_test): at least `least`, and half of cwnd at most.
fn most_segments(snapshot: &Snapshot, least: u64) -> u64 {
    let half = snapshot.cwnd.get() / snapshot.smss.get().max(1) / 2;
    offload_segments(snapshot.smss, pacing_rate(snapshot), snapshot.min_rtt)
        .max(least)
        .min(half)
        .max(1)
}
