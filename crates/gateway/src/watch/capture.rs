//! Packets of a connection with what the gateway decided about them, as pcapng with comments.
//!
//! The loop tells a tap what passes and what it decides; each packet goes, cut to [`SNAP`] bytes, through
//! a bounded queue to the capture's own thread. What finds no room there is counted, and the next comment
//! says so: a capture never holds up a packet.
//!
//! Not there: link headers, and data beyond the first bytes of a segment.

use super::Shared;
use crate::{Interface, Key};
use ackord_daemon::monotonic_nanos;
use ackord_events::{ProxyAct, ProxySending};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{PacketRecord, PcapngWriter};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Bytes of each packet that are kept: all headers and options, and some data.
const SNAP: usize = 192;
/// Packets that wait for a capture's thread, at most: a megabyte or two.
const WAITING: usize = 4096;
/// A comment of so many bytes is not added to.
const COMMENT: usize = 1024;
/// What a capture file has around a packet and its comment, bytes, about.
const BLOCK: usize = 40;
/// What is written is handed on after so many bytes, about.
const HANDED_ON_AFTER: u64 = 1 << 13;
/// What waits is written to whoever asked after so long at most.
const TURN: Duration = Duration::from_millis(200);

/// What is to be captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRequest {
    /// Of whom.
    pub of: Filter,
    /// For how long.
    #[serde(rename = "for")]
    pub span: Span,
    /// At most so much.
    pub size: Bytes,
}

impl CaptureRequest {
    /// The longest that a capture may take.
    pub const LONGEST: Span = Span::from_secs(3600);
    /// The largest that one may become.
    pub const LARGEST: Bytes = Bytes(1 << 30);

    /// Whether it is within bounds.
    ///
    /// # Errors
    /// What is out of bounds, and what these are.
    pub fn check(&self) -> Result<(), String> {
        if self.span == Span::ZERO || self.span > CaptureRequest::LONGEST {
            let (span, longest) = (self.span, CaptureRequest::LONGEST);
            return Err(format!("a capture takes more than 0 s and at most {longest}, not {span}"));
        }
        if self.size == Bytes::ZERO || self.size > CaptureRequest::LARGEST {
            let (size, largest) = (self.size, CaptureRequest::LARGEST);
            return Err(format!("a capture has more than 0 B and at most {largest}, not {size}"));
        }
        Ok(())
    }
}

/// Whose packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// Those of the connection between these two, in either order.
    Flow(SocketAddr, SocketAddr),
    /// Those of every connection of this mobile host.
    Mobile(IpAddr),
}

impl Filter {
    /// A connection by its ends, as in `192.0.2.7:50000-198.51.100.1:443` or
    /// `[2001:db8::7]:50000-[2001:db8:1::1]:443`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn flow(text: &str) -> Result<Filter, String> {
        let form = "two ends, ADDRESS:PORT-ADDRESS:PORT, an IPv6 address in brackets";
        let (one, other) = text.split_once('-').ok_or_else(|| format!("`{text}` is not {form}"))?;
        let end = |end: &str| {
            let why =
                |error| format!("`{end}` in `{text}` is no end of a connection ({error}): {form}");
            end.trim().parse::<SocketAddr>().map_err(why)
        };
        Ok(Filter::Flow(end(one)?, end(other)?))
    }

    fn takes(self, key: Key) -> bool {
        match self {
            Filter::Flow(one, other) => {
                (key.mobile, key.fixed) == (one, other) || (key.mobile, key.fixed) == (other, one)
            }
            Filter::Mobile(address) => key.mobile.ip() == address,
        }
    }
}

