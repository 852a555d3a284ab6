//! One connection of an M-TCP supervisor host.

use super::MTcpConfig;
use crate::proxy::flows::Kept;
use crate::proxy::recovery::{Answer, LocalRecovery, Stored};
use crate::proxy::{Outbox, ProxyStats, Verdict};
use ackord_events::{ProxyAct, ProxySending};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Flags, FlowId, Packet, SackBlocks, Segment};

/// What is known of a connection, and what its sender has been told.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    recovery: LocalRecovery,
    silent_for: Option<Span>,
    release_after: Span,
    /// The first byte of data seen: nothing before it is held back.
    base: Option<Seq>,
    /// What the sender has been told last.
    told: Option<Told>,
    /// When the held-back byte is acknowledged for want of anything else to say.
    release_at: Option<Time>,
    /// Since when the mobile host owes an answer, if it does: since it was heard, or since the
    /// first missing segment went.
    owes_since: Option<Time>,
    reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    ack: Seq,
    window: u16,
}

/// Whether the mobile host can be reached, as far as one can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Here,
    /// It has been taken for gone since then.
    Gone(Time),
}

/// A receiver may keep the acknowledgment of a single segment to itself for so long (RFC 1122
/// §4.2.3.2), and not of a second one.
const LONGEST_DELAYED_ACK: Span = Span::from_millis(500);

impl Kept for Flow {
    fn deadline(&self) -> Option<Time> {
        [self.recovery.deadline(), self.released_at(), self.gone_at()].into_iter().flatten().min()
    }
}

impl Flow {
    pub(super) fn new(config: MTcpConfig) -> Flow {
        Flow {
            recovery: LocalRecovery::new(config.recovery),
            silent_for: config.silent_for,
            release_after: config.release_after,
            base: None,
            told: None,
            release_at: None,
            owes_since: None,
            reach: Reach::Here,
        }
    }

    pub(super) fn cached(&self) -> Bytes {
        self.recovery.cache().bytes()
    }

    pub(super) fn is_over(&self) -> bool {
        self.recovery.is_over()
    }

    pub(super) fn on_refused(&mut self, packet: &Packet) -> Bytes {
        self.recovery.on_refused(packet)
    }

