//! A connection whose mobile host is silent: how it is found out that it is back, and what was lost
//! meanwhile.
//!
//! The paper's Test Packet is the oldest data. Here most are questions without data
//! (`copies.rs`), for two reasons. An answer to a question that acknowledges nothing more says
//! that nothing sent before it has arrived, since the hop is a queue: all of it can be retransmitted at
//! once. After a Test Packet it is not known whether the data or its repetition was acknowledged.
//! And where an outage holds packets instead of losing them, forty bytes each are cheap to carry
//! afterwards. Every fourth probe is data all the same, should the mobile host not answer questions.

use ackord_units::{Seq, Span, Time};

/// A hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) began_at: Time,
    reach: Reach,
    /// When the next probe goes.
    pub(super) probe_at: Time,
    /// When the last two questions went, the newer first.
    asked_at: [Option<Time>; 2],
    /// When the last Test Packet went.
    tested_at: Option<Time>,
    probes: u32,
}

/// How much is known to be lost when an answer shows that nothing new has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Everything not reported.
    All,
    /// The oldest segment; what arrived after it is not known.
    Oldest,
}

/// What a probe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// An empty segment that asks for an answer.
    Question,
    /// The oldest data.
    TestPacket,
}

/// What is to be found out after a hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aftermath {
    /// The end of what had been sent when the mobile was heard.
    pub(super) up_to: Seq,
    pub(super) reach: Reach,
    /// Segments repeated since.
    pub(super) repeats: u32,
    /// When questions went, the newer first.
    asked_at: [Option<Time>; 2],
    /// When the last Test Packet went.
    tested_at: Option<Time>,
    /// Probes of the hold.
    probes: u32,
    asks: u32,
}

impl Aftermath {
    /// The mobile was heard at `now` and has acknowledged nothing new: when the question went that
    /// this answers, if any. `answerable` tells whether something sent so long ago can have been
    /// answered.
    pub(super) fn answered(&self, now: Time, answerable: impl Fn(Span) -> bool) -> Option<Time> {
        self.asked_at.into_iter().flatten().find(|asked_at| answerable(now - *asked_at))
    }

    /// When the newest question went.
    pub(super) fn newest_question(&self) -> Option<Time> {
        self.asked_at[0]
    }

    /// The mobile was heard at `now`, for the first time: when the probe went that this may answer, going
    /// by the time alone.
    pub(super) fn prompted(&self, now: Time, prompt: impl Fn(Span) -> bool) -> Option<Time> {
        let mut probes = self.asked_at.into_iter().chain([self.tested_at]).flatten();
        let is_fade = self.asks == 0 && self.probes >= UNANSWERED;
        probes.find(|sent_at| is_fade && prompt(now - *sent_at))
    }

    /// Whether a question is to go now: one after each hold.
    pub(super) fn asks_once_more(&mut self, now: Time) -> bool {
        let first = self.asks == 0;
        if first {
            self.asks = 1;
            self.asked_at = [Some(now), None];
        }
        first
    }
}

/// A hold with so many probes was a fade: losses alone seldom keep a mobile host silent for so long.
const UNANSWERED: u32 = 4;
/// One in so many probes carries data.
const DATA_EVERY: u32 = 4;

impl Hold {
    pub(super) fn begin(now: Time, reach: Reach) -> Hold {
        Hold {
            began_at: now,
            reach,
            probe_at: now,
            asked_at: [None; 2],
            tested_at: None,
            probes: 0,
        }
    }

    /// It is time for a probe.
    pub(super) fn next_probe(&mut self, now: Time, interval: Span) -> Probe {
        self.probes += 1;
        self.probe_at = now + interval;
        if self.probes.is_multiple_of(DATA_EVERY) {
            self.tested_at = Some(now);
            return Probe::TestPacket;
        }
        self.asked_at = [Some(now), self.asked_at[0]];
        Probe::Question
    }

    /// It is over; data up to `up_to` had been sent.
    pub(super) fn over(self, up_to: Seq) -> Aftermath {
        Aftermath {
            up_to,
            reach: self.reach,
            repeats: 0,
            asked_at: self.asked_at,
            tested_at: self.tested_at,
            probes: self.probes,
            asks: 0,
        }
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
        let mut hold = Hold::begin(at(0), Reach::All);
        let probes: Vec<_> =
            (0..8).map(|step| hold.next_probe(at(step * 100), Span::from_millis(100))).collect();
        let data = [false, false, false, true, false, false, false, true];
        let told: Vec<_> = probes.iter().map(|probe| *probe == Probe::TestPacket).collect();
        assert_eq!((told, hold.probe_at), (data.to_vec(), at(800)));
    }

    #[test]
    fn an_answer_belongs_to_the_newest_question_that_is_old_enough() {
        let mut hold = Hold::begin(at(0), Reach::All);
        hold.next_probe(at(0), Span::from_millis(100));
        hold.next_probe(at(100), Span::from_millis(100));
        let at_least = |millis| move |ago: Span| ago >= Span::from_millis(millis);
        let mut after = hold.over(Seq(5));
        assert_eq!(after.answered(at(150), at_least(40)), Some(at(100)));
        assert_eq!(after.answered(at(120), at_least(40)), Some(at(0)));
        assert_eq!(after.answered(at(120), at_least(200)), None);
        // A later question takes the place of those that were answered by what did arrive.
        assert!(after.asks_once_more(at(160)) && !after.asks_once_more(at(170)));
        assert_eq!(after.answered(at(180), at_least(40)), None);
        assert_eq!(after.answered(at(200), at_least(40)), Some(at(160)));
    }
}
