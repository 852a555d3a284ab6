//! Recovery over one hop: what a box at a wireless link knows of one connection's data towards the
//! mobile host, what it takes for lost there, and when it sends it again.
//!
//! ```text
//! data ──► on_data: cached ──► the mobile
//!                                  │
//! sender ◄── on_ack: News, Recovered, Unrecovered .. ◄── acknowledgment
//!                └► lost? ─► retransmitted
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`LocalRecovery`]: one connection |
//! | `lost.rs` | what is lost, by duplicates alone or by what was delivered |
//! | `delivered.rs` | the latest sendings that have arrived |
//! | `round_trip.rs` | [`WirelessRoundTrip`]: how long an acknowledgment takes from here |
//!
//! The wireless link delivers in the order in which it is given packets, so what went before something
//! that has arrived, and has not arrived itself, is lost: there is no need to wait for three
//! duplicates. (A local retransmission may go ahead of the link's queue. Its arrival says nothing of
//! what waits there.) [`Inference::Deliveries`] applies that to every cached segment (RFC 8985's idea with
//! no reordering window); [`Inference::Duplicates`] is what Balakrishnan et al. 1995 describe.
//!
//! The scripts of its tests are those of the boxes.
//!
//! Not modelled: recovery of what the mobile host sends; a FIN without data is not cached.

mod delivered;
mod knobs;
mod lost;
mod round_trip;

use super::flows::Kept;
use super::{Cached, Lane, MobileAck, Observed, Outbox, SegmentCache};
use ackord_events::ProxySending;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Packet, Segment};
use delivered::Delivered;

pub(super) use knobs::LocalKnobs;
pub use round_trip::WirelessRoundTrip;

/// How a box recovers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalRecoveryConfig {
    /// Data kept of one connection.
    pub cache: Bytes,
    /// Duplicate acknowledgments that mean a loss, where nothing else tells.
    pub dupacks: u32,
    /// The local timer is never shorter.
    pub timer_min: Span,
    /// The local timer is never longer, and this long before the first measured round trip.
    pub timer_max: Span,
    /// After the local timer has sent a segment again in vain: from one try to the next.
    pub persist: Span,
    /// How often a segment is retransmitted because acknowledgments ask for it.
    pub tries: u32,
    /// What counts as lost.
    pub inference: Inference,
    /// How what acknowledgments ask for is retransmitted.
    pub lane: Lane,
}

/// From what a box concludes that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inference {
    /// From duplicate acknowledgments, for the first missing segment.
    Duplicates,
    /// From the delivery of something sent later, for every segment.
    Deliveries,
}

/// What became of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is kept.
    Kept,
    /// There was no room for it.
    NoRoom,
    /// The mobile host has acknowledged all of it before.
    HadAlready,
    /// It is no data, or no part of the stream as far as it is known.
    Foreign,
}

/// What an acknowledgment from the mobile host means to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It acknowledges more than was acknowledged before, or carries data or another window.
    News,
    /// It asks for a segment that the box has retransmitted, and has not given up.
    Recovered,
    /// It asks for a segment that the sender has to send.
    Unrecovered,
    /// It is older than another that came before it.
    Old,
    /// It has nothing to do with losses.
    Other,
}

/// One connection's data between the box and the mobile host.
#[derive(Clone, Debug)]
pub struct LocalRecovery {
    config: LocalRecoveryConfig,
    seen: Observed,
    cache: SegmentCache,
    round_trip: WirelessRoundTrip,
    /// Duplicate acknowledgments for the first missing segment.
    duplicates: u32,
    /// How many more will come although it has been retransmitted.
    expected: u32,
    /// Duplicates that local retransmissions cause which were not needed, and until when they may
    /// come.
    echoes: u32,
    echoes_until: Time,
    /// What passed after this may cause duplicates for the first missing segment.
    since: Time,
    /// The latest sending of anything known to have arrived, and what that was: of what waited in
    /// the link's queue, and of what went ahead of it.
    delivered: Delivered,
    /// The mobile host has reported something above the first missing segment; nothing is known of
    /// what lies behind this.
    reported_up_to: Option<Seq>,
    /// Whether segments are lost that were too many to send at once.
    has_backlog: bool,
    /// The sender has itself retransmitted what lies below.
    by_sender_up_to: Option<Seq>,
    /// What the mobile last acknowledged anew, the sender had retransmitted.
    answers_sender: bool,
    /// When the mobile last acknowledged something new.
    progress_at: Time,
    /// The end of the stream, once the sender has sent its FIN.
    fin_end: Option<Seq>,
}

