//! Whether arriving packets are observed: the program for them is called for each packet, and connections that end within
//! the shortest stall (10 ms) cannot have lost time.

use ackord_units::{Span, Time};

/// How often the programs are queried for packets of older connections.
const EVERY: Span = Span::from_millis(100);
/// Queries that are remembered: without a packet in any of these arrivals are not observed.
const REMEMBERED: u32 = 50;
/// Connections of a second, passed over by the programs, from which on single packets do not count: on a busy machine a
/// process that has to wait for a processor makes a short connection an old one.
const CHURN: u64 = 1_000;

/// The answers of the last queries, and what follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    /// A bit each, the newest lowest.
    seen: u64,
    is_churning: bool,
    passed_over: u64,
    query_at: Time,
}

impl Arrivals {
    /// Begins as if there had been packets.
    pub(super) fn new() -> Arrivals {
        Arrivals { seen: u64::MAX, is_churning: false, passed_over: 0, query_at: Time::ZERO }
    }

    /// Takes the number of connections that were passed over since the start, once a second.
    pub(super) fn passed_over(&mut self, in_all: u64) {
        self.is_churning = in_all.saturating_sub(self.passed_over) >= CHURN;
        self.passed_over = in_all;
    }

    /// Queries `is_old_seen` if it is time. Returns whether arrivals are to be observed.
    pub(super) fn turn(&mut self, now: Time, is_old_seen: impl FnOnce() -> bool) -> bool {
        if now >= self.query_at {
            self.query_at = now + EVERY;
            self.seen = self.seen << 1 | u64::from(is_old_seen());
        }
        let seen = (self.seen & ((1 << REMEMBERED) - 1)).count_ones();
        let least = if self.is_churning { REMEMBERED / 2 } else { 1 };
        seen >= least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(arrivals: &mut Arrivals, from: u64, answers: impl IntoIterator<Item = bool>) -> bool {
        let at = |turn: u64| Time::ZERO + EVERY.saturating_mul(from + turn);
        let each = (0..).zip(answers).map(|(turn, answer)| arrivals.turn(at(turn), || answer));
        each.last().expect("an answer")
    }

    #[test]
    fn without_old_connections_arrivals_are_not_observed_after_five_seconds() {
        let mut arrivals = Arrivals::new();
        assert!(turns(&mut arrivals, 0, [false; 49]));
        assert!(!turns(&mut arrivals, 49, [false; 1]));
        // Whatever it is: it may be the first exchange of many.
        assert!(turns(&mut arrivals, 50, [true]));
    }

    #[test]
    fn among_thousands_of_short_connections_single_packets_of_older_ones_do_not_count() {
        let mut arrivals = Arrivals::new();
        arrivals.passed_over(999);
        assert!(turns(&mut arrivals, 0, (0..100).map(|turn| turn % 10 == 0)));
        arrivals.passed_over(1_999);
        assert!(!turns(&mut arrivals, 100, (0..100).map(|turn| turn % 10 == 0)));
        assert!(turns(&mut arrivals, 200, (0..30).map(|_| true)));
        // The storm is over.
        arrivals.passed_over(2_000);
        assert!(turns(&mut arrivals, 230, [false; 40]));
    }

    #[test]
    fn the_programs_are_queried_ten_times_a_second_however_often_the_loop_turns() {
        let mut arrivals = Arrivals::new();
        let mut queries = 0;
        for millis in 0..1_000 {
            arrivals.turn(Time::ZERO + Span::from_millis(millis), || {
                queries += 1;
                true
            });
        }
        assert_eq!(queries, 10);
    }
}
