//! What is outstanding: one record per segment sent and not yet cumulatively acknowledged.
//!
//! Segments are contiguous in sequence space and kept in order, so every step here costs time in
//! proportion to what changes, not to the window: the bytes in the network (`pipe`), the bytes
//! selectively acknowledged and the next segment to retransmit are kept up to date, never counted
//! anew.

use super::by_time::TimeOrder;
use super::delivery::Delivery;
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{MAX_SACK_BLOCKS, SackBlock, SackBlocks};
use std::collections::VecDeque;

/// A segment that has been sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: Seq,
    /// Bytes of payload.
    pub(crate) payload: u32,
    /// Whether it carries the FIN.
    pub(crate) fin: bool,
    /// Whether it ended what had been written when it first left: so it is retransmitted too.
    pub(crate) push: bool,
    /// When it was last sent.
    pub(crate) sent_at: Time,
    pub(crate) state: SentState,
    /// (Karn's rule.).
    pub(crate) retransmitted: bool,
    /// How often it counts while in flight.
    pub(super) copies: Copies,
}

/// Where a segment is thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentState {
    /// In the network, for the first time or again.
    InFlight,
    /// Arrived: the receiver said so by SACK.
    Sacked,
    /// Gone, and not yet retransmitted.
    Lost,
}

/// How many copies of a segment in flight are thought to be in the network (RFC 6675 §4 SetPipe):
/// two if it was retransmitted as a last resort, though nothing says that the first is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    One,
    Two,
}

impl Sent {
    /// A segment that leaves for the first time.
    pub(crate) fn first(seq: Seq, payload: u32, fin: bool, now: Time) -> Sent {
        Sent {
            seq,
            payload,
            fin,
            push: false,
            sent_at: now,
            state: SentState::InFlight,
            retransmitted: false,
            copies: Copies::One,
        }
    }

    /// What `bytes` of it count for in pipe while it is in flight.
    #[inline]
    fn in_pipe(&self, bytes: u64) -> u64 {
        match self.copies {
            Copies::One => bytes,
            Copies::Two => bytes * 2,
        }
    }

    pub(crate) fn seq_len(&self) -> u32 {
        self.payload + u32::from(self.fin)
    }

    pub(crate) fn end(&self) -> Seq {
        self.seq + self.seq_len()
    }
}

/// What a cumulative acknowledgment took off the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acked {
    /// Bytes of sequence space that had not been selectively acknowledged before.
    pub(crate) newly_delivered: u64,
    /// When the earliest segment sent only once was sent: the sample for the timeout, which has
    /// to allow for delayed acknowledgments.
    pub(crate) earliest_sent_at: Option<Time>,
    /// When the latest one was sent: the sample for congestion control.
    pub(crate) latest_sent_at: Option<Time>,
    /// Whether any of it had been sent more than once: then neither time above is a sample, for
    /// the acknowledgment may have waited for the retransmission (Karn's rule).
    pub(crate) ambiguous: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    pub(super) sent: VecDeque<Sent>,
    /// Bytes in the network.
    pipe: u64,
    /// Bytes selectively acknowledged above the cumulative acknowledgment.
    sacked: u64,
    /// The discontiguous sequences they form.
    sacked_sequences: u32,
    /// Segments in state Lost.
    lost_segments: u32,
    /// No segment before this one is Lost.
    retransmit_from: Seq,
    /// Highest byte selectively acknowledged, plus one.
    highest_sacked: Option<Seq>,
    /// Every segment before this that is not Sacked has been declared lost already.
    lost_below: Option<Seq>,
    /// The blocks of the last acknowledgment, to look only at what is new.
    last_blocks: SackBlocks,
    /// Transmissions in order of time, for detectors that judge by it; nothing for others.
    pub(super) by_time: Option<TimeOrder>,
    /// The sampler, where the control asks for one.
    pub(crate) delivery: Option<Box<Delivery>>,
}

