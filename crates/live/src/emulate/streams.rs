//! What foreign hosts have sent, by its place in the stream: for paths with middleboxes.
//!
//! A box sends data again whose packet is gone, or sends it in segments and under sequence numbers
//! of its own (a split connection). What a host sent is therefore kept until the host it is for has
//! acknowledged it, by offset from the first byte of the connection, which no box changes; and then until
//! it has acknowledged much more, since a box whose acknowledgments were lost retransmits it.
//!
//! | the sender's numbers | the receiver's numbers |
//! | --- | --- |
//! | begin at the SYN that entered at the sender's host | begin at the SYN that came to the receiver's |
//!
//! Not modelled: data in a SYN that a box makes anew; connections longer than the numbers of one
//! (2^64 bytes).

use ackord_units::Seq;
use ackord_wire::{Flags, FlowId, Segment, Side};
use std::collections::{BTreeMap, VecDeque};

/// The data of every connection, each direction by itself.
#[derive(Debug, Default)]
pub(crate) struct KeptStreams {
    of: BTreeMap<(FlowId, Side), KeptStream>,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct KeptStream {
    /// The sender's number for the byte at offset `acked`.
    at_sender: Option<Seq>,
    /// The receiver's number for the same byte.
    at_receiver: Option<Seq>,
    /// The number of the SYN that entered at the sender's host.
    syn_entered: Option<Seq>,
    /// The number of the SYN that came to the receiver's host. A box that splits connections may
    /// send it before the other.
    syn_arrived: Option<Seq>,
    /// The numbers of the SYNs that entered before: one of them may still be on its way.
    earlier: VecDeque<Seq>,
    /// Bytes acknowledged by the receiver; none below that are kept.
    acked: u64,
    /// Bytes by offset, not overlapping.
    pieces: BTreeMap<u64, Vec<u8>>,
    /// How many bytes that is.
    kept: usize,
}

/// Bytes kept of one direction of a connection; what comes beyond is not kept, and is gone if a box
/// needs it. A split connection without a limit takes whatever its sender has.
const MOST: usize = 256 << 20;
/// Bytes that are kept behind what has been acknowledged: as much as may be under way when a link goes out.
const BEHIND: u64 = 8 << 20;
/// Directions of connections that are remembered; of more the one that has been known longest is
/// forgotten.
const MOST_STREAMS: usize = 1 << 17;
/// SYNs of earlier connections with the same addresses that are remembered.
const MOST_EARLIER: usize = 8;

impl KeptStreams {
    /// A segment of a foreign host, `from`, enters the path with this payload.
    pub(crate) fn entered(&mut self, flow: FlowId, from: Side, segment: &Segment, payload: &[u8]) {
        let syn = segment.flags.contains(Flags::SYN);
        let stream = self.stream(flow, from);
        if syn && stream.syn_entered != Some(segment.seq) {
            let first = segment.seq + 1 + stream.acked as u32;
            if stream.syn_entered.is_some() || stream.at_sender.is_some_and(|at| at != first) {
                // Another connection with the same addresses; the SYN of the last one, or of what
                // there was of it, may never have been seen.
                let mut earlier = std::mem::take(&mut stream.earlier);
                earlier.extend(stream.syn_entered);
                if earlier.len() > MOST_EARLIER {
                    earlier.pop_front();
                }
                *stream = KeptStream { earlier, ..KeptStream::default() };
            }
            stream.syn_entered = Some(segment.seq);
            // As in `arrived`: a box's SYN may have come, and been acknowledged with more, before.
            stream.at_sender = Some(segment.seq + 1 + stream.acked as u32);
        }
        if !syn && !payload.is_empty() {
            let base = *stream.at_sender.get_or_insert(segment.seq);
            stream.keep(base, segment.seq, payload);
        }
        if segment.flags.contains(Flags::ACK)
            && let Some(acknowledged) = self.of.get_mut(&(flow, from.other()))
        {
            acknowledged.forget_below(segment.ack);
        }
    }

    /// A segment of `from` has come to the host it is for.
    pub(crate) fn arrived(&mut self, flow: FlowId, from: Side, segment: &Segment) {
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        let stream = self.stream(flow, from);
        let is_late = stream.syn_entered.is_some_and(|entered| entered != segment.seq)
            && stream.earlier.contains(&segment.seq);
        if stream.syn_arrived != Some(segment.seq) && !is_late {
            if stream.syn_arrived.is_some() {
                let earlier = std::mem::take(&mut stream.earlier);
                *stream = KeptStream { earlier, ..KeptStream::default() };
            }
            stream.syn_arrived = Some(segment.seq);
            // Acknowledgments may have come before it, forged ones at least.
            stream.at_receiver = Some(segment.seq + 1 + stream.acked as u32);
        }
    }

