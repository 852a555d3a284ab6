//! Selective drop (Chae and Choi 2004): one FIFO, a packet counter per connection, and no more than
//! a threshold of packets of any connection in it.
//!
//! | file | what |
//! | --- | --- |
//! | `paper.rs` | [`PaperDrop`]: as the paper describes it |
//! | `practical.rs` | [`PracticalDrop`]: what the paper leaves open, worked out |
//! | `flows.rs` | what the practical form knows of each connection |
//! | `round_trip.rs` | round trips learnt from the packets that pass |
//!
//! The threshold is fixed, or Eq. 9: proportional to the smallest window with which N_C connections
//! together keep the link busy, Eq. 8.

mod flows;
mod paper;
mod practical;
mod round_trip;

use super::knobs::{LIMIT, QueueKnobs, QueuePlace, UnknownFlow, WEIGHTS};
use super::{Limit, Queue};
use ackord_tcp::{MODE, Mode};
use ackord_units::{Bytes, Keyword, Knobs, Rate, Span};
use ackord_wire::FlowId;
use std::collections::BTreeMap;

pub use paper::{PaperConfig, PaperDrop};
pub use practical::{PracticalConfig, PracticalDrop, TripSource};

/// First in, first out; a connection over its share of queued packets is dropped
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "selective-drop", source = "Chae and Choi 2004 Eq. 5-9")]
pub struct SelectiveDropKnobs {
    #[knob(like = LIMIT)]
    limit: Limit,
    /// As the paper describes it, or with what it leaves open worked out
    #[knob(like = MODE, source = "Chae and Choi 2004 §4.1")]
    mode: Mode,
    /// Q_thresh per connection; worked out by Eq. 9 when absent
    #[knob(min = 1, max = 1_000_000, unit = "packets", source = "Chae and Choi 2004 Table 2")]
    threshold: Option<u32>,
    /// Whether the arriving packet counts when it is compared with Q_thresh: the text allows both
    /// (paper mode)
    #[knob(default = "counts", source = "Chae and Choi 2004 §4.1")]
    arrival: Arrival,
    /// Q_thresh as a multiple of W_best (Eq. 9 leaves the factor open)
    #[knob(min = 0.01, max = 100.0, default = "1", source = "Chae and Choi 2004 Eq. 9")]
    factor: f64,
    /// Propagation delay in Eq. 8; the link's own when absent (paper mode), learnt from the traffic's
    /// round trips (practical mode)
    #[knob(min = Span::ZERO, max = Span::from_secs(10), source = "Chae and Choi 2004 Eq. 6")]
    tau: Option<Span>,
    /// Time the receiver takes to produce an acknowledgment, in Eq. 8 (paper mode)
    #[knob(
        min = Span::ZERO, max = Span::from_secs(1), default = "0 s",
        source = "Chae and Choi 2004 Eq. 6"
    )]
    t_ack: Span,
    /// L_D in Eq. 8; the running mean of arriving packets when absent
    #[knob(min = Bytes(40), max = Bytes(65_535), source = "Chae and Choi 2004 Eq. 5")]
    packet_length: Option<Bytes>,
    /// A connection counts in N_C this long after its last packet (practical mode; in paper mode
    /// connections with a packet queued count)
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60), default = "500 ms",
        source = "this project"
    )]
    active_for: Span,
    #[knob(like = WEIGHTS)]
    weights: Option<BTreeMap<String, f64>>,
}

/// The two readings of "more than Q_thresh packets queued".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
enum Arrival {
    /// The arriving packet counts: up to Q_thresh packets of a connection queue.
    Counts,
    /// Only those before it count: up to Q_thresh + 1 queue.
    DoesNotCount,
}

impl QueueKnobs for SelectiveDropKnobs {
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        let threshold = match self.threshold {
            Some(packets) => Threshold::Fixed(packets),
            None => Threshold::Best { factor: self.factor },
        };
        let weights = context.weights(&self.weights)?;
        let round_trip = |tau: Span| tau * 2 + self.t_ack;
        Ok(match self.mode {
            Mode::Paper => Queue::of(PaperDrop::new(PaperConfig {
                limit: self.limit,
                threshold,
                arrival_counts: self.arrival == Arrival::Counts,
                round_trip: round_trip(self.tau.unwrap_or(context.delay)),
                rate: context.rate,
                packet_length: self.packet_length,
                weights,
            })),
            Mode::Practical => Queue::of(PracticalDrop::new(PracticalConfig {
                limit: self.limit,
                threshold,
                round_trip: match self.tau {
                    Some(tau) => TripSource::Given(round_trip(tau)),
                    None => TripSource::Learnt { at_first: round_trip(context.delay) },
                },
                rate: context.rate,
                packet_length: self.packet_length,
                active_for: self.active_for,
                weights,
            })),
        })
    }
}

