//! Where a middlebox stands in a graph, and when it lives.

use super::{Heading, Outbox, Proxy, ProxyStats, Verdict};
use ackord_events::LinkId;
use ackord_units::Time;
use ackord_wire::{NodeId, Packet};

/// A middlebox and its place.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// The router it stands at.
    pub at: NodeId,
    /// The link from there towards the mobile hosts.
    pub to_mobile: LinkId,
    /// The link that comes back from them.
    pub from_mobile: LinkId,
    /// The box as it begins.
    pub proxy: Proxy,
    /// When it is there.
    pub lifetime: Lifetime,
}

/// When a box is there. Outside of it packets pass untouched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// When it dies, with all it knows; never, where nothing is said.
    pub dies: Option<Time>,
    /// When it begins anew, knowing nothing; not before it died.
    pub restarts: Option<Time>,
}

/// A box at work.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) at: NodeId,
    to_mobile: u32,
    from_mobile: u32,
    /// Nothing while it is dead.
    proxy: Option<Proxy>,
    /// As it was at first, for the restart.
    fresh: Proxy,
    lifetime: Lifetime,
    /// What it had counted when it died.
    last_words: ProxyStats,
}

/// What a place did at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The box was called.
    Called,
    /// It died.
    Died,
    /// It began anew.
    Restarted,
}

impl Place {
    pub(crate) fn new(config: ProxyConfig) -> Place {
        Place {
            at: config.at,
            to_mobile: config.to_mobile.0,
            from_mobile: config.from_mobile.0,
            proxy: Some(config.proxy.clone()),
            fresh: config.proxy,
            lifetime: config.lifetime,
            last_words: ProxyStats::default(),
        }
    }

    /// Which way a packet goes that came by one link and leaves by another; nothing if it crosses
    /// neither direction of the box's link.
    pub(crate) fn heading(&self, came_by: u32, leaves_by: u32) -> Option<Heading> {
        if leaves_by == self.to_mobile {
            Some(Heading::Mobile)
        } else if came_by == self.from_mobile {
            Some(Heading::Fixed)
        } else {
            None
        }
    }

    /// A packet passes.
    pub(crate) fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        match &mut self.proxy {
            None => Verdict::Forward,
            Some(proxy) => proxy.handle(now, packet, heading, out),
        }
    }

    /// Whether the packets that leave by this link are on the way to the mobile hosts.
    pub(crate) fn leads_to_mobile(&self, link: u32) -> bool {
        link == self.to_mobile
    }

    /// The queue of the link towards the mobile hosts had no room for a packet.
    pub(crate) fn handle_refused(&mut self, now: Time, packet: &Packet) {
        if let Some(proxy) = &mut self.proxy {
            proxy.handle_refused(now, packet);
        }
    }

    /// When something is to be done.
    pub(crate) fn due_at(&self) -> Time {
        let own = self.proxy.as_ref().and_then(Proxy::deadline);
        let turns = [own, self.lifetime.dies, self.lifetime.restarts];
        turns.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Does what is due at `now`. At one instant a box dies before it acts.
    pub(crate) fn take_turn(&mut self, now: Time, out: &mut Outbox) -> Turn {
        if self.lifetime.dies.is_some_and(|at| at <= now) {
            self.lifetime.dies = None;
            return self.switch(false);
        }
        if self.lifetime.restarts.is_some_and(|at| at <= now) {
            self.lifetime.restarts = None;
            return self.switch(true);
        }
        if let Some(proxy) = &mut self.proxy {
            proxy.handle_deadline(now, out);
        }
        Turn::Called
    }

    /// Takes the box away, or puts one there that knows nothing.
    pub(crate) fn switch(&mut self, is_there: bool) -> Turn {
        if is_there {
            self.proxy = Some(self.fresh.clone());
            return Turn::Restarted;
        }
        self.last_words = *self.stats();
        self.last_words.bury();
        self.proxy = None;
        Turn::Died
    }

    /// The counters of the box that is there, or of the last one.
    pub(crate) fn stats(&self) -> &ProxyStats {
        self.proxy.as_ref().map_or(&self.last_words, Proxy::stats)
    }
}
