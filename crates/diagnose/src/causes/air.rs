//! What 802.11 frames show of a cause: losses after repetitions on the air, airtime per byte, radio outages.
//!
//! A frame that was transmitted several times had left every queue before it. The number of attempts is that of the
//! capture: the transmitter may have made more.

use super::losses::{Verdict, is_burst};
use super::words::{mbit, ms};
use crate::Cause;
use crate::account::{Stretch, Wait};
use crate::flow::Connection;
use crate::flow::air::{Air, Attempts, OFTEN};
use crate::flow::air_series::Aired;
use crate::flow::loss::{LINUX_TIMER, Loss};
use ackord_units::{Span, Time};

/// Confidence in a cause that the air shows.
const SURE: f64 = 0.9;
/// At least this share of the frames are retries where a radio is out, and so many frames.
const OUT_SHARE: f64 = 0.5;
const OUT_RETRIES: u64 = 4;
/// Nothing is acknowledged for this long, and two round trips, in an outage.
const LONG_OUTAGE: Span = Span::from_millis(250);
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
    let proves = air.seldom_repeats_often();
    Some(LostOnAir {
        segments: attempts.clone().count() as u32,
        surely: attempts.clone().filter(|one| proves && one.count >= OFTEN).count() as u32,
        most: attempts.max_by_key(|one| (one.count, one.span()))?,
    })
}

impl LostOnAir {
    /// Returns true if most of the loss was on the air.
    pub(super) fn is_sure(&self, loss: &Loss) -> bool {
        self.surely > 0 && self.surely * 2 >= loss.distinct()
    }

    /// Returns what caused the loss: no queue, if it was on the air; repetitions that outlasted a timer, if the bytes
    /// had arrived.
    pub(super) fn verdict(&self, loss: &Loss, verdict: Verdict) -> Verdict {
        if verdict.recovery == Cause::SpuriousReordering && self.most.span() >= LINUX_TIMER {
            return Verdict {
                recovery: Cause::SpuriousDelay,
                after: Cause::SpuriousDelay,
                ..verdict
            };
        }
        if !self.is_sure(loss) {
            return verdict;
        }
        let of_queue = |cause: Cause| {
            matches!(cause, Cause::FastRecovery | Cause::WindowGrowth | Cause::Policer)
        };
        let after = if of_queue(verdict.after) { Cause::RandomLoss } else { verdict.after };
        let sure = Verdict { confidence: verdict.confidence.max(SURE), ..verdict };
        match verdict.recovery {
            cause if of_queue(cause) => match is_burst(loss) {
                true => Verdict { recovery: Cause::Outage, after: Cause::Outage, ..sure },
                false => Verdict { recovery: Cause::RandomLoss, after, ..sure },
            },
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
    /// Times in which nothing of a direction was acknowledged and its frames were repeated.
    outages: [Vec<(Time, Time)>; 2],
}

impl<'a> Airs<'a> {
    pub(super) fn of(connection: &'a Connection) -> Airs<'a> {
        let best = |side: usize| connection.halves[side].air.as_ref()?.series.best();
        let outages = [Vec::new(), Vec::new()];
        let airs = Airs { connection, best: [0, 1].map(best), outages };
        Airs { outages: [0, 1].map(|side| airs.find_outages(side)), ..airs }
    }

    /// Returns the times of a direction in which nothing was acknowledged for much longer than a round trip, and in
    /// both halves of which most frames were repetitions.
    fn find_outages(&self, side: usize) -> Vec<(Time, Time)> {
        if self.connection.halves[side].air.is_none() {
            return Vec::new();
        }
        let least = LONG_OUTAGE + self.connection.base(side) * 2;
        let without_acks = |stretch: &Stretch| {
            // A stall ends with an ACK.
            let silent = stretch.seen.acked == 0 || stretch.wait == Wait::Stalled;
            usize::from(stretch.side) == side && silent && waits_for_path(stretch)
        };
        let stretches = self.connection.account.stretches();
        let runs = stretches.chunk_by(|one, next| without_acks(one) && without_acks(next));
        let of_run = |run: &[Stretch]| Some((run.first()?.from, run.last()?.to));
        let spans = runs.filter(|run| without_acks(&run[0])).filter_map(of_run);
        let is_out = |from: Time, to: Time| {
            let air = self.connection.halves[side].air.as_ref();
            air.is_some_and(|air| is_out(&air.series.between(from, to)))
        };
        let repeated = |(from, to): &(Time, Time)| {
            let span = to.saturating_since(*from);
            let middle = *from + Span::from_nanos(span.as_nanos() / 2);
            span >= least && is_out(*from, middle) && is_out(middle, *to)
        };
        spans.filter(repeated).collect()
    }

    /// Returns the time without ACKs in which frames were repeated that a stretch is part of.
    fn outage(&self, stretch: &Stretch) -> Option<(Time, Time)> {
        let outages = &self.outages[usize::from(stretch.side)];
        let within = |(from, to): &&(Time, Time)| *from <= stretch.from && stretch.to <= *to;
        outages.iter().find(within).copied().filter(|_| waits_for_path(stretch))
    }

    /// Returns true if a stretch is part of a time in which nothing was acknowledged and frames were repeated.
    pub(super) fn is_outage(&self, stretch: &Stretch) -> bool {
        self.outage(stretch).is_some()
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

    /// Returns the reason for an outage in a sentence, if most frames were repetitions. `loss` is the loss that is
    /// recovered during the stretch.
    pub(super) fn outage_words(&self, stretch: &Stretch, loss: Option<&Loss>) -> Option<String> {
        let (from, to) = match (self.outage(stretch), loss) {
            (Some(outage), _) => outage,
            (None, Some(loss)) => {
                let silence = loss.silence.as_nanos();
                let silent = Time::from_nanos(loss.at.as_nanos().saturating_sub(silence));
                (silent.min(stretch.from), stretch.to)
            }
            (None, None) => (stretch.from, stretch.to),
        };
        let during = self.during(usize::from(stretch.side), &Stretch { from, to, ..*stretch })?;
        is_out(&during).then(|| {
            format!(
                "Radio outage: bytes were under way and nothing got through for {}, and {} of {} frames on the air \
                 were retries.",
                ms(to.saturating_since(from).as_secs_f64()),
                during.retries,
                during.frames
            )
        })
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

/// Returns true for a stretch during which bytes were under way, or might have been sent with an ACK.
fn waits_for_path(stretch: &Stretch) -> bool {
    matches!(
        stretch.wait,
        Wait::Window | Wait::SlowStart | Wait::Transit | Wait::Queued | Wait::Stalled
    )
}

/// Returns true if most of these frames are retries.
fn is_out(aired: &Aired) -> bool {
    aired.retries >= OUT_RETRIES && aired.retry_share() >= OUT_SHARE
}

/// Returns how the air of a time differs from the best one, in a sentence.
fn grown_words((growth, now, best): (f64, Aired, Aired)) -> String {
    let rates = match (now.rate_bit_s(), best.rate_bit_s()) {
        (Some(now), Some(best)) => {
            format!(": mean rate {} instead of {}", mbit(now / 8.0), mbit(best / 8.0))
        }
        _ => String::new(),
    };
    let percent = |aired: &Aired| format!("{:.0} %", 100.0 * aired.retry_share());
    let retries = match (percent(&now), percent(&best)) {
        (now, best) if now == best => String::new(),
        (now, best) => format!(", {now} retries instead of {best}"),
    };
    format!(
        " Airtime per byte is {growth:.1} times that of the fastest quarter of the bytes{rates}{retries}."
    )
}
