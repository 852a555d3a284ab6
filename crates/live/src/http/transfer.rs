//! A body that was moved.

use ackord_units::{Bytes, Rate, Span, Time};

/// Which way data goes, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server to the client.
    Download,
    /// From the client to the server.
    Upload,
}

impl Direction {
    /// Both.
    pub const ALL: &[Direction] = &[Direction::Download, Direction::Upload];

    /// As a user writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Download => "download",
            Direction::Upload => "upload",
        }
    }

    /// The other way.
    #[must_use]
    pub fn other(self) -> Direction {
        match self {
            Direction::Download => Direction::Upload,
            Direction::Upload => Direction::Download,
        }
    }
}

/// One body that was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which way.
    pub direction: Direction,
    /// What the request asked for.
    pub target: String,
    /// Bytes of body: those to be sent, or those received so far.
    pub bytes: Bytes,
    /// When the request had come in, or gone out, since the start of the run.
    pub began_at: Time,
    /// When the last byte had arrived: for what we send, when it was acknowledged; nothing if it
    /// never did.
    pub ended_at: Option<Time>,
}

impl Transfer {
    /// How long it took; nothing if it was never finished.
    pub fn took(&self) -> Option<Span> {
        self.ended_at.map(|end| end.saturating_since(self.began_at))
    }

    /// Bytes of body over the time they took; nothing if it was never finished.
    pub fn goodput(&self) -> Option<Rate> {
        self.took().map(|took| self.bytes.over(took))
    }
}