/// What a gateway decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision<'a> {
    /// The data is kept, so that it can be retransmitted.
    Kept,
    /// The data is not kept.
    NotKept(&'a str),
    /// The connection is left alone.
    LeftAlone(&'a str),
    /// The packet was taken out of the path.
    Removed(&'a str),
    /// What was to be sent, and was not.
    Refused(ProxySending, &'a str),
    /// What a box tells of itself.
    Told(ProxyAct),
}

impl Decision<'_> {
    fn words(self) -> Cow<'static, str> {
        match self {
            Decision::Kept => "kept".into(),
            Decision::NotKept(why) => format!("not kept: {why}").into(),
            Decision::LeftAlone(why) => format!("left alone: {why}").into(),
            Decision::Removed(why) => format!("removed: {why}").into(),
            Decision::Refused(what, why) => format!("refused {}: {why}", name(what)).into(),
            Decision::Told(act) => told(act).into(),
        }
    }
}

fn name(what: ProxySending) -> &'static str {
    match what {
        ProxySending::Retransmission => "retransmission",
        ProxySending::Probe => "probe whether the mobile host is back",
        ProxySending::Acknowledgment => "acknowledgment in the name of the mobile host",
        ProxySending::Relay => "relay",
    }
}

fn told(act: ProxyAct) -> &'static str {
    match act {
        ProxyAct::HoldBegan => "held: the mobile host is out of reach",
        ProxyAct::HoldEnded => "hold ended: the mobile host is heard again",
        ProxyAct::HoldWasFalse => "the hold was a mistake: nothing was lost",
        ProxyAct::Evicted => "kept data given up to make room",
    }
}

/// The captures under way; none, as a rule, which costs nothing.
#[derive(Debug, Default)]
pub struct Taps {
    taps: Vec<Tap>,
}

impl Taps {
    /// Takes on what was asked for meanwhile and lets go of what is over: once per turn of the loop.
    pub fn renew(&mut self, shared: &Shared) {
        self.taps.extend(shared.offered());
        self.taps.retain(|tap| tap.listened.strong_count() > 0);
    }

    /// Whether nobody captures anything.
    pub fn are_none(&self) -> bool {
        self.taps.is_empty()
    }

    /// Whether anybody captures this connection: if not, nothing needs to be told.
    pub fn want(&self, key: Key) -> bool {
        self.taps.iter().any(|tap| tap.filter.takes(key))
    }

    /// An IP packet of a connection passed an interface, at this time (nanoseconds since 1970). What is
    /// decided next belongs to it.
    pub fn seen(&mut self, at: Time, key: Key, interface: Interface, ip: &[u8]) {
        self.each(key, |tap| tap.begin(at, interface, ip, None));
    }

    /// An IP packet was injected by an interface.
    pub fn injected(
        &mut self,
        at: Time,
        (key, interface): (Key, Interface),
        ip: &[u8],
        what: ProxySending,
    ) {
        self.each(key, |tap| {
            tap.begin(at, interface, ip, Some(what));
            tap.flush();
        });
    }

    /// Something was decided: about the packet that was seen last, or else told with the next one.
    pub fn decided(&mut self, key: Key, decision: Decision<'_>) {
        self.each(key, |tap| tap.decide(decision));
    }

    /// Nothing more is decided about the packets that were seen.
    pub fn flush(&mut self) {
        for tap in &mut self.taps {
            tap.flush();
        }
    }

    fn each(&mut self, key: Key, mut tell: impl FnMut(&mut Tap)) {
        for tap in &mut self.taps {
            if tap.filter.takes(key) {
                tell(tap);
            }
        }
    }
}

/// A packet with its comment.
#[derive(Debug)]
struct Record {
    at: Time,
    interface: Interface,
    len: u32,
    bytes: Vec<u8>,
    comment: Comment,
}

/// What was decided, in words; the same several times in a row is said once.
#[derive(Debug, Default)]
struct Comment {
    text: String,
    /// Where the last of them begins in it, and how often it was said.
    last: (usize, u32),
}

impl Comment {
    fn add(&mut self, said: &str) {
        let (at, times) = self.last;
        if times > 0 && self.text[at..].strip_suffix(&count(times)).is_some_and(|one| one == said) {
            self.text.truncate(at + said.len());
            self.text.push_str(&count(times + 1));
            self.last.1 = times + 1;
        } else if self.text.len() < COMMENT {
            if !self.text.is_empty() {
                self.text.push_str("; ");
            }
            self.last = (self.text.len(), 1);
            self.text.push_str(said);
        }
    }
}

