//! The link behind the gateway, from all downloads that passed it.

use super::downloads::Download;
use super::fades::{Fade, Fades};
use super::transmissions::Transmission;
use crate::remedies::facts::PACKET;
use ackord_measure::stats::quantile;
use ackord_units::RandomStream;
use ackord_units::portable::exp;

/// Headers of IPv4 and TCP with timestamps, bytes.
const HEADERS: f64 = 52.0;
/// The queue counts as full from this part of its longest delay, and as far from full below the other.
const FULL: f64 = 0.8;
const FAR_FROM_FULL: f64 = 0.5;
/// A queue drops packets if they are lost so many times as often when it is full.
const MORE_OFTEN: f64 = 2.0;
/// The longest queueing delay is this quantile: single delayed acknowledgments are above it.
const LONGEST: f64 = 0.98;
/// Fewest losses that show anything.
const LEAST_LOSSES: f64 = 3.0;
/// A queue that dropped nothing holds so many times what was seen in it: nothing shows its limit.
const NEVER_FULL: f64 = 2.0;
/// Fewest packets that a queue holds.
const LEAST_QUEUE: f64 = 20.0;

/// What is known of the link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Rate, whole packets, bit/s.
    pub(super) rate_bit_s: f64,
    /// Whether trains of packets show it; otherwise it is the highest rate that was seen.
    pub(super) rate_is_shown: bool,
    /// Shortest round trip behind the gateway, s.
    pub(super) air_s: f64,
    /// Packets that its queue holds.
    pub(super) queue: f64,
    /// Share of the packets lost at random in each direction, 0 to 1.
    pub(super) loss: f64,
    /// Losses that this is from.
    pub(super) losses: f64,
    /// Times at which nothing passes.
    pub(super) fades: Fades,
}

impl Link {
    pub(super) fn of(downloads: &[Download]) -> Option<Link> {
        let rates: Vec<f64> = downloads.iter().filter_map(|one| one.capacity).collect();
        let seen = downloads.iter().map(|one| one.rate).fold(0.0, f64::max);
        let rate = quantile(&rates, 0.5).unwrap_or(seen) * PACKET / (PACKET - HEADERS);
        let air_s = downloads.iter().map(|one| one.air_s).reduce(f64::min)?;
        if rate <= 0.0 {
            return None;
        }
        let fades = Fades::of(downloads);
        let up: Vec<&Transmission> = downloads.iter().flat_map(|one| up(one)).collect();
        let delays: Vec<f64> = up.iter().filter_map(|one| one.queue_s).collect();
        let longest = quantile(&delays, LONGEST).unwrap_or(0.0);
        let band = |low: f64, high: f64| {
            let within = up.iter().filter(|one| {
                one.queue_s.is_some_and(|queue| queue >= low * longest && queue < high * longest)
            });
            within.fold((0.0, 0.0), |(lost, all), one| (lost + f64::from(one.lost), all + 1.0))
        };
        let share = |(lost, all): (f64, f64)| if all > 0.0 { lost / all } else { 0.0 };
        let (when_full, else_) = (band(FULL, f64::INFINITY), band(0.0, FAR_FROM_FULL));
        let overflows = when_full.0 >= LEAST_LOSSES && share(when_full) > MORE_OFTEN * share(else_);
        let random = if overflows { else_ } else { band(0.0, f64::INFINITY) };
        let trip_s =
            quantile(&downloads.iter().map(|one| one.wired_s).collect::<Vec<_>>(), 0.5)? + air_s;
        let packets = |seconds: f64| seconds * rate / (8.0 * PACKET);
        let most = delays.iter().copied().fold(0.0, f64::max);
        let queue = match overflows {
            true => packets(longest),
            false => (NEVER_FULL * packets(most)).max(packets(trip_s)),
        };
        Some(Link {
            rate_bit_s: rate,
            rate_is_shown: !rates.is_empty(),
            air_s,
            queue: queue.max(LEAST_QUEUE),
            loss: share(random),
            losses: random.0,
            fades,
        })
    }
}

impl Link {
    /// Returns a link as likely as this one, given the number of losses and fades that it is known from.
    pub(super) fn drawn(&self, stream: &mut RandomStream) -> Link {
        let mut factor = |count: f64| {
            let deviation = 1.0 / (count + 1.0).sqrt();
            exp(deviation * stream.standard_normal() - 0.5 * deviation * deviation)
        };
        let mut drawn = self.clone();
        drawn.loss = (self.loss * factor(self.losses)).min(0.5);
        drawn.fades.every_s *= factor(self.fades.count as f64);
        drawn
    }
}

/// Transmissions outside of fades.
fn up(download: &Download) -> Vec<&Transmission> {
    let fades = Fade::all(download);
    let out = |t: f64| fades.iter().any(|fade| t >= fade.from_s && t <= fade.from_s + fade.most_s);
    download.sent.iter().filter(|one| !out(one.t)).collect()
}
