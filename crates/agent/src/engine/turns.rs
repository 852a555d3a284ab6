//! Turns of the whole host with settings and without.
//!
//! Connections of a host share its links and processors: what treated ones take the control group may lose, so that a
//! comparison of both shows a gain where the host gains nothing. In turns all applications have their settings, or none,
//! and totals of the host are compared (docs/decisions/0127).

use super::{Do, Engine, Turn, class_of};
use crate::application::Application;
use crate::connection::Connection;
use crate::lever::{Lever, Why};
use crate::report::Figures;
use ackord_daemon::switchback::{LinkCompared, LinkTotals, Outcome, Switchback};
use ackord_units::Time;

/// Complete blocks of turns before settings are withdrawn. Fewer give an interval by Student's t that is several times as
/// wide as the scatter of the blocks.
const LEAST_BLOCKS: usize = 8;

/// Adds what was counted of a connection to the totals of the host: data segments that it sent stand for bytes on the air,
/// and the others are applications without a setting, whose delay is their time in exchanges per byte.
pub(super) fn add(totals: &mut LinkTotals, new: Figures, is_other: bool) {
    let (bytes, active) = (new.bytes as f64, new.active.as_secs_f64());
    totals.add(&LinkTotals {
        useful_bytes: bytes,
        air_bytes: f64::from(new.sent),
        active_s: active,
        others_rtt_s: if is_other { active } else { 0.0 },
        others_rtts: if is_other { bytes } else { 0.0 },
    });
}

impl Engine {
    /// Returns whether settings are at work in the present turn.
    pub fn is_turn_treated(&self) -> bool {
        self.switchback.as_ref().is_none_or(Switchback::is_treated)
    }

    /// Returns whether turns are taken at present.
    pub fn switches(&self) -> bool {
        self.switchback.is_some()
    }

    /// Returns what turns with settings differ by from turns without.
    pub fn turns_compared(&self) -> &LinkCompared {
        &self.compared
    }

    /// Advances to the next turn when it is time. Withdraws all settings if they harm the host.
    pub(super) fn take_turn(&mut self, now: Time) {
        let is_any = self.config.acts && self.applications.iter().any(Application::is_touched);
        let Some(turns) = self.config.turns.filter(|_| is_any) else { return self.end_turns() };
        let begin = || Switchback::new(turns, now.as_nanos(), now);
        let mut switchback = self.switchback.take().unwrap_or_else(begin);
        let totals = self.totals;
        let has_switched = switchback.advance(now, || totals);
        self.compared = switchback.compare();
        let harm = switchback.harm(self.config.rule.confidence, LEAST_BLOCKS);
        let is_treated = switchback.is_treated();
        self.switchback = Some(switchback);
        if has_switched {
            self.begin_turn(is_treated);
        }
        if let Some(outcome) = harm {
            self.withdraw_all(now, outcome);
        }
    }

    fn begin_turn(&mut self, is_treated: bool) {
        let turn = if is_treated { Turn::Treated } else { Turn::Untreated };
        self.out.push(Do::Turn(turn));
        let change = if is_treated { Connection::resume } else { Connection::pause };
        self.connections.values_mut().for_each(change);
    }

    /// Ends turns: settings that are at work are so all the time.
    pub(super) fn end_turns(&mut self) {
        let was_untreated = !self.is_turn_treated();
        self.switchback = None;
        if was_untreated {
            self.begin_turn(true);
        }
    }

    /// Withdraws all settings: which of them does the harm is not known. Open connections lose them, too.
    fn withdraw_all(&mut self, now: Time, outcome: Outcome) {
        if self.is_turn_treated() {
            self.out.push(Do::Turn(Turn::Untreated));
        }
        self.switchback = None;
        for (index, one) in (0_u16..).zip(&mut self.applications) {
            let before = one.class(self.config.control_per_mille);
            for lever in Lever::ALL {
                if one.trial_mut(lever).withdraw(now, Why::HarmToHost(outcome)) {
                    one.look_anew();
                    self.out.push(Do::Standing(index, lever, one.trial(lever).standing()));
                }
            }
            let after = one.class(self.config.control_per_mille);
            if after != before {
                self.out.push(Do::Class(class_of(index), after));
            }
        }
        for (cookie, connection) in &mut self.connections {
            connection.resume();
            if connection.order(Default::default()) {
                self.out.push(Do::Order(*cookie, Default::default()));
            }
        }
        self.out.push(Do::Turn(Turn::Over));
    }
}

#[cfg(test)]
mod tests;
