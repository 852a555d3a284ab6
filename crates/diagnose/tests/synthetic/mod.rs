//! Captures without a kernel: connections of which no byte is lost or sent twice, as seen at some place
//! on their path, with the truth about their idle time; and downloads over the air, with losses.
//!
//! | file | what |
//! | --- | --- |
//! | `connection.rs` | [`Shape`]: what both ends do; the packets when they were sent |
//! | `stack.rs` | [`Stack`]: identification fields, timestamps, keep-alives |
//! | `view.rs` | [`View`]: where and how the capture was taken |
//! | `download.rs` | [`Download`]: a download through an access point that loses frames |
//! | `radio.rs` | the same as a monitor captures it, in 802.11 frames |
//! | `strategy.rs` | random ones, one dimension at a time or all together |
//!
//! Not modelled: congestion control beyond slow start up to a limit, delayed ACKs, loss, cross traffic.

mod connection;
mod download;
mod radio;
mod stack;
mod strategy;
mod view;

pub(crate) use connection::{Shape, Traffic};
pub(crate) use download::{Direction, Download, Fate, MSS, Offered};
pub(crate) use radio::{OnAir, capture as on_air};
pub(crate) use stack::{Ids, KeepAlive, Stack};
pub(crate) use strategy::{Dimension, captures};
pub(crate) use view::{Copies, Directions, Jump, View};

use ackord_diagnose::Seen;

/// What is true of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    /// Time in which the client, and the server, had nothing to send and owed nothing, s.
    pub(crate) idle_s: [f64; 2],
    /// Time in which only an ACK was under way between transfers of one end, s: idle, or the path's.
    pub(crate) acks_s: f64,
    /// Bytes of payload, from both ends.
    pub(crate) bytes: u64,
    /// Time of the first FIN in the capture, ns since the first packet; the end if there is none.
    pub(crate) closes_s: f64,
}

/// A capture with its truth.
#[derive(Clone, Debug)]
pub(crate) struct Synthetic {
    pub(crate) shape: Shape,
    pub(crate) stack: Stack,
    pub(crate) view: View,
}

impl Synthetic {
    /// Returns the packets of the capture, in the order of the file, and the truth.
    pub(crate) fn capture(&self) -> (Vec<Seen>, Truth) {
        let (mut sent, mut truth) = self.shape.packets();
        self.stack.keep_alive(&self.shape, &mut sent);
        let seen = self.stack.dress(&self.shape, &sent);
        let seen = self.view.take(&self.shape, seen);
        let began = seen.first().map_or(0, |first| first.at.as_nanos());
        let fin = seen.iter().find(|it| it.flags.contains(ackord_wire::Flags::FIN));
        let closes = fin.or(seen.last()).map_or(0, |it| it.at.as_nanos());
        truth.closes_s = closes.saturating_sub(began) as f64 / 1e9;
        (seen, truth)
    }
}
