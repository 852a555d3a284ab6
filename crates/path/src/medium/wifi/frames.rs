//! The frames of one sender that have left its queue: sent, retransmitted, handed on in order.

use super::airtime::{Airtime, Framing};
use super::config::WifiConfig;
use crate::link::{ErrorRate, Link};
use crate::packets::{Packets, Slot};
use ackord_events::{DropReason, Sink};
use ackord_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// Longest transmission (aPPDUMaxTime, IEEE 802.11-2020 Table 19-25).
const MAX_PPDU: Span = Span::from_micros(5_484);

/// Frames that may be unsettled at once: the bitmap of a compressed BlockAck (IEEE 802.11-2020
/// §9.3.1.8.2).
const REORDER_WINDOW: usize = 64;

/// Frames between the queue and the wire, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(VecDeque<Frame>);

#[derive(Clone, Copy, Debug)]
struct Frame {
    slot: Slot,
    attempts: u32,
    state: FrameState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameState {
    /// To be sent, for the first time or again.
    Pending,
    /// The far end has it, but an earlier one is missing.
    Received,
    /// Given up.
    Lost,
}

/// What goes out in one transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// How many frames.
    pub(super) frames: u32,
    /// How long the data part takes.
    pub(super) data_time: Span,
}

/// What came of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Frames that arrived.
    pub(super) received: u32,
    /// Frames given up.
    pub(super) given_up: u32,
}

/// Whether a transmission had the medium for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Air {
    Clear,
    Collision,
}

impl Frames {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a frame is to be retransmitted.
    pub(super) fn pending(&self) -> bool {
        self.0.iter().any(|frame| frame.state == FrameState::Pending)
    }

    /// Takes from the queue what the next transmission has room for, and says how long that is.
    pub(super) fn load<S: Sink>(
        &mut self,
        now: Time,
        limits: &Limits<'_>,
        link: &mut Link,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Load {
        loop {
            let (load, room) = self.count(limits);
            if !room || self.0.len() >= limits.window() {
                return load;
            }
            let Some(slot) = link.take_for_medium(now, packets, sink) else { return load };
            self.0.push_back(Frame { slot, attempts: 0, state: FrameState::Pending });
        }
    }

    /// The pending frames that fit into one transmission, and whether more would.
    fn count(&self, limits: &Limits<'_>) -> (Load, bool) {
        let (mut frames, mut bytes) = (0, 0);
        for frame in self.0.iter().filter(|frame| frame.state == FrameState::Pending) {
            let with = bytes + limits.airtime.psdu_bytes(frame.slot.ip_len);
            if frames > 0 && !limits.allow(frames + 1, with) {
                return (limits.load(frames, bytes), false);
            }
            (frames, bytes) = (frames + 1, with);
        }
        let room = frames == 0 || limits.allow(frames + 1, bytes);
        (limits.load(frames, bytes), room)
    }

    /// The first `load` pending frames were sent: draws what became of each.
    pub(super) fn settle(&mut self, load: Load, air: Air, errors: &mut Errors<'_>) -> Outcome {
        let mut outcome = Outcome { received: 0, given_up: 0 };
        let pending = self.0.iter_mut().filter(|frame| frame.state == FrameState::Pending);
        for frame in pending.take(load.frames as usize) {
            frame.attempts += 1;
            let damaged = match air {
                Air::Clear => errors.damage(frame.slot.ip_len),
                Air::Collision => true,
            };
            if !damaged {
                frame.state = FrameState::Received;
                outcome.received += 1;
            } else if frame.attempts > errors.retries {
                frame.state = FrameState::Lost;
                outcome.given_up += 1;
            }
        }
        outcome
    }

    /// Hands on what no earlier frame holds back: it is at the far end of the air at `at`.
    pub(super) fn release<S: Sink>(
        &mut self,
        at: Time,
        link: &mut Link,
        packets: &mut Packets,
        sink: &mut S,
    ) {
        while let Some(frame) = self.0.front().copied() {
            let fate = match frame.state {
                FrameState::Pending => return,
                FrameState::Received => None,
                FrameState::Lost => Some(DropReason::RetryLimit),
            };
            self.0.pop_front();
            link.launch(at, frame.slot, fate, packets, sink);
        }
    }
}

/// What fits into one transmission.
pub(super) struct Limits<'a> {
    pub(super) config: &'a WifiConfig,
    pub(super) airtime: &'a Airtime,
    pub(super) rate: Rate,
}

impl Limits<'_> {
    fn window(&self) -> usize {
        match self.airtime.framing() {
            Framing::Single => 1,
            Framing::Aggregated => REORDER_WINDOW,
        }
    }

    fn allow(&self, frames: u32, psdu_bytes: u64) -> bool {
        self.config.aggregation.is_some_and(|limit| {
            frames <= limit.frames
                && psdu_bytes <= limit.bytes.get()
                && self.airtime.data(psdu_bytes, self.rate) <= MAX_PPDU
        })
    }

    fn load(&self, frames: u32, psdu_bytes: u64) -> Load {
        Load { frames, data_time: self.airtime.data(psdu_bytes, self.rate) }
    }
}

/// How frames are damaged on a clear medium, and how often they are tried again.
pub(super) struct Errors<'a> {
    config: &'a mut WifiConfig,
    airtime: &'a Airtime,
    retries: u32,
}

impl<'a> Errors<'a> {
    pub(super) fn of(config: &'a mut WifiConfig, airtime: &'a Airtime) -> Errors<'a> {
        Errors { retries: config.retries, config, airtime }
    }

    fn damage(&mut self, ip_len: u32) -> bool {
        let mpdu = u32::try_from(self.airtime.mpdu_bytes(ip_len)).unwrap_or(u32::MAX / 8);
        let by_bits = ErrorRate::PerBit(self.config.bit_error).of_packet(mpdu);
        // Drawn both, whatever they are, so that one of them changes no draw of the other.
        let stream = &mut self.config.stream;
        let (frame, bits) = (stream.chance(self.config.frame_error), stream.chance(by_bits));
        frame || bits
    }
}
