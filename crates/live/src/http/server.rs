//! One connection of the HTTP server: requests in, files out, uploads in.

use super::body::BodyDecoder;
use super::files::{FileStore, Refused, Resource, Upload};
use super::request::{LONGEST_HEAD, Request};
use super::response::{Response, bad_request, status};
use super::{Direction, Pending, Transfer};
use crate::host::{Service, Stream};
use ackord_units::{Bytes, Time};
use std::fs::File;
use std::io::Read;
use std::rc::Rc;

/// Bytes taken from the stream or a file at a time.
const PIECE: usize = 64 << 10;

/// The server's side of one connection.
#[derive(Debug)]
pub(crate) struct ServerConnection {
    files: Rc<FileStore>,
    inbox: Vec<u8>,
    pending: Pending,
    state: ServerState,
    transfers: Vec<Transfer>,
    /// Downloads whose last byte is written but not acknowledged: index and stream offset.
    unacknowledged: Vec<(usize, u64)>,
}

#[derive(Debug)]
enum ServerState {
    /// A request's head is next.
    Head,
    /// A request's body is arriving.
    Receiving(Receiving),
    /// A response is going out.
    Sending(Sending),
    /// We have closed; what still arrives is thrown away, because a reset in answer to it could
    /// overtake our response (RFC 9112 §9.6).
    Closed,
}

#[derive(Debug)]
struct Receiving {
    body: BodyDecoder,
    upload: Upload,
    transfer: usize,
    keep_alive: bool,
}

#[derive(Debug)]
struct Sending {
    file: Option<FileBody>,
    keep_alive: bool,
}

#[derive(Debug)]
struct FileBody {
    file: File,
    left: u64,
    transfer: usize,
}

impl ServerConnection {
    /// A connection on which nothing has happened yet.
    pub(crate) fn new(files: Rc<FileStore>) -> ServerConnection {
        ServerConnection {
            files,
            inbox: Vec::new(),
            pending: Pending::default(),
            state: ServerState::Head,
            transfers: Vec::new(),
            unacknowledged: Vec::new(),
        }
    }

    /// One step of the connection; says whether anything moved.
    fn step(&mut self, now: Time, stream: &mut dyn Stream) -> bool {
        let flushed = self.pending.flush(stream);
        match std::mem::replace(&mut self.state, ServerState::Closed) {
            ServerState::Head => self.take_request(now, stream) || flushed,
            ServerState::Receiving(receiving) => self.receive(now, receiving, stream) || flushed,
            ServerState::Sending(sending) => self.send(sending, stream) || flushed,
            ServerState::Closed => {
                let thrown_away = stream.read(PIECE, &mut self.inbox);
                self.inbox.clear();
                thrown_away > 0
            }
        }
    }

    fn take_request(&mut self, now: Time, stream: &mut dyn Stream) -> bool {
        let room = (LONGEST_HEAD + 1).saturating_sub(self.inbox.len());
        let read = stream.read(room, &mut self.inbox);
        match Request::take(&mut self.inbox) {
            Ok(Some(request)) => {
                self.begin(now, request);
                true
            }
            Ok(None) if stream.at_end() => {
                // Between requests this is how a client says goodbye.
                stream.close();
                true
            }
            Ok(None) => {
                self.state = ServerState::Head;
                read > 0
            }
            Err(error) => {
                self.say(bad_request(error), false);
                true
            }
        }
    }

    fn begin(&mut self, now: Time, request: Request) {
        match (request.method.as_str(), request.body.is_some()) {
            ("GET" | "HEAD", false) => self.begin_download(now, request),
            ("PUT" | "POST", true) => self.begin_upload(now, request),
            ("PUT" | "POST", false) => self.say("411 Length Required", false),
            ("GET" | "HEAD", true) => self.say("400 Bad Request", false),
            _ => self.say("405 Method Not Allowed", false),
        }
    }

    fn begin_download(&mut self, now: Time, request: Request) {
        let keep_alive = request.keep_alive;
        let found = match self.files.find(&request.target) {
            Ok(found) => found,
            Err(why) => return self.refuse(&request, why),
        };
        let (length, content_type) = match &found {
            Resource::File(_, length) => (*length, "application/octet-stream"),
            Resource::Listing(names) => (names.len() as u64, "text/plain; charset=utf-8"),
        };
        self.pending.push(&Response { status: "200 OK", content_type, length, keep_alive }.head());
        let mut body = None;
        if request.method == "GET" {
            let transfer = self.transfers.len();
            self.transfers.push(Transfer {
                direction: Direction::Download,
                target: request.target,
                bytes: Bytes(length),
                began_at: now,
                ended_at: None,
            });
            match found {
                Resource::File(file, left) => body = Some(FileBody { file, left, transfer }),
                Resource::Listing(names) => {
                    self.pending.push(&names);
                    self.transfers.pop();
                }
            }
        }
        self.state = ServerState::Sending(Sending { file: body, keep_alive });
    }

