//! What the kernel tells of one of its connections: its `tcp_info`, with units.
//!
//! The kernel's structure grows at its end. What an older kernel does not have is nothing here, or
//! zero where every kernel from 5.10 on has it.
//!
//! Not modelled: what only concerns fast open, path MTU discovery, probes and options.

use ackord_units::{Bytes, Rate, Span};
use serde::{Deserialize, Serialize};

/// State of one end of a connection of the kernel at one instant, field by field as in the kernel's
/// `struct tcp_info`. Counters are since the
/// connection began; a "segment" is what the kernel counts as one, not what it hands down at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpInfo {
    /// The state of RFC 9293 §3.3.2 by the kernel's number ([`TcpInfo::CLOSED`] is 7).
    pub state: u8,
    /// What congestion control is at.
    pub ca_state: CaState,
    /// Retransmission timeouts in a row, without an acknowledgment in between.
    pub retransmits: u8,
    /// How often the retransmission timer has been doubled.
    pub backoff: u8,
    /// RTO.
    pub rto: Span,
    /// The delayed-ACK timer's present length.
    pub ato: Span,
    /// SMSS, with the options that every segment carries taken off.
    pub snd_mss: Bytes,
    /// What the kernel takes its peer's segments to hold.
    pub rcv_mss: Bytes,
    /// Segments sent and not acknowledged cumulatively.
    pub unacked_segments: u32,
    /// Segments the peer has acknowledged selectively.
    pub sacked_segments: u32,
    /// Segments taken to be lost.
    pub lost_segments: u32,
    /// Segments under way for another time.
    pub retrans_segments: u32,
    /// SRTT (RFC 6298).
    pub srtt: Span,
    /// RTTVAR (RFC 6298).
    pub rttvar: Span,
    /// The shortest round-trip time of the last minutes; nothing before the first one.
    pub min_rtt: Option<Span>,
    /// ssthresh in segments; nothing before the first congestion.
    pub ssthresh_segments: Option<u32>,
    /// cwnd in segments.
    pub cwnd_segments: u32,
    /// By how many segments packets overtake each other, as far as the kernel has learnt.
    pub reordering_segments: u32,
    /// Segments retransmitted, all in all.
    pub total_retrans: u32,
    /// The rate at which packets are spaced; nothing where they are not.
    pub pacing_rate: Option<Rate>,
    /// Rate of the last delivery sample.
    pub delivery_rate: Rate,
    /// Bytes acknowledged (RFC 4898; the kernel counts the SYN).
    pub bytes_acked: Bytes,
    /// Bytes received in order (RFC 4898; the kernel counts the FIN).
    pub bytes_received: Bytes,
    /// Bytes of data sent, retransmissions among them.
    pub bytes_sent: Bytes,
    /// Bytes of data retransmitted.
    pub bytes_retrans: Bytes,
    /// Segments sent, pure acknowledgments among them.
    pub segs_out: u32,
    /// Segments received.
    pub segs_in: u32,
    /// Segments with data sent, retransmissions among them.
    pub data_segs_out: u32,
    /// Segments with data received.
    pub data_segs_in: u32,
    /// Bytes written and not sent for the first time.
    pub notsent: Bytes,
    /// Segments delivered, in order or not.
    pub delivered_segments: u32,
    /// Those of them that came with the mark of congestion.
    pub delivered_ce_segments: u32,
    /// For how long it had something to send or under way.
    pub busy_for: Span,
    /// For how long the peer's window held it back.
    pub rwnd_limited_for: Span,
    /// For how long its own send buffer held it back.
    pub sndbuf_limited_for: Span,
    /// Segments that the peer has said it received twice (RFC 2883).
    pub dsack_dups: u32,
    /// How often packets were seen to overtake each other.
    pub reord_seen: u32,
    /// Segments received out of order.
    pub rcv_ooo_segments: u32,
    /// The window the peer advertises; kernels from 5.4.
    pub snd_wnd: Option<Bytes>,
    /// The window it advertises itself; kernels from 6.2.
    pub rcv_wnd: Option<Bytes>,
    /// What has come of retransmission timeouts; kernels from 6.7.
    pub timeouts: Option<Timeouts>,
}

/// Retransmission timeouts of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// How many, those of the handshake and repeated ones among them (`tcpi_total_rto`).
    pub total: u16,
    /// How often one began a recovery (`tcpi_total_rto_recoveries`).
    pub recoveries: u16,
    /// For how long it has recovered after timeouts (`tcpi_total_rto_time`).
    pub recovering_for: Span,
}

/// What the kernel's congestion control is at (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaState {
    /// Nothing is wrong.
    #[default]
    Open,
    /// Something came out of order, or selectively.
    Disorder,
    /// The window is being reduced for a mark of congestion or trouble on this host.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

impl TcpInfo {
    /// [`TcpInfo::state`] of a connection that is gone, or in TIME-WAIT.
    pub const CLOSED: u8 = 7;
    /// [`TcpInfo::state`] of an established connection.
    pub const ESTABLISHED: u8 = 1;

