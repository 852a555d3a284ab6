//! What becomes of a packet from the mobile host: whether it goes on, ends here, or waits in reserve.

use super::{BURST, Connection, Desk};
use crate::proxy::proxy_tcp::recovery::Sack;
use crate::proxy::proxy_tcp::stance::Stance;
use crate::proxy::{Mark, MobileAck, Verdict};
use ackord_events::ProxySending;
use ackord_wire::{Flags, Packet};

/// A reserve may take this share of what is outstanding.
const RESERVE_SHARE: u64 = 8;

impl Connection {
    /// What becomes of a packet from the mobile.
    pub(super) fn decide(
        &mut self,
        desk: &mut Desk<'_>,
        packet: &Packet,
        said: MobileAck,
    ) -> Verdict {
        let hides = matches!(said, MobileAck::Duplicate(_)) && self.hides_duplicates();
        let Some(reserve) = self.config.in_path else {
            if hides {
                self.break_run(desk);
            }
            return Verdict::Forward;
        };
        if hides {
            desk.stats.absorbed += 1;
            return Verdict::Absorb;
        }
        let plain = packet.tcp.is_some_and(|segment| {
            segment.flags == Flags::ACK
                && segment.payload_len == 0
                && segment.options.sack.is_empty()
        });
        let most = match said {
            MobileAck::New(_) if plain => self.reserve_size().min(reserve.most),
            _ => 0,
        };
        if most > 0 {
            self.reserve.keep(desk.now, packet, most, desk.out);
            return Verdict::Absorb;
        }
        if self.reserve.is_empty() {
            self.reserve.passed(desk.now);
            return Verdict::Forward;
        }
        self.reserve.empty_before(desk.now, packet, desk.out);
        Verdict::Absorb
    }

    /// The duplicate is on its way. An acknowledgment with another window after each makes none of
    /// them a duplicate in the sense of RFC 5681 §2; zero is the one smaller window that every
    /// common stack believes.
    fn break_run(&self, desk: &mut Desk<'_>) {
        if let Some(ack) = self.seen.acknowledgment(0) {
            desk.stats.acks_sent += 1;
            desk.out.send(ack, ProxySending::Acknowledgment);
        }
    }

    /// A sender that cannot tell from timestamps that its fast retransmit was not needed must not
    /// be led to one by a loss that is being recovered here.
    fn hides_duplicates(&self) -> bool {
        let (Some(oldest), Some(una)) = (self.cache.iter().next(), self.seen.una()) else {
            return false;
        };
        // A box that began in the middle of a connection may lack what the mobile waits for: then
        // only the sender can recover it, and has to hear of it.
        let recovered = oldest.mark != Mark::Left && oldest.segment().seq.at_or_before(una);
        let signals = self.recovery.signals(una);
        let aside = self.spells.stance() == Stance::Aside;
        self.counts_duplicates() && recovered && !signals && !aside
    }

    /// Whether the sender goes by duplicate acknowledgments alone.
    pub(super) fn counts_duplicates(&self) -> bool {
        self.sack != Sack::Agreed && !self.seen.has_timestamps()
    }

    /// How many acknowledgments can be held back at no cost.
    fn reserve_size(&self) -> usize {
        let (outstanding, per_ack) = (u64::from(self.seen.outstanding()), u64::from(self.per_ack));
        if self.cache.is_empty() || per_ack == 0 || outstanding < BURST * u64::from(self.largest) {
            return 0;
        }
        let standing = self.rate.in_span(self.trip.queueing() / 2).get();
        let bytes = standing.min(outstanding / 2) + outstanding / RESERVE_SHARE;
        usize::try_from(bytes / per_ack).unwrap_or(usize::MAX)
    }
}
