//! IEEE 802.11: stations that listen before they talk, acknowledge every frame and try again.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`WifiConfig`], and the medium: idle, taken, idle again |
//! | `contender.rs` | windows and backoff counters |
//! | `airtime.rs` | how long a frame and its acknowledgment take |
//! | `frames.rs` | aggregates, retries, and order |
//!
//! Every direction of a link is a station with a queue of its own, and there may be others that
//! only take time. The medium is idle until a counter runs out, then taken until the acknowledgment
//! is over (or would be); stations whose counters run out together collide, and all their frames
//! are lost. A frame that stays damaged after the last retry is gone, and what waits behind it in
//! the same direction has waited for all of that.
//!
//! Not modelled: hidden stations, capture of the stronger frame, rate adaptation, RTS/CTS, power
//! save, beacons, QoS access categories, a vulnerable time below a slot, lost link acknowledgments
//! (a damaged one would cost airtime, but no packet).

mod airtime;
mod contender;
mod frames;

use super::{MediumContext, MediumStats};
use crate::link::Link;
use ackord_events::{AccessOutcome, Event, LinkId, Sink};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span, Time};
use airtime::Airtime;
use contender::{Attempt, Contender};
use frames::{Air, Errors, Frames, Limits, Load};

/// Longest transmission (aPPDUMaxTime, IEEE 802.11-2020 Table 19-25).
const MAX_PPDU: Span = Span::from_micros(5_484);

/// What a Wi-Fi medium is made of. Clauses and tables are those of IEEE 802.11-2020.
#[derive(Clone, Debug)]
pub struct WifiConfig {
    /// Slot time; more than zero (Table 17-21: 9 us).
    pub slot: Span,
    /// Between a frame and its acknowledgment (Table 17-21: 16 us).
    pub sifs: Span,
    /// Idle time before counters run: SIFS and two slots (§10.3.2.3.5), or more with EDCA.
    pub difs: Span,
    /// First contention window (Table 17-21: 15).
    pub cw_min_slots: u32,
    /// Largest contention window (Table 17-21: 1023).
    pub cw_max_slots: u32,
    /// How often a frame is retransmitted before it is given up.
    pub retries: u32,
    /// Before the payload of a data frame (§17.3.2: 20 us with its SIGNAL field; §19.3.9: 36 us for
    /// a mixed-format frame of one stream).
    pub preamble: Span,
    /// One OFDM symbol (Table 17-5: 4 us); more than zero.
    pub symbol: Span,
    /// Rate of link acknowledgments: the highest mandatory one not above the data's (§10.6.6.5.2).
    pub basic_rate: Rate,
    /// What a frame has beside the IP packet: MAC header, LLC/SNAP, FCS (§9.2.3: 24 + 8 + 4).
    pub mac_overhead: Bytes,
    /// Probability that a frame is damaged, at every attempt anew.
    pub frame_error: Ratio,
    /// Probability that a bit of a frame is damaged, so that longer frames suffer more.
    pub bit_error: Ratio,
    /// Frames in one transmission; without it each goes alone.
    pub aggregation: Option<Aggregation>,
    /// Who else uses the medium.
    pub background: Option<Background>,
    /// What counters and damage are drawn from.
    pub stream: RandomStream,
}

/// A-MPDU (§9.7): several frames in one transmission, acknowledged one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// At most so many frames.
    pub frames: u32,
    /// At most so many bytes, with delimiters and padding.
    pub bytes: Bytes,
}

/// Stations that are not part of the scenario but take their share of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// How many.
    pub stations: u32,
    /// The IP packets they send, one a frame.
    pub packet: Bytes,
    /// Their rate.
    pub rate: Rate,
    /// When they have something to send; always, without it.
    pub on_off: Option<OnOff>,
}

/// How stations come and go: spans drawn evenly from nothing to twice the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    /// Mean time with frames to send.
    pub on: Span,
    /// Mean time without.
    pub off: Span,
}

impl Default for Aggregation {
    fn default() -> Aggregation {
        Aggregation { frames: 64, bytes: Bytes(65_535) }
    }
}

impl Default for WifiConfig {
    fn default() -> WifiConfig {
        WifiConfig {
            slot: Span::from_micros(9),
            sifs: Span::from_micros(16),
            difs: Span::from_micros(34),
            cw_min_slots: 15,
            cw_max_slots: 1_023,
            retries: 7,
            preamble: Span::from_micros(20),
            symbol: Span::from_micros(4),
            basic_rate: Rate::from_mbits_per_sec(24),
            mac_overhead: Bytes(36),
            frame_error: Ratio::ZERO,
            bit_error: Ratio::ZERO,
            aggregation: None,
            background: None,
            stream: RandomStream::for_element(0, "medium"),
        }
    }
}

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
