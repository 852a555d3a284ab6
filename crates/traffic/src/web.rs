//! Pages of several objects over one persistent connection.
//!
//! The browser asks for an object, reads it, asks for the next one of the page, and when the page is
//! complete its user reads for a while. A transfer is a page: from the first request to the last
//! byte of the last object. What answers is [`Answerer`](crate::Answerer), to which a page is so
//! many questions.
//!
//! Not modelled: several connections side by side, pipelining, and the streams of HTTP/2 and later
//! (objects come one after the other, each a round trip at least); objects found in a cache; a
//! main object unlike the others; pages from several servers.

use crate::exchange::{Answerer, Counted, Exchange};
use crate::knobs::{
    LEAST, MOST, READING, SET_BY_SCENARIO, SIZE_DISTRIBUTION, ThinkKnobs, lengths, pause,
};
use crate::lengths::{Lengths, Script};
use crate::{
    Application, Distribution, DrawBudget, Offer, Socket, Workload, WorkloadKnobs, Workloads,
};
use crate::{Draw, Step, Transfer};
use ackord_units::{Bytes, Knobs, RandomStream, Span, Time};
use ackord_wire::Side;

/// The pages a user looks at, in order.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    objects: Draw,
    lengths: Lengths,
    count: Option<u64>,
    index: u64,
}

impl Pages {
    /// The most objects of a page. Only heavy tails about a large mean reach it.
    const MOST_OBJECTS: u64 = 100_000;

    pub(crate) fn new(objects: Draw, lengths: Lengths, count: Option<u64>) -> Pages {
        Pages { objects, lengths, count, index: 0 }
    }

    fn is_over(&self) -> bool {
        self.count == Some(self.index)
    }

    /// Begins the next page: what it is, and how many objects it has.
    fn next(&mut self) -> Option<(Transfer, u64)> {
        if self.is_over() {
            return None;
        }
        let objects = objects_of_page(&mut self.objects);
        let page = Transfer { index: self.index, bytes: self.lengths.total(objects) };
        self.index += 1;
        Some((page, objects))
    }

    /// The length of the next object of the page that has begun.
    fn object(&mut self) -> Bytes {
        self.lengths.next()
    }

    /// The number of objects of all pages together. Returns `None` if the pages do not end, or if
    /// the number is out of the budget's reach.
    pub(crate) fn all_objects(&self, budget: &mut DrawBudget) -> Option<u64> {
        let pages = self.count?;
        if self.objects.constant().is_none() {
            budget.take(pages)?;
        }
        let mut ahead = self.objects.clone();
        (0..pages).try_fold(0, |sum: u64, _| sum.checked_add(objects_of_page(&mut ahead)))
    }

    /// The sum of the objects of all pages. Returns `None` as [`all_objects`](Pages::all_objects)
    /// does.
    fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        let objects = self.all_objects(budget)?;
        self.lengths.total_within(objects, budget)
    }
}

fn objects_of_page(objects: &mut Draw) -> u64 {
    objects.draw().clamp(1, Pages::MOST_OBJECTS)
}

/// The end at which somebody looks at pages.
#[derive(Clone, Debug)]
pub struct Browser {
    request: Bytes,
    pages: Pages,
    reading: Draw,
    phase: Phase,
    read: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the connection is established.
    Before,
    /// The user reads.
    Pause { until: Time },
    /// Asking for one of the `objects` that the page still has.
    Asking { page: Transfer, objects: u64, left: Bytes },
    /// That object is coming.
    Loading { page: Transfer, objects: u64, object: Bytes },
}

impl Browser {
    pub(crate) fn new(request: Bytes, pages: Pages, reading: Draw) -> Browser {
        Browser { request, pages, reading, phase: Phase::Before, read: Bytes::ZERO }
    }

    fn page_complete(&mut self, now: Time, page: Transfer) -> Step {
        let pause = if self.pages.is_over() { 0 } else { self.reading.draw() };
        self.phase = Phase::Pause { until: now + Span::from_nanos(pause) };
        Step::Completed(page)
    }
}

impl Application for Browser {
    fn start(&mut self, now: Time) {
        self.phase = Phase::Pause { until: now };
    }

