//! What is to be heard of what leaves by the interfaces.
//!
//! Where anybody listens to what leaves, a kernel copies the head of each packet before it asks a filter, and what it
//! answers makes that no cheaper. So nobody listens while nothing would be learnt.
//!
//! - *The WAN interface* tells nothing but what stands before the packets of a connection. It is heard while packets
//!   pass of a treated connection of which that is not known, and in an eighth of each second while any pass, since
//!   routes change: a thousand headers a second, and where more leaves each SYN and a share.
//! - *A LAN interface* is always heard, but for one case: all that is on the way are connections that are let pass,
//!   which are not shown just now. What comes in from the mobile hosts is always shown. So whoever begins is
//!   heard when the mobile host has said something, and a block of the ring is full or old: what left for him before that
//!   was not seen. That is the first flight to a connection that was silent, or that a fixed host opens.
//!
//! And where little is to be heard it is not held in blocks: see [`crate::ring`].

use super::Engine;
use super::fast::Fast;
use crate::Connection;
use crate::ring::{Few, Holding};
use ackord_units::{Bytes, Span, Time};

/// Where something is not known somebody listens for so long after the last packet that asks for it: whoever begins
/// soon after is known from his SYN on.
const LISTENS_FOR: Span = Span::from_millis(500);
/// Of one that is not let pass nothing has passed for so long: nobody misses what leaves.
const QUIET_FOR: Span = Span::from_secs(1);
/// Headers that are shown between two looks, before it is only a share of them.
const SHOWN_AT_MOST: u32 = 1_000;
/// Frames between two looks that can be asked for one by one, without those of connections that are let pass.
const FEW_FRAMES: u64 = 200;
/// And with them.
const FEW_WITH_FAST: u64 = 20_000;
/// After so many looks with few frames each they are asked for one by one: longer than a link is away.
const STILL_FOR: u32 = 10;

/// How much is to be shown of what leaves by an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Nothing, and the kernel need not copy it.
    Unheard,
    /// What serves to learn headers by and by.
    Share,
    /// All of it.
    All,
}

/// What an engine wants to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention<'a> {
    pub(crate) fast: &'a Fast,
    pub(crate) by_wan: Leaving,
    pub(crate) by_lan: Leaving,
    pub(crate) holding: Holding,
}

impl Attention<'_> {
    /// Whether all that is shown, and that one by one, are connections that are let pass.
    pub(crate) fn is_unhurried(&self) -> bool {
        self.holding == Holding::Queue && self.fast.are_shown && !self.fast.connections.is_empty()
    }
}

/// What has passed that asks to be listened to.
#[derive(Debug, Default)]
pub(super) struct Listening {
    /// When a packet of a connection passed last that is not let pass.
    other_at: Option<Time>,
    /// And of one that is treated.
    treated_at: Option<Time>,
    /// And of one of which nobody knows what stands before its packets at the WAN interface.
    unknown_at: Option<Time>,
    /// Headers that the WAN interface has shown since the last look.
    shown: u32,
    /// Frames since then, and those of connections that are let pass.
    frames: u64,
    of_fast: u64,
    /// Looks in a row before which there were few.
    still: u32,
    is_one_by_one: bool,
}

impl Listening {
    /// A frame passes, whosever it is.
    pub(super) fn frame(&mut self) {
        self.frames += 1;
    }

    /// Whether there were few frames since the last look.
    fn are_few(&self) -> bool {
        self.frames.saturating_sub(self.of_fast) <= FEW_FRAMES && self.frames <= FEW_WITH_FAST
    }

    /// A packet of a connection passes a LAN interface.
    pub(super) fn passed(&mut self, now: Time, connection: &Connection, has_box: bool) {
        if connection.pace.is_fast() {
            self.of_fast += 1;
            return;
        }
        self.other_at = Some(now);
        if has_box && !connection.is_control {
            self.treated_at = Some(now);
            if connection.to_wan.is_none() {
                self.unknown_at = Some(now);
            }
        }
    }

    /// A packet leaves by the WAN interface.
    pub(super) fn shown(&mut self) {
        self.shown = self.shown.saturating_add(1);
    }

    /// Another second begins.
    pub(super) fn look(&mut self) {
        self.still = if self.are_few() { self.still.saturating_add(1) } else { 0 };
        (self.shown, self.frames, self.of_fast) = (0, 0, 0);
    }
}

impl Engine {
    /// What is to be shown now.
    pub(crate) fn attention(&mut self, now: Time) -> Attention<'_> {
        let are_shown = self.fast(now).are_shown;
        let lately = |at: Option<Time>, span| at.is_some_and(|at| now <= at + span);
        let listening = &self.listening;
        let by_wan = match lately(listening.unknown_at, LISTENS_FOR)
            || are_shown && lately(listening.treated_at, QUIET_FOR)
        {
            false => Leaving::Unheard,
            true if listening.shown < SHOWN_AT_MOST => Leaving::All,
            true => Leaving::Share,
        };
        // More of them than a ring can tell apart are shown all the time.
        let are_apart = (1..=Few::MOST).contains(&self.fast.connections.len());
        let is_quiet = !lately(listening.other_at, QUIET_FOR)
            && self.connections.kept() == Bytes::ZERO
            && self.stats.held == 0
            && self.taps.are_none();
        let are_alone = are_apart && is_quiet;
        let by_lan = match are_alone && !are_shown {
            true => Leaving::Unheard,
            false => Leaving::All,
        };
        let listening = &mut self.listening;
        listening.is_one_by_one = listening.are_few()
            && (listening.is_one_by_one || are_alone || listening.still >= STILL_FOR);
        let holding = match listening.is_one_by_one {
            true => Holding::Queue,
            false => Holding::Blocks,
        };
        Attention { fast: &self.fast, by_wan, by_lan, holding }
    }
}