impl Scoreboard {
    /// An empty scoreboard, which keeps delivery-rate samples or not.
    pub(crate) fn new(keeps_samples: bool) -> Scoreboard {
        let delivery = keeps_samples.then(Box::<Delivery>::default);
        Scoreboard { delivery, ..Scoreboard::default() }
    }

    /// A duplicate acknowledgment without SACK stands for a segment that has arrived.
    pub(crate) fn credit_duplicate(&mut self, smss: Bytes) {
        if let (Some(delivery), Some(oldest)) = (&mut self.delivery, self.sent.front()) {
            delivery.on_duplicate_ack(oldest, smss.get());
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    #[inline]
    pub(crate) fn pipe(&self) -> Bytes {
        Bytes(self.pipe)
    }

    #[inline]
    pub(crate) fn sacked(&self) -> Bytes {
        Bytes(self.sacked)
    }

    /// Discontiguous sequences selectively acknowledged (RFC 6675 §4 IsLost).
    #[inline]
    pub(crate) fn sacked_sequences(&self) -> u32 {
        self.sacked_sequences
    }

    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.lost_segments > 0
    }

    /// How many segments are outstanding.
    pub(crate) fn segments(&self) -> usize {
        self.sent.len()
    }

    /// Highest byte selectively acknowledged, plus one.
    pub(crate) fn highest_sacked(&self) -> Option<Seq> {
        self.highest_sacked
    }

    /// The oldest outstanding segment.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<&Sent> {
        self.sent.front()
    }

    /// Notes a segment sent for the first time.
    #[inline]
    pub(crate) fn push(&mut self, sent: Sent) {
        debug_assert!(self.sent.back().is_none_or(|last| last.end() == sent.seq));
        if self.sent.is_empty() {
            self.retransmit_from = sent.seq;
        }
        self.pipe += u64::from(sent.seq_len());
        if let Some(by_time) = &mut self.by_time {
            by_time.push(&sent);
        }
        self.sent.push_back(sent);
        if self.delivery.is_some() {
            self.sample_newest();
        }
    }

    // The sampler's steps stand apart and take no record's address, so that the ordinary ones stay
    // as they would be without it.

    #[cold]
    fn sample_newest(&mut self) {
        if let (Some(delivery), Some(sent)) = (&mut self.delivery, self.sent.back()) {
            delivery.on_sent(sent, self.pipe - u64::from(sent.seq_len()));
        }
    }

    #[cold]
    fn sample_oldest_acked(&mut self) {
        if let (Some(delivery), Some(sent)) = (&mut self.delivery, self.sent.front()) {
            if sent.state != SentState::Sacked {
                delivery.on_delivered(0, sent, u64::from(sent.seq_len()));
            }
            delivery.forget_oldest();
        }
    }

    /// Takes off everything before `ack`. Calls `delivered` for each segment of it that had not
    /// been selectively acknowledged.
    pub(crate) fn acknowledge(&mut self, ack: Seq, mut delivered: impl FnMut(&Sent)) -> Acked {
        let mut acked = Acked::default();
        while let Some(front) = self.sent.front_mut() {
            if !front.end().at_or_before(ack) {
                // A peer may acknowledge half a segment; what is left keeps its record.
                let part = ack.since(front.seq);
                if part > 0 && part < front.seq_len() {
                    let bytes = u64::from(part);
                    match front.state {
                        SentState::InFlight => self.pipe -= front.in_pipe(bytes),
                        SentState::Sacked => self.sacked -= bytes,
                        SentState::Lost => {}
                    }
                    if front.state != SentState::Sacked {
                        acked.newly_delivered += bytes;
                        if let Some(delivery) = &mut self.delivery {
                            delivery.on_delivered(0, front, bytes);
                        }
                    }
                    front.seq = ack;
                    front.payload -= part;
                }
                break;
            }
            if self.delivery.is_some() {
                self.sample_oldest_acked();
            }
            let front = self.sent.pop_front().expect("there is a front");
            let bytes = u64::from(front.seq_len());
            match front.state {
                SentState::InFlight => self.pipe -= front.in_pipe(bytes),
                SentState::Sacked => {
                    self.sacked -= bytes;
                    self.sacked_sequences -= u32::from(!self.is_sacked(0));
                }
                SentState::Lost => self.lost_segments -= 1,
            }
            if front.state != SentState::Sacked {
                acked.newly_delivered += bytes;
                delivered(&front);
            }
            if front.retransmitted {
                acked.ambiguous = true;
            } else if front.state != SentState::Sacked {
                acked.earliest_sent_at.get_or_insert(front.sent_at);
                acked.latest_sent_at = Some(front.sent_at);
            }
        }
        if self.retransmit_from.before(ack) {
            self.retransmit_from = ack;
        }
        if self.highest_sacked.is_some_and(|highest| highest.at_or_before(ack)) {
            self.highest_sacked = None;
            self.lost_below = None;
            self.last_blocks = SackBlocks::default();
        }
        acked
    }