    /// From the bytes of the kernel's `tcp_info`, of which there may be fewer or more than known
    /// here.
    pub fn from_bytes(bytes: &[u8]) -> TcpInfo {
        let fields = Fields(bytes);
        let count = |at| fields.u32(at).unwrap_or(0);
        let bytes = |at| Bytes(fields.u64(at).unwrap_or(0));
        let bytes_32 = |at| Bytes(u64::from(count(at)));
        let micros = |at| Span::from_micros(u64::from(count(at)));
        let micros_64 = |at| Span::from_micros(fields.u64(at).unwrap_or(0));
        TcpInfo {
            state: fields.u8(0),
            ca_state: CaState::from_kernel(fields.u8(1)),
            retransmits: fields.u8(2),
            backoff: fields.u8(4),
            rto: micros(8),
            ato: micros(12),
            snd_mss: bytes_32(16),
            rcv_mss: bytes_32(20),
            unacked_segments: count(24),
            sacked_segments: count(28),
            lost_segments: count(32),
            retrans_segments: count(36),
            srtt: micros(68),
            rttvar: micros(72),
            // The kernel begins with the largest number there is.
            min_rtt: Some(micros(148)).filter(|_| !matches!(count(148), 0 | u32::MAX)),
            // Likewise.
            ssthresh_segments: Some(count(76)).filter(|segments| *segments < NO_SSTHRESH),
            cwnd_segments: count(80),
            reordering_segments: count(88),
            total_retrans: count(100),
            pacing_rate: rate(fields.u64(104)),
            delivery_rate: rate(fields.u64(160)).unwrap_or(Rate::from_bits_per_sec(0)),
            bytes_acked: bytes(120),
            bytes_received: bytes(128),
            bytes_sent: bytes(200),
            bytes_retrans: bytes(208),
            segs_out: count(136),
            segs_in: count(140),
            data_segs_out: count(156),
            data_segs_in: count(152),
            notsent: bytes_32(144),
            delivered_segments: count(192),
            delivered_ce_segments: count(196),
            busy_for: micros_64(168),
            rwnd_limited_for: micros_64(176),
            sndbuf_limited_for: micros_64(184),
            dsack_dups: count(216),
            reord_seen: count(220),
            rcv_ooo_segments: count(224),
            snd_wnd: fields.u32(228).map(|bytes| Bytes(u64::from(bytes))),
            rcv_wnd: fields.u32(232).map(|bytes| Bytes(u64::from(bytes))),
            timeouts: Timeouts::from_fields(fields),
        }
    }

    /// cwnd in bytes: as many full segments.
    pub fn cwnd(&self) -> Bytes {
        self.snd_mss * u64::from(self.cwnd_segments)
    }

    /// ssthresh in bytes, likewise.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh_segments.map(|segments| self.snd_mss * u64::from(segments))
    }
}

impl Timeouts {
    fn from_fields(fields: Fields<'_>) -> Option<Timeouts> {
        let millis = fields.u32(244)?;
        Some(Timeouts {
            total: fields.u16(240)?,
            recoveries: fields.u16(242)?,
            recovering_for: Span::from_millis(u64::from(millis)),
        })
    }
}

impl CaState {
    fn from_kernel(number: u8) -> CaState {
        match number {
            1 => CaState::Disorder,
            2 => CaState::Cwr,
            3 => CaState::Recovery,
            4 => CaState::Loss,
            _ => CaState::Open,
        }
    }
}

/// The kernel's "no ssthresh yet" (TCP_INFINITE_SSTHRESH).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// A rate of the kernel, in bytes a second, with the largest number for "none".
fn rate(bytes_per_sec: Option<u64>) -> Option<Rate> {
    let bytes = bytes_per_sec.filter(|bytes| !matches!(*bytes, 0 | u64::MAX))?;
    Some(Rate::from_bits_per_sec(bytes.saturating_mul(8)))
}

/// Fields of a C structure by their offsets, as far as it reaches.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u8(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_ne_bytes)
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_ne_bytes)
    }

    fn u64(self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_ne_bytes)
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure of `len` bytes with a number at every offset that is read.
    fn bytes(len: usize) -> Vec<u8> {
        let mut bytes = vec![0; 248];
        for at in (8..104).step_by(4) {
            bytes[at..at + 4].copy_from_slice(&(at as u32).to_ne_bytes());
        }
        for at in (104..136).step_by(8) {
            bytes[at..at + 8].copy_from_slice(&(at as u64).to_ne_bytes());
        }
        bytes[240..242].copy_from_slice(&3u16.to_ne_bytes());
        bytes[242..244].copy_from_slice(&2u16.to_ne_bytes());
        bytes[244..248].copy_from_slice(&450u32.to_ne_bytes());
        bytes[1] = 3;
        bytes.truncate(len);
        bytes
    }

    #[test]
    fn a_structure_of_a_kernel_of_today_is_read_to_its_end() {
        let info = TcpInfo::from_bytes(&bytes(248));
        assert_eq!(info.ca_state, CaState::Recovery);
        assert_eq!((info.rto, info.srtt), (Span::from_micros(8), Span::from_micros(68)));
        assert_eq!(info.cwnd(), Bytes(16 * 80));
        assert_eq!(info.pacing_rate, Some(Rate::from_bits_per_sec(104 * 8)));
        assert_eq!(info.bytes_acked, Bytes(120));
        let recovering_for = Span::from_millis(450);
        assert_eq!(info.timeouts, Some(Timeouts { total: 3, recoveries: 2, recovering_for }));
    }

    #[test]
    fn a_shorter_structure_of_an_older_kernel_has_less_to_say_and_is_no_error() {
        for len in 0..248 {
            let info = TcpInfo::from_bytes(&bytes(len));
            assert_eq!(info.timeouts, None, "{len}");
            assert_eq!(info.rcv_wnd.is_some(), len >= 236, "{len}");
        }
        assert_eq!(TcpInfo::from_bytes(&bytes(136)).bytes_received, Bytes(128));
    }

    #[test]
    fn the_kernel_s_largest_numbers_mean_that_there_is_none() {
        let mut bytes = bytes(248);
        bytes[76..80].copy_from_slice(&0x7fff_ffffu32.to_ne_bytes());
        bytes[104..112].copy_from_slice(&u64::MAX.to_ne_bytes());
        bytes[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        let info = TcpInfo::from_bytes(&bytes);
        assert_eq!((info.ssthresh(), info.pacing_rate, info.min_rtt), (None, None, None));
    }
}
