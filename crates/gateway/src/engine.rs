//! Frames in, frames out, and boxes of `path` between them, which stand beside the path whatever they ask for.

use crate::class::{Class, ClassConfig, StandDown, Standing};
use crate::config::FlowFacts;
use crate::hiding::Cover;
use crate::watch::Taps;
use crate::{
    Budget, Connections, Interface, Key, Limits, LinkHeader, LinkKind, Sighting, SubscriberTotals,
    Subscribers, Way,
};
use ackord_daemon::switchback::{LinkCompared, LinkTotals, Switchback, Turns};
use ackord_path::proxy::{Heading, Outbox};
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, NodeId};
use fast::Fast;
use listening::Listening;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use turns::begun_anew;

/// What all connections together may save up for injections: what they may inject in so long.
const SAVED_UP: Span = Span::from_secs(1);
/// Where the fixed hosts are, to a box.
const FIXED: NodeId = NodeId(0);
/// Where the mobile ones are.
const MOBILE: NodeId = NodeId(1);
/// How often it is looked who is gone, and what remedies are worth.
const LOOK_EVERY: Span = Span::from_secs(1);

/// What an engine may use.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// How much it may know.
    pub limits: Limits,
    /// The kind of the WAN interface's link.
    pub wan: LinkKind,
    /// The kinds of the LAN interfaces' links.
    pub lan: Vec<LinkKind>,
    /// Of a thousand connections so many are left alone, to be compared with.
    pub control_per_mille: u16,
    /// What becomes of a remedy that harms.
    pub stand_down: StandDown,
    /// Turns of the whole link with remedies and without; none leaves remedies at work all the time.
    pub turns: Option<Turns>,
}

/// Says in which class a connection is: a number into the engine's classes.
pub type Classify = Box<dyn Fn(&FlowFacts) -> usize + Send>;

/// What an engine wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// A frame is to be sent.
    Inject(Injection),
    /// The kernel's program is to be told what to remove.
    Cover(Cover),
}

/// A frame to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// By which interface.
    pub interface: Interface,
    /// The frame, from its link header on.
    pub frame: Vec<u8>,
    /// When it was due.
    pub at: Time,
    /// Of which connection.
    pub flow: FlowId,
}

/// What an engine saw and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Frames it was shown.
    pub frames: u64,
    /// Of those, which carried TCP it could read.
    pub tcp: u64,
    /// Frames cut off before their data ended, malformed packets, fragments, wrong checksums.
    pub unreadable: u64,
    /// Segments that those of TCP were, or became.
    pub segments: u64,
    /// TCP payload towards the mobile hosts, bytes; of connections that are let pass an estimate.
    pub bytes_to_mobile: u64,
    /// And from them.
    pub bytes_from_mobile: u64,
    /// Frames injected towards the mobile hosts.
    pub injected_to_mobile: u64,
    /// And towards the fixed ones.
    pub injected_to_fixed: u64,
    /// Their bytes, headers included.
    pub injected_bytes: u64,
    /// Of those, bytes towards the mobile hosts.
    pub injected_bytes_to_mobile: u64,
    /// What a box wanted to inject and could not, by [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// What a box wanted to remove or change, which went on as it was.
    pub not_removed: u64,
    /// Connections held now: their mobile hosts are taken for out of reach.
    pub held: u64,
    /// Connections seen so far.
    pub connections: u64,
}

/// Totals of connections that were forgotten, or whose progress was begun anew.
#[derive(Debug)]
struct Counted {
    /// The link's, and the bytes of all packets towards the mobile hosts.
    link: LinkTotals,
    /// Each subscriber's.
    subscribers: Subscribers,
}

/// Boxes at work on a router.
pub struct Engine {
    config: EngineConfig,
    classes: Vec<Class>,
    classify: Classify,
    connections: Connections,
    /// What all connections together may inject.
    budget: Budget,
    refilled_at: Time,
    /// When something last happened: time does not go back.
    now: Time,
    look_at: Time,
    outbox: Outbox,
    orders: Vec<Order>,
    taps: Taps,
    /// What stood before SYNs that left by the WAN interface, the last one first.
    ahead: VecDeque<(Key, LinkHeader)>,
    fast: Fast,
    listening: Listening,
    /// The present turn; none before the first look, and without remedies.
    switchback: Option<Switchback>,
    /// What turns have shown so far.
    link: LinkCompared,
    counted: Counted,
    /// What the clock on the wall showed at time zero, nanoseconds since 1970.
    wall_nanos: u64,
    /// For a packet under way from one place to the next.
    packet: Vec<u8>,
    stats: EngineStats,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("stats", &self.stats).finish_non_exhaustive()
    }
}