    /// Takes in the blocks of an acknowledgment; returns the bytes newly reported. Calls
    /// `delivered` for each segment of them.
    pub(crate) fn mark_sacked(
        &mut self,
        blocks: &SackBlocks,
        snd_una: Seq,
        snd_nxt: Seq,
        mut delivered: impl FnMut(&Sent),
    ) -> u64 {
        let before = self.sacked;
        for block in blocks.as_slice() {
            // A block at or below the cumulative acknowledgment reports a duplicate (RFC 2883);
            // one beyond what was sent is nonsense. Neither says anything about outstanding data.
            let sound = block.start.before(block.end)
                && block.start.at_or_after(snd_una)
                && block.end.at_or_before(snd_nxt);
            if sound {
                let from = self.first_unseen(block);
                self.sack_range(from, block, &mut delivered);
            }
        }
        self.last_blocks = *blocks;
        self.sacked - before
    }

    /// Where the part of `block` begins that the last acknowledgment did not report.
    fn first_unseen(&self, block: &SackBlock) -> Seq {
        let seen = self.last_blocks.as_slice().iter().take(MAX_SACK_BLOCKS);
        let same_start = seen.filter(|last| last.start == block.start);
        same_start.map(|last| last.end.min(block.end)).next().unwrap_or(block.start)
    }

    fn sack_range(&mut self, from: Seq, block: &SackBlock, delivered: &mut impl FnMut(&Sent)) {
        let mut index = self.index_at_or_after(from);
        // What the last acknowledgment reported may have ended within a segment.
        let within = |sent: &Sent| sent.end().after(from) && sent.seq.at_or_after(block.start);
        if index > 0 && within(&self.sent[index - 1]) {
            index -= 1;
        }
        while let Some(sent) = self.sent.get_mut(index) {
            if !sent.end().at_or_before(block.end) {
                break;
            }
            let bytes = u64::from(sent.seq_len());
            match sent.state {
                SentState::InFlight => self.pipe -= sent.in_pipe(bytes),
                SentState::Lost => self.lost_segments -= 1,
                SentState::Sacked => {
                    index += 1;
                    continue;
                }
            }
            sent.state = SentState::Sacked;
            sent.copies = Copies::One;
            if let Some(delivery) = &mut self.delivery {
                delivery.on_delivered(index, sent, bytes);
            }
            self.sacked += bytes;
            delivered(sent);
            let sent_end = sent.end();
            self.highest_sacked =
                Some(self.highest_sacked.map_or(sent_end, |highest| highest.max(sent_end)));
            // It is a sequence of its own, or grows one, or joins two.
            let below = index.checked_sub(1).is_some_and(|below| self.is_sacked(below));
            let neighbours = u32::from(below) + u32::from(self.is_sacked(index + 1));
            self.sacked_sequences = self.sacked_sequences + 1 - neighbours;
            index += 1;
        }
    }

    #[inline]
    fn is_sacked(&self, index: usize) -> bool {
        self.sent.get(index).is_some_and(|sent| sent.state == SentState::Sacked)
    }

    /// Index of the first record that begins at or after `seq`.
    pub(super) fn index_at_or_after(&self, seq: Seq) -> usize {
        let Some(front) = self.sent.front() else { return 0 };
        let distance = seq.since(front.seq);
        if front.seq.at_or_after(seq) {
            return 0;
        }
        self.sent.partition_point(|sent| sent.seq.since(front.seq) < distance)
    }

