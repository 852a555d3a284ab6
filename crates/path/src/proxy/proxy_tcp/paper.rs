//! Proxy TCP as its authors describe it (Kang and Jang, "Improvement of TCP Throughput using Proxy
//! TCP ACK over Wireless Connection", §3.2), and no more.
//!
//! - A duplicate acknowledgment from the mobile host: the segment it asks for goes to the mobile
//!   again at once. The duplicate is on its way to the sender all the same: nothing is removed.
//! - No acknowledgment within the local timeout while data is outstanding: a Proxy ACK goes to the
//!   sender, which acknowledges what the mobile has acknowledged and offers a window of zero. This
//!   is the Hold State. A Test Packet, the oldest data not acknowledged, goes to the mobile at
//!   intervals.
//! - An acknowledgment from the mobile ends the Hold State, and being what it is, opens the window.
//!
//! The paper leaves open, and here it is so:
//!
//! | open | here |
//! | --- | --- |
//! | the local timeout | the wireless round trip as `detect.rs` has it, from the last acknowledgment or the last sending of the oldest segment, whichever is later; `local_timeout` sets it |
//! | the interval of Test Packets | `probe_interval`; the first goes at once |
//! | which duplicate | the first of a run, as Snoop does; each segment once per run |
//! | later duplicates | they reach the sender, whose fast retransmit then does what the box has done already; with `proxy_ack = "duplicates"` a Proxy ACK follows each duplicate, so that no two in a row have the same window and none counts (RFC 5681 §2) |
//! | data lost beside the oldest | it waits for duplicates, that is, for new data from the sender |

use super::super::SegmentCache;
use super::super::{Heading, Middlebox, MobileAck, Observed, OnPath, Outbox, ProxyStats};
use super::copies::again;
use super::detect::WirelessTrip;
use super::flows::{Flows, Limits, Tracked};
use ackord_events::{ProxyAct, ProxySending};
use ackord_units::{Bytes, Keyword, Seq, Span, Time};
use ackord_wire::{Flags, FlowId, Packet};

/// How the paper's form is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperConfig {
    /// How long the mobile may be silent; learnt where nothing is given.
    pub local_timeout: Option<Span>,
    /// From one Test Packet to the next.
    pub probe_interval: Span,
    /// When Proxy ACKs are sent.
    pub proxy_ack: ProxyAckUse,
    /// What it may remember.
    pub limits: Limits,
}

/// When the paper's form sends Proxy ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ProxyAckUse {
    /// When the link has faded.
    #[keyword = "fading"]
    AtFading,
    /// Then, and after every duplicate acknowledgment.
    #[keyword = "duplicates"]
    AtDuplicatesToo,
}

/// Proxy TCP as in the paper.
#[derive(Clone, Debug)]
pub struct PaperProxy {
    config: PaperConfig,
    flows: Flows<PaperFlow>,
    stats: ProxyStats,
}

/// One connection.
#[derive(Clone, Debug)]
struct PaperFlow {
    seen: Observed,
    cache: SegmentCache,
    trip: WirelessTrip,
    hold: Option<Hold>,
    local_timeout: Option<Span>,
}

/// The Hold State.
#[derive(Clone, Copy, Debug)]
struct Hold {
    began_at: Time,
    probed_at: Time,
    probe_at: Time,
    /// Where the oldest data not acknowledged ended.
    oldest_end: Seq,
}

impl PaperProxy {
    /// A box that knows nothing yet.
    pub fn new(config: PaperConfig) -> PaperProxy {
        PaperProxy { config, flows: Flows::new(config.limits), stats: ProxyStats::default() }
    }

    fn on_to_mobile(&mut self, now: Time, packet: &Packet) {
        let Some(segment) = &packet.tcp else { return };
        let fits = self.flows.has_room_for(segment.payload_len);
        let local_timeout = self.config.local_timeout;
        let begin = |limits: &Limits| PaperFlow::new(limits, local_timeout);
        let Some(flow) = self.flows.seen(now, packet.flow, &mut self.stats, begin) else { return };
        if segment.flags.contains(Flags::SYN) {
            *flow = PaperFlow::new(&self.config.limits, local_timeout);
        }
        flow.seen.on_to_mobile(segment);
        if flow.seen.una().is_some_and(|una| segment.end_seq().at_or_before(una)) {
            return;
        }
        if segment.payload_len > 0 && !(fits && flow.cache.insert(now, packet)) {
            self.stats.uncached += Bytes(u64::from(segment.payload_len));
        }
    }

    fn on_from_mobile(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        let Some(flow) = self.flows.get_mut(packet.flow) else { return };
        let said = flow.seen.on_from_mobile(now, packet);
        match said {
            MobileAck::None => {}
            MobileAck::New(_) => {
                flow.end_hold(now, packet.flow, &mut self.stats, out);
                flow.acknowledged(now);
            }
            MobileAck::Duplicate(count) => {
                flow.end_hold(now, packet.flow, &mut self.stats, out);
                flow.on_duplicate(now, count, self.config.proxy_ack, &mut self.stats, out);
            }
            MobileAck::Same | MobileAck::Old => {
                flow.end_hold(now, packet.flow, &mut self.stats, out);
            }
        }
    }
}

