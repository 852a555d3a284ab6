//! What each remedy would have gained, by one who only looks on: nothing is ever sent.
//!
//! ```text
//! sightings ─► boxes at work, whose packets are noted and thrown away ─┐
//!          └─► Watched: what senders retransmitted, and when ◄────────────┘ ─► Advice
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Advisor`]: sightings in |
//! | `looking.rs` | [`look_on()`]: an advisor at interfaces, in real time |
//! | `watched.rs` | one connection |
//! | `recording.rs` | [`Recording`]: headers of what passes as a capture, for a forecast of what senders gain |
//! | `advice.rs` | [`Advice`]: what follows, as text and as JSON |
//!
//! Measured: when data was retransmitted by its sender, and when a box would have sent it; how long nothing was
//! acknowledged, and how long the sender had not tried when it did so with success; duplicate acknowledgments;
//! round trips between here and the mobile hosts; who had which share.
//!
//! Estimated: that what a box sends arrives as the sender's copy did. Not estimated here: what a sender that sees
//! no loss does not slow down, which is most of the gain and takes a simulation of the recorded connections
//! (`ackord_advice::remedies::gateway`); what the extra packets cost others.
//! Not seen: what waits in the LAN interface's own qdisc, which is passed before a packet socket sees a packet.

mod advice;
mod looking;
mod recording;
mod watched;

use crate::config::{FlowFacts, MarkMatch, Rules};
use crate::{
    ClassConfig, Engine, EngineConfig, Interface, Key, Limits, LinkHeader, LinkKind, Order,
    Sighting, StandDown, Way,
};
use ackord_path::registry::ProxyChoice;
use ackord_units::{Choice, KnobValue, Span, Time};
use ackord_wire::{Flags, Piece, TcpChecksum, decode, decode_offloaded};
use std::collections::BTreeMap;
use watched::{Figures, Watched};

pub use advice::{Advice, ClassAdvice, RemedyAdvice};
pub use looking::look_on;
pub use recording::Recording;

/// How many remedies are tried.
const REMEDIES: usize = 2;
/// Their names. Freezing a sender, as M-TCP does, gains nothing that can be seen without doing it.
const NAMES: [&str; REMEDIES] = ["proxy-tcp", "snoop"];
/// Segments under way that are remembered of all connections.
const MOST_SEGMENTS: usize = 200_000;
/// Shares are looked at over so long.
const WINDOW: Span = Span::from_secs(1);
/// Who has less than this in a window does not compete.
const BUSY_BYTES: u64 = 10_000;
/// Windows that are remembered: an hour.
const MOST_WINDOWS: usize = 3_600;
/// Connections that have ended and are remembered.
const MOST_ENDED: usize = 20_000;

/// What an advisor has to know.
#[derive(Debug)]
pub struct AdviseConfig {
    /// How much it may know.
    pub limits: Limits,
    /// The kind of the WAN interface's link.
    pub wan: LinkKind,
    /// The kinds of the LAN interfaces' links.
    pub lan: Vec<LinkKind>,
    /// Classes of connections are told apart by these; what they do is of no interest.
    pub rules: Rules,
}

/// Looks on.
#[derive(Debug)]
pub struct Advisor {
    config: AdviseConfig,
    engines: Vec<Engine>,
    watched: BTreeMap<Key, (usize, Watched)>,
    /// With their classes.
    ended: Vec<(usize, Figures)>,
    /// Segments under way, of all.
    remembered: usize,
    /// Segments of connections for which there was no room.
    unwatched: u64,
    shares: Shares,
    began: Option<Time>,
    now: Time,
}

/// Who had how much in each second.
#[derive(Debug, Default)]
struct Shares {
    ends: Time,
    bytes: BTreeMap<Key, u64>,
    /// Jain's index of every window in which several competed.
    indexes: Vec<f64>,
    windows: u64,
}

impl Advisor {
    /// With boxes that know nothing yet.
    pub fn new(config: AdviseConfig) -> Advisor {
        Advisor {
            engines: NAMES.map(|name| engine(&config, name)).into(),
            config,
            watched: BTreeMap::new(),
            ended: Vec::new(),
            remembered: 0,
            unwatched: 0,
            shares: Shares::default(),
            began: None,
            now: Time::ZERO,
        }
    }

    /// A frame was seen.
    pub fn see(&mut self, now: Time, sighting: &Sighting<'_>) {
        let now = now.max(self.now);
        self.now = now;
        self.began.get_or_insert(now);
        self.shares.roll(now);
        // A box answers an acknowledgment before that is an answer to what the box would have sent.
        let is_answer = sighting.way == Way::In;
        if !is_answer {
            self.watch(now, sighting);
        }
        for which in 0..self.engines.len() {
            self.engines[which].handle_deadlines(now);
            self.engines[which].see(now, sighting);
            self.note(which);
        }
        if is_answer {
            self.watch(now, sighting);
        }
    }

    /// What a box would have sent is noted, and goes nowhere.
    fn note(&mut self, which: usize) {
        let kinds = &self.config.lan;
        for order in self.engines[which].orders() {
            let Order::Inject(injection) = order else { continue };
            let Interface::Lan(lan) = injection.interface else { continue };
            let as_seen = Sighting {
                interface: injection.interface,
                way: Way::Out,
                frame: &injection.frame,
                vlan: None,
                segment_size: 0,
                checksum: TcpChecksum::Verified,
                mark: None,
                is_sample: false,
            };
            let Some(kind) = kinds.get(usize::from(lan)) else { continue };
            let Some((_, ip)) = LinkHeader::cut(&as_seen, *kind) else { continue };
            let Ok(decoded) = decode(ip) else { continue };
            let key = Key::towards(injection.interface, decoded.endpoints);
            if let Some((_, watched)) = self.watched.get_mut(&key) {
                watched.would_retransmit(which, decoded.segment.seq, injection.at);
            }
        }
    }

    fn watch(&mut self, now: Time, sighting: &Sighting<'_>) {
        let Interface::Lan(lan) = sighting.interface else { return };
        let Some(kind) = self.config.lan.get(usize::from(lan)).copied() else { return };
        let Some((_, ip)) = LinkHeader::cut(sighting, kind) else { return };
        let Ok(decoded) = decode_offloaded(ip, sighting.checksum) else { return };
        let towards = match sighting.way {
            Way::Out => sighting.interface,
            Way::In => Interface::Wan,
        };
        let key = Key::towards(towards, decoded.endpoints);
        let segment = &decoded.segment;
        if segment.flags.contains(Flags::SYN) {
            if self.watched.get(&key).is_some_and(|(_, one)| one.has_data()) {
                self.end(key);
            }
            // Only TCP Fast Open (RFC 7413) has data here.
            if segment.payload_len == 0 {
                return;
            }
        }
        if !self.watched.contains_key(&key) {
            if self.watched.len() >= self.config.limits.connections {
                self.unwatched += 1;
                return;
            }
            let facts = FlowFacts {
                interface: usize::from(lan),
                mobile: key.mobile,
                fixed: key.fixed,
                dscp: crate::engine::dscp_of(ip),
                mark: MarkMatch::default(),
            };
            let class = self.config.rules.classify(&facts).0;
            self.watched.insert(key, (class, Watched::default()));
        }
        let Some((_, watched)) = self.watched.get_mut(&key) else { return };
        match sighting.way {
            Way::Out => {
                self.shares.add(key, u64::from(segment.payload_len));
                for piece in Piece::of(segment.payload_len, sighting.segment_size) {
                    let room = MOST_SEGMENTS.saturating_sub(self.remembered);
                    self.remembered += watched.sent(now, &piece.segment(segment), room);
                }
            }
            Way::In if segment.flags.contains(Flags::ACK) => {
                let other = Flags::FIN | Flags::RST;
                let is_pure = segment.payload_len == 0 && !segment.flags.intersects(other);
                self.remembered -= watched.acknowledgment(now, segment, is_pure);
            }
            Way::In => {}
        }
        if segment.flags.contains(Flags::RST) {
            self.end(key);
        }
    }

    fn end(&mut self, key: Key) {
        if let Some((class, watched)) = self.watched.remove(&key) {
            self.remembered -= watched.remembered();
            if self.ended.len() < MOST_ENDED {
                let progress = watched.figures.progress.until(self.now);
                self.ended.push((class, Figures { progress, ..watched.figures }));
            }
        }
    }
}

impl Shares {
    fn roll(&mut self, now: Time) {
        if now < self.ends {
            return;
        }
        self.ends = now + WINDOW;
        self.windows += 1;
        let busy = self.bytes.values().filter(|bytes| **bytes >= BUSY_BYTES);
        let busy: Vec<f64> = busy.map(|bytes| *bytes as f64).collect();
        if busy.len() >= 2 && self.indexes.len() < MOST_WINDOWS {
            let sum: f64 = busy.iter().sum();
            let squares: f64 = busy.iter().map(|one| one * one).sum();
            self.indexes.push(sum * sum / (busy.len() as f64 * squares));
        }
        self.bytes.clear();
    }

    fn add(&mut self, key: Key, bytes: u64) {
        *self.bytes.entry(key).or_default() += bytes;
    }
}

fn engine(config: &AdviseConfig, name: &str) -> Engine {
    let mut remedy = ProxyChoice::named(name).expect("it is listed");
    if name == "snoop" {
        remedy = remedy.with("suppress", KnobValue::Choice("auto"));
    }
    // With nobody to compare with, nobody is found to do harm.
    let stand_down =
        StandDown { confidence: 1.0, sustained: Span::ZERO, connections: usize::MAX, retry: None };
    let engine = EngineConfig {
        limits: config.limits,
        wan: config.wan,
        lan: config.lan.clone(),
        control_per_mille: 0,
        turns: None,
        stand_down,
    };
    let class = ClassConfig { name: name.to_owned(), remedy: Some(remedy) };
    Engine::new(engine, vec![class], Box::new(|_| 0))
}

#[cfg(test)]
mod tests;
