//! The middlebox: sees both directions, caches what is not acknowledged, and helps as it is told
//! to. The same as `Box` in `scripts/linux-outage.py`, rule by rule.

use ackord_units::{Seq, Span, Time};
use ackord_wire::{Flags, Options, SackBlocks, Segment, Side};
use std::collections::VecDeque;

const RESERVE: f64 = 15.0;
const RESERVE_FROM: Span = Span::from_secs(1);

/// What the box does for the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    None,
    /// An acknowledgment with window 0 when the outage begins.
    Freeze,
    /// The same, and the oldest segment again when it ends.
    FreezeTest,
    /// What is cached again, when the outage ends.
    Replay,
    ReplayFreeze,
    /// An acknowledgment whose window ends with what was sent, when the outage begins.
    Shrink,
    /// Acknowledgments held back are let out one by one with window 0 during the outage.
    Reserve,
    ReserveReplay,
    /// Losses are recovered locally, and the sender does not hear of them.
    LocalSuppress,
    /// Losses are recovered locally, and nothing is removed.
    Local,
}

impl Help {
    fn freezes(self) -> bool {
        matches!(self, Help::Freeze | Help::FreezeTest | Help::ReplayFreeze)
    }

    fn replays(self) -> bool {
        matches!(self, Help::Replay | Help::ReplayFreeze | Help::ReserveReplay)
    }

    fn reserves(self) -> bool {
        matches!(self, Help::Reserve | Help::ReserveReplay)
    }

    fn repairs(self) -> bool {
        matches!(self, Help::Local | Help::LocalSuppress)
    }
}

struct Cached {
    segment: Segment,
    seen_at: Time,
    resent_at: Option<Time>,
}

pub(super) struct Helper {
    help: Help,
    start: Time,
    cache: VecDeque<Cached>,
    last_ack: Option<Seq>,
    newest: Option<Segment>,
    highest: Option<Seq>,
    scale: u8,
    dead: bool,
    held: VecDeque<Segment>,
    reserve: f64,
    local_rtt: Span,
}

type Sends = Vec<(Side, Segment)>;

impl Helper {
    pub(super) fn new(help: Help, start: Time) -> Helper {
        Helper {
            help,
            start,
            cache: VecDeque::new(),
            last_ack: None,
            newest: None,
            highest: None,
            scale: 0,
            dead: false,
            held: VecDeque::new(),
            reserve: 0.0,
            local_rtt: Span::from_millis(30),
        }
    }

    pub(super) fn on_segment(&mut self, now: Time, from: Side, segment: Segment, out: &mut Sends) {
        match from {
            Side::Client => self.on_data(now, segment, out),
            Side::Server => self.on_ack(now, segment, out),
        }
    }

    fn on_data(&mut self, now: Time, segment: Segment, out: &mut Sends) {
        if segment.payload_len > 0 {
            let fresh = Cached { segment, seen_at: now, resent_at: None };
            let at = self.cache.partition_point(|old| old.segment.seq.before(segment.seq));
            match self.cache.get_mut(at).filter(|old| old.segment.seq == segment.seq) {
                Some(old) => *old = fresh,
                None => self.cache.insert(at, fresh),
            }
            let end = segment.end_seq();
            self.highest = Some(self.highest.map_or(end, |highest| highest.max(end)));
        }
        out.push((Side::Server, segment));
    }

    fn on_ack(&mut self, now: Time, segment: Segment, out: &mut Sends) {
        if segment.flags.contains(Flags::SYN) {
            self.scale = segment.options.window_scale.unwrap_or(0);
            return out.push((Side::Client, segment));
        }
        if self.last_ack.is_none_or(|last| segment.ack.after(last)) {
            self.prune(now, segment.ack);
        } else if self.help.repairs()
            && self.last_ack == Some(segment.ack)
            && segment.payload_len == 0
            && self.repair(now, &segment, out)
            && self.help == Help::LocalSuppress
        {
            return;
        }
        self.newest = Some(segment);
        if !self.help.reserves() {
            return out.push((Side::Client, segment));
        }
        self.held.push_back(segment);
        if now - self.start > RESERVE_FROM && self.held.len() as f64 > self.reserve {
            // Built up slowly, so that the sender never waits for long.
            self.reserve = (self.reserve + 0.25).min(RESERVE);
        }
        while self.held.len() as f64 > self.reserve {
            let oldest = self.held.pop_front().expect("there is one");
            out.push((Side::Client, oldest));
        }
    }

