//! What the meter's curves go through: samples put together to as many points as fit, and the top
//! of an axis.

use ackord_live::{DirectionSample, METER_INTERVAL, MeterView};
use ackord_units::{Rate, Span};

/// Points of a curve: seconds before now (negative), value.
pub(crate) type Points = Vec<(f64, f64)>;

/// One direction of the link over what is shown, a point for each few samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Series {
    /// Mean rate delivered, in bit/s.
    pub(crate) throughput: Points,
    /// Mean capacity, in bit/s, where it is known.
    pub(crate) capacity: Points,
    /// The longest queueing delay, in seconds.
    pub(crate) delay: Points,
    /// Packets dropped per second.
    pub(crate) drops: Points,
}

/// What there is to say of one direction in a number each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Now {
    /// Mean over the last second.
    pub(crate) throughput: Rate,
    /// Mean over the last second, where it is known.
    pub(crate) capacity: Option<Rate>,
    /// Of the packet at the head of the queue.
    pub(crate) delay: Span,
    /// The longest in what is shown.
    pub(crate) peak_delay: Span,
    /// Packets that wait.
    pub(crate) waiting: u64,
}

/// Samples in a second.
const A_SECOND: usize = (1_000_000_000 / METER_INTERVAL.as_nanos()) as usize;

impl Series {
    /// Direction `way` of `view`, in at most about `points` points. Samples are put together by
    /// their place in the run, so that a curve moves to the left and does not flicker.
    pub(crate) fn of(view: &MeterView, way: usize, points: usize) -> Series {
        let together = view.samples.len().div_ceil(points.max(1)).max(1);
        let interval = METER_INTERVAL.as_secs_f64();
        let first = (view.began_at.as_nanos() / METER_INTERVAL.as_nanos()) as usize;
        let end = view.samples.len();
        let mut series = Series::default();
        let mut from = 0;
        while from < end {
            let to = (from + together - (first + from) % together).min(end);
            let bucket = view.samples[from..to].iter().map(|pair| &pair[way]);
            // A point stands in the middle of what it is the mean of.
            let at = ((from + to) as f64 / 2.0 - end as f64) * interval;
            series.add(at, (to - from) as f64 * interval, bucket);
            from = to;
        }
        series
    }

    fn add<'a>(
        &mut self,
        at: f64,
        lasted_secs: f64,
        bucket: impl Iterator<Item = &'a DirectionSample> + Clone,
    ) {
        let bits: u64 = bucket.clone().map(|sample| sample.delivered.bytes.bits()).sum();
        self.throughput.push((at, bits as f64 / lasted_secs));
        let delay = bucket.clone().map(|sample| sample.longest_queueing_delay).max();
        self.delay.push((at, delay.unwrap_or_default().as_secs_f64()));
        let dropped: u64 = bucket.clone().map(DirectionSample::dropped_packets).sum();
        self.drops.push((at, dropped as f64 / lasted_secs));
        let known: Vec<f64> = bucket
            .filter_map(|sample| sample.capacity)
            .map(|rate| rate.as_bits_per_sec() as f64)
            .collect();
        if !known.is_empty() {
            self.capacity.push((at, known.iter().sum::<f64>() / known.len() as f64));
        }
    }

    /// Whether the capacity changes in what is shown; one that does not need not be drawn.
    pub(crate) fn capacity_changes(&self) -> bool {
        self.capacity.windows(2).any(|pair| (pair[0].1 - pair[1].1).abs() > f64::EPSILON)
    }
}

impl Now {
    /// Direction `way` at the end of `view`.
    pub(crate) fn of(view: &MeterView, way: usize) -> Now {
        let samples = view.samples.iter().map(|pair| &pair[way]);
        let last = &view.samples[view.samples.len().saturating_sub(A_SECOND)..];
        let lasted = METER_INTERVAL.saturating_mul(last.len() as u64).as_secs_f64();
        let mean = |bits: u64| match lasted > 0.0 {
            true => Rate::from_bits_per_sec((bits as f64 / lasted) as u64),
            false => Rate::default(),
        };
        let of_last = last.iter().map(|pair| &pair[way]);
        let capacities: Vec<u64> = of_last
            .clone()
            .filter_map(|sample| sample.capacity)
            .map(Rate::as_bits_per_sec)
            .collect();
        let end = samples.clone().next_back().copied().unwrap_or_default();
        Now {
            throughput: mean(of_last.map(|sample| sample.delivered.bytes.bits()).sum()),
            capacity: match capacities.len() as u64 {
                0 => None,
                count => {
                    let sum: u128 = capacities.iter().map(|&rate| u128::from(rate)).sum();
                    Some(Rate::from_bits_per_sec((sum / u128::from(count)) as u64))
                }
            },
            delay: end.queueing_delay,
            peak_delay: samples.map(|s| s.longest_queueing_delay).max().unwrap_or_default(),
            waiting: end.queue.packets,
        }
    }
}

/// The highest value of some curves.
pub(crate) fn highest<'a>(curves: impl IntoIterator<Item = &'a Points>) -> f64 {
    curves.into_iter().flatten().map(|point| point.1).fold(0.0, f64::max)
}

/// A round number at or above `value` for the top of an axis: 1, 2 or 5 times a power of ten, and
/// at least `least`.
pub(crate) fn round_top(value: f64, least: f64) -> f64 {
    let value = if value.is_finite() { value.max(least) } else { least };
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    // What is one rounding error above a step is that step.
    steps.into_iter().find(|&step| value <= step * (1.0 + 1e-9)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_an_axis_is_round_and_not_below_what_is_drawn() {
        for (value, top) in [(0.0, 1.0), (1.0, 1.0), (1.1, 2.0), (4.9, 5.0), (51.0, 100.0)] {
            assert_eq!(round_top(value, 1.0), top, "of {value}");
        }
        assert_eq!(round_top(f64::NAN, 1.0), 1.0);
        assert_eq!(round_top(9.99e9, 1.0), 1e10);
    }
}