impl Engine {
    /// With boxes that know nothing yet.
    pub fn new(config: EngineConfig, classes: Vec<ClassConfig>, classify: Classify) -> Engine {
        Engine {
            classes: classes.into_iter().map(Class::new).collect(),
            classify,
            connections: Connections::new(config.limits, config.control_per_mille),
            budget: Budget::new(config.limits.injected_rate.bytes_in(SAVED_UP)),
            refilled_at: Time::ZERO,
            now: Time::ZERO,
            look_at: Time::ZERO,
            outbox: Outbox::default(),
            orders: Vec::new(),
            taps: Taps::default(),
            ahead: VecDeque::new(),
            fast: Fast::default(),
            listening: Listening::default(),
            switchback: None,
            link: LinkCompared::default(),
            counted: Counted {
                link: LinkTotals::default(),
                subscribers: Subscribers::new(config.limits.connections),
            },
            wall_nanos: 0,
            packet: Vec::new(),
            stats: EngineStats::default(),
            config,
        }
    }

    /// Goes on by another configuration. Connections stay known; a box whose class and knobs are the same
    /// stays as it is.
    pub fn change(&mut self, config: EngineConfig, classes: Vec<ClassConfig>, classify: Classify) {
        let mut built: Vec<Class> = classes.iter().cloned().map(Class::new).collect();
        let mut stays = Vec::new();
        for (new, config) in built.iter_mut().zip(&classes) {
            let likeness = |at: &usize| self.classes[*at].likeness(config);
            let like = (0..self.classes.len())
                .filter(|at| likeness(at) > 0 && !stays.contains(&Some(*at)))
                .max_by_key(likeness);
            stays.push(like);
            if let Some(like) = like {
                std::mem::swap(new, &mut self.classes[like]);
                new.rename(&config.name);
            }
        }
        for connection in self.connections.iter_mut() {
            let class = classify(&connection.facts).min(built.len().saturating_sub(1));
            if stays[class] != Some(connection.class) {
                self.stats.held -= u64::from(connection.is_held);
                connection.is_held = false;
            }
            connection.class = class;
        }
        self.connections.change(config.limits, config.control_per_mille);
        self.counted.subscribers.set_most(config.limits.connections);
        self.budget = Budget::new(config.limits.injected_rate.bytes_in(SAVED_UP));
        (self.switchback, self.link) = (None, LinkCompared::default());
        (self.classes, self.classify, self.config) = (built, classify, config);
    }

    /// A frame was seen, at this time. What is due is left to [`Engine::handle_deadlines`]: interfaces tell
    /// one after the other what passed, and an answer may be among what the next one tells.
    pub fn see(&mut self, now: Time, sighting: &Sighting<'_>) {
        let now = now.max(self.now);
        self.now = now;
        self.stats.frames += 1;
        self.listening.frame();
        let kind = match sighting.interface {
            Interface::Wan => self.config.wan,
            Interface::Lan(which) => match self.config.lan.get(usize::from(which)) {
                Some(kind) => *kind,
                None => return,
            },
        };
        let Some((link, ip)) = LinkHeader::cut(sighting, kind) else { return };
        // Towards the WAN only what stands before the packets is of interest: they were seen already.
        match (sighting.interface, sighting.way) {
            (lan @ Interface::Lan(_), Way::Out) if let Some(mark) = sighting.mark => {
                self.learn_mark(lan, mark, ip);
            }
            (Interface::Wan, Way::In) => {}
            (Interface::Wan, Way::Out) => {
                self.listening.shown();
                self.learn_wan(link, ip);
            }
            (Interface::Lan(which), Way::Out) => {
                self.take_in(now, sighting, (which, Some(link)), ip, Heading::Mobile);
            }
            (Interface::Lan(which), Way::In) => {
                self.take_in(now, sighting, (which, None), ip, Heading::Fixed);
            }
        }
    }

    /// Sets the kind of an interface's link, which is not known before the interface is there.
    pub fn set_link_kind(&mut self, interface: Interface, kind: LinkKind) {
        match interface {
            Interface::Wan => self.config.wan = kind,
            Interface::Lan(which) => {
                if let Some(of) = self.config.lan.get_mut(usize::from(which)) {
                    *of = kind;
                }
            }
        }
    }