    fn handle_data(&mut self, _now: Time, bytes: Bytes) {
        self.read += bytes;
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        if let Phase::Loading { page, objects, object } = self.phase
            && self.read >= object
        {
            self.read -= object;
            if objects == 1 {
                return self.page_complete(now, page);
            }
            self.phase = Phase::Asking { page, objects: objects - 1, left: self.request };
        }
        match self.phase {
            Phase::Pause { until } if until <= now => match self.pages.next() {
                None => Step::Close,
                Some((page, objects)) => {
                    self.phase = Phase::Asking { page, objects, left: self.request };
                    Step::Began(page)
                }
            },
            Phase::Asking { page, objects, left } => {
                let bytes = left.min(writable);
                if bytes == Bytes::ZERO {
                    return Step::Wait;
                }
                self.phase = match left - bytes {
                    Bytes::ZERO => Phase::Loading { page, objects, object: self.pages.object() },
                    left => Phase::Asking { page, objects, left },
                };
                Step::Write(bytes)
            }
            Phase::Before | Phase::Pause { .. } | Phase::Loading { .. } => Step::Wait,
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self.phase {
            Phase::Pause { until } => Some(until),
            Phase::Before | Phase::Asking { .. } | Phase::Loading { .. } => None,
        }
    }

    fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        let objects = self.pages.all_objects(budget)?;
        self.request.get().checked_mul(objects).map(Bytes)
    }
}

/// The end that answers a browser. It knows the pages for its size alone: it answers as often as
/// it is asked.
#[derive(Clone, Debug)]
struct PageServer {
    answerer: Answerer,
    pages: Pages,
}

impl Application for PageServer {
    fn start(&mut self, now: Time) {
        self.answerer.start(now);
    }

    fn handle_data(&mut self, now: Time, bytes: Bytes) {
        self.answerer.handle_data(now, bytes);
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        self.answerer.next(now, socket)
    }

    fn deadline(&self) -> Option<Time> {
        self.answerer.deadline()
    }

    fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        self.pages.size(budget)
    }
}

/// The receiving end asks for the objects of a page one after the other, the sending end answers;
/// the user reads, and the next page follows on the same connection
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "traffic",
    name = "web",
    source = "Barford and Crovella 1998 (SURGE), in outline; RFC 9112 §9.3"
)]
pub struct WebKnobs {
    /// Length of a request
    #[knob(
        min = LEAST, max = MOST, default = "350 B",
        source = "3GPP2 C.R1002-0, the request of its HTTP model"
    )]
    request: Bytes,
    /// Mean number of objects of a page; drawn, rounded, at least one and at most 100,000
    #[knob(
        min = 1,
        max = 10_000,
        unit = "objects",
        default = "6 objects",
        source = "Choi and Limb 1999: a main object and 5.55 more"
    )]
    objects: u64,
    /// How these numbers are spread about their mean, as for object_distribution
    #[knob(like = SIZE_DISTRIBUTION, default = "exponential")]
    objects_distribution: Distribution,
    /// Mean length of an object
    #[knob(
        min = LEAST, max = MOST, default = "10 kB",
        source = "Choi and Limb 1999: 10.7 kB for the main object, 7.8 kB for the others"
    )]
    object: Bytes,
    #[knob(
        like = SIZE_DISTRIBUTION, default = "pareto",
        source = "Crovella and Bestavros 1997 for heavy tails of Web transfers"
    )]
    object_distribution: Distribution,
    #[knob(like = READING)]
    reading: Span,
    /// How these times are spread about their mean, as for object_distribution
    #[knob(like = SIZE_DISTRIBUTION, default = "exponential")]
    reading_distribution: Distribution,
    #[knob(flatten)]
    think: ThinkKnobs,
    /// How many pages before the connection is closed; no end when absent
    #[knob(min = 1, max = 1_000_000, unit = "pages", source = SET_BY_SCENARIO)]
    count: Option<u64>,
}

impl WorkloadKnobs for WebKnobs {
    fn usual_sender(&self) -> Side {
        Side::Server
    }

