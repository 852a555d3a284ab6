//! What `assert` can ask a kernel: the quantities that its `tcp_info` has.
//!
//! Not asked: what a kernel keeps in another way or tells nobody, such as the time left on timers, the
//! number of challenge ACKs of a connection, or TIME-WAIT, which a socket calls CLOSED.

use crate::guest::Facts;
use crate::tcp_info::{CaState, TcpInfo};
use ackord_script::{Fact, Kind, Quantity};
use ackord_units::{Bytes, Span};
use nix::errno::Errno;

/// Bits of `tcpi_options`, and where the byte is.
const OPTIONS_AT: usize = 5;
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const WINDOW_SCALING: u8 = 4;
const ECN: u8 = 8;
/// Where `tcpi_probes` is.
const PROBES_AT: usize = 3;

/// The quantity as the kernel has it; nothing where it cannot be asked.
pub(super) fn fact_of(quantity: &Quantity, facts: &Facts) -> Option<Fact> {
    let bytes = |bytes: Bytes| Fact::Bytes(bytes.get());
    let count = |number: u32| Fact::Count(u64::from(number));
    match quantity.name {
        "close_reason" => return close_reason(facts),
        "readable" => return facts.readable.map(Fact::Bytes),
        _ => {}
    }
    let raw = facts.tcp_info.as_ref()?;
    let info = TcpInfo::from_bytes(raw);
    let option =
        |bit: u8| word(quantity, if raw.get(OPTIONS_AT)? & bit != 0 { "yes" } else { "no" });
    Some(match quantity.name {
        "state" => word(quantity, state(info.state)?)?,
        "cwnd" => bytes(info.cwnd()),
        "ssthresh" => info.ssthresh().map_or(Fact::None, bytes),
        "in_flight" => Fact::Bytes(in_flight(&info)),
        "unsent" => bytes(info.notsent),
        "outstanding" => count(info.unacked_segments),
        "lost" => count(info.lost_segments),
        "probes" => Fact::Count(u64::from(*raw.get(PROBES_AT)?)),
        "smss" => bytes(info.snd_mss),
        "snd_wnd" => bytes(info.snd_wnd?),
        "rcv_wnd" => bytes(info.rcv_wnd?),
        "recovery" => word(quantity, recovery(info.ca_state))?,
        "dupthresh" => count(info.reordering_segments),
        "srtt" if info.srtt == Span::ZERO => Fact::None,
        "srtt" => Fact::Span(info.srtt),
        "rttvar" => Fact::Span(info.rttvar),
        "min_rtt" => info.min_rtt.map_or(Fact::None, Fact::Span),
        "rto" => Fact::Span(info.rto),
        "timeouts" => Fact::Count(u64::from(info.timeouts?.total)),
        "timeouts_in_row" => Fact::Count(u64::from(info.retransmits)),
        "retransmissions" => count(info.total_retrans),
        "segments_received" => count(info.segs_in),
        // The kernel counts the SYN.
        "bytes_acked" => Fact::Bytes(info.bytes_acked.get().saturating_sub(1)),
        "bytes_received" => bytes(info.bytes_received),
        "sack" => option(SACK)?,
        "timestamps" => option(TIMESTAMPS)?,
        "window_scaling" => option(WINDOW_SCALING)?,
        "ecn" => option(ECN)?,
        _ => return None,
    })
}

/// The same word as the quantity has it.
fn word(quantity: &Quantity, text: &str) -> Option<Fact> {
    let Kind::Word(words) = quantity.kind else { return None };
    words.iter().find(|word| **word == text).map(|word| Fact::Word(word))
}

/// A state by the kernel's number; nothing for CLOSED, which may be TIME-WAIT.
fn state(number: u8) -> Option<&'static str> {
    const STATES: [&str; 11] = [
        "ESTABLISHED",
        "SYN-SENT",
        "SYN-RECEIVED",
        "FIN-WAIT-1",
        "FIN-WAIT-2",
        "TIME-WAIT",
        "CLOSED",
        "CLOSE-WAIT",
        "LAST-ACK",
        "LISTEN",
        "CLOSING",
    ];
    let state = STATES.get(usize::from(number).checked_sub(1)?)?;
    (number != TcpInfo::CLOSED).then_some(state)
}

fn recovery(state: CaState) -> &'static str {
    match state {
        CaState::Open => "none",
        CaState::Disorder => "doubtful",
        CaState::Cwr => "notified",
        CaState::Recovery => "fast",
        CaState::Loss => "timeout",
    }
}

/// Bytes sent and not acknowledged; the kernel counts the SYN among those acknowledged.
fn in_flight(info: &TcpInfo) -> u64 {
    let once = info.bytes_sent.get().saturating_sub(info.bytes_retrans.get());
    once.saturating_sub(info.bytes_acked.get().saturating_sub(1))
}

/// Why the connection is closed, by the error that its socket has told.
fn close_reason(facts: &Facts) -> Option<Fact> {
    let word = match Errno::from_raw(facts.error) {
        Errno::ETIMEDOUT => "timed-out",
        Errno::ECONNRESET | Errno::EPIPE => "reset",
        Errno::ECONNREFUSED => "refused",
        _ => return None,
    };
    Some(Fact::Word(word))
}
