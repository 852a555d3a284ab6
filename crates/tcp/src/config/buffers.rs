//! What the buffers of both halves hold, at first and at most.

use ackord_units::{Bytes, Knobs};

/// The receive buffer and the send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct Buffers {
    /// What the receiver can hold; bounds the advertised window
    #[knob(name = "receive_buffer", 
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "4 MiB",
        source = "RFC 9293 §3.8.6"
    )]
    pub receive: Bytes,
    /// What the application may have written that is not yet acknowledged
    #[knob(name = "send_buffer", 
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "4 MiB",
        source = "RFC 9293 §3.9.1.2"
    )]
    pub send: Bytes,
    /// Whether the receive buffer begins at receive_buffer_initial and grows to receive_buffer, by
    /// twice what the application reads in a round trip
    #[knob(
        name = "receive_buffer_tuning",
        default = "off",
        source = "Weigle and Feng 2001; Linux's tcp_moderate_rcvbuf"
    )]
    pub tunes_receive: bool,
    /// What a receive buffer that tunes itself holds at first, in bytes of data; at least two units
    /// of the scaled window
    #[knob(name = "receive_buffer_initial", 
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "64 KiB",
        source = "Linux's tcp_rmem[1] of 131072 bytes announces 65535 at first"
    )]
    pub receive_initial: Bytes,
    /// Whether the send buffer begins at send_buffer_initial and grows to send_buffer, to twice
    /// cwnd
    #[knob(
        name = "send_buffer_tuning",
        default = "off",
        source = "Linux's tcp_sndbuf_expand; tcp_wmem in its ip-sysctl documentation"
    )]
    pub tunes_send: bool,
    /// What a send buffer that tunes itself holds at first
    #[knob(name = "send_buffer_initial", 
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "16 KiB",
        source = "Linux's tcp_wmem[1]"
    )]
    pub send_initial: Bytes,
}

impl Buffers {
    /// What the receive buffer holds when the connection begins.
    pub(crate) fn receive_at_first(&self) -> Bytes {
        if !self.tunes_receive {
            return self.receive;
        }
        // Less than a unit cannot be announced. Of two, a window of zero stands for more than half the
        // buffer, and reading that is worth telling.
        let unit = Bytes(1 << self.window_shift());
        self.receive_initial.max(unit * 2).min(self.receive)
    }

    /// The shift that lets the whole receive buffer be announced (RFC 7323 §2.3: at most 14).
    pub(crate) fn window_shift(&self) -> u8 {
        (0..14).find(|shift| self.receive <= Bytes(u64::from(u16::MAX) << shift)).unwrap_or(14)
    }

    /// What the send buffer holds when the connection begins.
    pub(crate) fn send_at_first(&self) -> Bytes {
        if self.tunes_send { self.send_initial.min(self.send) } else { self.send }
    }
}
