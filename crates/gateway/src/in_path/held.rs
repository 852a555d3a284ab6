//! Packets on their way through a queue, and what is counted of them.

use super::following::Following;
use super::frames::{Frame, Sorted};
use super::shaper::Shaper;
use super::stats::Drops;
use super::{Follow, InPathStats, stats};
use ackord_units::{Bytes, Rate, Time};
use ackord_wire::{Ecn, Packet, set_ecn};
use slab::Slab;
use std::collections::VecDeque;

/// Packets that wait, and what is counted of them.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) shaper: Shaper,
    /// By tag.
    frames: Slab<Frame>,
    bytes: usize,
    limit: usize,
    /// To be sent before anything else.
    pub(super) out: VecDeque<Frame>,
    pub(super) stats: InPathStats,
    pub(super) delay: stats::Recent,
    /// What sets the shaper's rate; nothing where it is constant.
    pub(super) following: Option<Following>,
}

impl Held {
    pub(super) fn new(shaper: Shaper, limit: Bytes, stats: InPathStats) -> Held {
        Held {
            shaper,
            frames: Slab::new(),
            bytes: 0,
            limit: limit.get() as usize,
            out: VecDeque::new(),
            stats,
            delay: stats::Recent::new(),
            following: None,
        }
    }

    /// Follows the link from now on, or no longer, and returns the rate that the shaper is to have.
    pub(super) fn follow_from(&mut self, now: Time, rate: Rate, follow: Option<Follow>) -> Rate {
        match (&mut self.following, follow) {
            (Some(following), Some(follow)) => following.change(follow),
            (_, follow) => {
                self.following = follow.map(|follow| Following::new(now, follow));
                rate
            }
        }
    }

    pub(super) fn take(&mut self, now: Time, sorted: Sorted) {
        match sorted {
            Sorted::Noise => {}
            Sorted::Control(frame) => {
                self.stats.control += 1;
                self.out.push_back(frame);
            }
            Sorted::Packet(packet, frame) => self.offer(now, packet, frame),
            Sorted::Pieces(pieces) => {
                self.stats.cut_up += 1;
                for (packet, frame) in pieces {
                    self.offer(now, packet, frame);
                }
            }
        }
    }

    fn offer(&mut self, now: Time, packet: Packet, frame: Frame) {
        if self.bytes + frame.takes() > self.limit {
            self.stats.drops.memory += 1;
            return;
        }
        self.bytes += frame.takes();
        let tag = self.frames.insert(frame) as u64;
        self.shaper.arrive(now, &Packet { tag, ..packet });
        self.settle();
    }

    /// Brings what left the queue to where it is sent, and counts what died there.
    pub(super) fn settle(&mut self) {
        while let Some((packet, reason)) = self.shaper.dead() {
            self.release(packet.tag);
            self.stats.drops.count(reason);
        }
        while let Some(packet) = self.shaper.leaving() {
            let Some(mut frame) = self.release(packet.tag) else { continue };
            if packet.ecn == Ecn::Ce {
                set_ecn(frame.ip(), Ecn::Ce);
            }
            frame.measured = self.following.is_some().then_some(packet);
            self.out.push_back(frame);
        }
    }

    fn release(&mut self, tag: u64) -> Option<Frame> {
        let frame = self.frames.try_remove(tag as usize)?;
        self.bytes -= frame.takes();
        Some(frame)
    }

    /// Throws away what waits.
    pub(super) fn discard(&mut self, now: Time, count: impl FnOnce(&mut Drops, u64)) {
        self.shaper.drain(now);
        self.settle();
        let gone = self.out.len() as u64;
        self.out.clear();
        count(&mut self.stats.drops, gone);
    }
}
