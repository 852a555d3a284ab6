//! The path of `scripts/linux-outage.py` in virtual time: a bulk flow between two stacks, a middle
//! box between them, and a hop behind it that is dead for a while or loses packets at random.
//!
//! ```text
//! sender -- 10 Mbit/s, 10 ms, drop-tail queue -- middlebox -- 100 Mbit/s, 10 ms -- receiver
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `outage.rs` | the flow and its path |
//! | `outage/helper.rs` | the box, and what it does for the flow |
//! | `outage/hop.rs` | one direction of a hop |
//! | `outage/tally.rs` | what the sender makes of losses, counted |

mod helper;
mod hop;
mod tally;

use super::endpoint;
use super::stack::stack;
use ackord_events::NoSink;
use ackord_tcp::{Connection, Outbound, registry};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Segment, Side};
pub use helper::Help;
use helper::Helper;
use hop::{Hop, Medium};
use std::collections::BTreeMap;
use tally::Tally;

/// How long a flow runs, and when its outage begins.
const RUN: Span = Span::from_secs(10);
const OUTAGE_AT: Span = Span::from_secs(3);

/// The runs of a set-up begin their outage at another place between two packets.
const PHASE: Span = Span::from_micros(800);

/// A set-up: what `linux-outage.py` calls by the same names.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub congestion: &'static str,
    pub timestamps: &'static str,
    pub sack: &'static str,
    pub help: Help,
    pub outage: Span,
    pub loss_per_mille: u32,
    pub run: u32,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            congestion: "reno",
            timestamps: "on",
            sack: "on",
            help: Help::None,
            outage: Span::ZERO,
            loss_per_mille: 0,
            run: 0,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub mbytes: f64,
    /// From the end of the outage to the first byte at the receiver that was never sent before.
    pub new_data_after: Option<Span>,
    pub retransmissions: u64,
    pub timeouts: u64,
    pub tally: Tally,
    /// Every segment the sender put on the path, and every one that reached it.
    pub log: Vec<(Time, Where, Segment)>,
}

/// Where a segment was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Sent,
    Got,
    Ack,
}

/// Something due at a time.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// At the box, from this side.
    AtBox(Side, Segment),
    /// At this end.
    At(Side, Segment),
    OutageBegins,
    OutageEnds,
    Release,
    Watch,
}

struct Flow {
    now: Time,
    client: Connection,
    server: Connection,
    due: BTreeMap<(Time, u64), Act>,
    count: u64,
    first: Hop,
    down: Hop,
    back: Hop,
    up: Hop,
    helper: Helper,
    outage: (Time, Time),
    sent_up_to: Option<Seq>,
    outcome: Outcome,
}

/// The `linux` profile with what a set-up says over it, as `key = value` pairs.
fn linux(setup: &Setup) -> Vec<(&'static str, &'static str)> {
    let profile = registry::profile("linux").expect("listed");
    let own = |key: &str| {
        let knob_of_cubic = key.starts_with("congestion.") && setup.congestion != "cubic";
        knob_of_cubic && key != "congestion.growth"
    };
    let kept = profile.settings.iter().filter(|setting| !own(setting.key));
    let mut settings: Vec<_> = kept.map(|setting| (setting.key, setting.value)).collect();
    settings.extend([
        ("congestion", setup.congestion),
        ("timestamps", setup.timestamps),
        ("sack", setup.sack),
        ("nagle", "off"),
        // The kernel was measured with buffers that were set by hand.
        ("ack.so_rcvbuf", "set"),
        ("send_buffer_tuning", "off"),
        ("receive_buffer_tuning", "off"),
    ]);
    settings
}

/// Runs a flow of ten seconds.
pub fn run(setup: Setup) -> Outcome {
    let settings = linux(&setup);
    let start = Time::ZERO + Span::from_millis(1);
    let (config, mechanisms) = stack(&settings);
    let client =
        Connection::connect(config, mechanisms, endpoint(Side::Client), Seq(4_000_000_000), start);
    let (config, mechanisms) = stack(&settings);
    let server = Connection::listen(config, mechanisms, endpoint(Side::Server), Seq(77));
    let begins = start + OUTAGE_AT + PHASE * u64::from(setup.run);
    let outage = (begins, begins + setup.outage);
    let slow = Hop::new(Medium { bits_per_sec: 10_000_000, queue: 100, ..Medium::default() });
    let quick = Medium { bits_per_sec: 100_000_000, queue: 1000, outage, ..Medium::default() };
    let lossy = Medium { loss_per_mille: setup.loss_per_mille, seed: setup.run, ..quick };
    let mut flow = Flow {
        now: start,
        client,
        server,
        due: BTreeMap::new(),
        count: 0,
        first: slow.clone(),
        down: Hop::new(lossy),
        back: Hop::new(quick),
        up: slow,
        helper: Helper::new(setup.help, start),
        outage,
        sent_up_to: None,
        outcome: Outcome {
            mbytes: 0.0,
            new_data_after: None,
            retransmissions: 0,
            timeouts: 0,
            tally: Tally::default(),
            log: Vec::new(),
        },
    };
    if setup.outage > Span::ZERO {
        flow.at(outage.0, Act::OutageBegins);
        flow.at(outage.1, Act::OutageEnds);
    }
    flow.at(start, Act::Watch);
    flow.run(start + RUN)
}