    fn offer(&self) -> Offer {
        let page = Bytes(self.object.get().saturating_mul(self.objects));
        Offer { write: Some(self.object), ..Offer::each(page, self.reading) }
    }

    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        let lengths = lengths(self.object, self.object_distribution, stream("lengths"));
        let objects = Draw::new(self.objects, self.objects_distribution, stream("objects"));
        let pages = Pages::new(objects, lengths.clone(), self.count);
        let exchange = Exchange {
            writes: vec![self.request],
            counts: Counted::Answer,
            answers: Script::new(lengths, None),
        };
        let answerer = Answerer::new(exchange, self.think.draw(stream("thoughts")));
        let server = PageServer { answerer, pages: pages.clone() };
        let reading = pause(self.reading, self.reading_distribution, stream("pauses"));
        Workloads {
            sends: Workload::of(server),
            receives: Workload::of(Browser::new(self.request, pages, reading)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fixed, at, room};
    use ackord_units::RandomStream;

    const ROOM: Fixed = room(Bytes(10_000));

    fn draw(mean: u64, distribution: Distribution, of: &str) -> Draw {
        Draw::new(mean, distribution, RandomStream::for_element(3, of))
    }

    fn browser(pages: Pages) -> Browser {
        let reading = draw(Span::from_millis(50).as_nanos(), Distribution::Fixed, "reading");
        Browser::new(Bytes(100), pages, reading)
    }

    #[test]
    fn a_page_is_its_objects_one_after_the_other_and_then_the_user_reads() {
        let lengths = Lengths::listed(vec![Bytes(300), Bytes(700)]);
        let mut browser =
            browser(Pages::new(draw(2, Distribution::Fixed, "objects"), lengths, Some(2)));
        browser.start(at(1));
        assert_eq!(browser.size(&mut DrawBudget::default()), Some(Bytes(400)));
        let page = |index| Transfer { index, bytes: Bytes(1_000) };
        assert_eq!(browser.next(at(1), &ROOM), Step::Began(page(0)));
        assert_eq!(browser.next(at(1), &room(Bytes(60))), Step::Write(Bytes(60)));
        assert_eq!(browser.next(at(1), &ROOM), Step::Write(Bytes(40)));
        assert_eq!(browser.next(at(1), &ROOM), Step::Wait);
        browser.handle_data(at(0), Bytes(300));
        assert_eq!(browser.next(at(9), &ROOM), Step::Write(Bytes(100)), "the second object");
        browser.handle_data(at(0), Bytes(700));
        assert_eq!(browser.next(at(20), &ROOM), Step::Completed(page(0)));
        assert_eq!((browser.next(at(20), &ROOM), browser.deadline()), (Step::Wait, Some(at(70))));
        assert_eq!(browser.next(at(70), &ROOM), Step::Began(page(1)));
        assert_eq!(browser.next(at(70), &ROOM), Step::Write(Bytes(100)));
        browser.handle_data(at(0), Bytes(300));
        assert_eq!(browser.next(at(80), &ROOM), Step::Write(Bytes(100)));
        browser.handle_data(at(0), Bytes(700));
        assert_eq!(browser.next(at(90), &ROOM), Step::Completed(page(1)));
        assert_eq!(browser.next(at(90), &ROOM), Step::Close, "nobody reads the last page");
    }

    #[test]
    fn what_is_announced_of_a_page_is_what_its_objects_come_to() {
        let lengths = || Lengths::Drawn(draw(5_000, Distribution::Pareto, "lengths"));
        let objects = || draw(6, Distribution::Exponential, "objects");
        let mut pages = Pages::new(objects(), lengths(), Some(40));
        let all = pages.all_objects(&mut DrawBudget::default()).expect("they end");
        let (mut counted, mut seen) = (0, Bytes::ZERO);
        while let Some((page, objects)) = pages.next() {
            assert!(objects >= 1);
            counted += objects;
            let bytes: Bytes = (0..objects).map(|_| pages.object()).sum();
            assert_eq!(bytes, page.bytes);
            seen += bytes;
        }
        // The answering end knows nothing of pages and draws the same.
        assert_eq!((counted, seen), (all, lengths().total(all)));
    }
}
