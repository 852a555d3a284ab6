//! One connection in practical mode: what it knows, and what it does when a packet passes or its
//! time has come. `silence.rs` is what it does about a mobile host that is not heard,
//! `verdict.rs` what becomes of that host's packets.

mod silence;
mod verdict;

use super::super::{Cached, Mark, MobileAck, Observed, Outbox, ProxyStats, SegmentCache, Verdict};
use super::config::PracticalConfig;
use super::copies::again;
use super::detect::WirelessTrip;
use super::flows::{Limits, Tracked};
use super::hold::{Aftermath, Hold};
use super::rate::DeliveryRate;
use super::recovery::{Answered, Circumstances, FlowRecovery, Sack};
use super::reserve::Reserve;
use super::stance::Spells;
use ackord_events::ProxySending;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Flags, FlowId, NodeId, Packet, Segment};

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    config: PracticalConfig,
    seen: Observed,
    cache: SegmentCache,
    trip: WirelessTrip,
    rate: DeliveryRate,
    recovery: FlowRecovery,
    spells: Spells,
    sack: Sack,
    /// Who offered SACK in the handshake.
    offers: Offers,
    wired: Wired,
    hold: Option<Hold>,
    /// A hold is over, and it is not yet known what it cost.
    aftermath: Option<Aftermath>,
    /// The end of what had been sent when the latest hold was over, until that is acknowledged.
    faded_up_to: Option<Seq>,
    reserve: Reserve,
    /// The largest segment seen.
    largest: u32,
    /// Bytes that one acknowledgment acknowledges, smoothed.
    per_ack: u32,
    /// The link is thought to be busy with repetitions until then.
    paced_until: Time,
    /// The mobile host.
    mobile: Option<NodeId>,
}

/// The round trip between box and sender, from the handshake.
#[derive(Clone, Copy, Debug, Default)]
struct Wired {
    asked_at: Option<Time>,
    span: Option<Span>,
}

/// Who said in the handshake that it understands SACK.
#[derive(Clone, Copy, Debug, Default)]
struct Offers {
    fixed: Option<Sack>,
    mobile: Option<Sack>,
}

/// What a call works with besides the connection.
pub(super) struct Desk<'a> {
    pub(super) now: Time,
    pub(super) id: FlowId,
    pub(super) out: &'a mut Outbox,
    pub(super) stats: &'a mut ProxyStats,
}

/// What became of a packet from the mobile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heard {
    pub(super) verdict: Verdict,
    /// The link is back: other connections to the same host may ask at once.
    pub(super) link_is_back: bool,
}

/// Repetitions that may go out together.
const BURST: u64 = 4;

impl Connection {
    pub(super) fn new(config: &PracticalConfig, limits: &Limits) -> Connection {
        Connection {
            config: *config,
            seen: Observed::default(),
            cache: SegmentCache::new(limits.cache_per_flow),
            trip: WirelessTrip::default(),
            rate: DeliveryRate::default(),
            recovery: FlowRecovery::default(),
            spells: Spells::default(),
            sack: Sack::default(),
            offers: Offers::default(),
            wired: Wired::default(),
            hold: None,
            aftermath: None,
            faded_up_to: None,
            reserve: Reserve::default(),
            largest: 0,
            per_ack: 0,
            paced_until: Time::ZERO,
            mobile: None,
        }
    }

    pub(super) fn is_reset(&self) -> bool {
        self.seen.is_reset()
    }

    /// The mobile host, while the link to it is taken for faded.
    pub(super) fn held_host(&self) -> Option<NodeId> {
        self.hold.and(self.mobile)
    }

    /// The next probe goes at `at`.
    pub(super) fn probe_at(&mut self, at: Time) {
        if let Some(hold) = &mut self.hold {
            hold.probe_at = at;
        }
    }

    /// Whether a probe is due.
    pub(super) fn probe_is_due(&self, now: Time) -> bool {
        self.hold.is_some_and(|hold| hold.probe_at <= now)
    }

    /// From one probe to the next: a round trip at least, or the link would be asked twice.
    pub(super) fn probe_interval(&self) -> Span {
        self.config.probe_interval.max(self.trip.least().unwrap_or(Span::ZERO))
    }