    fn prune(&mut self, now: Time, ack: Seq) {
        let mut sample = None;
        let mut untouched = true;
        while let Some(oldest) = self.cache.front().filter(|old| old.segment.seq.before(ack)) {
            sample = Some(now - oldest.seen_at);
            untouched &= oldest.resent_at.is_none();
            self.cache.pop_front();
        }
        if let Some(sample) = sample.filter(|_| untouched) {
            self.local_rtt = (self.local_rtt * 7 + sample) / 8;
        }
        self.last_ack = Some(ack);
    }

    /// A duplicate acknowledgment: sends what is missing again, unless that is under way. True if
    /// it is in the cache, so that the sender need not hear of it.
    fn repair(&mut self, now: Time, ack: &Segment, out: &mut Sends) -> bool {
        if self.cache.front().is_none_or(|oldest| oldest.segment.seq != ack.ack) {
            return false;
        }
        let blocks = ack.options.sack.as_slice();
        let highest = blocks.iter().map(|block| block.end).fold(ack.ack + 1, Seq::max);
        for cached in &mut self.cache {
            let seq = cached.segment.seq;
            if !seq.before(highest) {
                break;
            }
            let arrived =
                blocks.iter().any(|block| seq.at_or_after(block.start) && seq.before(block.end));
            let waited = |at: Time| now - at > self.local_rtt * 3 / 2;
            if !arrived && cached.resent_at.is_none_or(waited) {
                cached.resent_at = Some(now);
                out.push((Side::Server, cached.segment));
            }
        }
        true
    }

    /// The local timer: the oldest segment, if nothing has been heard of it for long.
    pub(super) fn watch(&mut self, now: Time, out: &mut Sends) {
        let wait = (self.local_rtt * 2).max(Span::from_millis(60));
        let repairs = self.help.repairs();
        let overdue = |old: &&mut Cached| now - old.resent_at.unwrap_or(old.seen_at) > wait;
        if let Some(oldest) = self.cache.front_mut().filter(|_| repairs).filter(overdue) {
            oldest.resent_at = Some(now);
            out.push((Side::Server, oldest.segment));
        }
    }

    /// The newest acknowledgment again with another window, and without SACK.
    fn tell_sender(&self, window: u32, out: &mut Sends) {
        let newest = self.newest.expect("data was acknowledged before the outage");
        let options = Options { sack: SackBlocks::default(), ..newest.options };
        out.push((Side::Client, Segment { window: window as u16, options, ..newest }));
    }

    pub(super) fn on_outage(&mut self, out: &mut Sends) {
        self.dead = true;
        if self.help.freezes() {
            self.tell_sender(0, out);
        } else if self.help == Help::Shrink {
            let (highest, last) = (self.highest.expect("data"), self.last_ack.expect("data"));
            self.tell_sender(highest.since(last).div_ceil(1 << self.scale), out);
        }
    }

    /// One of the acknowledgments held back, with the window closed; whether to come again.
    pub(super) fn release(&mut self, out: &mut Sends) -> bool {
        let held = if self.dead && self.help.reserves() { self.held.pop_front() } else { None };
        out.extend(held.map(|ack| (Side::Client, Segment { window: 0, ..ack })));
        held.is_some()
    }

    pub(super) fn on_outage_end(&mut self, out: &mut Sends) {
        self.dead = false;
        let again = match self.help {
            Help::FreezeTest => 1,
            help if help.replays() => self.cache.len(),
            _ => 0,
        };
        out.extend(self.cache.iter().take(again).map(|old| (Side::Server, old.segment)));
        out.extend(self.held.drain(..).map(|ack| (Side::Client, ack)));
        if self.help.reserves() {
            let window = u32::from(self.newest.expect("data").window);
            self.tell_sender(window, out);
        }
    }
}
