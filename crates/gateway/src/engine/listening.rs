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

use super::Engine;
use super::fast::Fast;
use crate::Connection;
use crate::ring::Few;
use ackord_units::{Bytes, Span, Time};

/// Where something is not known somebody listens for so long after the last packet that asks for it: whoever begins
/// soon after is known from his SYN on.
const LISTENS_FOR: Span = Span::from_millis(500);
/// Of one that is not let pass nothing has passed for so long: nobody misses what leaves.
const QUIET_FOR: Span = Span::from_secs(1);
/// Headers that are shown between two looks, before it is only a share of them.
const SHOWN_AT_MOST: u32 = 1_000;

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
}

impl Listening {
    /// A packet of a connection passes a LAN interface.
    pub(super) fn passed(&mut self, now: Time, connection: &Connection, has_box: bool) {
        if connection.pace.is_fast() {
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
        self.shown = 0;
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
        let by_lan = match are_apart && is_quiet && !are_shown {
            true => Leaving::Unheard,
            false => Leaving::All,
        };
        Attention { fast: &self.fast, by_wan, by_lan }
    }
}