/// Local retransmissions at one instant, so that an outage does not end in a burst that the link's
/// queue has no room for. RFC 6928's initial window; every acknowledgment lets as many more go.
const MOST_AT_ONCE: usize = 10;

/// Sequence numbers further ahead than any window are not the stream's (RFC 7323 §2.3).
const LARGEST_WINDOW: u32 = 1 << 30;

impl Kept for LocalRecovery {
    fn deadline(&self) -> Option<Time> {
        // Where the first missing segment is not cached, it is the sender's to recover.
        let first = self.first_missing(self.seen.una()?)?;
        Some(if first.resent == 0 {
            first.sent_at.max(self.progress_at) + self.timeout()
        } else {
            first.sent_at + self.timeout().max(self.config.persist)
        })
    }
}

impl LocalRecovery {
    /// A connection of which nothing has passed.
    pub fn new(config: LocalRecoveryConfig) -> LocalRecovery {
        LocalRecovery {
            config,
            seen: Observed::default(),
            cache: SegmentCache::new(config.cache),
            round_trip: WirelessRoundTrip::default(),
            duplicates: 0,
            expected: 0,
            echoes: 0,
            echoes_until: Time::ZERO,
            since: Time::ZERO,
            delivered: Delivered::default(),
            reported_up_to: None,
            has_backlog: false,
            by_sender_up_to: None,
            answers_sender: false,
            progress_at: Time::ZERO,
            fin_end: None,
        }
    }

    /// What is known of the connection.
    pub fn seen(&self) -> &Observed {
        &self.seen
    }

    /// What is kept of it.
    pub fn cache(&self) -> &SegmentCache {
        &self.cache
    }

    /// The local timer now.
    pub fn timeout(&self) -> Span {
        let (min, max) = (self.config.timer_min, self.config.timer_max);
        self.round_trip.timeout().map_or(max, |timeout| timeout.max(min).min(max))
    }

    /// Local retransmissions known to have been needless, whose duplicates have not come yet.
    pub fn needless(&self) -> u32 {
        self.echoes
    }

    /// Whether the newest progress of the mobile host came while the sender was recovering itself.
    pub fn answers_sender(&self) -> bool {
        self.answers_sender
    }

    /// Whether the sender has ended its stream and the mobile host has acknowledged all of it.
    pub fn is_over(&self) -> bool {
        let una = self.seen.una();
        let acknowledged = |end: Seq| una.is_some_and(|una| una.at_or_after(end));
        self.seen.is_reset() || self.fin_end.is_some_and(acknowledged)
    }

    /// Something goes to the mobile host.
    pub fn on_data(&mut self, now: Time, packet: &Packet) -> Stored {
        let Some(segment) = &packet.tcp else { return Stored::Foreign };
        if let Some(una) = self.seen.una() {
            let ahead = una.before(segment.seq) && segment.seq.since(una) > LARGEST_WINDOW;
            if ahead || segment.seq_len() > LARGEST_WINDOW {
                return Stored::Foreign;
            }
            let acknowledged = self.seen.is_una_known() && segment.end_seq().at_or_before(una);
            if segment.payload_len > 0 && acknowledged {
                return Stored::HadAlready;
            }
        }
        let sent_up_to = self.seen.sent_up_to();
        self.seen.on_to_mobile(segment);
        if segment.flags.contains(Flags::FIN) {
            self.fin_end = Some(segment.end_seq());
        }
        if segment.payload_len == 0 {
            return Stored::Foreign;
        }
        // Sent before, or overtaken by what is sent before it: either way the sender, or the path
        // to here, is at it, and the sender wants to see what comes back.
        if sent_up_to.is_some_and(|known| segment.seq.before(known)) {
            let end = segment.end_seq();
            self.by_sender_up_to = Some(self.by_sender_up_to.map_or(end, |known| known.max(end)));
        }
        if self.cache.insert(now, packet) { Stored::Kept } else { Stored::NoRoom }
    }

