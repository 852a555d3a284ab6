//! Connections that are so fast that no remedy is for them: they are let pass, and most of the time not even looked
//! at.
//!
//! Before each of the engine's looks they are shown again for a while, so that it is known within about a second that
//! one has slowed down. What passes then stands for what passes meanwhile. They are no evidence while they are fast,
//! and whoever slows down is taken up in the middle, as a connection that was there before the gateway.

use super::{Engine, LOOK_EVERY};
use crate::{Connection, Interface, Key};
use ackord_units::{Span, Time};
use ackord_wire::FlowId;

/// For so long they are shown: somewhat longer than a pace takes to be known.
const SHOWN_FOR: Span = Span::from_millis(125);
/// A byte that is seen while they are shown stands for so many.
pub(super) const STANDS_FOR: u64 = LOOK_EVERY.as_nanos() / SHOWN_FOR.as_nanos();

/// Who is let pass.
#[derive(Debug, Default)]
pub(crate) struct Fast {
    /// Each with the LAN interface where its packets leave.
    pub(crate) connections: Vec<(Interface, Key)>,
    /// Whether they are to be shown now.
    pub(crate) are_shown: bool,
    /// These are not all of them any more, or all of these not.
    pub(super) are_others: bool,
}

impl Engine {
    /// Who need not be shown now. Not who is captured: whoever asked wants all of it.
    pub(crate) fn fast(&mut self, now: Time) -> &Fast {
        let is_time = now + SHOWN_FOR >= self.look_at;
        if is_time && !self.fast.are_shown {
            let fast = self.connections.iter_mut().filter(|one| one.pace.is_fast());
            fast.for_each(|one| one.pace.begin(now));
        }
        self.fast.are_shown = is_time;
        if std::mem::take(&mut self.fast.are_others) {
            let place = |one: &Connection| Some((Interface::Lan(one.to_lan?.0), one.key));
            let fast = self.connections.iter().filter(|one| one.pace.is_fast());
            let not_captured = fast.filter(|one| !self.taps.want(one.key));
            self.fast.connections = not_captured.filter_map(place).collect();
        }
        &self.fast
    }

    /// When the next call of [`Engine::fast`] has another answer.
    pub(crate) fn fast_changes_at(&self) -> Time {
        match (self.connections.is_empty(), self.fast.are_shown) {
            (true, _) => Time::NEVER,
            (false, true) => self.look_at,
            (false, false) => self.look_at - SHOWN_FOR,
        }
    }

    /// They have been shown for a while: who has slowed down?
    pub(super) fn look_at_the_fast(&mut self, now: Time) {
        let limit = self.config.limits.fast;
        let fast = self.connections.iter_mut().filter(|one| one.pace.is_fast());
        let turned: Vec<FlowId> =
            fast.filter_map(|one| one.pace.look(now, limit).then_some(one.flow)).collect();
        turned.into_iter().for_each(|flow| self.turn(flow));
        // A capture may have begun or ended, or a connection have moved to another interface.
        self.fast.are_others = true;
    }

    /// A connection has become fast, or is so no longer: what is known of its stream ends here.
    pub(super) fn turn(&mut self, flow: FlowId) {
        self.fast.are_others = true;
        self.connections.drop_kept(flow);
        let Some(connection) = self.connections.of_flow(flow) else { return };
        self.stats.held -= u64::from(connection.is_held);
        connection.is_held = false;
        // Where it goes was not looked at meanwhile, or will not be.
        connection.to_wan = None;
        connection.to_mobile.interrupt();
        connection.from_mobile.interrupt();
        connection.hiding.stop();
        let class = self.classes.get_mut(connection.class);
        if let Some(proxy) = class.and_then(|class| class.proxy.as_mut()) {
            proxy.forget(flow);
        }
    }
}
