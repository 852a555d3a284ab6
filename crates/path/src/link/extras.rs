//! What a link may have beside its queue, its rate and its delay, all of it optional and all of it
//! at once. A link without any of it keeps nothing of this and asks once per transmission.
//!
//! In the order in which a packet meets them: an outage that holds lets it wait; it is transmitted;
//! an outage that loses, then the loss model, decide whether it dies. Each model is asked for every
//! packet that is transmitted, whatever the others say, and draws from a stream of its own: adding
//! one changes nothing about what the others do. The first that strikes is the reason.

use super::loss::LossModel;
use super::outage::{Outage, OutageEffect};
use super::windows::Window;
use ackord_events::DropReason;
use ackord_units::Time;

/// The optional parts of a link.
#[derive(Clone, Debug)]
pub(super) struct Extras {
    pub(super) outage: Option<Outage>,
    pub(super) loss: Option<LossModel>,
    /// When the last transmission is over, which may be before the transmitter is free.
    pub(super) sending_until: Time,
}

/// A transmission: when its first and its last bit go out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) from: Time,
    pub(super) out_at: Time,
    pub(super) ip_len: u32,
}

impl Extras {
    /// Nothing where nothing is wanted.
    pub(super) fn new(outage: Option<Outage>, loss: Option<LossModel>) -> Option<Box<Extras>> {
        let wanted = outage.is_some() || loss.is_some();
        wanted.then(|| Box::new(Extras { outage, loss, sending_until: Time::ZERO }))
    }

    /// Whether the transmitter may have to wait although it is free.
    pub(super) fn may_wait(&self) -> bool {
        self.outage.as_ref().is_some_and(|outage| outage.effect() == OutageEffect::Holds)
    }

    /// When a packet that could be transmitted at `at` may be looked at again, if not now.
    pub(super) fn wait_until(&mut self, at: Time, meet: impl FnMut(Window)) -> Option<Time> {
        self.outage.as_mut()?.held_until(at, meet)
    }

    /// Why the packet is lost, or nothing.
    pub(super) fn fate(
        &mut self,
        of: Transmission,
        meet: impl FnMut(Window),
    ) -> Option<DropReason> {
        let outage = self.outage.as_mut();
        let struck = outage.is_some_and(|outage| outage.strikes(of.from, of.out_at, meet));
        let lost = self.loss.as_mut().and_then(|loss| loss.draw(of.ip_len));
        if struck { Some(DropReason::Outage) } else { lost }
    }
}