impl Flow {
    fn at(&mut self, when: Time, act: Act) {
        self.count += 1;
        self.due.insert((when, self.count), act);
    }

    fn run(mut self, end: Time) -> Outcome {
        while self.now < end {
            self.client.write(Bytes(1 << 20));
            self.poll();
            let arrival = self.due.keys().next().map(|key| key.0);
            let timers = [self.client.deadline(), self.server.deadline()];
            let timer = timers.into_iter().flatten().min();
            let next = [arrival, timer].into_iter().flatten().min().expect("it watches for ever");
            self.now = self.now.max(next).min(end);
            if arrival.is_some_and(|at| at <= self.now) {
                let (_, act) = self.due.pop_first().expect("just seen");
                self.act(act);
            } else {
                self.client.handle_deadline(self.now, &mut self.outcome.tally);
                self.server.handle_deadline(self.now, &mut NoSink);
            }
        }
        self.outcome.mbytes = self.server.bytes_received() as f64 / 1e6;
        let stats = self.client.stats();
        self.outcome.retransmissions = stats.retransmitted_segments;
        self.outcome.timeouts = stats.timeouts;
        self.outcome
    }

    fn poll(&mut self) {
        let now = self.now;
        while let Some(Outbound { segment, .. }) =
            self.client.poll_segment(now, &mut self.outcome.tally)
        {
            self.outcome.log.push((now, Where::Sent, segment));
            if segment.payload_len > 0 && now < self.outage.1 {
                let end = segment.end_seq();
                let sent = self.sent_up_to.get_or_insert(end);
                *sent = sent.max(end);
            }
            if let Some(at) = self.first.carry(now, &segment) {
                self.at(at, Act::AtBox(Side::Client, segment));
            }
        }
        while let Some(Outbound { segment, .. }) = self.server.poll_segment(now, &mut NoSink) {
            if let Some(at) = self.back.carry(now, &segment) {
                self.at(at, Act::AtBox(Side::Server, segment));
            }
        }
    }

    fn act(&mut self, act: Act) {
        let now = self.now;
        let mut sends = Vec::new();
        match act {
            Act::AtBox(from, segment) => self.helper.on_segment(now, from, segment, &mut sends),
            Act::At(Side::Client, segment) => {
                self.outcome.log.push((now, Where::Ack, segment));
                self.client.handle_segment(now, &segment, Ecn::NotEct, &mut self.outcome.tally);
            }
            Act::At(Side::Server, segment) => self.arrive(segment),
            Act::OutageBegins => {
                self.helper.on_outage(&mut sends);
                self.at(now, Act::Release);
            }
            Act::OutageEnds => self.helper.on_outage_end(&mut sends),
            Act::Release => {
                if self.helper.release(&mut sends) {
                    self.at(now + Span::from_millis(170), Act::Release);
                }
            }
            Act::Watch => {
                self.helper.watch(now, &mut sends);
                self.at(now + Span::from_millis(10), Act::Watch);
            }
        }
        for (to, segment) in sends {
            let hop = if to == Side::Server { &mut self.down } else { &mut self.up };
            if let Some(at) = hop.carry(now, &segment) {
                self.at(at, Act::At(to, segment));
            }
        }
    }

    fn arrive(&mut self, segment: Segment) {
        self.outcome.log.push((self.now, Where::Got, segment));
        let fresh = self.sent_up_to.is_none_or(|sent| segment.seq.at_or_after(sent));
        if self.now >= self.outage.1 && fresh && segment.payload_len > 0 {
            let after = self.now - self.outage.1;
            self.outcome.new_data_after.get_or_insert(after);
        }
        self.server.handle_segment(self.now, &segment, Ecn::NotEct, &mut NoSink);
        let readable = self.server.readable();
        self.server.read(readable);
    }
}
