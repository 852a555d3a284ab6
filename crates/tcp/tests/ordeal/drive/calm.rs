//! The end of a case: a calm path, on which everything that is promised is asked for.

use super::{CALM_DELAY, Drive, SIDES, index};
use crate::ordeal::case::Patience;
use crate::ordeal::{Broken, hold};
use ackord_events::TcpState;
use ackord_tcp::CloseReason;
use ackord_units::{Span, Time};

impl Drive<'_> {
    /// Nothing is lost any more and both applications read and close: everything that was written
    /// arrives, and both ends finish, within a bound that follows from their timers.
    pub(super) fn calm(&mut self) -> Result<(), Broken> {
        self.tell(|| "-- calm".to_owned());
        self.lanes.iter_mut().for_each(|lane| lane.calm(CALM_DELAY));
        for side in SIDES {
            self.end(side).reads = true;
            self.settle(side)?;
        }
        let began = self.now;
        let limit = self.limit();
        self.run_until_no(TcpState::SynSent, began + limit)?;
        for side in SIDES {
            self.close(side)?;
        }
        let patient = self.ends.iter().all(|end| end.patience == Patience::Endless);
        let finishes = self.honest && !self.broken_off && patient;
        let end = began + limit;
        while !self.is_over() {
            let Some(next) = self.next_at().filter(|at| *at <= end) else { break };
            self.now = self.now.max(next);
            self.step()?;
        }
        let took = self.now.saturating_since(began);
        self.outcome.delivered = self.ledgers.iter().map(|ledger| ledger.delivered).sum();
        if !finishes {
            return Ok(());
        }
        self.outcome.finished = true;
        self.outcome.calm = (took, limit);
        for side in SIDES {
            let connection = &self.ends[index(side)].connection;
            let (state, reason) = (connection.state(), connection.close_reason());
            hold!(
                reason == Some(CloseReason::Orderly),
                "{side:?} is {state:?}, closed by {reason:?}, after {took} of calm ({limit})"
            );
            let ledger = &self.ledgers[index(side)];
            hold!(
                ledger.delivered == ledger.written,
                "{} of {} bytes of the {side:?} were delivered",
                ledger.delivered,
                ledger.written
            );
        }
        Ok(())
    }

    /// Handshakes come to an end first: to close before would end the connection.
    fn run_until_no(&mut self, opening: TcpState, end: Time) -> Result<(), Broken> {
        while self.ends.iter().any(|end| {
            matches!(end.connection.state(), TcpState::Listen | TcpState::SynReceived)
                || end.connection.state() == opening
        }) {
            let Some(next) = self.next_at().filter(|at| *at <= end) else { return Ok(()) };
            self.now = self.now.max(next);
            self.step()?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        use TcpState::{Closed, TimeWait};
        self.ends.iter().all(|end| matches!(end.connection.state(), Closed | TimeWait))
    }

    /// A timer that has backed off expires once; what it resends in slow start then needs a round
    /// trip and a delayed acknowledgment for each segment at worst, and a few more timeouts where a
    /// retransmission takes the place of an answer that has been lost.
    fn limit(&self) -> Span {
        let configs = self.ends.iter().map(|end| &end.config);
        let rto = configs.clone().map(|config| config.rto.max.max(config.rto.initial)).max();
        let rto = rto.unwrap_or_default();
        let smallest = configs.map(|config| config.mss.get()).min().unwrap_or(536) / 2;
        let bytes: u64 = self.ledgers.iter().map(|ledger| ledger.written).sum();
        rto * 12 + Span::from_millis(600) * (bytes / smallest.max(1) + 200)
    }
}
