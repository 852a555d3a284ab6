//! The path, the ends and the applications of one connection, as a scenario file.
//!
//! ```text
//! server ══ wired ══ router ══ air ══ client
//!                      ▲ a gateway may stand here
//! ```
//!
//! `air` is the bottleneck: it has the rate, the buffer and all that goes wrong. Losses strike the
//! direction of most data, outages both.
//!
//! Not modelled: losses of acknowledgments, a rate that changes, more than one bottleneck.

use ackord_live::Direction;

/// Payload of a full packet, with timestamps, bytes.
const PAYLOAD: f64 = 1448.0;

/// How packets are lost that no queue drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossProcess {
    /// None is.
    None,
    /// Each with this probability.
    Random {
        /// 0 to 1.
        share: f64,
    },
    /// All for a while, again and again (Gilbert and Elliott, in time).
    Bursts {
        /// Mean time between, s.
        good_s: f64,
        /// Mean time for which nothing passes, s.
        bad_s: f64,
    },
}

/// A time at which nothing passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Since the start, s.
    pub from_s: f64,
    /// How long it lasted at least, s: a repetition was lost then.
    pub least_s: f64,
    /// How long at most, s: one arrived then.
    pub most_s: f64,
}

/// What the applications do.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// One transfer.
    Bulk {
        /// Its length, bytes.
        bytes: u64,
    },
    /// One after the other, the sender deciding when.
    Transfers {
        /// Their lengths, bytes.
        sizes: Vec<u64>,
        /// Pause between two, s.
        gap_s: f64,
    },
    /// Questions, and answers by the end that sends most.
    Questions {
        /// Length of a question, bytes.
        request: u64,
        /// Length of an answer, bytes.
        response: u64,
        /// How many.
        count: u64,
        /// Pause before the next question, s.
        gap_s: f64,
        /// Time from a question to its answer, s.
        think_s: f64,
    },
    /// Small messages at regular intervals, without answers.
    Paced {
        /// Length of a message, bytes.
        message: u64,
        /// Time from one to the next, s.
        interval_s: f64,
        /// How many.
        messages: u64,
    },
    /// A question in two writes, and its answer.
    TwoWrites {
        /// Bytes of the first write.
        head: u64,
        /// Bytes of the second write.
        body: u64,
        /// Bytes of the answer.
        reply: u64,
        /// How many.
        count: u64,
        /// Pause before the next, s.
        gap_s: f64,
    },
}

/// Where the capture is taken, as seen from the sender of most data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the server.
    Server,
    /// At the router.
    Router,
    /// At the client.
    Client,
}

/// A path, two ends and their applications.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Which way data goes.
    pub direction: Direction,
    /// The rate of the bottleneck, whole packets, bit/s.
    pub rate_bit_s: f64,
    /// The delay between server and router, one way, s.
    pub wired_s: f64,
    /// The delay between router and client, one way, s.
    pub air_s: f64,
    /// What the bottleneck's buffer holds, packets.
    pub buffer: u64,
    /// The bottleneck's queue where it is not drop-tail: a name or a table.
    pub queue: Option<String>,
    /// Losses by chance.
    pub loss: LossProcess,
    /// Share of the packets that are held back (0 to 1), and for how long, s.
    pub reordering: Option<(f64, f64)>,
    /// When nothing passes.
    pub outages: Vec<Outage>,
    /// Packets wait for the end of an outage, instead of being lost.
    pub outages_hold: bool,
    /// The sender's congestion control: a name or a table.
    pub congestion: String,
    /// The sender's loss detection, where it is not Linux's.
    pub detection: Option<String>,
    /// The sender's first window, segments.
    pub initial_window: u32,
    /// What the receiver announces at most, bytes, where that is a bound.
    pub receive_buffer: Option<u64>,
    /// What the sender keeps at most, bytes, where that is a bound.
    pub send_buffer: Option<u64>,
    /// Whether Nagle's algorithm is off at both ends.
    pub no_delay: bool,
    /// When the receiver acknowledges, where it is not Linux's way.
    pub ack: Option<String>,
    /// How long the receiver delays acknowledgments, where that is not Linux's time, s.
    pub ack_delay_s: Option<f64>,
    /// Other flows that fill the same queue.
    pub rivals: u32,
    /// What the applications do.
    pub traffic: Traffic,
    /// When it is given up, s.
    pub duration_s: f64,
    /// Where it is captured.
    pub place: Place,
    /// The middlebox at the router, if there is one.
    pub proxy: Option<String>,
    /// The stock kernel at both ends, if any.
    pub kernel: Option<String>,
    /// More keys of `air`.
    pub more: String,
    /// Share of the observed transfer that the model has, 0 to 1.
    pub part: f64,
}

