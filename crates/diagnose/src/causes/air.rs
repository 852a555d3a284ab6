//! What 802.11 frames show of a cause: losses after repetitions on the air, airtime per byte, radio outages.
//!
//! A frame that was transmitted several times had left every queue before it. The number of attempts is that of the
//! capture: the transmitter may have made more.

use super::losses::Verdict;
use super::words::{mbit, ms};
use crate::Cause;
use crate::account::{Stretch, Wait};
use crate::flow::Connection;
use crate::flow::air::{Air, Attempts};
use crate::flow::air_series::Aired;
use crate::flow::loss::Loss;
use ackord_units::{Span, Time};

/// A frame whose bytes are retransmitted by TCP after so many attempts was lost on the air: stations repeat long
/// frames this often at least (dot11LongRetryLimit, IEEE 802.11-2020 annex C).
const SURELY_LOST: u16 = 4;
/// Confidence in a cause that the air shows.
const SURE: f64 = 0.9;
/// At least this share of the frames are retries where a radio is out, and so many frames.
const OUT_SHARE: f64 = 0.5;
const OUT_RETRIES: u64 = 4;
/// Airtime per byte that has grown by this factor makes a queue grow.
const GROWN: f64 = 1.5;
/// Frames with payload for a mean.
const FRAMES: u64 = 8;
/// Repetitions that took this part of a stretch, and this long at least, s, are a reason for it.
const PART: f64 = 0.25;
const LONG: f64 = 0.005;

/// Retransmitted segments of a loss whose earlier frames the capture has.
pub(super) struct LostOnAir {
    segments: u32,
    /// Those that were surely lost on the air.
    surely: u32,
    /// The most attempts of one of them.
    most: Attempts,
}

/// Returns the segments of a loss whose frames were repeated on the air.
pub(super) fn lost(connection: &Connection, loss: &Loss) -> Option<LostOnAir> {
    let air = connection.halves[usize::from(loss.side)].air.as_ref()?;
    let until = if loss.over > loss.at { loss.over } else { connection.last };
    let begin = air.given_up.partition_point(|one| one.at < loss.at);
    let of_loss = air.given_up[begin..].iter().take_while(|one| one.at <= until);
    let attempts = of_loss.map(|one| one.attempts).filter(|attempts| attempts.count > 1);
    Some(LostOnAir {
        segments: attempts.clone().count() as u32,
        surely: attempts.clone().filter(|one| one.count >= SURELY_LOST).count() as u32,
        most: attempts.max_by_key(|one| (one.count, one.span()))?,
    })
}

impl LostOnAir {
    /// Returns true if most of the loss was on the air.
    pub(super) fn is_sure(&self, loss: &Loss) -> bool {
        self.surely > 0 && self.surely * 2 >= loss.distinct()
    }

    /// Returns what caused the loss: no queue, if it was on the air.
    pub(super) fn verdict(&self, loss: &Loss, verdict: Verdict) -> Verdict {
        if !self.is_sure(loss) {
            return verdict;
        }
        let of_queue = |cause: Cause| {
            matches!(cause, Cause::FastRecovery | Cause::WindowGrowth | Cause::Policer)
        };
        let after = if of_queue(verdict.after) { Cause::RandomLoss } else { verdict.after };
        let sure = Verdict { confidence: verdict.confidence.max(SURE), ..verdict };
        match verdict.recovery {
            cause if of_queue(cause) => Verdict { recovery: Cause::RandomLoss, after, ..sure },
            Cause::RandomLoss | Cause::Outage => Verdict { after, ..sure },
            _ => Verdict { after, ..verdict },
        }
    }

    /// Returns the attempts in a sentence.
    pub(super) fn words(&self) -> String {
        let sent = attempts(&self.most);
        match self.segments {
            1 => format!(" The frame was {sent}."),
            segments => {
                format!(" {segments} of the frames were repeated on the air; one was {sent}.")
            }
        }
    }
}

/// Returns how often, at which rate and how long a frame was transmitted.
fn attempts(one: &Attempts) -> String {
    let rate = |kbit_s: u32| mbit(f64::from(kbit_s) * 125.0);
    let rates = match (one.highest_kbit_s, one.lowest_kbit_s) {
        (_, 0) => String::new(),
        (high, low) if high == low => format!(" at {}", rate(low)),
        (high, low) => format!(" at {} to {}", rate(low), rate(high)),
    };
    let within = ms(one.span().as_secs_f64());
    format!("sent {} times on the air{rates} within {within}", one.count)
}

/// The air of both directions of a connection.
pub(super) struct Airs<'a> {
    connection: &'a Connection,
    /// The frames whose bytes took the least airtime.
    best: [Option<Aired>; 2],
}