    /// RFC 6675 §4 IsLost: declares every segment lost above which DupThresh discontiguous
    /// sequences, or more than (DupThresh - 1) * SMSS bytes, have been selectively acknowledged.
    /// Calls `lost` for each.
    pub(crate) fn mark_lost_by_sack(
        &mut self,
        duplicate_threshold: u32,
        smss: Bytes,
        mut lost: impl FnMut(&Sent),
    ) {
        let Some(index) = self.lost_before(duplicate_threshold, smss) else { return };
        let boundary = self.sent[index].seq;
        let start = match self.lost_below {
            Some(below) if boundary.at_or_before(below) => return,
            Some(below) => self.index_at_or_after(below),
            None => 0,
        };
        for at in start..index {
            let sent = &mut self.sent[at];
            if sent.state == SentState::InFlight && !sent.retransmitted {
                lost(sent);
                self.lose(at);
            } else if sent.state == SentState::InFlight && sent.copies == Copies::Two {
                // The first copy is lost after all; the other one is on its way.
                sent.copies = Copies::One;
                self.pipe -= u64::from(sent.seq_len());
            }
        }
        self.lost_below = Some(boundary);
    }

    /// Index of the highest segment below which enough has been selectively acknowledged above.
    fn lost_before(&self, duplicate_threshold: u32, smss: Bytes) -> Option<usize> {
        let highest = self.highest_sacked?;
        let enough = u64::from(duplicate_threshold.saturating_sub(1)) * smss.get();
        // Walk down from the highest SACKed segment until enough lies above.
        let (mut bytes, mut sequences, mut inside) = (0, 0, false);
        let mut index = self.index_at_or_after(highest);
        while index > 0 && bytes <= enough && sequences < duplicate_threshold {
            index -= 1;
            let sent = &self.sent[index];
            let sacked = sent.state == SentState::Sacked;
            if sacked {
                bytes += u64::from(sent.seq_len());
                sequences += u32::from(!inside);
            }
            inside = sacked;
        }
        (bytes > enough || sequences >= duplicate_threshold).then_some(index)
    }

    /// Declares the oldest outstanding segment lost, if it is in flight, and gives it.
    pub(crate) fn mark_oldest_lost(&mut self) -> Option<Sent> {
        let oldest = *self.sent.front().filter(|oldest| oldest.state == SentState::InFlight)?;
        self.lose(0);
        Some(oldest)
    }

    /// The receiver has discarded what it had reported (RFC 2018 §8), or so it must be taken: the
    /// oldest segment would not be outstanding otherwise.
    pub(crate) fn has_been_reneged_on(&self) -> bool {
        self.is_sacked(0)
    }

    /// Takes back what was selectively acknowledged: it counts as in flight again.
    pub(crate) fn forget_sacked(&mut self) {
        for sent in &mut self.sent {
            if sent.state == SentState::Sacked {
                sent.state = SentState::InFlight;
                self.pipe += u64::from(sent.seq_len());
            }
        }
        self.sacked = 0;
        self.sacked_sequences = 0;
        self.highest_sacked = None;
        self.lost_below = None;
        self.last_blocks = SackBlocks::default();
        self.restore_time_order();
    }

    /// Declares everything lost that is not selectively acknowledged. Calls `lost` for each segment
    /// that was not lost already.
    pub(crate) fn mark_all_lost(&mut self, mut lost: impl FnMut(&Sent)) {
        for index in 0..self.sent.len() {
            if self.sent[index].state == SentState::InFlight {
                lost(&self.sent[index]);
                self.lose(index);
            }
        }
        self.lost_below = self.highest_sacked;
    }

    pub(super) fn lose(&mut self, index: usize) {
        let sent = &mut self.sent[index];
        sent.state = SentState::Lost;
        self.pipe -= sent.in_pipe(u64::from(sent.seq_len()));
        sent.copies = Copies::One;
        self.lost_segments += 1;
        if let Some(delivery) = &mut self.delivery {
            delivery.on_lost(index, sent);
        }
        self.retransmit_from = self.retransmit_from.min(sent.seq);
    }

