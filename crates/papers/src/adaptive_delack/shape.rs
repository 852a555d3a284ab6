//! How a run went over time: the gaps between segments, the rate of each second, and what follows a reduction of
//! cwnd. Beside it, the times that the paper's figures print.
//!
//! Not modelled: arrivals. Gaps are those between segments delivered in order; where one is lost on the way, those
//! behind it count as one.

use ackord_measure::stats::{mean, median, std_dev};
use ackord_measure::{FlowSeries, Point, Trace};
use ackord_units::{Span, Time};
use serde::Serialize;

/// Fig. 4: when its segments arrive, all of 536 bytes.
pub(super) const FIG4_ARRIVALS_S: [f64; 7] =
    [9.666723, 9.667667, 9.668631, 9.669555, 9.670499, 9.671443, 9.672387];
/// Fig. 4: they are acknowledged so much later, each by itself (one of six after 0.88 ms).
pub(super) const FIG4_ACK_AFTER_MS: f64 = 0.9;
/// Fig. 4: when its first line was captured, and the bytes acknowledged by then.
pub(super) const FIG4_BEGINS: Span = Span::from_micros(9_666_679);
pub(super) const FIG4_ACKNOWLEDGED_BYTES: f64 = 929_345.0;
/// Fig. 7: when the phone received a segment.
pub(super) const FIG7_S: [f64; 24] = [
    50.945617, 51.219940, 51.221588, 51.221862, 51.222930, 51.223236, 51.229339, 51.229766,
    51.230163, 51.230621, 51.230957, 51.231292, 51.304870, 51.319152, 51.320159, 51.323028,
    51.326660, 51.327056, 51.329681, 51.330200, 51.331481, 51.356567, 51.357391, 51.357788,
];
/// Growth after a retransmission is read over this long after a reduction, what is delivered over twice as long.
const AFTER: Span = Span::from_millis(500);
const SECOND: Span = Span::from_secs(1);

/// What is read off the series of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Shape {
    /// Rates of whole seconds but the first.
    pub(super) slowest_second_mbit_s: f64,
    pub(super) fastest_second_mbit_s: f64,
    pub(super) spread_of_seconds_mbit_s: f64,
    pub(super) gaps: Gaps,
    /// By how many bytes a second cwnd grows in the half second after a reduction with no other one in it.
    pub(super) growth_after_loss_bytes_s: Option<f64>,
    /// The rate of the second after such a reduction.
    pub(super) rate_after_loss_mbit_s: Option<f64>,
    /// Bytes delivered when Fig. 4 begins.
    pub(super) delivered_at_fig4_bytes: f64,
}

/// Gaps between segments, of one run or of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Gaps {
    pub(super) count: u32,
    pub(super) median_ms: f64,
    /// No longer than 0.6 ms: a frame at 54 Mbit/s sent once.
    pub(super) single_percent: f64,
    /// Longer than 2 ms.
    pub(super) pauses_percent: f64,
    /// From 0.6 to 1.1 ms, the range of section 4.2.
    pub(super) of_section_4_percent: f64,
    /// Mean of the last ten.
    pub(super) last_ten_ms: f64,
}

impl Shape {
    pub(super) fn of(flow: &FlowSeries, duration_s: f64) -> Shape {
        let delivered = |at: Span| flow.delivered.value_at(Time::ZERO + at).unwrap_or(0.0);
        let rate = |from: Span, over: Span| {
            (delivered(from + over) - delivered(from)) * 8.0 / 1e6 / over.as_secs_f64()
        };
        let seconds: Vec<f64> =
            (1..duration_s as u64).map(|second| rate(Span::from_secs(second), SECOND)).collect();
        let falls = falls_alone(&flow.cwnd);
        let growth: Vec<f64> =
            falls.iter().filter_map(|fall| growth_after(&flow.cwnd, *fall)).collect();
        let after: Vec<f64> =
            falls.iter().map(|fall| rate(fall.saturating_since(Time::ZERO), SECOND)).collect();
        Shape {
            slowest_second_mbit_s: seconds.iter().copied().fold(f64::INFINITY, f64::min),
            fastest_second_mbit_s: seconds.iter().copied().fold(0.0, f64::max),
            spread_of_seconds_mbit_s: std_dev(&seconds).unwrap_or(0.0),
            gaps: Gaps::of(&known_times_s(&flow.delivered)),
            growth_after_loss_bytes_s: mean(&growth),
            rate_after_loss_mbit_s: mean(&after),
            delivered_at_fig4_bytes: delivered(FIG4_BEGINS),
        }
    }
}

