//! What a link may have beside its queue, its rate and its delay, all of it optional and all of it
//! at once. A link without any of it keeps nothing of this and asks once per transmission.
//!
//! In the order in which a packet meets them:
//! 1. a policer may drop it, before the queue sees it;
//! 2. an outage that holds, then the [`Pace`], let it wait in the queue;
//! 3. it is transmitted, at the link's rate or as the pace (or the medium) has it, which may give
//!    it up;
//! 4. an outage that loses, then the loss model, may lose it;
//! 5. it may be damaged, and dropped for it at the far end or by its host;
//! 6. if it is to arrive, it may arrive twice, each copy with a propagation delay of its own.
//!
//! Each is asked for every packet that is transmitted, whatever the others say, and draws from a
//! stream of its own: adding one changes nothing about what the others draw. The first that strikes
//! is the reason.

use super::bucket::TokenBucket;
use super::config::LinkConfig;
use super::corruption::{CaughtBy, Corruption, Duplication};
use super::loss::LossModel;
use super::outage::{Outage, OutageEffect};
use super::pace::Pace;
use super::pace::sent::Asks;
use super::windows::Window;
use ackord_events::DropReason;
use ackord_units::Time;

/// The optional parts of a link.
#[derive(Clone, Debug)]
pub(super) struct Extras {
    policer: Option<TokenBucket>,
    pub(super) pace: Option<Pace>,
    outage: Option<Outage>,
    pub(super) loss: Option<LossModel>,
    corruption: Option<Corruption>,
    duplication: Option<Duplication>,
    /// Up to when the transmitter's time is counted, which may be before it is free.
    pub(super) busy_until: Time,
}

/// A transmission: when its first and its last bit go out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) from: Time,
    pub(super) out_at: Time,
    pub(super) ip_len: u32,
}

/// What becomes of a packet after its transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// Why it dies on this link, if it does.
    pub(super) dies_of: Option<DropReason>,
    pub(super) is_damaged: bool,
    /// Whether it arrives twice, if it does.
    pub(super) is_duplicated: bool,
}

impl Fate {
    /// Of a packet to which nothing happens.
    pub(super) const ARRIVES: Fate =
        Fate { dies_of: None, is_damaged: false, is_duplicated: false };
}

impl Extras {
    /// Nothing yet, on a transmitter whose time is counted up to `busy_until`.
    pub(super) fn none(busy_until: Time) -> Box<Extras> {
        Box::new(Extras {
            policer: None,
            pace: None,
            outage: None,
            loss: None,
            corruption: None,
            duplication: None,
            busy_until,
        })
    }

    /// What `config` wants, taken out of it; nothing where that is nothing.
    pub(super) fn of(config: &mut LinkConfig) -> Option<Box<Extras>> {
        let extras = Extras {
            policer: config.policer.take(),
            pace: config.pace.take(),
            outage: config.outage.take(),
            loss: config.loss.take(),
            corruption: config.corruption.take(),
            duplication: config.duplication.take(),
            busy_until: Time::ZERO,
        };
        let Extras { policer, pace, outage, loss, corruption, duplication, busy_until: _ } =
            &extras;
        let wanted = policer.is_some()
            || pace.is_some()
            || outage.is_some()
            || loss.is_some()
            || corruption.is_some()
            || duplication.is_some();
        wanted.then(|| Box::new(extras))
    }

    /// Whether a packet that comes now may go on to the queue.
    pub(super) fn admit(&mut self, now: Time, ip_len: u32) -> bool {
        self.policer.as_mut().is_none_or(|policer| policer.police(now, ip_len))
    }

    /// Whether the transmitter may have to wait although it is free.
    pub(super) fn may_wait(&self) -> bool {
        may_wait(self.outage.as_ref(), self.pace.as_ref())
    }

    /// Whether packets may come out damaged.
    pub(super) fn may_damage(&self) -> bool {
        self.corruption.is_some()
    }

    /// When a packet that could be transmitted at `at` may be looked at again, if not now.
    pub(super) fn wait_until(
        &mut self,
        at: Time,
        asks: Asks,
        meet: impl FnMut(Window),
    ) -> Option<Time> {
        let held = self.outage.as_mut().and_then(|outage| outage.held_until(at, meet));
        held.or_else(|| self.pace.as_mut()?.wait_until(at, asks))
    }

    /// What happens to the packet on its way.
    pub(super) fn fate(&mut self, of: Transmission, meet: impl FnMut(Window)) -> Fate {
        let outage = self.outage.as_mut();
        let struck = outage.is_some_and(|outage| outage.strikes(of.from, of.out_at, meet));
        let lost = self.loss.as_mut().and_then(|loss| loss.draw(of.from, of.ip_len));
        let caught = self.corruption.as_mut().and_then(|damage| damage.draw(of.ip_len));
        let is_duplicated = self.duplication.as_mut().is_some_and(Duplication::draw);
        let outage = struck.then_some(DropReason::Outage);
        let dropped = (caught == Some(CaughtBy::Link)).then_some(DropReason::Corrupted);
        Fate { dies_of: outage.or(lost).or(dropped), is_damaged: caught.is_some(), is_duplicated }
    }
}

/// Whether with these a transmitter may have to wait although it is free.
pub(super) fn may_wait(outage: Option<&Outage>, pace: Option<&Pace>) -> bool {
    outage.is_some_and(|outage| outage.effect() == OutageEffect::Holds)
        || pace.is_some_and(Pace::may_wait)
}
