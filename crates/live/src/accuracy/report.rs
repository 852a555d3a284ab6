//! What is to be measured, and what was found.

use super::theory::Spread;
use crate::lateness::Lateness;
use ackord_sys::StopHandle;
use ackord_units::{Rate, Span};
use std::ops::ControlFlow;

/// What is to be measured.
pub struct AccuracyOptions {
    /// The rates of the link, one after the other.
    pub rates: Vec<Rate>,
    /// How long each measurement sends; at least 1 s.
    pub duration: Span,
    /// The most that goes through is looked for as well.
    pub finds_most: bool,
    /// The emulator has, or is to ask for, real-time priority.
    pub realtime_priority: bool,
    /// Ends everything.
    pub stop: StopHandle,
    /// Told what is measured next, and which of how many that is, from one; says whether to go on.
    pub notify: Box<AccuracyNotify>,
}

/// What measurement comes, the how manieth it is and of how many.
pub type AccuracyNotify = dyn FnMut(&str, usize, usize) -> ControlFlow<()>;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct AccuracyReport {
    /// The emulator had real-time priority.
    pub realtime_priority: bool,
    /// Rates, delivered and configured.
    pub rates: Vec<RateRow>,
    /// Delays, measured and theoretical.
    pub delays: Vec<DelayRow>,
    /// The most that went through without a limit.
    pub most: Vec<MostRow>,
    /// Sender and receiver without an emulator: from the stamp before the call that sends to the
    /// kernel's stamp of arrival.
    pub control: Spread,
    /// How late the emulator was over all measurements of rate and delay.
    pub lateness: Lateness,
    /// The same as a histogram: up to which lateness, how many packets; none is beyond the last.
    pub histogram: Vec<(Span, u64)>,
    /// Datagrams and bytes that arrived other than they were sent, or out of order.
    pub damaged: u64,
}

/// What moved packets in a measurement of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Full datagrams, a tenth more of them than the link carries.
    Udp,
    /// One connection of the stock kernel, which sends what it may.
    Tcp,
}

/// A rate, delivered and configured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRow {
    /// What the link was configured to.
    pub configured: Rate,
    /// What moved the packets.
    pub traffic: Traffic,
    /// What came out at the receiver's socket, headers included, after the first fifth of the time.
    pub delivered: Rate,
    /// What the sender offered, headers included; of TCP as much as entered the path.
    pub offered: Rate,
    /// Datagrams that the sender sent, or packets of TCP that entered the path.
    pub offered_packets: u64,
    /// Packets that entered the path.
    pub entered_packets: u64,
    /// Packets the link dropped: its queue was full.
    pub dropped_packets: u64,
    /// Packets handed to the receiver's kernel.
    pub handed_over_packets: u64,
    /// Datagrams that the receiver's socket had no room for; none of TCP's.
    pub unread_packets: u64,
    /// How late the emulator was.
    pub lateness: Lateness,
}

/// Delays, measured and theoretical.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRow {
    /// What the link was configured to.
    pub configured: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// Full datagrams at four fifths of the rate, eight at a time, waited for one another; otherwise
    /// small ones were far apart, and nothing waited.
    pub busy: bool,
    /// Datagrams sent.
    pub sent: u64,
    /// By how much each came later than theory has it, from the stamp before the call that sent it
    /// to the kernel's stamp of its arrival.
    pub error: Spread,
    /// Of this, from the stamp to the instant at which the emulator had the packet: the call, the
    /// kernel, and the wait for the emulator.
    pub into: Spread,
    /// Of this, from the instant at which the emulator should have let the packet go to the stamp of
    /// its arrival: the emulator's lateness and the kernel.
    pub out_of: Spread,
    /// How late the emulator was, by itself.
    pub lateness: Lateness,
}

/// What goes through a link without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Most {
    /// One connection of the stock kernel.
    Tcp,
    /// Datagrams as large as packets may be.
    FullDatagrams,
    /// Datagrams of 32 bytes.
    SmallDatagrams,
}

/// The most that went through a link without a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MostRow {
    /// Of what.
    pub what: Most,
    /// At the receiver's socket, headers included.
    pub delivered: Rate,
    /// Packets per second there.
    pub packets_per_sec: u64,
    /// What was offered then, in packets per second; the packets themselves for TCP.
    pub offered_packets_per_sec: u64,
    /// The highest rate tried at which less than 0.1 % was lost, in packets per second; none for TCP.
    pub lossless_packets_per_sec: Option<u64>,
}
