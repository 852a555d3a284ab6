//! Questions and answers on one connection: one end asks in one or several writes, the other
//! answers when all of the question has arrived, and after a pause the next question follows.

use crate::knobs::{
    COUNT, GapKnobs, LEAST, MOST, SET_BY_SCENARIO, SIZE_DISTRIBUTION, ThinkKnobs, lengths,
};
use crate::lengths::{Lengths, Script};
use crate::{
    Application, Distribution, DrawBudget, Offer, Socket, Workload, WorkloadKnobs, Workloads,
};
use crate::{Draw, Step, Transfer};
use ackord_units::{Bytes, Knobs, RandomStream, Span, Time};
use ackord_wire::Side;

/// Lengths of the question; those of the answers are drawn, and are what [`Transfer::bytes`] says
/// if the answering end is the flow's sender.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The question, a write each.
    pub writes: Vec<Bytes>,
    /// What a [`Transfer`] counts.
    pub counts: Counted,
    pub(crate) answers: Script,
}

/// Which half of an exchange the flow's sending end sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The question.
    Question,
    /// The answer.
    Answer,
}

impl Exchange {
    fn question(&self) -> Bytes {
        self.writes.iter().copied().sum()
    }

    fn told(&self, answer: Transfer) -> Transfer {
        match self.counts {
            Counted::Question => Transfer { bytes: self.question(), ..answer },
            Counted::Answer => answer,
        }
    }
}

/// The end that asks, waits for the answer, pauses and asks again.
#[derive(Clone, Debug)]
pub struct Requester {
    exchange: Exchange,
    pause: Draw,
    phase: Asking,
    read: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    /// Until the connection is established.
    Before,
    /// Until the next question is due.
    Pause { until: Time },
    /// Writing part `write` of the question, of which so much is left.
    Writing { write: usize, left: Bytes, answer: Transfer },
    /// Until the answer is there.
    Reading { answer: Transfer },
}

impl Requester {
    pub(crate) fn new(exchange: Exchange, pause: Draw) -> Requester {
        Requester { exchange, pause, phase: Asking::Before, read: Bytes::ZERO }
    }

    fn begin(&mut self) -> Step {
        match self.exchange.answers.next() {
            None => Step::Close,
            Some(answer) => {
                let left = self.exchange.writes[0];
                self.phase = Asking::Writing { write: 0, left, answer };
                Step::Began(self.exchange.told(answer))
            }
        }
    }
}

impl Application for Requester {
    fn start(&mut self, now: Time) {
        self.phase = Asking::Pause { until: now };
    }

    fn handle_data(&mut self, _now: Time, bytes: Bytes) {
        self.read += bytes;
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        match self.phase {
            Asking::Pause { until } if until <= now => self.begin(),
            Asking::Before | Asking::Pause { .. } => Step::Wait,
            Asking::Writing { write, left, answer } => {
                let bytes = left.min(writable);
                if bytes == Bytes::ZERO {
                    return Step::Wait;
                }
                let following = self.exchange.writes.get(write + 1);
                self.phase = match (left - bytes, following) {
                    (Bytes::ZERO, None) => Asking::Reading { answer },
                    (Bytes::ZERO, Some(left)) => {
                        Asking::Writing { write: write + 1, left: *left, answer }
                    }
                    (left, _) => Asking::Writing { write, left, answer },
                };
                Step::Write(bytes)
            }
            Asking::Reading { answer } if self.read >= answer.bytes => {
                self.read -= answer.bytes;
                let pause = if self.exchange.answers.is_over() { 0 } else { self.pause.draw() };
                self.phase = Asking::Pause { until: now + Span::from_nanos(pause) };
                Step::Completed(self.exchange.told(answer))
            }
            Asking::Reading { .. } => Step::Wait,
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self.phase {
            Asking::Pause { until } => Some(until),
            Asking::Before | Asking::Writing { .. } | Asking::Reading { .. } => None,
        }
    }

    fn size(&self, _budget: &mut DrawBudget) -> Option<Bytes> {
        self.exchange.answers.count().map(|count| self.exchange.question() * count)
    }
}

/// The end that answers, a time for thought after all of the question has arrived. It closes when
/// its peer does.
#[derive(Clone, Debug)]
pub struct Answerer {
    exchange: Exchange,
    think: Draw,
    read: Bytes,
    phase: Answering,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answering {
    Reading,
    Thinking { until: Time },
    Writing { left: Bytes },
}

impl Answerer {
    pub(crate) fn new(exchange: Exchange, think: Draw) -> Answerer {
        Answerer { exchange, think, read: Bytes::ZERO, phase: Answering::Reading }
    }
}

impl Application for Answerer {
    fn handle_data(&mut self, now: Time, bytes: Bytes) {
        self.read += bytes;
        let question = self.exchange.question();
        if self.phase == Answering::Reading && self.read >= question {
            self.read -= question;
            let think = Span::from_nanos(self.think.draw());
            self.phase = Answering::Thinking { until: now + think };
        }
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        if let Answering::Thinking { until } = self.phase
            && until <= now
        {
            self.phase = match self.exchange.answers.next() {
                Some(answer) => Answering::Writing { left: answer.bytes },
                // The peer asks more often than agreed: it gets no answer.
                None => Answering::Reading,
            };
        }
        let Answering::Writing { left } = self.phase else { return Step::Wait };
        let bytes = left.min(writable);
        if bytes == Bytes::ZERO {
            return Step::Wait;
        }
        self.phase = match left - bytes {
            Bytes::ZERO => Answering::Reading,
            left => Answering::Writing { left },
        };
        Step::Write(bytes)
    }