/// The inputs of Eq. 8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestWindow {
    /// 2 tau + T_ack: from the end of a packet's transmission to its acknowledgment (Eq. 6).
    pub round_trip: Span,
    /// BW, the rate of the link.
    pub rate: Rate,
    /// L_D, the mean length of a packet in bytes.
    pub packet_bytes: f64,
    /// N_C, the connections that share the link; weights may make it other than whole.
    pub connections: f64,
}

impl BestWindow {
    /// W_best in packets: `(2 tau + T_ack) * BW / (8 * L_D * N_C) + 2` (Eq. 8).
    pub fn packets(&self) -> f64 {
        let bits = self.round_trip.as_secs_f64() * self.rate.as_bits_per_sec() as f64;
        bits / (8.0 * self.packet_bytes * self.connections) + 2.0
    }
}

/// Where Q_thresh comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// So many packets.
    Fixed(u32),
    /// This multiple of W_best (Eq. 9), worked out anew for every packet.
    Best {
        /// The constant that Eq. 9 leaves open.
        factor: f64,
    },
}

/// Each connection's share as a multiple of the others'; one where nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(pub BTreeMap<FlowId, f64>);

impl Weights {
    /// The weight of a connection.
    pub fn of(&self, flow: FlowId) -> f64 {
        self.0.get(&flow).copied().unwrap_or(1.0)
    }
}

/// L_D: given, or the running mean of the packets that arrive.
#[derive(Clone, Copy, Debug)]
enum PacketLength {
    Given(f64),
    Mean(Option<f64>),
}

impl PacketLength {
    /// The newest packet's share in the running mean: it follows a change of traffic within some
    /// tens of packets.
    const GAIN: f64 = 1.0 / 16.0;

    fn learn(&mut self, ip_len: u32) {
        if let PacketLength::Mean(mean) = self {
            let length = f64::from(ip_len);
            *mean = Some(mean.map_or(length, |mean| mean + PacketLength::GAIN * (length - mean)));
        }
    }

    /// Bytes; one where nothing has been seen, which is never asked before a packet has come.
    fn bytes(self) -> f64 {
        match self {
            PacketLength::Given(bytes) => bytes,
            PacketLength::Mean(mean) => mean.unwrap_or(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two connections, packets of 1000 B and T_ack of zero, as in Table 2.
    fn table_2(bits_per_sec: u64, tau_millis: u64) -> f64 {
        BestWindow {
            round_trip: Span::from_millis(2 * tau_millis),
            rate: Rate::from_bits_per_sec(bits_per_sec),
            packet_bytes: 1_000.0,
            connections: 2.0,
        }
        .packets()
    }

    #[test]
    fn equation_8_on_the_four_links_of_table_2() {
        let links = [(512_000, 5), (1_500_000, 2), (2_000_000, 2), (5_000_000, 2)];
        // By hand: 10 ms of 512 kbit/s are 5120 bit, over 8 * 1000 * 2, plus 2; and so on.
        let by_hand = [2.32, 2.375, 2.5, 3.25];
        for ((rate, tau), expected) in links.into_iter().zip(by_hand) {
            let found = table_2(rate, tau);
            assert!((found - expected).abs() < 1e-9, "{rate} bit/s, {tau} ms: {found}");
        }
    }

    #[test]
    fn more_connections_share_the_window_but_keep_two_packets_each() {
        let window = |connections| {
            let (round_trip, rate) = (Span::from_millis(100), Rate::from_mbits_per_sec(8));
            BestWindow { round_trip, rate, packet_bytes: 1_000.0, connections }.packets()
        };
        assert_eq!((window(1.0), window(10.0), window(100.0)), (102.0, 12.0, 3.0));
    }

    #[test]
    fn the_mean_length_starts_at_the_first_packet_and_follows_the_traffic() {
        let mut length = PacketLength::Mean(None);
        length.learn(1_000);
        assert_eq!(length.bytes(), 1_000.0);
        length.learn(200);
        assert_eq!(length.bytes(), 950.0);
        (0..200).for_each(|_| length.learn(200));
        assert!((length.bytes() - 200.0).abs() < 1.0);
    }
}
