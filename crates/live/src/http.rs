//! As much of HTTP/1.1 (RFC 9110, RFC 9112) as moving files needs.
//!
//! | file | what |
//! | --- | --- |
//! | `http/request.rs` | what a request's head asks for |
//! | `http/body.rs` | [`BodyDecoder`]: where a body ends |
//! | `http/files.rs` | [`FileStore`]: request targets to files, and never out of the folder |
//! | `http/response.rs` | what a response begins with |
//! | `http/server.rs` | [`ServerConnection`]: GET, HEAD, PUT, POST on one connection |
//! | `http/client.rs` | [`ClientConnection`]: one GET |
//! | `http/transfer.rs` | [`Transfer`]: one body that was moved |
//! | `http/testing.rs` | streams for tests |
//!
//! Not modelled: ranges, conditional requests, content negotiation, redirects, the Date field,
//! trailers (skipped), HTTP/2 and TLS.

mod body;
mod client;
mod files;
mod request;
mod response;
mod server;
#[cfg(test)]
mod testing;
pub(crate) mod transfer;

use crate::host::Stream;

pub(crate) use client::{ClientConnection, Fetched};
pub(crate) use files::FileStore;
pub(crate) use server::ServerConnection;
pub use transfer::{Direction, Transfer};

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