    fn deadline(&self) -> Option<Time> {
        match self.phase {
            Answering::Thinking { until } => Some(until),
            Answering::Reading | Answering::Writing { .. } => None,
        }
    }

    fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        self.exchange.answers.size(budget)
    }
}

/// The receiving end asks in one write, the sending end answers; a pause, and again on the same
/// connection
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "traffic",
    name = "request",
    source = "request and response as in HTTP/1.1 with a persistent connection, RFC 9112 §9.3"
)]
pub struct RequestKnobs {
    /// Length of a request
    #[knob(min = LEAST, max = MOST, default = "200 B", source = SET_BY_SCENARIO)]
    request: Bytes,
    /// Mean length of a response
    #[knob(
        min = LEAST, max = MOST, default = "2 kB",
        source = "Lee et al. 2016 §4.1: simple answers stay within 2 KB"
    )]
    response: Bytes,
    #[knob(like = SIZE_DISTRIBUTION)]
    response_distribution: Distribution,
    #[knob(flatten)]
    think: ThinkKnobs,
    #[knob(like = COUNT)]
    count: Option<u64>,
    #[knob(flatten)]
    gap: GapKnobs,
}

impl WorkloadKnobs for RequestKnobs {
    fn usual_sender(&self) -> Side {
        Side::Server
    }

    fn offer(&self) -> Offer {
        Offer { rate: self.gap.rate_of(self.response), write: Some(self.response) }
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        let answers = lengths(self.response, self.response_distribution, stream("lengths"));
        let exchange = Exchange {
            writes: vec![self.request],
            counts: Counted::Answer,
            answers: Script::new(answers, self.count),
        };
        let [requester, answerer] = ends(exchange, self.gap, self.think, stream);
        Workloads { sends: answerer, receives: requester }
    }
}

/// The sending end writes a head and a body and reads the reply, which comes when both have
/// arrived: where Nagle and a delayed ACK wait for each other
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "traffic",
    name = "write-write-read",
    source = "RFC 1122 §4.2.3.4; Cheshire 2005, cited by Lee et al. 2016 §2.3"
)]
pub struct WriteWriteReadKnobs {
    /// Length of the first write
    #[knob(min = LEAST, max = MOST, default = "50 B", source = SET_BY_SCENARIO)]
    head: Bytes,
    /// Length of the second write
    #[knob(min = LEAST, max = MOST, default = "50 B", source = SET_BY_SCENARIO)]
    body: Bytes,
    /// Length of the reply
    #[knob(min = LEAST, max = MOST, default = "100 B", source = SET_BY_SCENARIO)]
    reply: Bytes,
    #[knob(flatten)]
    think: ThinkKnobs,
    #[knob(like = COUNT)]
    count: Option<u64>,
    #[knob(flatten)]
    gap: GapKnobs,
}

impl WorkloadKnobs for WriteWriteReadKnobs {
    fn offer(&self) -> Offer {
        let rate = self.gap.rate_of(self.head + self.body);
        Offer { rate, write: Some(self.head.max(self.body)) }
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        let exchange = Exchange {
            writes: vec![self.head, self.body],
            counts: Counted::Question,
            answers: Script::new(Lengths::listed(vec![self.reply]), self.count),
        };
        let [requester, answerer] = ends(exchange, self.gap, self.think, stream);
        Workloads { sends: requester, receives: answerer }
    }
}