    fn begin_upload(&mut self, now: Time, request: Request) {
        let upload = match self.files.upload(&request.target) {
            Ok(upload) => upload,
            Err(why) => return self.refuse(&request, why),
        };
        let Some(body) = request.body else { return self.say("411 Length Required", false) };
        if request.expects_continue && self.inbox.is_empty() {
            self.pending.push(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        let transfer = self.transfers.len();
        self.transfers.push(Transfer {
            direction: Direction::Upload,
            target: request.target,
            bytes: Bytes::ZERO,
            began_at: now,
            ended_at: None,
        });
        let keep_alive = request.keep_alive;
        self.state = ServerState::Receiving(Receiving { body, upload, transfer, keep_alive });
    }

    fn receive(&mut self, now: Time, mut receiving: Receiving, stream: &mut dyn Stream) -> bool {
        let read = stream.read(PIECE, &mut self.inbox);
        let mut piece = Vec::new();
        let complete = receiving.body.decode(&mut self.inbox, &mut piece);
        let transfer = &mut self.transfers[receiving.transfer];
        transfer.bytes += Bytes(piece.len() as u64);
        if let Err(why) = receiving.upload.write(&piece) {
            self.say(status(why), false);
            return true;
        }
        match complete {
            Ok(true) => {
                transfer.ended_at = Some(now);
                let answer = match receiving.upload.commit() {
                    Ok(false) => "201 Created",
                    Ok(true) => "200 OK",
                    Err(why) => status(why),
                };
                self.say(answer, receiving.keep_alive);
                true
            }
            Ok(false) if stream.at_end() => {
                self.say("400 Bad Request", false);
                true
            }
            Ok(false) => {
                self.state = ServerState::Receiving(receiving);
                read > 0
            }
            Err(_) => {
                self.say("400 Bad Request", false);
                true
            }
        }
    }

    fn send(&mut self, mut sending: Sending, stream: &mut dyn Stream) -> bool {
        if self.pending.is_empty()
            && let Some(body) = &mut sending.file
            && body.left > 0
        {
            let wanted = body.left.min(PIECE as u64);
            let read = (&mut body.file).take(wanted).read_to_end(&mut self.pending.bytes);
            match read {
                Ok(len) if len > 0 => body.left -= len as u64,
                // The file has become shorter or unreadable: only a reset tells the client that
                // this is not its end.
                _ => {
                    stream.abort();
                    return true;
                }
            }
        }
        let moved = self.pending.flush(stream);
        let body_left = sending.file.as_ref().map_or(0, |body| body.left);
        if body_left > 0 || !self.pending.is_empty() {
            self.state = ServerState::Sending(sending);
            return moved;
        }
        if let Some(body) = sending.file {
            self.unacknowledged.push((body.transfer, stream.written()));
        }
        if sending.keep_alive {
            self.state = ServerState::Head;
        } else {
            stream.close();
        }
        true
    }

    fn refuse(&mut self, request: &Request, why: Refused) {
        // A body that nobody wants may still be on its way: closing is how to be rid of it.
        let keep_alive = request.keep_alive && request.body.is_none();
        self.answer(status(why), request.method != "HEAD", keep_alive);
    }

    /// A response that consists of its status.
    fn say(&mut self, status: &str, keep_alive: bool) {
        self.answer(status, true, keep_alive);
    }

    fn answer(&mut self, status: &str, with_body: bool, keep_alive: bool) {
        let length = status.len() as u64 + 1;
        let response = Response { status, content_type: "text/plain", length, keep_alive };
        self.pending.push(&response.head());
        if with_body {
            self.pending.push(status.as_bytes());
            self.pending.push(b"\n");
        }
        self.state = ServerState::Sending(Sending { file: None, keep_alive });
    }
}

impl Service for ServerConnection {
    fn advance(&mut self, now: Time, stream: &mut dyn Stream) {
        while self.step(now, stream) {}
        let acked = stream.acked();
        self.unacknowledged.retain(|(transfer, end)| {
            let done = *end <= acked;
            if done {
                self.transfers[*transfer].ended_at = Some(now);
            }
            !done
        });
    }

    fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scripted;
    use super::*;
    use std::fs;

    fn serve(setup: impl FnOnce(&std::path::Path), script: &[u8]) -> (String, Scripted) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        setup(folder.path());
        let files = Rc::new(FileStore::open(folder.path()).expect("a folder"));
        let mut stream = Scripted::default();
        let mut connection = ServerConnection::new(files);
        for (i, byte) in script.iter().enumerate() {
            stream.incoming.push(*byte);
            stream.finished = i + 1 == script.len();
            connection.advance(Time::from_nanos(i as u64), &mut stream);
        }
        let said = String::from_utf8_lossy(&stream.outgoing).into_owned();
        (said, stream)
    }

    #[test]
    fn two_requests_on_one_connection_get_two_responses() {
        let script = b"GET /a HTTP/1.1\r\n\r\nHEAD /a HTTP/1.1\r\nConnection: close\r\n\r\n";
        let (said, stream) = serve(|root| fs::write(root.join("a"), "xyz").expect("ok"), script);
        assert_eq!(said.matches("HTTP/1.1 200 OK").count(), 2, "{said}");
        assert_eq!(said.matches("Content-Length: 3").count(), 2, "{said}");
        assert_eq!(said.matches("xyz").count(), 1, "{said}");
        assert!(stream.closed && !stream.aborted);
    }

    #[test]
    fn what_head_does_not_find_has_no_body_that_the_next_response_could_begin_with() {
        let script = b"HEAD /none HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\nConnection: close\r\n\r\n";
        let (said, _) = serve(|root| fs::write(root.join("a"), "xyz").expect("ok"), script);
        let (first, second) = said.split_once("\r\n\r\n").expect("two heads");
        assert!(first.starts_with("HTTP/1.1 404"), "{said}");
        assert!(second.starts_with("HTTP/1.1 200"), "{said}");
    }

    #[test]
    fn an_upload_that_asks_first_is_told_to_go_on_and_stored() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = Rc::new(FileStore::open(folder.path()).expect("a folder"));
        let mut connection = ServerConnection::new(files);
        let mut stream = Scripted::default();
        stream.incoming.extend_from_slice(
            b"PUT /up HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
        );
        connection.advance(Time::ZERO, &mut stream);
        assert_eq!(stream.outgoing, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.incoming.extend_from_slice(b"hello");
        connection.advance(Time::from_nanos(9), &mut stream);
        let said = String::from_utf8_lossy(&stream.outgoing).into_owned();
        assert!(said.contains("HTTP/1.1 201 Created"), "{said}");
        assert_eq!(fs::read(folder.path().join("up")).expect("stored"), b"hello");
        let [transfer] = connection.transfers() else { panic!("one transfer") };
        assert_eq!((transfer.bytes, transfer.ended_at), (Bytes(5), Some(Time::from_nanos(9))));
    }

    #[test]
    fn an_upload_that_breaks_off_is_not_stored() {
        let script = b"POST /up HTTP/1.1\r\nContent-Length: 50\r\n\r\nhello";
        let (said, _) = serve(|_| {}, script);
        assert!(said.starts_with("HTTP/1.1 400"), "{said}");
    }

    #[test]
    fn what_cannot_be_answered_is_refused_and_the_connection_closed() {
        for (script, status) in [
            (&b"GET /none HTTP/1.1\r\nConnection: close\r\n\r\n"[..], "404"),
            (b"GET /../x HTTP/1.1\r\n\r\n", "403"),
            (b"DELETE /a HTTP/1.1\r\n\r\n", "405"),
            (b"PUT /a HTTP/1.1\r\n\r\n", "411"),
            (b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "409"),
            (b"PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
            (b"nonsense\r\n\r\n", "400"),
        ] {
            let (said, stream) = serve(|_| {}, script);
            assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{status}: {said}");
            assert_eq!(said.matches("HTTP/1.1").count(), 1, "{said}");
            assert!(stream.closed && !stream.aborted, "{status}");
        }
    }

    #[test]
    fn a_slow_stream_gets_the_whole_file_and_it_ends_when_the_last_byte_is_acknowledged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let content: Vec<u8> = (0..200_000_u32).map(|i| (i % 253) as u8).collect();
        fs::write(folder.path().join("big"), &content).expect("ok");
        let files = Rc::new(FileStore::open(folder.path()).expect("a folder"));
        let mut connection = ServerConnection::new(files);
        let mut stream = Scripted { room: Some(0), ..Scripted::default() };
        stream.incoming.extend_from_slice(b"GET /big HTTP/1.1\r\n\r\n");
        let mut now = Time::ZERO;
        while stream.outgoing.len() < content.len() + 100 {
            now += ackord_units::Span::from_millis(1);
            stream.room = Some(1_001);
            let before = stream.outgoing.len();
            connection.advance(now, &mut stream);
            if stream.outgoing.len() == before {
                break;
            }
        }
        assert!(stream.outgoing.ends_with(&content));
        assert_eq!(connection.transfers()[0].ended_at, None, "nothing is acknowledged yet");
        stream.acked = stream.outgoing.len() as u64;
        connection.advance(now, &mut stream);
        assert_eq!(connection.transfers()[0].ended_at, Some(now));
        assert_eq!(connection.transfers()[0].bytes, Bytes(200_000));
    }
}
