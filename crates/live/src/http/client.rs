//! One GET: a request out, a file in.

use super::body::BodyDecoder;
use super::request::{LONGEST_HEAD, content_length, is_chunked};
use super::{Direction, Pending, Transfer};
use crate::host::{Service, Stream};
use ackord_units::{Bytes, Time};
use std::cell::RefCell;
use std::fmt;
use std::io::Write;
use std::rc::Rc;

/// Bytes taken from the stream at a time.
const PIECE: usize = 64 << 10;

/// What came of a GET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// Nothing yet.
    Waiting,
    /// The whole body has been written out.
    Complete,
    /// The server answered with something else than 200.
    Status(u16),
    /// The answer is not HTTP.
    Malformed,
    /// The connection ended before the body did.
    BrokenOff,
    /// The body could not be written out.
    Output(String),
}

/// The client's side of one connection.
pub(crate) struct ClientConnection {
    target: String,
    request: Pending,
    inbox: Vec<u8>,
    output: Box<dyn Write>,
    state: ClientState,
    transfers: Vec<Transfer>,
    outcome: Rc<RefCell<Fetched>>,
}

#[derive(Debug)]
enum ClientState {
    /// The response's head is next.
    Head,
    /// The body is arriving.
    Body(BodyDecoder),
    /// All is over.
    Done,
}