    /// Puts the payload of a segment of `from`, as the receiver knows it, at the end of `out`;
    /// nothing, and `out` as it was, if some of it is not here.
    pub(crate) fn payload(
        &self,
        flow: FlowId,
        from: Side,
        segment: &Segment,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        if segment.payload_len == 0 {
            return Some(());
        }
        let stream = self.of.get(&(flow, from))?;
        let base = stream.at_receiver.or(stream.at_sender)?;
        stream.copy(stream.offset(base, segment.seq)?, segment.payload_len as usize, out)
    }

    fn stream(&mut self, flow: FlowId, from: Side) -> &mut KeptStream {
        if self.of.len() >= MOST_STREAMS && !self.of.contains_key(&(flow, from)) {
            self.of.pop_first();
        }
        self.of.entry((flow, from)).or_default()
    }
}

impl KeptStream {
    /// The offset of the byte with number `seq`, where `base` is that of the one at `acked`;
    /// nothing for bytes from before the first.
    fn offset(&self, base: Seq, seq: Seq) -> Option<u64> {
        let distance = seq.0.wrapping_sub(base.0) as i32;
        self.acked.checked_add_signed(i64::from(distance))
    }

    /// Keeps bytes; those below `acked` or here already are left out.
    fn keep(&mut self, base: Seq, seq: Seq, payload: &[u8]) {
        let Some(mut at) = self.offset(base, seq) else { return };
        let mut payload = payload;
        while !payload.is_empty() {
            let before = self.pieces.range(..=at).next_back();
            let covered_to = before.map_or(0, |(start, piece)| start + piece.len() as u64);
            let skip = covered_to.max(self.acked).saturating_sub(at).min(payload.len() as u64);
            payload = &payload[skip as usize..];
            at += skip;
            let next = self.pieces.range(at..).next().map(|(start, _)| *start);
            let fits = next.map_or(payload.len(), |next| payload.len().min((next - at) as usize));
            if fits == 0 && skip == 0 || self.kept + fits > MOST {
                return;
            }
            if fits > 0 {
                self.pieces.insert(at, payload[..fits].to_vec());
                self.kept += fits;
            }
            payload = &payload[fits..];
            at += fits as u64;
        }
    }

    fn copy(&self, at: u64, len: usize, out: &mut Vec<u8>) -> Option<()> {
        let (began, end) = (out.len(), at + len as u64);
        let mut next = at;
        let first = self.pieces.range(..=at).next_back().map(|(start, _)| *start);
        for (start, piece) in self.pieces.range(first.unwrap_or(at)..end) {
            let piece_end = start + piece.len() as u64;
            if *start > next || piece_end <= next {
                break;
            }
            let upto = piece_end.min(end);
            out.extend_from_slice(&piece[(next - start) as usize..(upto - start) as usize]);
            next = upto;
        }
        if next == end {
            return Some(());
        }
        out.truncate(began);
        None
    }

    /// The receiver has acknowledged everything below its number `ack`.
    fn forget_below(&mut self, ack: Seq) {
        let Some(base) = self.at_receiver.or(self.at_sender) else { return };
        let Some(acked) = self.offset(base, ack).filter(|acked| *acked > self.acked) else {
            return;
        };
        // A FIN takes a number too, so this may lie one beyond the last byte.
        let by = (acked - self.acked) as u32;
        self.acked = acked;
        self.at_sender = self.at_sender.map(|seq| seq + by);
        self.at_receiver = self.at_receiver.map(|seq| seq + by);
        while let Some(piece) = self.pieces.first_entry() {
            let len = piece.get().len();
            if piece.key() + len as u64 + BEHIND > acked {
                break;
            }
            piece.remove();
            self.kept -= len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLOW: FlowId = FlowId(4);

    fn segment(seq: u32, flags: Flags, ack: u32, payload_len: usize) -> Segment {
        let payload_len = payload_len as u32;
        Segment { seq: Seq(seq), ack: Seq(ack), flags, payload_len, ..Segment::default() }
    }

    fn stream(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 7 % 251) as u8).collect()
    }