fn count(times: u32) -> String {
    if times == 1 { String::new() } else { format!(" ({times} times)") }
}

/// The loop's end of a capture.
#[derive(Debug)]
pub(super) struct Tap {
    filter: Filter,
    records: SyncSender<Record>,
    pending: Option<Record>,
    /// Decided without a packet: told with the next one.
    early: Comment,
    missed: u64,
    /// Whether somebody still writes what it tells.
    listened: Weak<()>,
}

impl Tap {
    /// A tap, and where its packets come out.
    pub(super) fn new(filter: Filter) -> (Tap, Tapped) {
        let (records, received) = sync_channel(WAITING);
        let early = Comment::default();
        let listens = Arc::new(());
        let listened = Arc::downgrade(&listens);
        let tap = Tap { filter, records, pending: None, early, missed: 0, listened };
        (tap, Tapped { records: received, _listens: listens })
    }

    fn begin(&mut self, at: Time, interface: Interface, ip: &[u8], made: Option<ProxySending>) {
        self.flush();
        let mut comment = std::mem::take(&mut self.early);
        if self.missed > 0 {
            comment.add(&format!("before this {} packets found no room here", self.missed));
        }
        if let Some(what) = made {
            comment.add(&format!("injected: {}", name(what)));
        }
        let bytes = ip[..ip.len().min(SNAP)].to_vec();
        self.pending = Some(Record { at, interface, len: ip.len() as u32, bytes, comment });
    }

    fn decide(&mut self, decision: Decision<'_>) {
        let comment = match &mut self.pending {
            Some(record) => &mut record.comment,
            None => &mut self.early,
        };
        comment.add(&decision.words());
    }

    fn flush(&mut self) {
        let Some(record) = self.pending.take() else { return };
        match self.records.try_send(record) {
            Ok(()) => self.missed = 0,
            Err(TrySendError::Full(_)) => self.missed += 1,
            // Over; it is let go of in the next turn.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

/// The other end of a capture: what becomes a file.
#[derive(Debug)]
pub(super) struct Tapped {
    records: Receiver<Record>,
    _listens: Arc<()>,
}

impl Tapped {
    /// Writes packets as they come until the time is over, the size is reached, the gateway ends or nobody
    /// reads any more.
    pub(super) fn write_to(self, stream: &UnixStream, request: &CaptureRequest) -> io::Result<()> {
        let mut writer = PcapngWriter::new(stream, "ackord gateway capture")?;
        let wan = writer.add_interface("wan", "towards the fixed hosts")?;
        let lan = writer.add_interface("lan", "towards the mobile hosts")?;
        let end = monotonic_nanos().saturating_add(request.span.as_nanos());
        let (mut bytes, mut handed_on) = (0, 0);
        while bytes < request.size.get() && !is_over(stream) {
            let Some(left) = end.checked_sub(monotonic_nanos()) else { break };
            let record = match self.records.recv_timeout(TURN.min(Duration::from_nanos(left))) {
                Ok(record) => record,
                Err(RecvTimeoutError::Timeout) => {
                    writer.flush()?;
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let interface = match record.interface {
                Interface::Wan => wan,
                Interface::Lan(_) => lan,
            };
            bytes += (record.bytes.len() + record.comment.text.len() + BLOCK) as u64;
            writer.write_packet(&PacketRecord {
                interface,
                at: record.at,
                bytes: &record.bytes,
                original_len: record.len,
                comment: (!record.comment.text.is_empty()).then_some(&record.comment.text),
            })?;
            // Somebody may be looking on.
            if bytes - handed_on >= HANDED_ON_AFTER {
                writer.flush()?;
                handed_on = bytes;
            }
        }
        writer.finish()
    }
}

/// Whether whoever asked has had enough: nothing but the end comes from there.
fn is_over(stream: &UnixStream) -> bool {
    let mut polled = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
    poll(&mut polled, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}