impl Model {
    /// A clean download of `bytes` between Linux hosts.
    pub fn clean(rate_bit_s: f64, rtt_s: f64, bytes: u64) -> Model {
        let mut model = Model {
            direction: Direction::Download,
            rate_bit_s,
            wired_s: rtt_s / 4.0,
            air_s: rtt_s / 4.0,
            buffer: 0,
            queue: None,
            loss: LossProcess::None,
            reordering: None,
            outages: Vec::new(),
            outages_hold: false,
            congestion: "\"cubic\"".to_owned(),
            detection: None,
            initial_window: 10,
            receive_buffer: None,
            send_buffer: None,
            no_delay: false,
            ack: None,
            ack_delay_s: None,
            rivals: 0,
            traffic: Traffic::Bulk { bytes },
            duration_s: 60.0,
            place: Place::Server,
            proxy: None,
            kernel: None,
            more: String::new(),
            part: 1.0,
        };
        model.buffer = (1.5 * model.bdp_packets()) as u64;
        model.buffer = model.buffer.max(20);
        model
    }

    /// Full packets that fill the path.
    pub fn bdp_packets(&self) -> f64 {
        self.rate_bit_s * 2.0 * (self.wired_s + self.air_s) / 12_000.0
    }

    /// What applications wait by themselves, all in all, s.
    pub fn pauses_s(&self) -> f64 {
        match &self.traffic {
            // When paced messages leave nothing to send depends on the path.
            Traffic::Bulk { .. } | Traffic::Paced { .. } => 0.0,
            Traffic::Transfers { sizes, gap_s } => gap_s * sizes.len().saturating_sub(1) as f64,
            Traffic::Questions { count, gap_s, think_s, .. } => {
                gap_s * count.saturating_sub(1) as f64 + think_s * *count as f64
            }
            Traffic::TwoWrites { count, gap_s, .. } => gap_s * count.saturating_sub(1) as f64,
        }
    }

    /// Shortens the transfer to `part` of what it is, or to the nearest whole number of messages.
    pub(super) fn take_part(&mut self, part: f64) {
        let of = |count: u64| ((count as f64 * part) as u64).max(1);
        let share = |kept: u64, all: u64| kept as f64 / all.max(1) as f64;
        let got = match &mut self.traffic {
            Traffic::Bulk { bytes: all }
            | Traffic::Questions { count: all, .. }
            | Traffic::TwoWrites { count: all, .. }
            | Traffic::Paced { messages: all, .. } => {
                let kept = of(*all);
                let got = share(kept, *all);
                *all = kept;
                got
            }
            Traffic::Transfers { sizes, .. } => {
                let all: u64 = sizes.iter().sum();
                sizes.truncate(of(sizes.len() as u64) as usize);
                share(sizes.iter().sum(), all)
            }
        };
        let keep = (self.outages.len() as f64 * part).round() as usize;
        self.outages.truncate(keep);
        self.outages.iter_mut().for_each(|outage| outage.from_s *= part);
        self.part *= got.min(1.0);
    }

    /// Time over which paced messages are spread, s.
    pub(super) fn spread_s(&self) -> f64 {
        match &self.traffic {
            Traffic::Paced { interval_s, messages, .. } => interval_s * *messages as f64,
            _ => 0.0,
        }
    }

    /// Data packets that a run sends, retransmissions not counted; those of other flows included, which
    /// send until the run is over.
    pub fn packets(&self) -> f64 {
        let of = |bytes: u64| (bytes as f64 / PAYLOAD).ceil();
        let own = match &self.traffic {
            Traffic::Bulk { bytes } => of(*bytes),
            Traffic::Transfers { sizes, .. } => sizes.iter().map(|bytes| of(*bytes)).sum(),
            Traffic::Questions { request, response, count, .. } => {
                *count as f64 * (of(*request) + of(*response))
            }
            Traffic::Paced { message, messages, .. } => *messages as f64 * of(*message),
            Traffic::TwoWrites { head, body, reply, count, .. } => {
                *count as f64 * (of(*head) + of(*body) + of(*reply))
            }
        };
        let others =
            if self.rivals > 0 { self.rate_bit_s * self.duration_s / 12_000.0 } else { 0.0 };
        own + others
    }

    /// The link that is captured, and the file of the capture point.
    pub fn capture(&self) -> (&'static str, &'static str) {
        match self.place {
            Place::Server => ("wired", "wired.at-server.pcapng"),
            Place::Router => ("air", "air.at-router.pcapng"),
            Place::Client => ("air", "air.at-client.pcapng"),
        }
    }
}
