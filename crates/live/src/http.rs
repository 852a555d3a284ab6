//! As much of HTTP/1.1 (RFC 9110, RFC 9112) as moving files needs.
//!
//! | file | what |
//! | --- | --- |
//! | `http/request.rs` | what a request's head asks for |
//! | `http/body.rs` | [`BodyDecoder`]: where a body ends |
//! | `http/files.rs` | [`FileStore`]: request targets to files, and never out of the folder |
//! | `http/server.rs` | [`ServerConnection`]: GET, HEAD, PUT, POST on one connection |
//! | `http/client.rs` | [`ClientConnection`]: one GET |
//! | `http/testing.rs` | streams for tests |
//!
//! Not modelled: ranges, conditional requests, content negotiation, redirects, the Date field,
//! trailers (skipped), HTTP/2 and TLS.

mod body;
mod client;
mod files;
mod request;
mod server;
#[cfg(test)]
mod testing;

use crate::host::Stream;
use ackord_units::{Bytes, Rate, Span, Time};

pub(crate) use client::{ClientConnection, Fetched};
pub(crate) use files::FileStore;
pub(crate) use server::ServerConnection;

/// Which way a file went, seen from the HTTP client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server to the client.
    Download,
    /// From the client to the server.
    Upload,
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

/// Bytes on their way into a stream that may not take them all at once.
#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    written: usize,
}

impl Pending {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    /// Hands over what the stream takes and says whether it took something.
    fn flush(&mut self, stream: &mut dyn Stream) -> bool {
        let taken = stream.write(&self.bytes[self.written..]);
        self.written += taken;
        if self.is_empty() {
            self.bytes.clear();
            self.written = 0;
        }
        taken > 0
    }
}