impl PaperFlow {
    fn new(limits: &Limits, local_timeout: Option<Span>) -> PaperFlow {
        PaperFlow {
            seen: Observed::default(),
            cache: SegmentCache::new(limits.cache_per_flow),
            trip: WirelessTrip::default(),
            hold: None,
            local_timeout,
        }
    }

    /// The acknowledgment advanced.
    fn acknowledged(&mut self, now: Time) {
        let Some(una) = self.seen.una() else { return };
        if let Some(sample) = self.cache.sample(now, una) {
            self.trip.on_sample(now, sample);
        }
        self.cache.acknowledge(una);
    }

    fn on_duplicate(
        &mut self,
        now: Time,
        count: u32,
        proxy_ack: ProxyAckUse,
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) {
        let seen = &self.seen;
        let Some(lost) = seen.una().and_then(|una| self.cache.at_mut(una)) else { return };
        if count == 1 {
            lost.resend(now);
            stats.data_sent += 1;
            out.send(again(&lost.packet, seen), ProxySending::Retransmission);
        }
        if proxy_ack == ProxyAckUse::AtDuplicatesToo
            && let Some(ack) = seen.acknowledgment(0)
        {
            stats.acks_sent += 1;
            out.send(ack, ProxySending::Acknowledgment);
        }
    }

    fn end_hold(&mut self, now: Time, id: FlowId, stats: &mut ProxyStats, out: &mut Outbox) {
        let Some(hold) = self.hold.take() else { return };
        stats.held_for += now - hold.began_at;
        out.note(id, ProxyAct::HoldEnded);
        // What the Test Packets cannot have done shows that the flight had survived.
        let Some(una) = self.seen.una() else { return };
        let too_soon = !self.trip.can_be_answered_after(now - hold.probed_at);
        if una.after(hold.oldest_end) || (una == hold.oldest_end && too_soon) {
            stats.false_holds += 1;
            out.note(id, ProxyAct::HoldWasFalse);
        }
    }

    /// When the mobile has been silent for too long.
    fn overdue_at(&self) -> Option<Time> {
        // A box that began in the middle of a connection may lack what the mobile waits for. It has
        // no Test Packet then, and a hold without one would freeze the sender for nothing.
        let oldest = self.cache.iter().next()?;
        self.seen.una().filter(|una| oldest.segment().seq.at_or_before(*una))?;
        let since = self.seen.heard_at().map_or(oldest.sent_at, |at| at.max(oldest.sent_at));
        Some(since + self.local_timeout.unwrap_or_else(|| self.trip.timeout()))
    }

    fn on_due(
        &mut self,
        now: Time,
        id: FlowId,
        interval: Span,
        stats: &mut ProxyStats,
        out: &mut Outbox,
    ) {
        let Some(oldest) = self.cache.iter().next().copied() else {
            // The data went without an acknowledgment: the connection is gone.
            self.hold = None;
            return;
        };
        let oldest_end = oldest.segment().end_seq();
        let hold = self.hold.get_or_insert(Hold {
            began_at: now,
            probed_at: now,
            probe_at: now,
            oldest_end,
        });
        if hold.began_at == now && hold.probe_at == now {
            stats.holds += 1;
            out.note(id, ProxyAct::HoldBegan);
            if let Some(ack) = self.seen.acknowledgment(0) {
                stats.acks_sent += 1;
                out.send(ack, ProxySending::Acknowledgment);
            }
        }
        hold.probed_at = now;
        hold.probe_at = now + interval;
        if let Some(cached) = self.cache.first_mut() {
            cached.resend(now);
        }
        stats.probes += 1;
        out.send(again(&oldest.packet, &self.seen), ProxySending::Probe);
    }
}

impl Tracked for PaperFlow {
    fn due_at(&self) -> Time {
        match &self.hold {
            Some(hold) => hold.probe_at,
            None => self.overdue_at().unwrap_or(Time::NEVER),
        }
    }

    fn cached(&self) -> Bytes {
        self.cache.bytes()
    }
}

impl Middlebox for PaperProxy {
    fn deadline(&self) -> Option<Time> {
        self.flows.deadline()
    }

    fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        while let Some(id) = self.flows.due(now) {
            if let Some(flow) = self.flows.get_mut(id) {
                flow.on_due(now, id, self.config.probe_interval, &mut self.stats, out);
            }
            self.flows.settle(id, now + Span::from_nanos(1), &mut self.stats);
        }
    }

    fn forget(&mut self, flow: FlowId) {
        self.flows.forget(flow, &mut self.stats);
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl OnPath for PaperProxy {
    fn observe(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox) {
        self.stats.seen += 1;
        if packet.tcp.is_none() {
            return;
        }
        match heading {
            Heading::Mobile => self.on_to_mobile(now, packet),
            Heading::Fixed => self.on_from_mobile(now, packet, out),
        }
        let reset = self.flows.get_mut(packet.flow).is_some_and(|flow| flow.seen.is_reset());
        match reset {
            true => self.flows.forget(packet.flow, &mut self.stats),
            false => self.flows.settle(packet.flow, now, &mut self.stats),
        }
    }

    fn boxed_clone(&self) -> Box<dyn OnPath> {
        Box::new(self.clone())
    }
}
