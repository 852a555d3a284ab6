//! Segments that are declared lost, and retransmitted.

use super::Scoreboard;
use crate::sender::sent::{Copies, Sent, SentState};
use ackord_units::{Bytes, Time};

impl Scoreboard {
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

    pub(in crate::sender) fn lose(&mut self, index: usize) {
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
            self.look_for_holes_anew();
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
        let start = self.index_at_or_after(self.holes_from);
        let hole = (start..end).find(|&index| self.may_be_missing(index));
        // Every acknowledgment may ask: what was passed over is not looked at again.
        if let Some(sent) = self.sent.get(hole.unwrap_or(end)) {
            self.holes_from = sent.seq;
        }
        Some(self.resend_in_flight(hole?, now))
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
