//! What a passer-by knows of one connection whose receiver is the mobile host, from the packets
//! alone.

use ackord_units::{Seq, Time};
use ackord_wire::{Ecn, Flags, Packet, Segment};

/// One connection as it looks from a router.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// What the mobile has acknowledged: the highest acknowledgment seen.
    una: Option<Seq>,
    /// The end of the highest data that went towards it.
    sent_up_to: Option<Seq>,
    /// The newest segment from the mobile, which acknowledgments are made after.
    newest: Option<Packet>,
    /// The window field of the newest acknowledgment.
    window: u16,
    /// Duplicates of that acknowledgment in a row (RFC 5681 §2).
    duplicates: u32,
    /// When the mobile was last heard.
    heard_at: Option<Time>,
    /// Whether the connection was reset.
    reset: bool,
}

/// What a segment from the mobile says about the data sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MobileAck {
    /// It acknowledges so many bytes more.
    New(u32),
    /// It is a duplicate acknowledgment (RFC 5681 §2); the how many-th in a row.
    Duplicate(u32),
    /// It acknowledges what is known, and is no duplicate: data, or a window update.
    Same,
    /// It is older than another that came before it.
    Old,
    /// It acknowledges nothing (SYN, RST).
    None,
}

impl Observed {
    /// Data, or anything else, went towards the mobile.
    pub fn on_to_mobile(&mut self, segment: &Segment) {
        self.reset |= segment.flags.contains(Flags::RST);
        if segment.seq_len() > 0 {
            let end = segment.end_seq();
            self.sent_up_to = Some(self.sent_up_to.map_or(end, |known| known.max(end)));
            // The oldest segment seen tells where the stream begins, until the mobile says where it
            // is: a box that begins anew sees new data before the sender repeats older.
            let una = self.una.unwrap_or(segment.seq);
            self.una = Some(if self.is_una_known() { una } else { una.min(segment.seq) });
        }
    }

    /// A packet came from the mobile.
    pub fn on_from_mobile(&mut self, now: Time, packet: &Packet) -> MobileAck {
        let Some(segment) = &packet.tcp else { return MobileAck::None };
        self.heard_at = Some(now);
        if segment.flags.contains(Flags::RST) {
            self.reset = true;
            return MobileAck::None;
        }
        if !segment.flags.contains(Flags::ACK) {
            return MobileAck::None;
        }
        let ack = segment.ack;
        // Where data was seen first, that is only a guess of where the mobile is: a box that begins
        // anew in the middle of a connection sees new data while older data is missing.
        if !self.is_una_known() && self.una.is_some_and(|una| ack.before(una)) {
            self.una = Some(ack);
        }
        let una = *self.una.get_or_insert(ack);
        if ack.before(una) {
            return MobileAck::Old;
        }
        let pure = segment.seq_len() == 0;
        let same_window = segment.window == self.window;
        let known_before = self.newest.is_some();
        self.newest = Some(*packet);
        self.window = segment.window;
        if ack.after(una) {
            self.una = Some(ack);
            self.duplicates = 0;
            return MobileAck::New(ack.since(una));
        }
        if pure && same_window && known_before && self.outstanding() > 0 {
            self.duplicates += 1;
            return MobileAck::Duplicate(self.duplicates);
        }
        MobileAck::Same
    }

    /// What the mobile has acknowledged.
    pub fn una(&self) -> Option<Seq> {
        self.una
    }

    /// Whether [`Observed::una`] is the mobile's word, and not a guess from the data.
    pub fn is_una_known(&self) -> bool {
        self.newest.is_some()
    }

    /// The end of the highest data that went towards the mobile.
    pub fn sent_up_to(&self) -> Option<Seq> {
        self.sent_up_to
    }

    /// Bytes that went towards the mobile and are not acknowledged.
    pub fn outstanding(&self) -> u32 {
        match (self.sent_up_to, self.una) {
            (Some(sent), Some(una)) if sent.after(una) => sent.since(una),
            _ => 0,
        }
    }

    /// Duplicate acknowledgments in a row.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// When the mobile was last heard.
    pub fn heard_at(&self) -> Option<Time> {
        self.heard_at
    }

    /// Whether either side reset the connection.
    pub fn is_reset(&self) -> bool {
        self.reset
    }

