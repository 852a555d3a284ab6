//! When a segment that was sent again is lost once more.
//!
//! What arrived above a hole before its retransmission left says nothing about the retransmission;
//! what was sent after it and has arrived does. From the latest such transmission it is known how
//! long a round trip takes now; a retransmission that has been out for longer by the lateness that
//! reordering hardly ever exceeds is lost. RFC 8985 §6.2 has the same evidence and a window of its
//! own making in place of the lateness learnt.

use super::super::{Delivered, Doubt, Echo, Hole, Horizon};
use ackord_units::{Seq, Span, Time};

/// The latest transmission known to have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resent {
    latest: Option<Latest>,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    sent_at: Time,
    end_seq: Seq,
    arrived_at: Time,
}

impl Resent {
    pub(super) fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        // An acknowledgment may be that of an earlier transmission of the segment (RFC 8985 §6.2
        // step 2): then it does not tell when the last one would have arrived.
        let of_earlier = match (delivered.hole, delivered.echo) {
            (Hole::SentOnce, _) => false,
            (Hole::Resent(_), Echo::Older) => true,
            (Hole::Resent(_), Echo::Absent | Echo::NotOlder) => {
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

    /// Which retransmissions are lost; `lateness` is what reordering hardly ever exceeds, if any
    /// was seen.
    pub(super) fn horizon(&self, doubt: &Doubt, lateness: Option<Span>) -> Horizon {
        let Some(latest) = self.latest else { return Horizon::Unknown };
        let rtt = latest.arrived_at.saturating_since(latest.sent_at);
        let sent_before = Some((latest.sent_at, latest.end_seq));
        Horizon::Overdue { sent_before, age: rtt + patience(doubt, lateness, latest.arrived_at) }
    }
}

/// At least a quarter of the smallest round trip, as RFC 8985 §6.2 step 4 begins with; at most a
/// round trip and half of what was left to the retransmission timer, as for any other doubt. Before
/// reordering was seen, what RFC 6298 lets a round trip deviate by.
fn patience(doubt: &Doubt, lateness: Option<Span>, arrived_at: Time) -> Span {
    let deviation = doubt.rttvar.unwrap_or(Span::ZERO) * 4;
    let least = doubt.min_rtt.unwrap_or(Span::ZERO) / 4;
    let usual = lateness.unwrap_or(deviation).max(least);
    let left = doubt.rto_at.map_or(Span::MAX, |at| at.saturating_since(arrived_at));
    usual.min(doubt.srtt.unwrap_or(usual)).min(left / 2)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{doubt, ms};
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

    fn after(arrivals: &[Delivered], lateness: Option<u64>) -> Horizon {
        let mut resent = Resent::default();
        for arrival in arrivals {
            resent.on_delivered(arrival.sent_at + arrival.rtt, arrival);
        }
        resent.horizon(&doubt(0, 0), lateness.map(Span::from_millis))
    }

    fn overdue(sent_at: u64, age: u64) -> Horizon {
        let (sent_before, age) = (Some((ms(sent_at), Seq(1000))), Span::from_millis(age));
        Horizon::Overdue { sent_before, age }
    }

    #[test]
    fn the_latest_transmission_that_arrived_sets_it() {
        let late = delivered(10, 150, Hole::SentOnce, Echo::Absent);
        let next = delivered(50, 90, Hole::SentOnce, Echo::Absent);
        assert_eq!(after(&[], None), Horizon::Unknown);
        assert_eq!(after(&[next, late], Some(30)), overdue(50, 120));
        assert_eq!(after(&[late], Some(30)), overdue(10, 180));
    }

    #[test]
    fn an_earlier_transmission_of_a_segment_sent_again_says_nothing() {
        for (rtt, echo) in [(90, Echo::Older), (79, Echo::Absent), (79, Echo::NotOlder)] {
            let original = delivered(100, rtt, Hole::Resent(ms(100)), echo);
            assert_eq!(after(&[original], None), Horizon::Unknown);
        }
        let itself = delivered(100, 90, Hole::Resent(ms(100)), Echo::NotOlder);
        assert_eq!(after(&[itself], Some(30)), overdue(100, 120));
    }

    #[test]
    fn lateness_is_bounded_by_a_quarter_and_a_whole_round_trip_and_by_the_timer() {
        let arrival = delivered(0, 90, Hole::SentOnce, Echo::Absent);
        for (lateness, patience) in [(None, 40), (Some(1), 20), (Some(70), 70), (Some(500), 100)] {
            assert_eq!(after(&[arrival], lateness), overdue(0, 90 + patience), "{lateness:?}");
        }
        let mut resent = Resent::default();
        resent.on_delivered(ms(90), &arrival);
        let hurried = Doubt { rto_at: Some(ms(150)), ..doubt(0, 0) };
        let lateness = Some(Span::from_millis(70));
        assert_eq!(resent.horizon(&hurried, lateness), overdue(0, 90 + 30));
    }
}
