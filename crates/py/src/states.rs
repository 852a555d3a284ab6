//! The state of flows and links at the present of a run.

use ackord_study::SteppedRun;
use ackord_units::{Bytes, Span};
use pyo3::prelude::*;

/// The state of a connection: of its sending end, and what its receiving end has.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct FlowState {
    /// Its name in the scenario.
    name: String,
    /// State of the sending end (RFC 9293 §3.3.2), in Rust's spelling: `Established`.
    state: String,
    /// Recovery under way: `None`, `Doubtful`, `Notified`, `Fast` or `Timeout`.
    recovery: String,
    /// Congestion window.
    cwnd_bytes: u64,
    /// Slow-start threshold; None while there is none.
    ssthresh_bytes: Option<u64>,
    /// Smoothed round-trip time (RFC 6298), once known.
    srtt_s: Option<f64>,
    /// Its variation (RFC 6298), once known.
    rttvar_s: Option<f64>,
    /// Shortest round trip so far.
    min_rtt_s: Option<f64>,
    /// Retransmission timeout, backed off.
    rto_s: f64,
    /// Bytes sent and not cumulatively acknowledged: FlightSize (RFC 5681).
    flight_bytes: u64,
    /// Bytes believed to be in the network: pipe (RFC 6675).
    pipe_bytes: u64,
    /// Bytes acknowledged so far.
    acked_bytes: u64,
    /// Bytes received in order at the other end so far.
    delivered_bytes: u64,
    /// Bytes written by the application and never sent.
    unsent_bytes: u64,
    /// Window offered by the receiver.
    window_bytes: u64,
    /// Payload of a full-sized segment.
    smss_bytes: u64,
    /// Rate at which segments leave, where the congestion control sets one.
    pacing_rate_bit_s: Option<u64>,
    /// Segments sent with payload, SYN or FIN, retransmissions included.
    sent_segments: u64,
    /// Retransmitted segments.
    retransmitted_segments: u64,
    /// Retransmission timeouts.
    timeouts: u64,
}

impl FlowState {
    /// Copies the present state of a flow that is a connection.
    pub(crate) fn of(run: &SteppedRun, flow: usize) -> FlowState {
        let (sender, receiver) = run.ends(flow);
        let (snapshot, stats) = (sender.snapshot(), sender.stats());
        let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
        let ssthresh = snapshot.ssthresh;
        FlowState {
            name: run.scenario().flows[flow].name.clone(),
            state: format!("{:?}", sender.state()),
            recovery: format!("{:?}", snapshot.recovery),
            cwnd_bytes: snapshot.cwnd.get(),
            ssthresh_bytes: (ssthresh != Bytes::MAX).then(|| ssthresh.get()),
            srtt_s: seconds(snapshot.srtt),
            rttvar_s: seconds(snapshot.rttvar),
            min_rtt_s: seconds(snapshot.min_rtt),
            rto_s: snapshot.rto.as_secs_f64(),
            flight_bytes: sender.flight_size().get(),
            pipe_bytes: sender.pipe().get(),
            acked_bytes: sender.bytes_acked(),
            delivered_bytes: receiver.bytes_received(),
            unsent_bytes: snapshot.unsent.get(),
            window_bytes: snapshot.snd_wnd.get(),
            smss_bytes: snapshot.smss.get(),
            pacing_rate_bit_s: snapshot.pacing_rate.map(|rate| rate.as_bits_per_sec()),
            sent_segments: stats.data_segments_sent,
            retransmitted_segments: stats.retransmitted_segments,
            timeouts: stats.timeouts,
        }
    }
}

#[pymethods]
impl FlowState {
    fn __repr__(&self) -> String {
        let FlowState { name, cwnd_bytes, delivered_bytes, .. } = self;
        format!("<ackord.FlowState {name}: cwnd {cwnd_bytes} B, delivered {delivered_bytes} B>")
    }
}

/// The state of a direction of a link.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct LinkState {
    /// Its name: that of the link, with `.reverse` for the way back.
    name: String,
    /// Present rate.
    rate_bit_s: u64,
    /// Present propagation delay, or the mean where that is drawn.
    delay_s: f64,
    /// Packets in the queue, without the one being transmitted.
    queue_packets: u32,
    /// Bytes of these packets.
    queue_bytes: u64,
    /// Packets whose transmission has begun so far.
    sent_packets: u64,
    /// Bytes of these packets.
    sent_bytes: u64,
    /// Packets that died on this direction so far.
    dropped_packets: u64,
    /// Packets that its queue has marked so far.
    marked_packets: u64,
}

impl From<(String, ackord_study::LinkState)> for LinkState {
    fn from((name, state): (String, ackord_study::LinkState)) -> LinkState {
        LinkState {
            name,
            rate_bit_s: state.rate_bit_s,
            delay_s: state.delay_s,
            queue_packets: state.queue_packets,
            queue_bytes: state.queue_bytes,
            sent_packets: state.sent_packets,
            sent_bytes: state.sent_bytes,
            dropped_packets: state.dropped_packets,
            marked_packets: state.marked_packets,
        }
    }
}

#[pymethods]
impl LinkState {
    fn __repr__(&self) -> String {
        let LinkState { name, queue_packets, queue_bytes, .. } = self;
        format!("<ackord.LinkState {name}: {queue_packets} packets, {queue_bytes} B queued>")
    }
}