    /// A segment goes to the mobile; there is room for it or not.
    pub(super) fn on_to_mobile(&mut self, desk: &mut Desk<'_>, packet: &Packet, fits: bool) {
        let Some(segment) = &packet.tcp else { return };
        self.seen.on_to_mobile(segment);
        self.mobile = Some(packet.dst);
        if segment.flags.contains(Flags::SYN) {
            self.offers.fixed = Some(offer(segment));
            self.agree();
        }
        if let Some(asked_at) = self.wired.asked_at.take() {
            self.wired.span = Some(desk.now - asked_at);
        }
        if segment.payload_len == 0 {
            return;
        }
        self.largest = self.largest.max(segment.payload_len);
        // A repetition of what the mobile has acknowledged meanwhile says nothing of the link.
        if self.seen.una().is_some_and(|una| segment.end_seq().at_or_before(una)) {
            return;
        }
        if !(fits && self.cache.insert(desk.now, packet)) {
            desk.stats.uncached += Bytes(u64::from(segment.payload_len));
        }
    }

    fn agree(&mut self) {
        if let (Some(fixed), Some(mobile)) = (self.offers.fixed, self.offers.mobile) {
            let both = fixed == Sack::Agreed && mobile == Sack::Agreed;
            self.sack = if both { Sack::Agreed } else { Sack::Absent };
        }
    }

    /// A packet comes from the mobile.
    pub(super) fn on_from_mobile(&mut self, desk: &mut Desk<'_>, packet: &Packet) -> Heard {
        let Some(segment) = &packet.tcp else {
            return Heard { verdict: Verdict::Forward, link_is_back: false };
        };
        if segment.flags.contains(Flags::SYN) {
            self.offers.mobile = Some(offer(segment));
            self.wired.asked_at = Some(desk.now);
            self.agree();
        }
        if !segment.options.sack.is_empty() {
            self.sack = Sack::Agreed;
        }
        let said = self.seen.on_from_mobile(desk.now, packet);
        let delivers = self.take_in(desk.now, segment, said);
        let link_is_back = self.hold.is_some() && said != MobileAck::None;
        if link_is_back {
            self.end_hold(desk);
        }
        self.look_back(desk, said, delivers);
        self.look_for_losses(desk.now, said);
        self.send_wanted(desk);
        let verdict = self.decide(desk, packet, said);
        Heard { verdict, link_is_back }
    }

    /// What an acknowledgment says of the data; whether it tells of some that has arrived.
    fn take_in(&mut self, now: Time, segment: &Segment, said: MobileAck) -> bool {
        let mut delivers = false;
        let (held, trip, recovery) = (self.hold.is_some(), &self.trip, &mut self.recovery);
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        let mut delivered = |cached: &Cached| {
            delivers = true;
            recovery.on_delivered(now, cached, trip, which_sending(cached, echo, held));
        };
        FlowRecovery::mark_sacked(&mut self.cache, segment, &mut delivered);
        let (MobileAck::New(bytes_acked), Some(una)) = (said, self.seen.una()) else {
            return delivers;
        };
        let covered = self.cache.iter().take_while(|it| it.segment().end_seq().at_or_before(una));
        covered.filter(|cached| !cached.sacked).for_each(delivered);
        let sample = self.cache.sample(now, una).filter(|_| !held);
        self.spells.on_advance(now, sample);
        if let Some(sample) = sample {
            self.trip.on_sample(now, sample);
        }
        self.cache.acknowledge(una);
        self.faded_up_to = self.faded_up_to.filter(|up_to| una.before(*up_to));
        self.rate.on_acknowledged(now, bytes_acked, self.trip.smoothed().unwrap_or(Span::ZERO));
        self.per_ack = match self.per_ack {
            0 => bytes_acked,
            known => known - known / 8 + bytes_acked / 8,
        };
        delivers
    }

    fn look_for_losses(&mut self, now: Time, said: MobileAck) {
        let facts = self.circumstances(now);
        let known = (&mut self.cache, &mut self.spells);
        self.recovery.find_lost(known, &self.trip, &facts);
        if let (MobileAck::Duplicate(count), false) = (said, self.sack == Sack::Agreed) {
            let known = (&mut self.cache, &mut self.spells);
            self.recovery.on_duplicate(known, &self.trip, &facts, count);
        }
    }

