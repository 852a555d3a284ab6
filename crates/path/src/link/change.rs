//! Changes to a link in the course of a run.
//!
//! A change holds from the instant at which it is made. The packet being transmitted then ends at the old rate, and
//! packets on the wire arrive when they would have. Packets stay in order: after the delay has become shorter, a packet
//! arrives no sooner than the one before it.
//!
//! Only links that do not precompute transmissions can be changed ([`GraphBuilder::changeable`]).
//!
//! [`GraphBuilder::changeable`]: crate::GraphBuilder::changeable

use super::Link;
use super::extras::Extras;
use super::loss::LossModel;
use super::propagation::Propagation;
use super::serializer::Serializer;
use crate::queue::Queue;
use ackord_units::{Rate, Span, Time};

/// A change to one direction of a link.
#[derive(Clone, Debug)]
pub enum LinkChange {
    /// Another transmission rate; not zero.
    Rate(Rate),
    /// Another propagation delay.
    Delay(Span),
    /// Another loss model, or none.
    Loss(Option<LossModel>),
    /// The settings of this queue, which is of the same kind; waiting packets stay. A limit below the present length
    /// drops no waiting packet.
    QueueSettings(Queue),
}

/// Why a link refuses a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRefused {
    /// The graph was built for links that stay as they are.
    #[error("the path was not built to be changed")]
    Fixed,
    /// Something other than the rate sets when the link transmits.
    #[error("a shared medium, a trace, rate changes or a shaper set when it transmits")]
    RateNotInForce,
    /// The delay is drawn.
    #[error("its delay is drawn at random")]
    DelayDrawn,
    /// The queue is of another kind, or takes no other settings.
    #[error("its queue takes no other settings while packets may wait in it")]
    QueueSettings,
}

impl Link {
    /// Returns whether the link would take a change.
    ///
    /// # Errors
    /// Why it would not.
    pub(crate) fn check_change(&self, change: &LinkChange) -> Result<(), ChangeRefused> {
        let is_paced = || self.extras.as_ref().is_some_and(|extras| extras.pace.is_some());
        let is_drawn =
            || matches!(self.propagation, Propagation::InOrder(_) | Propagation::Free(_));
        match change {
            _ if self.is_planned() => Err(ChangeRefused::Fixed),
            LinkChange::Rate(_) if self.medium.is_some() || is_paced() => {
                Err(ChangeRefused::RateNotInForce)
            }
            LinkChange::Delay(_) if is_drawn() => Err(ChangeRefused::DelayDrawn),
            // Tried on a copy: only the queue knows.
            LinkChange::QueueSettings(queue)
                if !self.queue.clone().adopt_settings(queue.clone()) =>
            {
                Err(ChangeRefused::QueueSettings)
            }
            _ => Ok(()),
        }
    }

    /// Makes a change at `now`, up to which the transmitter has caught up.
    ///
    /// # Errors
    /// If the link refuses it, which then stays as it is.
    pub(crate) fn change(&mut self, now: Time, change: LinkChange) -> Result<(), ChangeRefused> {
        self.check_change(&change)?;
        match change {
            LinkChange::Rate(rate) => self.serializer = Serializer::new(rate),
            LinkChange::Delay(delay) => self.propagation = Propagation::Changed(delay),
            LinkChange::Loss(loss) => {
                let busy_until = if self.medium.is_some() { now } else { self.free_at };
                self.extras.get_or_insert_with(|| Extras::none(busy_until)).loss = loss;
            }
            LinkChange::QueueSettings(queue) => {
                self.queue.adopt_settings(queue);
            }
        }
        Ok(())
    }
}
