//! Turns of the whole link with remedies and without.

use super::{Counted, Engine};
use crate::class::{Class, Standing};
use crate::{Connection, Progress};
use ackord_daemon::Harm;
use ackord_daemon::switchback::{LinkCompared, LinkTotals, Switchback};
use ackord_units::Time;

/// Complete blocks of turns before a remedy stands down. Fewer give an interval by Student's t that is several times as
/// wide as the scatter of the blocks; more take longer than three hours with one turn of ten without remedies.
const LEAST_BLOCKS: usize = 8;

impl Engine {
    /// Returns whether remedies are at work in the present turn.
    #[inline]
    pub fn is_turn_treated(&self) -> bool {
        self.switchback.as_ref().is_none_or(Switchback::is_treated)
    }

    /// Returns whether turns are taken at present.
    pub fn switches(&self) -> bool {
        self.switchback.is_some()
    }

    /// Returns what turns with remedies differ by from turns without.
    pub fn link_compared(&self) -> &LinkCompared {
        &self.link
    }

    /// Goes on to the next turn when it is time; remedies that harm the link stand down.
    pub(super) fn take_turn(&mut self, now: Time) {
        let at_work = |class: &Class| class.standing() == Standing::AtWork;
        let Some(turns) = self.config.turns.filter(|_| self.classes.iter().any(at_work)) else {
            self.switchback = None;
            return;
        };
        let seed = self.wall_nanos;
        let mut switchback =
            self.switchback.take().unwrap_or_else(|| Switchback::new(turns, seed, now));
        let has_switched = switchback.advance(now, || self.link_totals(now));
        self.link = switchback.compare();
        let harm = switchback.harm(self.config.stand_down.confidence, LEAST_BLOCKS);
        self.switchback = Some(switchback);
        if has_switched {
            self.begin_turn(now);
        }
        if let Some(outcome) = harm {
            self.switchback = None;
            for class in &mut self.classes {
                class.stand_down(now, Harm::ToLink(outcome));
            }
            self.begin_turn(now);
        }
    }

    /// Boxes know nothing when a turn with them begins, and hold nobody when it ends.
    fn begin_turn(&mut self, now: Time) {
        self.classes.iter_mut().for_each(Class::begin_turn);
        for connection in self.connections.iter_mut() {
            self.stats.held -= u64::from(connection.is_held);
            connection.is_held = false;
            if let Some(class) = self.classes.get(connection.class) {
                begun_anew(connection, class, &mut self.counted, now);
            }
        }
    }

    /// Returns what the link did since the start.
    pub(super) fn link_totals(&self, now: Time) -> LinkTotals {
        let mut totals = self.counted.link;
        totals.air_bytes += self.stats.injected_bytes_to_mobile as f64;
        for connection in self.connections.iter() {
            if let Some(class) = self.classes.get(connection.class) {
                totals.add(&totals_of(connection, class, now));
            }
        }
        totals
    }

    /// Counts a connection that is forgotten.
    pub(super) fn count_ended(&mut self, gone: &Connection) {
        self.counted.subscribers.ended(gone, self.now);
        if let Some(class) = self.classes.get(gone.class) {
            self.counted.link.add(&totals_of(gone, class, self.now));
        }
    }
}

/// Begins the progress of a connection anew, and counts what it was.
pub(super) fn begun_anew(
    connection: &mut Connection,
    class: &Class,
    counted: &mut Counted,
    now: Time,
) {
    counted.subscribers.begun_anew(connection, now);
    counted.link.add(&totals_of(connection, class, now));
    connection.to_mobile = connection.to_mobile.anew(now);
}

fn totals_of(connection: &Connection, class: &Class, now: Time) -> LinkTotals {
    let Progress { bytes, active, rtt_sum, rtts, .. } = connection.to_mobile.until(now);
    // The others are those that no turn treats.
    let is_other = connection.is_control || class.remedy().is_none();
    LinkTotals {
        useful_bytes: bytes as f64,
        air_bytes: 0.0,
        active_s: active.as_secs_f64(),
        others_rtt_s: if is_other { rtt_sum.as_secs_f64() } else { 0.0 },
        others_rtts: if is_other { f64::from(rtts) } else { 0.0 },
    }
}
