//! What is outstanding: one record per segment sent and not yet cumulatively acknowledged.
//!
//! Segments are contiguous in sequence space and kept in order, so every step here costs time in
//! proportion to what changes, not to the window: the bytes in the network (`pipe`), the bytes
//! selectively acknowledged and the next segment to retransmit are kept up to date, never counted
//! anew.
//!
//! `lost.rs` declares segments lost, and notes those that are retransmitted.

mod lost;

use super::delivery::Delivery;
use super::sent::{Acked, Copies, Sent, SentState};
use super::time_order::TimeOrder;
use ackord_units::{Bytes, Seq};
use ackord_wire::{MAX_SACK_BLOCKS, SackBlock, SackBlocks};
use std::collections::VecDeque;

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
    /// No segment before this one is in flight for the first time, where that was looked for.
    holes_from: Seq,
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
    #[inline(always)]
    pub(crate) fn push(&mut self, sent: Sent) {
        debug_assert!(self.sent.back().is_none_or(|last| last.end() == sent.seq));
        if self.sent.is_empty() {
            self.retransmit_from = sent.seq;
            self.holes_from = sent.seq;
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

    /// Records whether the packet in which the segment at `seq` was sent ends with it.
    pub(crate) fn note_packet(&mut self, seq: Seq, ends: bool) {
        // Nearly always it is the one just pushed.
        if let Some(newest) = self.sent.back_mut().filter(|newest| newest.seq == seq) {
            newest.ends_packet = ends;
            return;
        }
        let index = self.index_at_or_after(seq);
        if let Some(sent) = self.sent.get_mut(index) {
            sent.ends_packet = ends;
        }
    }

    /// Whether the packet in which the segment at `seq` was sent went on after it.
    pub(crate) fn continues_packet(&self, seq: Seq) -> bool {
        let sent = self.sent.get(self.index_at_or_after(seq));
        sent.is_some_and(|sent| !sent.ends_packet)
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
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: Seq, mut delivered: impl FnMut(&Sent)) -> Acked {
        let mut acked = Acked::default();
        while let Some(&front) = self.sent.front() {
            let end = front.end();
            if end.after(ack) {
                acked.newly_delivered += self.acknowledge_part(ack);
                break;
            }
            if self.delivery.is_some() {
                self.sample_oldest_acked();
            }
            self.sent.pop_front();
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
            if end == ack {
                break;
            }
        }
        if self.retransmit_from.before(ack) {
            self.retransmit_from = ack;
        }
        if self.holes_from.before(ack) {
            self.holes_from = ack;
        }
        if self.highest_sacked.is_some_and(|highest| highest.at_or_before(ack)) {
            self.highest_sacked = None;
            self.lost_below = None;
            self.last_blocks = SackBlocks::default();
        }
        acked
    }

    /// A peer may acknowledge half a segment; what is left keeps its record. Gives the bytes newly
    /// delivered.
    #[inline(never)]
    fn acknowledge_part(&mut self, ack: Seq) -> u64 {
        let Some(front) = self.sent.front_mut() else { return 0 };
        let part = ack.since(front.seq);
        if part == 0 || part >= front.seq_len() {
            return 0;
        }
        let bytes = u64::from(part);
        match front.state {
            SentState::InFlight => self.pipe -= front.in_pipe(bytes),
            SentState::Sacked => self.sacked -= bytes,
            SentState::Lost => {}
        }
        let news = front.state != SentState::Sacked;
        if news && let Some(delivery) = &mut self.delivery {
            delivery.on_delivered(0, front, bytes);
        }
        front.seq = ack;
        front.payload -= part;
        if news { bytes } else { 0 }
    }

    /// Whether all of it is in flight, as far as one knows.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        self.sacked == 0 && self.lost_segments == 0
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
        let last = self.last_blocks;
        let mut last = last.as_slice().iter();
        for block in blocks.as_slice() {
            // Most stand where they stood: those have been seen.
            if last.next() == Some(block) {
                continue;
            }
            // A block at or below the cumulative acknowledgment reports a duplicate (RFC 2883);
            // one beyond what was sent is nonsense. Neither says anything about outstanding data.
            let sound = block.start.before(block.end)
                && block.start.at_or_after(snd_una)
                && block.end.at_or_before(snd_nxt);
            if sound {
                let from = self.first_unseen(block);
                if from.before(block.end) {
                    self.sack_range(from, block, &mut delivered);
                }
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
        let first = index;
        while let Some(sent) = self.sent.get_mut(index) {
            if !sent.end().at_or_before(block.end) {
                break;
            }
            let bytes = u64::from(sent.seq_len());
            match sent.state {
                SentState::InFlight => self.pipe -= sent.in_pipe(bytes),
                SentState::Lost => self.lost_segments -= 1,
                SentState::Sacked => {
                    index += usize::from(sent.sacked_run);
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
        // A retransmission joins long sequences, which come with a start that is new: then this is what is skipped.
        if index > first {
            self.sent[first].sacked_run = u16::try_from(index - first).unwrap_or(u16::MAX);
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
        // Nearly all are as long as the second; a part of the first may be acknowledged.
        let length = self.sent.get(1).map_or(1, Sent::seq_len).max(1);
        let guess = 1 + distance.saturating_sub(front.seq_len()).div_ceil(length) as usize;
        if self.sent.get(guess).is_some_and(|sent| sent.seq == seq) {
            return guess;
        }
        self.sent.partition_point(|sent| sent.seq.since(front.seq) < distance)
    }

    /// What was not may be in flight for the first time again.
    fn look_for_holes_anew(&mut self) {
        self.holes_from = self.sent.front().map_or(self.holes_from, |oldest| oldest.seq);
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
                sent.sacked_run = 1;
                self.pipe += u64::from(sent.seq_len());
            }
        }
        self.look_for_holes_anew();
        self.sacked = 0;
        self.sacked_sequences = 0;
        self.highest_sacked = None;
        self.lost_below = None;
        self.last_blocks = SackBlocks::default();
        self.restore_time_order();
    }
}

#[cfg(test)]
mod tests;