    /// Whether the mobile's segments carry timestamps (RFC 7323).
    pub fn has_timestamps(&self) -> bool {
        let newest = self.newest.as_ref().and_then(|packet| packet.tcp.as_ref());
        newest.is_some_and(|segment| segment.options.timestamps.is_some())
    }

    /// The newest value of the fixed host's clock that the mobile has taken in order: what it echoes
    /// (RFC 7323 §4.3).
    pub fn echo(&self) -> Option<u32> {
        let newest = self.newest.as_ref().and_then(|packet| packet.tcp.as_ref());
        newest.and_then(|segment| segment.options.timestamps).map(|stamps| stamps.echo)
    }

    /// The window field of the newest acknowledgment, unscaled.
    pub fn window(&self) -> u16 {
        self.window
    }

    /// A pure acknowledgment in the mobile's name: of what the mobile has acknowledged, never more,
    /// with the timestamps of its newest segment, as an older value would be dropped (RFC 7323 §5)
    /// and a newer one would make the mobile's own look old. Nothing before the mobile was heard.
    pub fn acknowledgment(&self, window: u16) -> Option<Packet> {
        let mut packet = self.newest?;
        let mut segment = packet.tcp?;
        segment.seq = segment.end_seq();
        segment.ack = self.una?;
        segment.flags = Flags::ACK;
        segment.window = window;
        segment.payload_len = 0;
        segment.options.sack = ackord_wire::SackBlocks::default();
        packet.ecn = Ecn::NotEct;
        packet.ip_len = packet.ip.header_len() + segment.header_len();
        packet.tag = super::NO_PAYLOAD;
        packet.tcp = Some(segment);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{FlowId, IpVersion, NodeId, Side, Timestamps};

    fn ack(ack: u32, window: u16) -> Packet {
        let mut segment = Segment {
            seq: Seq(77),
            ack: Seq(ack),
            flags: Flags::ACK,
            window,
            ..Segment::default()
        };
        segment.options.timestamps = Some(Timestamps { value: 9, echo: 4 });
        Packet {
            flow: FlowId(1),
            from: Side::Client,
            src: NodeId(2),
            dst: NodeId(0),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 52,
            tag: 3,
            tcp: Some(segment),
        }
    }

    fn data(seq: u32, payload_len: u32) -> Segment {
        Segment { seq: Seq(seq), flags: Flags::ACK, payload_len, ..Segment::default() }
    }

    #[test]
    fn duplicates_are_counted_as_rfc_5681_defines_them() {
        let mut seen = Observed::default();
        seen.on_to_mobile(&data(1_000, 3_000));
        let mut on = |packet: Packet| seen.on_from_mobile(Time::ZERO, &packet);
        assert_eq!(on(ack(1_000, 500)), MobileAck::Same, "the first of its kind is none");
        assert_eq!(on(ack(1_000, 500)), MobileAck::Duplicate(1));
        assert_eq!(on(ack(1_000, 400)), MobileAck::Same, "another window");
        assert_eq!(on(ack(1_000, 400)), MobileAck::Duplicate(2));
        assert_eq!(on(ack(2_000, 400)), MobileAck::New(1_000));
        assert_eq!(on(ack(1_500, 400)), MobileAck::Old);
        assert_eq!(on(ack(4_000, 400)), MobileAck::New(2_000));
        assert_eq!(on(ack(4_000, 400)), MobileAck::Same, "nothing is outstanding");
    }

    #[test]
    fn an_acknowledgment_in_the_mobiles_name_says_no_more_than_the_mobile_did() {
        let mut seen = Observed::default();
        assert!(seen.acknowledgment(0).is_none());
        seen.on_to_mobile(&data(1_000, 3_000));
        seen.on_from_mobile(Time::ZERO, &ack(2_000, 500));
        let made = seen.acknowledgment(0).expect("the mobile was heard");
        let segment = made.tcp.expect("TCP");
        assert_eq!((segment.seq, segment.ack, segment.window), (Seq(77), Seq(2_000), 0));
        assert_eq!(segment.options.timestamps, Some(Timestamps { value: 9, echo: 4 }));
        assert_eq!((made.ip_len, segment.flags, seen.outstanding()), (52, Flags::ACK, 2_000));
    }
}
