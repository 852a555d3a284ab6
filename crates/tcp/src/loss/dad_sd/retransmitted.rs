//! When a retransmitted segment is lost once more.
//!
//! What arrived above a hole before its retransmission left says nothing about the retransmission;
//! what was sent after it and has arrived does. From the latest such transmission it is known how
//! long a round trip takes now; a retransmission that has been out for longer by the delay that
//! reordering hardly ever exceeds is lost. RFC 8985 §6.2 has the same evidence and a window of its
//! own making in place of the delay learnt.

use super::super::{Delivered, Echo, Hole, LossFacts, Overdue};
use ackord_units::{Seq, Span, Time};

/// The latest transmission known to have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retransmitted {
    latest: Option<Latest>,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    sent_at: Time,
    end_seq: Seq,
    arrived_at: Time,
}

impl Retransmitted {
    pub(super) fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        // An acknowledgment may be that of an earlier transmission of the segment (RFC 8985 §6.2
        // step 2): then it does not tell when the last one would have arrived.
        let of_earlier = match (delivered.hole, delivered.echo) {
            (Hole::SentOnce, _) => false,
            (Hole::Retransmitted(_), Echo::Older) => true,
            (Hole::Retransmitted(_), Echo::Absent | Echo::NotOlder) => {
                delivered.min_rtt.is_some_and(|least| delivered.rtt < least)
            }
        };
        let Delivered { sent_at, end_seq, .. } = *delivered;
        let later = self.latest.is_none_or(|latest| {
            sent_at > latest.sent_at || (sent_at == latest.sent_at && end_seq.after(latest.end_seq))
        });
        if later && !of_earlier {
            self.latest = Some(Latest { sent_at, end_seq, arrived_at: now });
        }
    }

    /// Which retransmissions are lost; `delay` is what reordering hardly ever exceeds, if any
    /// was seen.
    pub(super) fn overdue(&self, facts: &LossFacts, usual_delay: Option<Span>) -> Option<Overdue> {
        let latest = self.latest?;
        let rtt = latest.arrived_at.saturating_since(latest.sent_at);
        let sent_before = Some((latest.sent_at, latest.end_seq));
        let age = rtt + patience(facts, usual_delay, latest.arrived_at);
        Some(Overdue { sent_before, age })
    }
}

/// At least a quarter of the smallest round trip, as RFC 8985 §6.2 step 4 begins with; at most a
/// round trip and half of what was left to the retransmission timer, as for any other doubt. Before
/// reordering was seen, what RFC 6298 lets a round trip deviate by.
fn patience(facts: &LossFacts, delay: Option<Span>, arrived_at: Time) -> Span {
    let deviation = facts.rttvar.unwrap_or(Span::ZERO) * 4;
    let least = facts.min_rtt.unwrap_or(Span::ZERO) / 4;
    let usual = delay.unwrap_or(deviation).max(least);
    let left = facts.rto_at.map_or(Span::MAX, |at| at.saturating_since(arrived_at));
    usual.min(facts.srtt.unwrap_or(usual)).min(left / 2)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{facts, ms};
    use super::*;

    fn delivered(sent_at: u64, rtt: u64, hole: Hole, echo: Echo) -> Delivered {
        Delivered {
            sent_at: ms(sent_at),
            end_seq: Seq(1000),
            hole,
            rtt: Span::from_millis(rtt),
            echo,
            min_rtt: Some(Span::from_millis(80)),
            srtt: Some(Span::from_millis(100)),
        }
    }

    fn after(arrivals: &[Delivered], delay: Option<u64>) -> Option<Overdue> {
        let mut resent = Retransmitted::default();
        for arrival in arrivals {
            resent.on_delivered(arrival.sent_at + arrival.rtt, arrival);
        }
        resent.overdue(&facts(0, 0), delay.map(Span::from_millis))
    }

    fn overdue(sent_at: u64, age: u64) -> Option<Overdue> {
        let (sent_before, age) = (Some((ms(sent_at), Seq(1000))), Span::from_millis(age));
        Some(Overdue { sent_before, age })
    }

    #[test]
    fn the_latest_transmission_that_arrived_sets_it() {
        let late = delivered(10, 150, Hole::SentOnce, Echo::Absent);
        let next = delivered(50, 90, Hole::SentOnce, Echo::Absent);
        assert_eq!(after(&[], None), None);
        assert_eq!(after(&[next, late], Some(30)), overdue(50, 120));
        assert_eq!(after(&[late], Some(30)), overdue(10, 180));
    }

    #[test]
    fn an_earlier_transmission_of_a_segment_sent_again_says_nothing() {
        for (rtt, echo) in [(90, Echo::Older), (79, Echo::Absent), (79, Echo::NotOlder)] {
            let original = delivered(100, rtt, Hole::Retransmitted(ms(100)), echo);
            assert_eq!(after(&[original], None), None);
        }
        let itself = delivered(100, 90, Hole::Retransmitted(ms(100)), Echo::NotOlder);
        assert_eq!(after(&[itself], Some(30)), overdue(100, 120));
    }

    #[test]
    fn delay_is_bounded_by_a_quarter_and_a_whole_round_trip_and_by_the_timer() {
        let arrival = delivered(0, 90, Hole::SentOnce, Echo::Absent);
        for (delay, patience) in [(None, 40), (Some(1), 20), (Some(70), 70), (Some(500), 100)] {
            assert_eq!(after(&[arrival], delay), overdue(0, 90 + patience), "{delay:?}");
        }
        let mut resent = Retransmitted::default();
        resent.on_delivered(ms(90), &arrival);
        let hurried = LossFacts { rto_at: Some(ms(150)), ..facts(0, 0) };
        let delay = Some(Span::from_millis(70));
        assert_eq!(resent.overdue(&hurried, delay), overdue(0, 90 + 30));
    }
}
