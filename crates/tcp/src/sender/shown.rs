//! What the sending half shows of itself, and the little that may be changed while it runs.

use super::scoreboard::{Attempts, SentState};
use super::{Phase, Sender};
use crate::nagle::Nagle;
use ackord_units::{Bytes, Rate};

impl Sender {
    /// Where it stands with respect to loss.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Duplicate acknowledgments in a row.
    pub(crate) fn duplicate_acks(&self) -> u32 {
        self.duplicate_acks
    }

    /// DupThresh as the loss detector has it now.
    pub(crate) fn duplicate_threshold(&self) -> u32 {
        self.loss.duplicate_threshold()
    }

    /// The furthest that a segment has been overtaken, as far as the loss detector looks at that.
    pub(crate) fn overtaken_by(&self) -> Bytes {
        self.loss.overtaken_by()
    }

    /// What is in the network and what a reduction that is under way still lets out: cwnd as it
    /// falls to where it is going.
    pub(crate) fn reduced_so_far(&self) -> Option<Bytes> {
        self.marks.allowance().map(|allowance| self.board.pipe() + allowance)
    }

    /// The rate the congestion control asks for, if it does.
    pub(crate) fn control_rate(&self) -> Option<Rate> {
        self.congestion.pacing_rate()
    }

    /// Where each outstanding segment is thought to be, and whether it was sent again.
    pub(crate) fn outstanding(&self) -> impl Iterator<Item = (SentState, Attempts)> {
        self.board.sent.iter().map(|sent| (sent.state, sent.attempts))
    }

    /// Another rule for small segments.
    pub(crate) fn set_nagle(&mut self, nagle: Box<dyn Nagle>) {
        self.nagle = nagle;
    }

    /// As much may be written and not yet acknowledged.
    pub(crate) fn set_send_buffer(&mut self, bytes: Bytes) {
        (self.send_buffer, self.most_send_buffer) = (bytes, bytes);
    }
}