    fn circumstances(&self, now: Time) -> Circumstances {
        let congested = match (self.wired.span, self.trip.least()) {
            (Some(wired), Some(wireless)) => self.trip.queueing() > (wired + wireless) * 2,
            _ => false,
        };
        Circumstances {
            now,
            sack: self.sack,
            congested,
            undoes: !self.counts_duplicates(),
            largest: self.largest,
            sent_up_to: self.seen.sent_up_to(),
            full: self.trip.queue_is_full(),
            faded_up_to: self.faded_up_to,
        }
    }

    /// Sends what is wanted, a few at once and the rest at the pace at which the link delivers.
    fn send_wanted(&mut self, desk: &mut Desk<'_>) {
        let gap = self.gap();
        let (seen, cache) = (&self.seen, &mut self.cache);
        for cached in cache.iter_mut().filter(|it| it.mark == Mark::Wanted && !it.sacked) {
            if self.paced_until > desk.now + gap.saturating_mul(BURST - 1) {
                return;
            }
            self.paced_until = self.paced_until.max(desk.now) + gap;
            if let Some(aftermath) = &mut self.aftermath {
                aftermath.repeats += 1;
            }
            repeat(cached, seen, desk);
        }
    }

    /// How long the link takes for a segment. The rate that was seen may have been the sender's, who
    /// had little to send, so a round trip takes four at least (what RFC 5681 let a connection
    /// begin with), and ten (RFC 6928) where nothing was seen.
    fn gap(&self) -> Span {
        let trip = self.trip.smoothed().unwrap_or(Span::from_millis(10));
        let known = self.rate.time_for(Bytes(u64::from(self.largest)));
        known.map_or(trip / 10, |known| known.min(trip / 4))
    }

    /// Something is due.
    pub(super) fn on_due(&mut self, desk: &mut Desk<'_>) {
        if self.hold.is_some() {
            if self.probe_is_due(desk.now) {
                self.probe(desk);
            }
        } else if self.overdue_at().is_some_and(|at| at <= desk.now) {
            self.on_silence(desk);
        } else {
            self.look_for_losses(desk.now, MobileAck::Same);
            self.send_wanted(desk);
        }
        if let Some(reserve) = self.config.in_path
            && self.reserve.due_at(reserve.release_every).is_some_and(|at| at <= desk.now)
        {
            let closed = self.hold.is_some();
            desk.stats.rewritten += u64::from(closed);
            self.reserve.release_one(desk.now, closed, desk.out);
        }
    }

    /// When the next repetition may go.
    fn next_wanted_at(&self) -> Option<Time> {
        let wanted = self.cache.iter().any(|it| it.mark == Mark::Wanted && !it.sacked);
        wanted.then(|| {
            let ahead = self.gap().saturating_mul(BURST - 1);
            Time::from_nanos(self.paced_until.as_nanos().saturating_sub(ahead.as_nanos()))
        })
    }
}

/// Which sending of a segment an acknowledgment answers. The sender's own repetition is known by its
/// timestamp. In a hold the queue may have kept an original for long, so that the time does not tell
/// it from a repetition.
fn which_sending(cached: &Cached, echo: Option<u32>, held: bool) -> Answered {
    let stamp = cached.segment().options.timestamps.map(|stamps| stamps.value);
    let senders_own = cached.resent == 0 && stamp.is_some() && stamp == echo;
    match (cached.repeated, held) {
        (None, _) => Answered::At(cached.sent_at),
        (Some(_), _) if senders_own => Answered::At(cached.sent_at),
        (Some((at, by)), false) => Answered::NotBefore(at, by),
        (Some(_), true) => Answered::Unclear,
    }
}

fn offer(segment: &Segment) -> Sack {
    if segment.options.sack_permitted { Sack::Agreed } else { Sack::Absent }
}

fn repeat(cached: &mut Cached, seen: &Observed, desk: &mut Desk<'_>) {
    cached.resend(desk.now);
    desk.stats.data_sent += 1;
    desk.out.send(again(&cached.packet, seen), ProxySending::Retransmission);
}

impl Tracked for Connection {
    fn due_at(&self) -> Time {
        let in_path = self.config.in_path;
        let reserve = in_path.and_then(|config| self.reserve.due_at(config.release_every));
        let own = match &self.hold {
            Some(hold) => Some(hold.probe_at),
            None => [self.overdue_at(), self.next_wanted_at(), self.recovery.look_again_at()]
                .into_iter()
                .flatten()
                .min(),
        };
        reserve.into_iter().chain(own).min().unwrap_or(Time::NEVER)
    }

    fn cached(&self) -> Bytes {
        self.cache.bytes()
    }
}