    /// A connection whose SYN had number `sent`, and came to the receiver with `came`.
    fn opened(sent: u32, came: u32) -> KeptStreams {
        let mut streams = KeptStreams::default();
        streams.entered(FLOW, Side::Client, &segment(sent, Flags::SYN, 0, 0), &[]);
        streams.arrived(FLOW, Side::Client, &segment(came, Flags::SYN, 0, 0));
        streams
    }

    #[test]
    fn an_acknowledgment_before_the_syn_has_come_moves_no_byte_off_its_place() {
        let mut streams = KeptStreams::default();
        streams.entered(FLOW, Side::Client, &segment(100, Flags::SYN, 0, 0), &[]);
        streams.entered(FLOW, Side::Client, &segment(111, Flags::ACK, 0, 3), b"abc");
        streams.entered(FLOW, Side::Server, &segment(0, Flags::ACK, 105, 0), &[]);
        streams.arrived(FLOW, Side::Client, &segment(500, Flags::SYN, 0, 0));
        assert_eq!(read(&streams, 511, 3).as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn an_acknowledgment_before_the_sender_s_syn_moves_no_byte_off_its_place() {
        let mut streams = KeptStreams::default();
        streams.arrived(FLOW, Side::Client, &segment(500, Flags::SYN, 0, 0));
        streams.entered(FLOW, Side::Server, &segment(0, Flags::ACK, 505, 0), &[]);
        streams.entered(FLOW, Side::Client, &segment(100, Flags::SYN, 0, 0), &[]);
        streams.entered(FLOW, Side::Client, &segment(111, Flags::ACK, 0, 3), b"abc");
        assert_eq!(read(&streams, 511, 3).as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn a_syn_of_an_earlier_connection_that_comes_late_moves_no_byte_off_its_place() {
        let mut streams = opened(100, 100);
        let (next, late) = (segment(900, Flags::SYN, 0, 0), segment(100, Flags::SYN, 0, 0));
        streams.entered(FLOW, Side::Client, &next, &[]);
        streams.arrived(FLOW, Side::Client, &late);
        streams.arrived(FLOW, Side::Client, &next);
        streams.arrived(FLOW, Side::Client, &late);
        streams.entered(FLOW, Side::Client, &segment(905, Flags::ACK, 0, 3), b"abc");
        assert_eq!(read(&streams, 905, 3).as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn a_syn_after_data_of_a_connection_that_was_joined_in_its_middle_begins_anew() {
        let mut streams = KeptStreams::default();
        let middle = segment(5_000, Flags::ACK, 0, 10);
        streams.entered(FLOW, Side::Client, &middle, b"0123456789");
        assert_eq!(read(&streams, 5_000, 10).as_deref(), Some(&b"0123456789"[..]));
        streams.entered(FLOW, Side::Client, &segment(4_998, Flags::SYN, 0, 0), &[]);
        assert_eq!(read(&streams, 5_000, 9), None, "nobody knows what the new one sends there");
        streams.entered(FLOW, Side::Client, &segment(4_999, Flags::ACK, 0, 3), b"abc");
        assert_eq!(read(&streams, 4_999, 3).as_deref(), Some(&b"abc"[..]));
    }

    fn read(streams: &KeptStreams, seq: u32, len: usize) -> Option<Vec<u8>> {
        let mut out = b"before".to_vec();
        let segment = segment(seq, Flags::ACK, 0, len);
        let found = streams.payload(FLOW, Side::Client, &segment, &mut out);
        assert_eq!(&out[..6], b"before");
        found.map(|()| out.split_off(6)).or_else(|| {
            assert_eq!(out.len(), 6, "as it was");
            None
        })
    }

    #[test]
    fn data_is_found_under_the_receiver_s_numbers_until_the_receiver_has_it_for_long() {
        let data = stream(3_000);
        for (sent, came) in [(100, 100), (u32::MAX - 500, 7), (9, u32::MAX - 1_500)] {
            let mut streams = opened(sent, came);
            for (chunk, at) in data.chunks(1_000).zip((0..).step_by(1_000)) {
                let seq = sent.wrapping_add(1 + at);
                streams.entered(FLOW, Side::Client, &segment(seq, Flags::ACK, 0, 1_000), chunk);
            }
            let at = |offset: u32| came.wrapping_add(1 + offset);
            assert_eq!(read(&streams, at(500), 2_000).as_deref(), Some(&data[500..2_500]));
            assert_eq!(read(&streams, at(2_000), 1_001), None, "not sent yet");
            streams.entered(FLOW, Side::Server, &segment(5, Flags::ACK, at(1_500), 0), &[]);
            assert_eq!(read(&streams, at(1_500), 1_500).as_deref(), Some(&data[1_500..]));
            // A box may not know that it is acknowledged.
            assert_eq!(read(&streams, at(500), 100).as_deref(), Some(&data[500..600]));
            streams.entered(FLOW, Side::Server, &segment(5, Flags::ACK, at(3_001), 0), &[]);
            assert_eq!(read(&streams, at(2_999), 1).as_deref(), Some(&data[2_999..]));
            // Much later it does.
            let many = vec![7; 1 << 20];
            for number in 1..=9 {
                let end = 3_000 + (number << 20);
                let seq = sent.wrapping_add(1 + end - (1 << 20));
                let chunk = segment(seq, Flags::ACK, 0, 1 << 20);
                streams.entered(FLOW, Side::Client, &chunk, &many);
                let ack = segment(5, Flags::ACK, at(end), 0);
                streams.entered(FLOW, Side::Server, &ack, &[]);
            }
            assert_eq!(read(&streams, at(2_999), 1), None);
            let kept = streams.of[&(FLOW, Side::Client)].kept as u64;
            assert!((BEHIND..BEHIND + (1 << 20)).contains(&kept), "{kept}");
        }
    }

    #[test]
    fn another_connection_of_the_same_hosts_begins_anew() {
        let mut streams = opened(100, 100);
        streams.entered(FLOW, Side::Client, &segment(101, Flags::ACK, 0, 5), b"first");
        streams.entered(FLOW, Side::Client, &segment(7_000, Flags::SYN, 0, 0), &[]);
        streams.arrived(FLOW, Side::Client, &segment(7_000, Flags::SYN, 0, 0));
        assert_eq!(read(&streams, 101, 5), None);
        streams.entered(FLOW, Side::Client, &segment(7_001, Flags::ACK, 0, 6), b"second");
        assert_eq!(read(&streams, 7_001, 6).as_deref(), Some(&b"second"[..]));
    }

    #[test]
    fn a_box_may_answer_in_a_host_s_name_before_that_host_does() {
        let mut streams = KeptStreams::default();
        for (came, sent) in [(900, 100), (5_000, 70_000)] {
            streams.arrived(FLOW, Side::Client, &segment(came, Flags::SYN, 0, 0));
            streams.entered(FLOW, Side::Client, &segment(sent, Flags::SYN, 0, 0), &[]);
            streams.entered(FLOW, Side::Client, &segment(sent + 1, Flags::ACK, 0, 5), b"hello");
            assert_eq!(read(&streams, came + 1, 5).as_deref(), Some(&b"hello"[..]));
            // Retransmitted, both of them.
            streams.entered(FLOW, Side::Client, &segment(sent, Flags::SYN, 0, 0), &[]);
            streams.arrived(FLOW, Side::Client, &segment(came, Flags::SYN, 0, 0));
            assert_eq!(read(&streams, came + 1, 5).as_deref(), Some(&b"hello"[..]));
        }
    }

    #[test]
    fn a_connection_seen_from_its_middle_on_is_kept_from_there() {
        let mut streams = KeptStreams::default();
        streams.entered(FLOW, Side::Client, &segment(500, Flags::ACK, 0, 5), b"hello");
        assert_eq!(read(&streams, 502, 3).as_deref(), Some(&b"llo"[..]));
        assert_eq!(read(&streams, 499, 3), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_again_or_out_of_order_reads_as_the_stream(
            cuts in proptest::collection::vec((0usize..4_000, 1usize..900), 1..60),
            from in 0usize..4_000, len in 1usize..900,
        ) {
            let data = stream(5_000);
            let mut streams = opened(u32::MAX - 2_000, 50);
            let mut there = vec![false; data.len()];
            for (at, len) in cuts {
                let seq = (u32::MAX - 2_000).wrapping_add(1 + at as u32);
                let payload = &data[at..at + len];
                streams.entered(FLOW, Side::Client, &segment(seq, Flags::ACK, 0, len), payload);
                there[at..at + len].fill(true);
            }
            let whole = there[from..from + len].iter().all(|there| *there);
            let found = read(&streams, 51 + from as u32, len);
            prop_assert_eq!(found.as_deref(), whole.then_some(&data[from..from + len]));
            let kept = there.iter().filter(|there| **there).count();
            prop_assert_eq!(streams.of[&(FLOW, Side::Client)].kept, kept);
        }
    }
}