    /// Something goes to the mobile host.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) -> Verdict {
        let sent_up_to = self.recovery.seen().sent_up_to();
        let owed_nothing = self.recovery.missing().is_none();
        let stored = self.recovery.on_data(now, packet);
        if segment.payload_len > 0 {
            self.base.get_or_insert(segment.seq);
        }
        // What the link's queue refused, or what passed uncached, is between it and the sender.
        if self.recovery.missing().is_some() && owed_nothing {
            self.owes_since = Some(now);
        }
        let again = sent_up_to.is_some_and(|known| segment.end_seq().at_or_before(known));
        match stored {
            // The sender sends the byte again that was held back; or the acknowledgment of the
            // rest was lost. Other probes are for the mobile host to answer.
            Stored::HadAlready if segment.payload_len > 1 || self.holds_back(segment.seq) => {
                self.tell(None, stats, out);
                Verdict::Absorb
            }
            Stored::NoRoom => {
                stats.uncached += Bytes(u64::from(segment.payload_len));
                Verdict::Forward
            }
            // RFC 9293 §3.8.6.1: a receiver answers probes of its window. Data that is new is not
            // answered, since the sender would take the answers for duplicates.
            Stored::Kept | Stored::HadAlready
                if self.reach != Reach::Here && (again || segment.payload_len == 1) =>
            {
                self.tell(Some(0), stats, out);
                Verdict::Forward
            }
            _ => Verdict::Forward,
        }
    }

    /// Something comes from the mobile host.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        packet: &Packet,
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) -> Verdict {
        let Some(segment) = packet.tcp else { return Verdict::Forward };
        let once_only = self.recovery.cache().first().is_none_or(|first| first.resent == 0);
        let (queued, needless) = (out.packets().count(), self.recovery.needless());
        let answer = self.recovery.on_ack(now, packet, out);
        stats.data_sent += (out.packets().count() - queued) as u64;
        let answered_first = once_only || self.recovery.needless() > needless;
        self.heard(now, packet.flow, (answer, answered_first), stats, out);
        let plain = segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::SYN);
        // Of what never passed here the box has nothing to say.
        let known = answer == Answer::Old || self.recovery.seen().una() == Some(segment.ack);
        if plain && known { self.pass_on(now, packet, &segment, answer) } else { Verdict::Forward }
    }

    /// What the sender gets to see of an acknowledgment.
    fn pass_on(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        answer: Answer,
    ) -> Verdict {
        let pure = segment.seq_len() == 0 && !segment.flags.contains(Flags::URG);
        // The sender's connection is with the box: of what is lost behind that it need not know.
        match answer {
            Answer::Old | Answer::Recovered if pure => return Verdict::Absorb,
            Answer::Old => return Verdict::Forward,
            _ => {}
        }
        let ack = match answer {
            // It has to send what is missing, and its acknowledgments have to be in order.
            Answer::Unrecovered => segment.ack,
            // The byte held back would have to go with the first duplicate, and a sender that asks
            // after a timeout whether it was needed (RFC 5682) took that for progress and its
            // repetition for needless, each time.
            _ if self.recovery.answers_sender() && self.lacks_what_is_missing() => segment.ack,
            _ => self.all_but_the_last(segment.ack),
        };
        // What has been said stays said.
        let ack = self.told.map_or(ack, |told| told.ack.max(ack)).min(segment.ack);
        let told = Told { ack, window: segment.window };
        let holds = ack.before(segment.ack);
        self.release_at = holds.then(|| now + self.release_after);
        let says_nothing = self.told == Some(told) && pure && answer != Answer::Unrecovered;
        if says_nothing && holds {
            return Verdict::Absorb;
        }
        self.told = Some(told);
        let hides = self.recovery.recovers_first_missing() && !segment.options.sack.is_empty();
        if ack == segment.ack && !hides {
            return Verdict::Forward;
        }
        Verdict::Rewrite(rewritten(packet, ack, hides))
    }

    /// Whether the mobile host waits for something that only the sender can send: it passed before
    /// this box began anew, found no room, or was given up.
    fn lacks_what_is_missing(&self) -> bool {
        self.recovery.seen().outstanding() > 0 && !self.recovery.recovers_first_missing()
    }

    /// Everything but the last byte of data. The end of the stream is acknowledged whole.
    fn all_but_the_last(&self, ack: Seq) -> Seq {
        let data = self.base.is_some_and(|base| ack.after(base));
        if data && !self.recovery.is_over() { ack - 1 } else { ack }
    }

    /// Whether the byte at `seq` is the one held back.
    fn holds_back(&self, seq: Seq) -> bool {
        let una = self.recovery.seen().una();
        self.told.is_some_and(|told| told.ack == seq && una.is_some_and(|una| una.after(seq)))
    }

    /// Acknowledges all that the mobile host has, with this window or its own.
    fn tell(&mut self, window: Option<u16>, stats: &mut ProxyStats, out: &mut Outbox) {
        let seen = self.recovery.seen();
        let window = window.unwrap_or(if self.reach == Reach::Here { seen.window() } else { 0 });
        let Some(packet) = seen.acknowledgment(window) else { return };
        let ack = packet.tcp.map_or(Seq(0), |segment| segment.ack);
        self.told = Some(Told { ack, window });
        self.release_at = None;
        stats.acks_sent += 1;
        out.send(packet, ProxySending::Acknowledgment);
    }

    /// The mobile host is there.
    fn heard(
        &mut self,
        now: Time,
        flow: FlowId,
        (answer, answered_first): (Answer, bool),
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) {
        self.owes_since = Some(now);
        let Reach::Gone(since) = self.reach else { return };
        self.reach = Reach::Here;
        stats.held_for += now.saturating_since(since);
        out.note(flow, ProxyAct::HoldEnded);
        // What was sent before the hold is answered: nothing was lost.
        if answer == Answer::News && answered_first {
            stats.false_holds += 1;
            out.note(flow, ProxyAct::HoldWasFalse);
        }
    }

    /// When the byte held back is acknowledged all the same. As long as the mobile host owes an
    /// answer there is more to come: that, or the end of the wait for it.
    fn released_at(&self) -> Option<Time> {
        self.release_at.filter(|_| self.recovery.missing().is_none())
    }

    /// When the mobile host is taken for gone, if it is not heard before.
    fn gone_at(&self) -> Option<Time> {
        let asked = self.reach == Reach::Here && self.recovery.missing().is_some();
        let since = self.owes_since.filter(|_| asked)?;
        let patience = self.silent_for.unwrap_or(self.recovery.timeout());
        let alone = self.recovery.cache().len() < 2;
        Some(since + patience + if alone { LONGEST_DELAYED_ACK } else { Span::ZERO })
    }

    /// Does what is due.
    pub(super) fn handle_deadline(
        &mut self,
        now: Time,
        flow: FlowId,
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) {
        if self.released_at().is_some_and(|at| at <= now) {
            self.tell(None, stats, out);
            self.release_at = None;
        }
        if self.gone_at().is_some_and(|at| at <= now) {
            self.reach = Reach::Gone(now);
            stats.holds += 1;
            out.note(flow, ProxyAct::HoldBegan);
            self.tell(Some(0), stats, out);
        }
        if let Some(what) = self.recovery.handle_deadline(now, out) {
            stats.data_sent += 1;
            stats.probes += u64::from(what == ProxySending::Probe);
        }
    }
}

/// The packet with another acknowledgment, and without SACK blocks where they are to be hidden.
fn rewritten(packet: &Packet, ack: Seq, hides: bool) -> Packet {
    let Some(mut segment) = packet.tcp else { return *packet };
    let before = segment.header_len();
    segment.ack = ack;
    if hides {
        segment.options.sack = SackBlocks::default();
    }
    let ip_len = packet.ip_len.saturating_sub(before - segment.header_len());
    Packet { ip_len, tcp: Some(segment), ..*packet }
}
