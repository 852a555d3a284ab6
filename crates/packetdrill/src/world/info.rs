//! The kernel's `struct tcp_info` (linux/tcp.h), field by field at its offset.
//!
//! Counts of segments are what Linux calls packets. Left at zero, for nobody keeps them here:
//! `tcpi_fackets`, `tcpi_last_ack_sent` (the kernel's is zero too), `tcpi_rcv_rtt`,
//! `tcpi_rcv_space`, the delivery rate, the time limited by the send buffer, `tcpi_delivered`,
//! the counts of duplicates, reordering and out-of-order packets, `tcpi_rehash`, and all that follows
//! it: sums of timeouts and of accurate ECN.

use super::World;
use super::link::Link;
use super::socket::{Socket, State};
use ackord_events::TcpState;
use ackord_tcp::{RecoveryState, Snapshot, offload_rate};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Side;

/// Bytes of the structure as Linux 6.18 has it; older programs ask for less.
pub(crate) const TCP_INFO_LEN: usize = 280;

/// TCP_INFINITE_SSTHRESH.
const NO_SSTHRESH: u32 = 0x7fff_ffff;
/// Linux's numbers of states in which a socket is not connected.
const CLOSE: u8 = 7;
const LISTEN: u8 = 10;

/// Bytes in a second: the control's own, or the kernel's 2 cwnd/SRTT in slow start and 1.2 beyond.
fn pacing_rate(snapshot: &Snapshot) -> u64 {
    match snapshot.pacing_rate {
        Some(rate) => rate.as_bits_per_sec() / 8,
        None => offload_rate(snapshot.cwnd, snapshot.ssthresh, snapshot.srtt),
    }
}

/// The structure as it is written.
struct Info([u8; TCP_INFO_LEN]);

impl Info {
    fn u8(&mut self, at: usize, value: u8) {
        self.0[at] = value;
    }

    fn u32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }

    fn u64(&mut self, at: usize, value: u64) {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
    }
}

impl World {
    /// What TCP_INFO says of a socket.
    pub(super) fn tcp_info(&self, socket: &Socket) -> Vec<u8> {
        let mut info = Info([0; TCP_INFO_LEN]);
        match &socket.state {
            State::Fresh => info.u8(0, CLOSE),
            State::Listening(listener) => {
                info.u8(0, LISTEN);
                info.u32(24, listener.queue.len() as u32);
                info.u32(28, listener.backlog as u32);
            }
            State::Linked { link, .. } => match self.links.get(link) {
                None => info.u8(0, CLOSE),
                Some(link) => {
                    let snapshot = link.connection.snapshot();
                    connection(&mut info, link, &snapshot);
                    info.u32(60, u32::from(self.setup.mtu));
                    times(&mut info, link, self.now());
                    totals(&mut info, link, (&snapshot, self.now()));
                }
            },
        }
        info.0.to_vec()
    }
}