impl Gaps {
    /// Of segments that came at these times, in order.
    pub(super) fn of(times_s: &[f64]) -> Gaps {
        let gaps: Vec<f64> = times_s.windows(2).map(|pair| 1e3 * (pair[1] - pair[0])).collect();
        let share = |inside: &dyn Fn(f64) -> bool| {
            let found = gaps.iter().filter(|gap| inside(**gap)).count();
            100.0 * found as f64 / gaps.len().max(1) as f64
        };
        Gaps {
            count: gaps.len() as u32,
            median_ms: median(&gaps).unwrap_or(f64::NAN),
            single_percent: share(&|gap| gap <= 0.6),
            pauses_percent: share(&|gap| gap > 2.0),
            of_section_4_percent: share(&|gap| (0.6..=1.1).contains(&gap)),
            last_ten_ms: mean(&gaps[gaps.len().saturating_sub(10)..]).unwrap_or(f64::NAN),
        }
    }
}

/// The times of all points, or where a trace was thinned, of its beginning, of which each point is known.
fn known_times_s(trace: &Trace) -> Vec<f64> {
    let until = Time::from_nanos(trace.exact_until().as_nanos() - 1);
    let points: &[Point] =
        if trace.is_thinned() { trace.points_between(Time::ZERO, until) } else { trace.points() };
    points.iter().map(|point| point.at.as_secs_f64()).collect()
}

/// By how many bytes a second cwnd grows after each reduction with no other one in the half second behind it.
pub(super) fn growths_after_reductions(cwnd: &Trace) -> Vec<f64> {
    falls_alone(cwnd).into_iter().filter_map(|fall| growth_after(cwnd, fall)).collect()
}

fn growth_after(cwnd: &Trace, fall: Time) -> Option<f64> {
    // A tenth of it passes before it counts: cwnd settles when the recovery is over.
    let (from, until) = (fall + AFTER / 10, fall + AFTER);
    let grown = cwnd.value_at(until)? - cwnd.value_at(from)?;
    Some(grown / until.saturating_since(from).as_secs_f64())
}

/// When cwnd falls by a fifth or more and neither falls again nor ends for half a second.
fn falls_alone(cwnd: &Trace) -> Vec<Time> {
    let points = cwnd.points();
    let fell = |pair: &&[Point]| pair[1].value < 0.8 * pair[0].value;
    let falls: Vec<Time> = points.windows(2).filter(fell).map(|pair| pair[1].at).collect();
    let alone = |index: usize, until: Time| {
        falls.get(index + 1).is_none_or(|&next| next > until)
            && points.last().is_some_and(|last| last.at >= until)
    };
    let kept = falls.iter().enumerate().filter(|(index, fall)| alone(*index, **fall + AFTER));
    kept.map(|(_, fall)| *fall).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(millis: u64, value: f64) -> Point {
        Point { at: Time::ZERO + Span::from_millis(millis), value }
    }

    #[test]
    fn growth_is_read_after_falls_that_stand_alone() {
        // Falls at 1 s (alone) and at 3 s (another follows 100 ms later and has no half second left).
        let rising = (0..=10).map(|step| point(1_000 + step * 50, 4_000.0 + 100.0 * step as f64));
        let points: Vec<_> = [point(0, 8_000.0)]
            .into_iter()
            .chain(rising)
            .chain([point(2_000, 6_000.0), point(3_000, 3_000.0), point(3_100, 1_500.0)])
            .collect();
        let found = growths_after_reductions(&Trace::exact(points));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0] - 2_000.0).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn rates_are_those_of_whole_seconds_but_the_first() {
        // 1 Mbit in the second second, 3 in the third.
        let delivered = vec![point(500, 9e6), point(1_500, 9.125e6), point(2_500, 9.5e6)];
        let flow = FlowSeries { delivered: Trace::exact(delivered), ..FlowSeries::default() };
        let shape = Shape::of(&flow, 3.0);
        assert_eq!((shape.slowest_second_mbit_s, shape.fastest_second_mbit_s), (1.0, 3.0));
        assert!((shape.spread_of_seconds_mbit_s - 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(shape.growth_after_loss_bytes_s, None);
    }

    #[test]
    fn the_figures_say_of_their_gaps_what_is_said_of_them() {
        let four = Gaps::of(&FIG4_ARRIVALS_S);
        // 536 bytes, 52 of headers and 2 of PPP at 5 Mbit/s.
        assert!((four.median_ms - 590.0 * 8.0 / 5e3).abs() < 1e-6, "{four:?}");
        assert_eq!(four.of_section_4_percent, 100.0);
        // When the figure has them acknowledged; the last one's acknowledgment is not shown.
        let acks = [9.667623, 9.668567, 9.669511, 9.670455, 9.671399, 9.672343];
        let delays: Vec<f64> =
            acks.iter().zip(FIG4_ARRIVALS_S).map(|(ack, came)| 1e3 * (ack - came)).collect();
        assert!((median(&delays).expect("six") - FIG4_ACK_AFTER_MS).abs() < 1e-6, "{delays:?}");
        let seven = Gaps::of(&FIG7_S);
        assert_eq!(seven.count, 23);
        assert!((seven.single_percent - 1000.0 / 23.0).abs() < 1e-9, "{seven:?}");
        assert!((seven.pauses_percent - 800.0 / 23.0).abs() < 1e-9, "{seven:?}");
    }
}
