//! The medium: idle, taken, idle again.

use super::airtime::Airtime;
use super::config::{OnOff, WifiConfig};
use super::contender::{Attempt, Contender};
use super::frames::{Air, Errors, Frames, Limits, Load};
use crate::link::Link;
use crate::medium::context::{MediumContext, MediumStats};
use ackord_events::{AccessOutcome, Event, LinkId, Sink};
use ackord_units::{Rate, Span, Time};

/// An 802.11 medium at work.
#[derive(Clone, Debug)]
pub(crate) struct Wifi {
    config: WifiConfig,
    airtime: Airtime,
    stations: Vec<Station>,
    phase: Phase,
    stats: MediumStats,
}

#[derive(Clone, Debug)]
struct Station {
    contender: Contender,
    kind: Kind,
    rate: Rate,
    /// What it has on the air, and how that will turn out.
    on_air: Option<Attempt>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// One direction of a link.
    Link { number: u32, frames: Frames },
    /// One of the others.
    Other { attempts: u32, on_until: Time },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle { since: Time },
    Taken { until: Time },
}

impl Wifi {
    pub(crate) fn new(config: WifiConfig, links: &[(u32, Rate)]) -> Wifi {
        let contender = Contender::new(&config);
        let link = |&(number, rate): &(u32, Rate)| Station {
            contender,
            kind: Kind::Link { number, frames: Frames::default() },
            rate,
            on_air: None,
        };
        let mut stations: Vec<Station> = links.iter().map(link).collect();
        if let Some(background) = config.background {
            stations.extend((0..background.stations).map(|_| Station {
                contender,
                kind: Kind::Other { attempts: 0, on_until: Time::ZERO },
                rate: background.rate,
                on_air: None,
            }));
        }
        let airtime = Airtime::new(&config);
        let phase = Phase::Idle { since: Time::ZERO };
        let mut wifi = Wifi { config, airtime, stations, phase, stats: MediumStats::default() };
        wifi.start_others();
        wifi
    }

    /// The others do not begin together: they draw counters, and those who come and go are off.
    fn start_others(&mut self) {
        let Wifi { config, stations, .. } = self;
        for station in stations {
            if let Kind::Other { on_until, .. } = &mut station.kind {
                station.contender.after(Attempt::Settled, config);
                station.contender.wants_since = Time::ZERO;
                *on_until = Time::NEVER;
                come_and_go(Time::ZERO, &mut station.contender, on_until, config);
            }
        }
    }