/// The two ends of an exchange: who asks, who answers.
fn ends(
    exchange: Exchange,
    gap: GapKnobs,
    think: ThinkKnobs,
    stream: &dyn Fn(&str) -> RandomStream,
) -> [Workload; 2] {
    let requester = Requester::new(exchange.clone(), gap.draw(stream("pauses")));
    let answerer = Answerer::new(exchange, think.draw(stream("thoughts")));
    [Workload::of(requester), Workload::of(answerer)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lengths::Lengths;
    use crate::testing::{Fixed, at, room};
    use ackord_units::RandomStream;

    const ROOM: Fixed = room(Bytes(10_000));

    fn exchange(writes: &[u64], counts: Counted) -> Exchange {
        Exchange {
            writes: writes.iter().copied().map(Bytes).collect(),
            counts,
            answers: Script::new(Lengths::listed(vec![Bytes(300), Bytes(400)]), Some(2)),
        }
    }

    fn fixed(millis: u64) -> Draw {
        let nanos = Span::from_millis(millis).as_nanos();
        Draw::new(nanos, Distribution::Fixed, RandomStream::for_element(1, "fixed"))
    }

    #[test]
    fn a_question_of_two_writes_is_two_steps_and_the_answer_ends_the_exchange() {
        let mut requester = Requester::new(exchange(&[50, 60], Counted::Question), fixed(20));
        assert_eq!(requester.next(at(0), &ROOM), Step::Wait, "before the connection stands");
        requester.start(at(3));
        let told = |index| Transfer { index, bytes: Bytes(110) };
        assert_eq!(requester.next(at(3), &ROOM), Step::Began(told(0)));
        assert_eq!(requester.next(at(3), &ROOM), Step::Write(Bytes(50)));
        assert_eq!(requester.next(at(3), &ROOM), Step::Write(Bytes(60)));
        assert_eq!(requester.next(at(3), &ROOM), Step::Wait);
        requester.handle_data(at(0), Bytes(299));
        assert_eq!(requester.next(at(8), &ROOM), Step::Wait);
        requester.handle_data(at(0), Bytes(1));
        assert_eq!(requester.next(at(9), &ROOM), Step::Completed(told(0)));
        assert_eq!(
            (requester.next(at(9), &ROOM), requester.deadline()),
            (Step::Wait, Some(at(29)))
        );
        assert_eq!(requester.next(at(29), &ROOM), Step::Began(told(1)));
        assert_eq!(requester.next(at(29), &ROOM), Step::Write(Bytes(50)));
        assert_eq!(requester.next(at(29), &ROOM), Step::Write(Bytes(60)));
        requester.handle_data(at(0), Bytes(400));
        assert_eq!(requester.next(at(40), &ROOM), Step::Completed(told(1)));
        assert_eq!(requester.next(at(40), &ROOM), Step::Close, "no pause after the last");
        assert_eq!(requester.size(&mut DrawBudget::default()), Some(Bytes(220)));
    }

    #[test]
    fn the_answer_comes_a_thought_after_the_whole_question() {
        let mut answerer = Answerer::new(exchange(&[50, 60], Counted::Answer), fixed(5));
        assert_eq!(answerer.size(&mut DrawBudget::default()), Some(Bytes(700)));
        answerer.handle_data(at(1), Bytes(50));
        assert_eq!((answerer.next(at(1), &ROOM), answerer.deadline()), (Step::Wait, None));
        answerer.handle_data(at(2), Bytes(60));
        assert_eq!((answerer.next(at(2), &ROOM), answerer.deadline()), (Step::Wait, Some(at(7))));
        assert_eq!(answerer.next(at(7), &room(Bytes(200))), Step::Write(Bytes(200)));
        assert_eq!(answerer.next(at(7), &room(Bytes(0))), Step::Wait);
        assert_eq!(answerer.next(at(9), &ROOM), Step::Write(Bytes(100)));
        assert_eq!(answerer.next(at(9), &ROOM), Step::Wait);
    }

    #[test]
    fn what_is_told_is_what_the_flow_s_sending_end_sends() {
        let mut requester = Requester::new(exchange(&[50], Counted::Answer), fixed(0));
        requester.start(at(0));
        let told = Transfer { index: 0, bytes: Bytes(300) };
        assert_eq!(requester.next(at(0), &ROOM), Step::Began(told));
        assert_eq!(requester.next(at(0), &ROOM), Step::Write(Bytes(50)));
        requester.handle_data(at(0), Bytes(300));
        assert_eq!(requester.next(at(1), &ROOM), Step::Completed(told));
    }
}