fn connection(info: &mut Info, link: &Link, snapshot: &Snapshot) {
    let agreed = snapshot.agreed;
    let smss = snapshot.smss.get().max(1);
    let segments = |bytes: Bytes| (bytes.get() / smss).min(u64::from(u32::MAX)) as u32;
    info.u8(0, state(link.connection.state()));
    info.u8(1, recovery_code(snapshot.recovery));
    info.u8(2, snapshot.timeouts_in_row.min(255) as u8);
    info.u8(3, snapshot.probes.min(255) as u8);
    info.u8(4, snapshot.backoff.min(255) as u8);
    let bits = [agreed.timestamps, agreed.sack, agreed.window_scaling, agreed.ecn];
    info.u8(5, bits.iter().enumerate().map(|(bit, &on)| u8::from(on) << bit).sum());
    if agreed.window_scaling {
        info.u8(6, agreed.peers_shift & 15 | agreed.own_shift << 4);
    }
    info.u32(8, micros(snapshot.rto));
    info.u32(12, snapshot.ato.map_or(0, micros));
    info.u32(16, smss as u32);
    info.u32(20, snapshot.rmss.get() as u32);
    info.u32(24, snapshot.segments.all);
    info.u32(28, snapshot.segments.sacked);
    // The kernel's lost_out counts a lost segment until it is acknowledged, retransmitted or not. What
    // is retransmitted outside of a recovery is a probe, and not lost.
    let resent_as_lost = match snapshot.recovery {
        RecoveryState::Fast | RecoveryState::Timeout => snapshot.segments.retransmitted,
        RecoveryState::None | RecoveryState::Doubtful | RecoveryState::Notified => 0,
    };
    info.u32(32, snapshot.segments.lost + resent_as_lost);
    info.u32(36, snapshot.segments.retransmitted);
    info.u32(64, snapshot.rcv_wnd.get() as u32);
    info.u32(68, snapshot.srtt.map_or(0, micros));
    info.u32(72, snapshot.rttvar.map_or(0, micros));
    let ssthresh = snapshot.ssthresh;
    info.u32(76, if ssthresh == Bytes::MAX { NO_SSTHRESH } else { segments(ssthresh) });
    info.u32(80, segments(snapshot.reduced_so_far.unwrap_or(snapshot.cwnd)));
    let stamps = if agreed.timestamps { 12 } else { 0 };
    info.u32(84, snapshot.announced_mss.get().saturating_sub(stamps) as u32);
    // In segments from the overtaken one on, as tcp_check_sack_reordering counts them.
    let degree = (snapshot.overtaken_by > Bytes::ZERO)
        .then(|| segments(snapshot.overtaken_by + Bytes(smss - 1)) + 1);
    info.u32(88, snapshot.duplicate_threshold.max(degree.unwrap_or(0)));
    info.u32(148, snapshot.min_rtt.map_or(u32::MAX, micros));
    info.u32(228, snapshot.snd_wnd.get() as u32);
    info.u32(232, snapshot.rcv_wnd.get() as u32);
}

/// Milliseconds since things last happened; data that has never come or gone, since the connection
/// stands, as the kernel's lrcvtime and lsndtime begin then.
fn times(info: &mut Info, link: &Link, now: Time) {
    let since = |at: Option<Time>| {
        at.or(link.tally.established_at).map_or(0, |at| (now - at).as_millis() as u32)
    };
    info.u32(44, since(link.tally.data_sent_at));
    info.u32(52, since(link.tally.data_came_at));
    info.u32(56, since(link.tally.ack_came_at));
}

fn totals(info: &mut Info, link: &Link, (snapshot, now): (&Snapshot, Time)) {
    let (tally, stats) = (&link.tally, link.connection.stats());
    let resent = stats.retransmitted_segments;
    info.u32(100, resent as u32);
    info.u64(104, pacing_rate(snapshot));
    info.u64(112, u64::MAX);
    // The kernel counts sequence numbers, so an active opener's SYN too.
    let own_syn = u64::from(link.connection.id().side == Side::Client);
    info.u64(120, link.connection.bytes_acked() + own_syn);
    info.u64(128, link.connection.bytes_received());
    info.u32(136, tally.segments_out);
    info.u32(140, tally.segments_in);
    info.u32(144, link.unsent() as u32);
    info.u32(152, tally.data_segments_in);
    info.u32(156, tally.data_segments_out);
    info.u64(168, tally.busy_for(now).as_nanos() / 1_000);
    info.u64(176, tally.window_limited_for(now).as_nanos() / 1_000);
    info.u64(200, tally.data_bytes_out);
    info.u64(208, tally.data_bytes_out.saturating_sub(link.highest_sent()));
}

fn micros(span: Span) -> u32 {
    (span.as_nanos() / 1_000).min(u64::from(u32::MAX)) as u32
}

/// Linux's numbers of states (net/tcp_states.h). A socket whose connection is in TIME-WAIT is closed
/// to its application.
fn state(state: TcpState) -> u8 {
    match state {
        TcpState::Established => 1,
        TcpState::SynSent => 2,
        TcpState::SynReceived => 3,
        TcpState::FinWait1 => 4,
        TcpState::FinWait2 => 5,
        TcpState::TimeWait | TcpState::Closed => CLOSE,
        TcpState::CloseWait => 8,
        TcpState::LastAck => 9,
        TcpState::Listen => LISTEN,
        TcpState::Closing => 11,
    }
}

/// Linux's enum tcp_ca_state.
fn recovery_code(recovery: RecoveryState) -> u8 {
    match recovery {
        RecoveryState::None => 0,
        RecoveryState::Doubtful => 1,
        RecoveryState::Notified => 2,
        RecoveryState::Fast => 3,
        RecoveryState::Timeout => 4,
    }
}