    fn forget(&mut self, key: Key) {
        self.connections.remove(key);
        self.bury_the_gone();
    }

    /// Whoever was forgotten is evidence now, and no box need remember it.
    fn bury_the_gone(&mut self) {
        while let Some(gone) = self.connections.next_gone() {
            self.fast.are_others |= gone.pace.is_fast();
            self.stats.held -= u64::from(gone.is_held);
            self.count_ended(&gone);
            let is_treated = self.is_turn_treated();
            if let Some(class) = self.classes.get_mut(gone.class) {
                if class.standing() == Standing::AtWork && is_treated {
                    class.evidence.ended(gone.is_control, &gone.to_mobile.until(self.now));
                }
                if let Some(proxy) = &mut class.proxy {
                    proxy.forget(gone.flow);
                }
            }
        }
    }

    /// When it wants to be called, if nothing is seen first.
    pub fn deadline(&self) -> Option<Time> {
        self.classes.iter().filter_map(|class| class.proxy.as_ref()?.deadline()).min()
    }

    /// Does what is due by now: every frame of before was seen.
    pub fn handle_deadlines(&mut self, now: Time) {
        while let Some(due) = self.deadline().filter(|due| *due <= now) {
            self.now = self.now.max(due);
            for class in &mut self.classes {
                if let Some(proxy) = &mut class.proxy
                    && proxy.deadline().is_some_and(|its| its <= due)
                {
                    proxy.handle_deadline(self.now, &mut self.outbox);
                }
            }
            self.send_what_was_made(self.now);
        }
        let since = now.saturating_since(self.refilled_at);
        // Not more often, so that what is earned is not lost in rounding.
        if since >= Span::from_millis(1) {
            self.budget.earn(self.config.limits.injected_rate.bytes_in(since.min(SAVED_UP)).get());
            self.refilled_at = now;
        }
        if now >= self.look_at {
            self.look_at = now + LOOK_EVERY;
            self.look(now);
        }
    }

    /// Forgets who is idle, and looks what remedies are worth.
    fn look(&mut self, now: Time) {
        self.connections.forget_idle(now);
        self.bury_the_gone();
        self.look_at_the_fast(now);
        self.listening.look();
        self.take_turn(now);
        if !self.is_turn_treated() {
            return;
        }
        let rule = self.config.stand_down;
        for (own, class) in self.classes.iter_mut().enumerate() {
            if class.look(now, own, &self.connections, rule) {
                // Its box is gone, or knows nothing: nobody is held by it.
                for one in self.connections.iter_mut().filter(|one| one.class == own) {
                    self.stats.held -= u64::from(one.is_held);
                    one.is_held = false;
                    // Whatever comes is no longer, or not yet, that remedy's doing.
                    begun_anew(one, class, &mut self.counted, now);
                }
            }
        }
    }

    /// What is to be done, in order; it is then no longer here.
    pub fn orders(&mut self) -> impl Iterator<Item = Order> {
        self.orders.drain(..)
    }

    /// Captures under way, which are told what is decided.
    pub fn taps(&mut self) -> &mut Taps {
        &mut self.taps
    }

    /// What the clock on the wall showed at time zero, in nanoseconds since 1970: captures carry its time.
    pub fn set_wall(&mut self, nanos: u64) {
        self.wall_nanos = nanos;
    }

    fn on_the_wall(&self, at: Time) -> Time {
        Time::from_nanos(self.wall_nanos.saturating_add(at.as_nanos()))
    }

    /// The connections it knows.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Returns the totals of each subscriber until `now`, by its address.
    pub fn subscribers(&self, now: Time) -> BTreeMap<IpAddr, SubscriberTotals> {
        self.counted.subscribers.totals(self.connections.iter(), now)
    }

    /// Its classes.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Whether a box may ask for something to be removed.
    pub fn may_remove(&self) -> bool {
        self.classes.iter().any(Class::may_remove)
    }

    /// What it saw and did.
    pub fn stats(&self) -> EngineStats {
        self.stats
    }
}

pub(crate) use listening::{Attention, Leaving};
pub use making::Refusal;

mod fast;
mod listening;
mod making;
mod passing;
mod turns;

pub(crate) use passing::dscp_of;

#[cfg(test)]
mod tests;