impl ClientConnection {
    /// Gets `target` of `host` and writes its body to `output`; `outcome` says how it went.
    pub(crate) fn new(
        host: &str,
        target: &str,
        output: Box<dyn Write>,
        outcome: Rc<RefCell<Fetched>>,
    ) -> ClientConnection {
        let mut request = Pending::default();
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: ackord\r\nAccept: */*\r\n\
             Connection: close\r\n\r\n"
        );
        request.push(head.as_bytes());
        ClientConnection {
            target: target.to_owned(),
            request,
            inbox: Vec::new(),
            output,
            state: ClientState::Head,
            transfers: Vec::new(),
            outcome,
        }
    }

    fn step(&mut self, now: Time, stream: &mut dyn Stream) -> bool {
        if self.request.flush(stream) && self.transfers.is_empty() {
            self.transfers.push(Transfer {
                direction: Direction::Download,
                target: self.target.clone(),
                bytes: Bytes::ZERO,
                began_at: now,
                ended_at: None,
            });
        }
        let read = stream.read(PIECE, &mut self.inbox);
        let arrived = self.inbox.len();
        let result = match &mut self.state {
            ClientState::Head => self.take_head(),
            ClientState::Body(_) => self.take_body(now),
            ClientState::Done => {
                self.inbox.clear();
                Ok(())
            }
        };
        if let Err(why) = result {
            self.end(why, stream);
        }
        if matches!(self.state, ClientState::Done) {
            if *self.outcome.borrow() == Fetched::Complete {
                stream.close();
            }
        } else if stream.at_end() && read == 0 && self.ends_too_early(now, stream) {
            return false;
        }
        // A head and the beginning of its body arrive together: what was used leaves something to
        // look at.
        read > 0 || (self.inbox.len() < arrived && !self.inbox.is_empty())
    }

    /// The server has closed: is that the end of the body, or too early?
    fn ends_too_early(&mut self, now: Time, stream: &mut dyn Stream) -> bool {
        let complete = matches!(&self.state, ClientState::Body(body) if body.may_end_here());
        let how = if complete { self.complete(now) } else { Err(Fetched::BrokenOff) };
        if let Err(why) = how {
            self.end(why, stream);
        }
        stream.close();
        true
    }

    fn take_head(&mut self) -> Result<(), Fetched> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; 100];
            let mut head = httparse::Response::new(&mut fields);
            let len = match head.parse(&self.inbox) {
                Ok(httparse::Status::Complete(len)) => len,
                Ok(httparse::Status::Partial) if self.inbox.len() <= LONGEST_HEAD => return Ok(()),
                _ => return Err(Fetched::Malformed),
            };
            let status = head.code.ok_or(Fetched::Malformed)?;
            let malformed = |_| Fetched::Malformed;
            let body = if is_chunked(head.headers).map_err(malformed)? {
                BodyDecoder::chunked()
            } else {
                let length = content_length(head.headers).map_err(malformed)?;
                length.map_or_else(BodyDecoder::until_close, BodyDecoder::counted)
            };
            self.inbox.drain(..len);
            match status {
                // Interim responses come before the one that counts.
                100..=199 => {}
                200 => {
                    self.state = ClientState::Body(body);
                    return Ok(());
                }
                status => return Err(Fetched::Status(status)),
            }
        }
    }

    fn take_body(&mut self, now: Time) -> Result<(), Fetched> {
        let ClientState::Body(body) = &mut self.state else { return Ok(()) };
        let mut piece = Vec::new();
        let complete = body.decode(&mut self.inbox, &mut piece).map_err(|_| Fetched::Malformed)?;
        self.output.write_all(&piece).map_err(|error| Fetched::Output(error.to_string()))?;
        if let Some(transfer) = self.transfers.first_mut() {
            transfer.bytes += Bytes(piece.len() as u64);
        }
        if complete { self.complete(now) } else { Ok(()) }
    }

    fn complete(&mut self, now: Time) -> Result<(), Fetched> {
        self.output.flush().map_err(|error| Fetched::Output(error.to_string()))?;
        if let Some(transfer) = self.transfers.first_mut() {
            transfer.ended_at = Some(now);
        }
        self.state = ClientState::Done;
        *self.outcome.borrow_mut() = Fetched::Complete;
        Ok(())
    }

    fn end(&mut self, why: Fetched, stream: &mut dyn Stream) {
        *self.outcome.borrow_mut() = why;
        self.state = ClientState::Done;
        stream.abort();
    }
}

impl Service for ClientConnection {
    fn advance(&mut self, now: Time, stream: &mut dyn Stream) {
        while self.step(now, stream) {}
    }

    fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }
}

impl fmt::Debug for ClientConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConnection").field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Scripted, SharedOutput};
    use super::*;

    /// Feeds a response byte by byte, then closes.
    fn fetch(response: &[u8]) -> (Fetched, Vec<u8>) {
        let outcome = Rc::new(RefCell::new(Fetched::Waiting));
        let output = SharedOutput::default();
        let mut stream = Scripted::default();
        let mut client =
            ClientConnection::new("10.77.0.1", "/f", Box::new(output.clone()), Rc::clone(&outcome));
        client.advance(Time::ZERO, &mut stream);
        assert!(stream.outgoing.starts_with(b"GET /f HTTP/1.1\r\nHost: 10.77.0.1\r\n"));
        for byte in response {
            stream.incoming.push(*byte);
            client.advance(Time::ZERO, &mut stream);
        }
        stream.finished = true;
        client.advance(Time::ZERO, &mut stream);
        let outcome = outcome.borrow().clone();
        (outcome, output.take())
    }

    #[test]
    fn bodies_arrive_however_they_are_framed() {
        for response in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..],
            b"HTTP/1.0 200 OK\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ] {
            assert_eq!(fetch(response), (Fetched::Complete, b"hello".to_vec()));
        }
        let empty = fetch(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(empty, (Fetched::Complete, Vec::new()));
    }

    #[test]
    fn other_answers_are_told_apart() {
        for (response, outcome) in [
            (&b"HTTP/1.1 404 Not Found\r\n\r\n"[..], Fetched::Status(404)),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Fetched::BrokenOff),
            (b"HTTP/1.1 200 OK\r\n", Fetched::BrokenOff),
            (b"SSH-2.0-OpenSSH\r\n", Fetched::Malformed),
            (b"", Fetched::BrokenOff),
        ] {
            assert_eq!(fetch(response).0, outcome);
        }
    }
}