    /// A packet that went on towards the mobile host found no room in the queue of the link:
    /// congestion, which is the sender's to recover. Answers how much is not kept any longer.
    pub fn on_refused(&mut self, packet: &Packet) -> Bytes {
        packet.tcp.as_ref().map_or(Bytes::ZERO, |segment| self.cache.remove(segment.seq))
    }

    /// Something comes from the mobile host. Retransmits what it shows to be lost.
    pub fn on_ack(&mut self, now: Time, packet: &Packet, out: &mut Outbox) -> Answer {
        let Some(segment) = packet.tcp else { return Answer::Other };
        let acknowledges =
            segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::RST);
        // Of what never passed here nothing can be said (RFC 9293 §3.10.7.4: an ACK of something
        // not sent yet).
        let beyond = self.seen.sent_up_to().is_none_or(|sent| segment.ack.after(sent));
        if acknowledges && beyond {
            return Answer::Other;
        }
        match self.seen.on_from_mobile(now, packet) {
            MobileAck::New(_) => {
                self.on_progress(now, &segment);
                self.mark_sacked(now, &segment);
                self.recover(now, &segment, out);
                Answer::News
            }
            MobileAck::Duplicate(_) => self.on_asked(now, &segment, Asks::Duplicate, out),
            MobileAck::Same => match self.on_asked(now, &segment, Asks::ByBlocksOnly, out) {
                Answer::Recovered => Answer::News,
                answer => answer,
            },
            MobileAck::Old => Answer::Old,
            MobileAck::None => Answer::Other,
        }
    }

    /// The local timer has expired, if it is time: the first missing segment goes again. Answers
    /// what that was.
    pub fn handle_deadline(&mut self, now: Time, out: &mut Outbox) -> Option<ProxySending> {
        if self.deadline().is_none_or(|at| at > now) {
            return None;
        }
        // What was expected has not come in time: counting begins anew.
        (self.duplicates, self.expected, self.echoes) = (0, 0, 0);
        let first = self.cache.first_mut()?;
        // Once more after it was retransmitted in vain is to find out whether anybody listens.
        let what = match first.resent {
            0 => ProxySending::Retransmission,
            _ => ProxySending::Probe,
        };
        first.resent += 1;
        // In its turn: when it arrives, everything that went before it should have.
        (first.sent_at, first.lane) = (now, Lane::Queue);
        out.send(again(&first.packet), what);
        Some(what)
    }

    /// The first missing segment, if it is cached.
    pub fn missing(&self) -> Option<&Cached> {
        self.first_missing(self.seen.una()?)
    }

    /// Whether the first missing segment is the box's to recover, so that the sender need not know
    /// what has arrived above it.
    pub fn recovers_first_missing(&self) -> bool {
        let Some(una) = self.seen.una() else { return false };
        let first = self.first_missing(una);
        first.is_some_and(|first| !self.is_senders(first.segment()) && !self.is_given_up(first))
    }

    fn is_senders(&self, segment: &Segment) -> bool {
        self.by_sender_up_to.is_some_and(|up_to| segment.seq.before(up_to))
    }
}

/// How an acknowledgment that acknowledges nothing new may ask for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// It is a duplicate acknowledgment.
    Duplicate,
    /// It is none (data, another window), but it may carry SACK blocks.
    ByBlocksOnly,
}

/// A cached packet, to be retransmitted.
fn again(packet: &Packet) -> Packet {
    // RFC 3168 §6.1.5: retransmitted data is not ECN-capable. A mark it has already stays, because
    // the original that carried it is lost.
    let ecn = if packet.ecn == Ecn::Ce { Ecn::Ce } else { Ecn::NotEct };
    Packet { ecn, ..*packet }
}
