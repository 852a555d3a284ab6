//! A connection whose mobile host is silent: how it is found out that it is back, and what was lost
//! meanwhile.
//!
//! The paper's Test Packet is the oldest data. Here most are questions without data
//! (`copies.rs`), for two reasons. An answer to a question that acknowledges nothing more says
//! that nothing sent before it has arrived, since the hop is a queue: all of it can be sent again at
//! once. After a Test Packet it is not known whether the data or its repetition was acknowledged.
//! And where an outage holds packets instead of losing them, forty octets each are cheap to carry
//! afterwards. Every fourth probe is data all the same, should the mobile host not answer questions.

use ackord_units::{Span, Time};

/// A hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) began_at: Time,
    /// When the next probe goes.
    pub(super) probe_at: Time,
    /// When the last two questions went, the newer first.
    asked_at: [Option<Time>; 2],
    probes: u32,
}

/// What a probe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// An empty segment that asks for an answer.
    Question,
    /// The oldest data.
    TestPacket,
}

/// How a hold ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// What had been sent before it arrived.
    Survived,
    /// A question was answered: what had been sent before it, at this time, did not arrive.
    Lost(Time),
    /// The mobile was heard, and no more is known.
    Unclear,
}

/// One in so many probes carries data.
const DATA_EVERY: u32 = 4;

impl Hold {
    pub(super) fn begin(now: Time) -> Hold {
        Hold { began_at: now, probe_at: now, asked_at: [None; 2], probes: 0 }
    }

    /// It is time for a probe.
    pub(super) fn next_probe(&mut self, now: Time, interval: Span) -> Probe {
        self.probes += 1;
        self.probe_at = now + interval;
        if self.probes.is_multiple_of(DATA_EVERY) {
            return Probe::TestPacket;
        }
        self.asked_at = [Some(now), self.asked_at[0]];
        Probe::Question
    }

    /// The mobile was heard and has acknowledged nothing new: which question that answers, if any.
    /// `answerable` tells whether something sent so long ago can have been answered.
    pub(super) fn answered(&self, now: Time, answerable: impl Fn(Span) -> bool) -> Option<Time> {
        self.asked_at.into_iter().flatten().find(|asked_at| answerable(now - *asked_at))
    }

    /// Whether a segment that has arrived had been sent before the hold.
    pub(super) fn is_older(&self, sent_at: Time) -> bool {
        sent_at < self.began_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn three_questions_are_followed_by_data() {
        let mut hold = Hold::begin(at(0));
        let probes: Vec<_> =
            (0..8).map(|step| hold.next_probe(at(step * 100), Span::from_millis(100))).collect();
        let data = [false, false, false, true, false, false, false, true];
        let told: Vec<_> = probes.iter().map(|probe| *probe == Probe::TestPacket).collect();
        assert_eq!((told, hold.probe_at), (data.to_vec(), at(800)));
    }

    #[test]
    fn an_answer_belongs_to_the_newest_question_that_is_old_enough() {
        let mut hold = Hold::begin(at(0));
        hold.next_probe(at(0), Span::from_millis(100));
        hold.next_probe(at(100), Span::from_millis(100));
        let at_least = |millis| move |ago: Span| ago >= Span::from_millis(millis);
        assert_eq!(hold.answered(at(150), at_least(40)), Some(at(100)));
        assert_eq!(hold.answered(at(120), at_least(40)), Some(at(0)));
        assert_eq!(hold.answered(at(120), at_least(200)), None);
    }
}