impl<'a> Airs<'a> {
    pub(super) fn of(connection: &'a Connection) -> Airs<'a> {
        let best = |side: usize| connection.halves[side].air.as_ref()?.series.best();
        Airs { connection, best: [0, 1].map(best) }
    }

    /// Returns the frames of one direction during a stretch, and for as long after it as its last packet may have
    /// taken to the capture point.
    fn during(&self, side: usize, stretch: &Stretch) -> Option<Aired> {
        let air: &Air = self.connection.halves[side].air.as_deref()?;
        Some(air.series.between(stretch.from, stretch.to + self.shift()))
    }

    fn shift(&self) -> Span {
        let parts = self.connection.halves.iter().filter_map(|half| half.to.least);
        Span::from_nanos(parts.max().unwrap_or_default().as_nanos() / 2)
    }

    /// Returns the factor by which the airtime of a byte was above the best one during a stretch; 1 if it is unknown
    /// or has not grown.
    pub(super) fn growth(&self, stretch: &Stretch) -> f64 {
        self.grown(stretch).map_or(1.0, |(growth, ..)| growth)
    }

    fn grown(&self, stretch: &Stretch) -> Option<(f64, Aired, Aired)> {
        let side = usize::from(stretch.side);
        let best = self.best[side]?;
        let now = self.during(side, stretch)?;
        let growth = now.per_byte_us()? / best.per_byte_us()?;
        (growth >= GROWN && now.frames >= FRAMES).then_some((growth, now, best))
    }

    /// Returns the frames of a stretch in which nearly all frames of the sender were repeated, from the last ACK
    /// before its loss on.
    pub(super) fn out(&self, stretch: &Stretch, loss: Option<&Loss>) -> Option<Aired> {
        let began = loss.map_or(stretch.from, |loss| {
            let silent =
                Time::from_nanos(loss.at.as_nanos().saturating_sub(loss.silence.as_nanos()));
            silent.min(stretch.from)
        });
        let during =
            self.during(usize::from(stretch.side), &Stretch { from: began, ..*stretch })?;
        let out = during.retries >= OUT_RETRIES && during.retry_share() >= OUT_SHARE;
        out.then_some(during)
    }

    /// Returns a sentence about the air during a stretch that the path took; empty if it explains nothing.
    pub(super) fn words(&self, cause: Cause, stretch: &Stretch) -> String {
        match cause {
            Cause::QueueingOwn | Cause::QueueingOthers | Cause::UnfairShare => {
                self.grown(stretch).map_or_else(|| self.repeated(stretch), grown_words)
            }
            Cause::PathLimited | Cause::SpuriousDelay | Cause::SpuriousReordering => {
                self.repeated(stretch)
            }
            _ => String::new(),
        }
    }

    /// Returns a sentence about the frame of either end that was repeated for longest during a stretch.
    fn repeated(&self, stretch: &Stretch) -> String {
        let span = stretch.span().as_secs_f64();
        let of = |side: usize| Some((side, self.during(side, stretch)?.longest?));
        let both = [of(0), of(1)].into_iter().flatten();
        let long = |attempts: &Attempts| {
            let took = attempts.span().as_secs_f64();
            took >= LONG.max(PART * span) && took <= span + self.shift().as_secs_f64()
        };
        match both.filter(|(_, one)| long(one)).max_by_key(|(_, one)| one.span()) {
            Some((side, one)) => {
                format!(" A frame from the {} was {}.", ["client", "server"][side], attempts(&one))
            }
            None => String::new(),
        }
    }
}

/// Returns how the air of a time differs from the best one, in a sentence.
fn grown_words((growth, now, best): (f64, Aired, Aired)) -> String {
    let rates = match (now.rate_bit_s(), best.rate_bit_s()) {
        (Some(now), Some(best)) => {
            format!("mean rate {} instead of {}, ", mbit(now / 8.0), mbit(best / 8.0))
        }
        _ => String::new(),
    };
    format!(
        " Airtime per byte is {growth:.1} times that of its fastest quarter: {rates}{:.0} % retries instead of \
         {:.0} %.",
        100.0 * now.retry_share(),
        100.0 * best.retry_share()
    )
}

/// Returns the reason for an outage during which nearly all frames were repeated, in a sentence.
pub(super) fn outage_words(out: &Aired, stretch: &Stretch) -> String {
    let what = match stretch.wait {
        Wait::Recovery => "nothing got through",
        _ => "bytes were under way and no ACK arrived",
    };
    let took = ms(stretch.span().as_secs_f64());
    let Aired { frames, retries, .. } = out;
    format!(
        "Radio outage: {what} for {took}, and {retries} of {frames} frames on the air were retries."
    )
}