    pub(crate) fn links(&self) -> impl Iterator<Item = u32> + '_ {
        self.stations.iter().filter_map(|station| match station.kind {
            Kind::Link { number, .. } => Some(number),
            Kind::Other { .. } => None,
        })
    }

    pub(crate) fn stats(&self) -> &MediumStats {
        &self.stats
    }

    pub(crate) fn held(&self) -> u64 {
        let held = |station: &Station| match &station.kind {
            Kind::Link { frames, .. } => frames.len() as u64,
            Kind::Other { .. } => 0,
        };
        self.stations.iter().map(held).sum()
    }

    pub(crate) fn still_busy_for(&self, now: Time) -> Span {
        match self.phase {
            Phase::Idle { .. } => Span::ZERO,
            Phase::Taken { until } => until.saturating_since(now),
        }
    }

    pub(crate) fn transmits(&self, link: u32) -> bool {
        let it = |station: &&Station| matches!(station.kind, Kind::Link { number, .. } if number == link);
        self.stations.iter().find(it).is_some_and(|station| station.on_air.is_some())
    }

    pub(crate) fn due_at(&self) -> Time {
        match self.phase {
            Phase::Taken { until } => until,
            Phase::Idle { since } => {
                let origin = since + self.config.difs;
                let ready =
                    |station: &Station| station.contender.ready_at(origin, self.config.slot);
                self.stations.iter().map(ready).min().unwrap_or(Time::NEVER)
            }
        }
    }

    pub(crate) fn wake(&mut self, now: Time, link: u32) {
        for station in &mut self.stations {
            let Kind::Link { number, .. } = station.kind else { continue };
            if number == link && station.contender.wants_since == Time::NEVER {
                station.contender.wants_since = now;
            }
        }
    }

    pub(crate) fn run<S: Sink>(&mut self, now: Time, context: &mut MediumContext<'_, S>) {
        match self.phase {
            Phase::Idle { since } => self.take(now, since, context),
            Phase::Taken { .. } => self.leave(now, context.links),
        }
    }

    /// Counters have run out: whoever is ready transmits.
    fn take<S: Sink>(&mut self, now: Time, since: Time, context: &mut MediumContext<'_, S>) {
        let (slot, origin) = (self.config.slot, since + self.config.difs);
        let ready = |station: &Station| station.contender.ready_at(origin, slot) == now;
        let together = self.stations.iter().filter(|station| ready(station)).count();
        let air = if together > 1 { Air::Collision } else { Air::Clear };
        let slots = now.saturating_since(origin).as_nanos() / slot.as_nanos();
        let mut longest = Span::ZERO;
        for index in 0..self.stations.len() {
            if !ready(&self.stations[index]) {
                self.stations[index].contender.pass_slots(slots);
                continue;
            }
            let took = self.transmit(index, air, now, context);
            longest = longest.max(took);
        }
        self.stats.accesses += 1;
        self.stats.collisions += u64::from(air == Air::Collision);
        self.stats.busy_for += longest;
        self.phase = Phase::Taken { until: now + longest };
    }

    /// A station transmits; returns for how long that keeps the medium.
    fn transmit<S: Sink>(
        &mut self,
        index: usize,
        air: Air,
        now: Time,
        context: &mut MediumContext<'_, S>,
    ) -> Span {
        let MediumContext { links, packets, sink } = context;
        let Wifi { config, airtime, stations, .. } = self;
        let Station { kind, rate, on_air, .. } = &mut stations[index];
        match kind {
            Kind::Other { attempts, .. } => {
                *attempts += 1;
                let failed = air == Air::Collision && *attempts <= config.retries;
                *attempts = if failed { *attempts } else { 0 };
                *on_air = Some(if failed { Attempt::Failed } else { Attempt::Settled });
                let ip_len = config.background.map_or(0, |others| others.packet.get() as u32);
                airtime.data(airtime.psdu_bytes(ip_len), *rate) + airtime.response()
            }
            Kind::Link { number, frames } => {
                let link = &mut links[*number as usize];
                let limits = Limits { config, airtime, rate: *rate };
                let load = frames.load(now, &limits, link, packets, sink);
                if load.frames == 0 {
                    // The queue chose to drop all that waited.
                    *on_air = Some(Attempt::Settled);
                    return Span::ZERO;
                }
                let takes = load.data_time + airtime.response();
                let outcome = frames.settle(load, air, &mut Errors::of(config, airtime));
                let arrived = outcome.received > 0;
                frames.release(now + load.data_time, link, packets, sink);
                let settled = arrived || outcome.given_up > 0;
                *on_air = Some(if settled { Attempt::Settled } else { Attempt::Failed });
                link.count_airtime(takes);
                tell(LinkId(*number), (load, takes), (air, arrived), now, sink);
                takes
            }
        }
    }

    /// The medium becomes idle.
    fn leave(&mut self, now: Time, links: &mut [Link]) {
        let Wifi { config, stations, phase, .. } = self;
        for Station { contender, kind, on_air, .. } in stations {
            let Some(attempt) = on_air.take() else {
                contender.on_idle(now, &mut config.stream);
                continue;
            };
            contender.after(attempt, config);
            match kind {
                Kind::Link { number, frames } => {
                    let more = frames.pending() || links[*number as usize].has_waiting();
                    contender.wants_since = if more { now } else { Time::NEVER };
                }
                Kind::Other { on_until, .. } => come_and_go(now, contender, on_until, config),
            }
        }
        *phase = Phase::Idle { since: now };
    }
}

/// A station that has been on long enough goes off for a while.
fn come_and_go(now: Time, contender: &mut Contender, on_until: &mut Time, config: &mut WifiConfig) {
    let Some(OnOff { on, off }) = config.background.and_then(|others| others.on_off) else {
        return;
    };
    if now < *on_until && *on_until != Time::NEVER {
        return;
    }
    contender.wants_since = now + config.stream.uniform(Span::ZERO, off * 2);
    *on_until = contender.wants_since + config.stream.uniform(Span::ZERO, on * 2);
}

fn tell<S: Sink>(
    link: LinkId,
    (load, airtime): (Load, Span),
    (air, arrived): (Air, bool),
    now: Time,
    sink: &mut S,
) {
    let outcome = match (air, arrived) {
        (Air::Collision, _) => AccessOutcome::Collided,
        (Air::Clear, true) => AccessOutcome::Acknowledged,
        (Air::Clear, false) => AccessOutcome::Damaged,
    };
    sink.emit(now, Event::MediumTaken { link, airtime, frames: load.frames, outcome });
}
