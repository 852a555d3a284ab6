//! What a Wi-Fi medium is made of.

use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span};

/// What a Wi-Fi medium is made of. Clauses and tables are those of IEEE 802.11-2020.
#[derive(Clone, Debug)]
pub struct WifiConfig {
    /// Slot time; more than zero (Table 17-21: 9 us).
    pub slot: Span,
    /// Between a frame and its acknowledgment (Table 17-21: 16 us).
    pub sifs: Span,
    /// Idle time before counters run: SIFS and two slots (§10.3.2.3.5), or more with EDCA.
    pub difs: Span,
    /// First contention window (Table 17-21: 15).
    pub cw_min_slots: u32,
    /// Largest contention window (Table 17-21: 1023).
    pub cw_max_slots: u32,
    /// How often a frame is retransmitted before it is given up.
    pub retries: u32,
    /// Before the payload of a data frame (§17.3.2: 20 us with its SIGNAL field; §19.3.9: 36 us for
    /// a mixed-format frame of one stream).
    pub preamble: Span,
    /// One OFDM symbol (Table 17-5: 4 us); more than zero.
    pub symbol: Span,
    /// Rate of link acknowledgments: the highest mandatory one not above the data's (§10.6.6.5.2).
    pub basic_rate: Rate,
    /// What a frame has beside the IP packet: MAC header, LLC/SNAP, FCS (§9.2.3: 24 + 8 + 4).
    pub mac_overhead: Bytes,
    /// Probability that a frame is damaged, at every attempt anew.
    pub frame_error: Ratio,
    /// Probability that a bit of a frame is damaged, so that longer frames suffer more.
    pub bit_error: Ratio,
    /// Frames in one transmission; without it each goes alone.
    pub aggregation: Option<Aggregation>,
    /// Who else uses the medium.
    pub background: Option<Background>,
    /// What counters and damage are drawn from.
    pub stream: RandomStream,
}

/// A-MPDU (§9.7): several frames in one transmission, acknowledged one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// At most so many frames.
    pub frames: u32,
    /// At most so many bytes, with delimiters and padding.
    pub bytes: Bytes,
}

/// Stations that are not part of the scenario but take their share of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// How many.
    pub stations: u32,
    /// The IP packets they send, one a frame.
    pub packet: Bytes,
    /// Their rate.
    pub rate: Rate,
    /// When they have something to send; always, without it.
    pub on_off: Option<OnOff>,
}

/// How stations come and go: spans drawn evenly from nothing to twice the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    /// Mean time with frames to send.
    pub on: Span,
    /// Mean time without.
    pub off: Span,
}

impl Default for Aggregation {
    fn default() -> Aggregation {
        Aggregation { frames: 64, bytes: Bytes(65_535) }
    }
}

impl Default for WifiConfig {
    fn default() -> WifiConfig {
        WifiConfig {
            slot: Span::from_micros(9),
            sifs: Span::from_micros(16),
            difs: Span::from_micros(34),
            cw_min_slots: 15,
            cw_max_slots: 1_023,
            retries: 7,
            preamble: Span::from_micros(20),
            symbol: Span::from_micros(4),
            basic_rate: Rate::from_mbits_per_sec(24),
            mac_overhead: Bytes(36),
            frame_error: Ratio::ZERO,
            bit_error: Ratio::ZERO,
            aggregation: None,
            background: None,
            stream: RandomStream::for_element(0, "medium"),
        }
    }
}