    /// What was declared lost and not yet retransmitted counts as in flight after all; what the
    /// selective acknowledgments say may then be judged anew.
    pub(crate) fn revive_lost(&mut self) {
        if self.lost_segments > 0 {
            for sent in &mut self.sent {
                if sent.state == SentState::Lost {
                    sent.state = SentState::InFlight;
                    self.pipe += u64::from(sent.seq_len());
                }
            }
            self.lost_segments = 0;
            self.restore_time_order();
        }
        self.lost_below = None;
    }

    /// The next segment to retransmit.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<Sent> {
        if self.lost_segments == 0 { None } else { Some(self.find_next_lost()) }
    }

    #[inline(never)]
    fn find_next_lost(&mut self) -> Sent {
        let index = self.next_lost_index();
        self.sent[index]
    }

    /// Notes that the segment [`Self::next_lost`] gave was retransmitted at `now`.
    pub(crate) fn resend_next_lost(&mut self, now: Time) {
        let index = self.next_lost_index();
        let sent = &mut self.sent[index];
        sent.state = SentState::InFlight;
        sent.retransmitted = true;
        sent.sent_at = now;
        if let Some(by_time) = &mut self.by_time {
            by_time.push(sent);
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.on_resent(index, sent, self.pipe);
        }
        self.pipe += u64::from(sent.seq_len());
        self.lost_segments -= 1;
        self.retransmit_from = sent.end();
    }

    /// Notes that the last segment, which is in flight, was retransmitted at `now`, and gives it.
    pub(crate) fn resend_last(&mut self, now: Time) -> Option<Sent> {
        let index = self.sent.len().checked_sub(1)?;
        let last = self.sent.get_mut(index).filter(|last| last.state == SentState::InFlight)?;
        last.retransmitted = true;
        last.sent_at = now;
        if let Some(delivery) = &mut self.delivery {
            delivery.on_resent(index, last, self.pipe);
        }
        if let Some(by_time) = &mut self.by_time {
            by_time.push(last);
        }
        Some(*last)
    }

    fn next_lost_index(&mut self) -> usize {
        let mut index = self.index_at_or_after(self.retransmit_from);
        while self.sent[index].state != SentState::Lost {
            index += 1;
        }
        self.retransmit_from = self.sent[index].seq;
        index
    }

    /// RFC 6675 §4 NextSeg rule (3): sends the lowest segment again that was sent once and lies
    /// below the highest SACKed byte, though too little was SACKed above it to call it lost.
    pub(crate) fn resend_next_hole(&mut self, now: Time) -> Option<Sent> {
        let end = self.index_at_or_after(self.highest_sacked?);
        let hole = (0..end).find(|&index| self.may_be_missing(index))?;
        Some(self.resend_in_flight(hole, now))
    }

    /// RFC 6675 §4 NextSeg rule (4): sends the highest segment again that is outstanding and not
    /// SACKed, unless its recovery is on its way.
    pub(crate) fn resend_highest(&mut self, now: Time) -> Option<Sent> {
        let highest = self.sent.iter().rposition(|sent| sent.state != SentState::Sacked)?;
        self.may_be_missing(highest).then(|| self.resend_in_flight(highest, now))
    }

    fn may_be_missing(&self, index: usize) -> bool {
        let sent = &self.sent[index];
        sent.state == SentState::InFlight && !sent.retransmitted
    }

    fn resend_in_flight(&mut self, index: usize, now: Time) -> Sent {
        let sent = &mut self.sent[index];
        sent.retransmitted = true;
        sent.copies = Copies::Two;
        sent.sent_at = now;
        if let Some(by_time) = &mut self.by_time {
            by_time.push(sent);
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.on_resent(index, sent, self.pipe);
        }
        self.pipe += u64::from(sent.seq_len());
        *sent
    }
}

#[cfg(test)]
mod tests;
