//! A series of points in bounded memory.
//!
//! Up to the bound every point is kept exactly. Beyond it, time is cut into equal buckets of which
//! each keeps its first, smallest, largest and last point: drawn at any width up to the number of
//! buckets, the line looks the same as with every point. The points up to the bound are kept
//! besides, so that the beginning can be looked at closely: between the corners of an outline a
//! reader would see bursts that never were.

use ackord_units::{Span, Time};

/// One value at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When.
    pub at: Time,
    /// How much; the unit is the series'.
    pub value: f64,
}

/// Points in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    points: Vec<Point>,
    /// Every point of the beginning, where `points` holds only an outline.
    head: Vec<Point>,
}

impl Trace {
    /// A trace of just these points, which are in order of time.
    pub fn exact(points: Vec<Point>) -> Trace {
        debug_assert!(points.is_sorted_by_key(|point| point.at), "points come in order of time");
        Trace { points, head: Vec::new() }
    }

    /// The points, in order of time.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether points were left out to stay within the bound.
    pub fn is_thinned(&self) -> bool {
        !self.head.is_empty()
    }

    /// Up to (but not at) this instant every point is known.
    pub fn exact_until(&self) -> Time {
        self.head.last().map_or(Time::NEVER, |last| last.at)
    }

    /// The points of a part of the run, ends included: every one of them if they are known, else
    /// those of the outline.
    pub fn points_between(&self, from: Time, to: Time) -> &[Point] {
        let exact = self.is_thinned() && to < self.exact_until();
        let points = if exact { &self.head } else { &self.points };
        let start = points.partition_point(|point| point.at < from);
        let end = points.partition_point(|point| point.at <= to);
        &points[start..end.max(start)]
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The last value at or before `at`, for values that hold until they change.
    pub fn value_at(&self, at: Time) -> Option<f64> {
        let after = self.points.partition_point(|point| point.at <= at);
        after.checked_sub(1).map(|last| self.points[last].value)
    }
}

/// Collects a [`Trace`].
#[derive(Clone, Debug)]
pub(super) struct TraceBuilder {
    max_points: usize,
    bucket_width: Span,
    /// Every point, up to the bound.
    exact: Vec<Point>,
    /// The points of closed buckets, once there is no more room for every point.
    outline: Vec<Point>,
    open: Option<Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Points from then on belong to later ones.
    ends: Time,
    first: Point,
    least: Point,
    most: Point,
    last: Point,
}

impl TraceBuilder {
    /// For a run of this length. Keeps `max_points` (at least four) points, and a few more if the
    /// run goes on longer than planned.
    pub(super) fn new(max_points: usize, duration: Span) -> TraceBuilder {
        let buckets = (max_points / 4).max(1) as u64;
        let bucket_width = Span::from_nanos(duration.as_nanos().div_ceil(buckets).max(1));
        let (exact, outline) = (Vec::new(), Vec::new());
        TraceBuilder { max_points, bucket_width, exact, outline, open: None }
    }

    /// Adds a point. One told late, which lies before its predecessor, counts as simultaneous.
    #[inline]
    pub(super) fn push(&mut self, at: Time, value: f64) {
        if self.open.is_some() {
            self.push_thinned(Point { at, value });
            return;
        }
        let at = self.exact.last().map_or(at, |last| last.at.max(at));
        if self.exact.len() < self.max_points {
            self.exact.push(Point { at, value });
            return;
        }
        for number in 0..self.exact.len() {
            self.push_thinned(self.exact[number]);
        }
        self.push_thinned(Point { at, value });
    }

    fn push_thinned(&mut self, mut point: Point) {
        if let Some(open) = &self.open {
            point.at = point.at.max(open.last.at);
        }
        match &mut self.open {
            // Points come in order of time.
            Some(open) if point.at < open.ends => {
                if point.value < open.least.value {
                    open.least = point;
                }
                if point.value > open.most.value {
                    open.most = point;
                }
                open.last = point;
            }
            _ => {
                self.close();
                let number = point.at.as_nanos() / self.bucket_width.as_nanos();
                let ends = Time::ZERO + self.bucket_width.saturating_mul(number + 1);
                let (first, least, most, last) = (point, point, point, point);
                self.open = Some(Bucket { ends, first, least, most, last });
            }
        }
    }

    fn close(&mut self) {
        let Some(Bucket { first, least, most, last, .. }) = self.open.take() else { return };
        let (early, late) = if least.at <= most.at { (least, most) } else { (most, least) };
        for point in [first, early, late, last] {
            // One point may be several of the four.
            if self.outline.last() != Some(&point) {
                self.outline.push(point);
            }
        }
    }

    pub(super) fn finish(mut self) -> Trace {
        if self.open.is_none() {
            return Trace::exact(self.exact);
        }
        self.close();
        Trace { points: self.outline, head: self.exact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(max_points: usize, duration: Span, points: &[(u64, f64)]) -> Trace {
        let mut builder = TraceBuilder::new(max_points, duration);
        for (nanos, value) in points {
            builder.push(Time::from_nanos(*nanos), *value);
        }
        builder.finish()
    }

    #[test]
    fn up_to_the_bound_every_point_is_kept() {
        let trace = build(8, Span::from_nanos(80), &[(0, 1.0), (10, 5.0), (10, 2.0), (70, 3.0)]);
        assert!(!trace.is_thinned());
        assert_eq!(trace.points().len(), 4);
        assert_eq!(trace.value_at(Time::from_nanos(10)), Some(2.0));
        assert_eq!(trace.value_at(Time::from_nanos(69)), Some(2.0));
    }

    #[test]
    fn before_its_first_point_a_trace_has_no_value() {
        let trace = build(8, Span::from_nanos(80), &[(5, 1.0)]);
        assert_eq!(trace.value_at(Time::from_nanos(4)), None);
    }

    #[test]
    fn of_a_thinned_trace_the_beginning_is_still_known_point_by_point() {
        let points: Vec<_> = (0..10_000).map(|i| (i * 10, i as f64)).collect();
        let trace = build(100, Span::from_nanos(100_000), &points);
        let at = Time::from_nanos;
        let close_up: Vec<_> =
            trace.points_between(at(200), at(250)).iter().map(|point| point.value).collect();
        assert_eq!(close_up, [20.0, 21.0, 22.0, 23.0, 24.0, 25.0]);
        assert_eq!(trace.exact_until(), at(990));
        // Beyond, only the outline is left: four points at most per 4000 ns.
        assert!(trace.points_between(at(4_000), at(7_999)).len() <= 4);
    }

    #[test]
    fn beyond_the_bound_peaks_and_troughs_survive() {
        let mut points: Vec<_> = (0..10_000).map(|i| (i, 10.0)).collect();
        points[4_321].1 = 99.0;
        points[7_654].1 = -5.0;
        let trace = build(100, Span::from_nanos(10_000), &points);
        assert!(trace.is_thinned());
        let values: Vec<_> = trace.points().iter().map(|point| point.value).collect();
        assert!(values.contains(&99.0) && values.contains(&-5.0));
        assert_eq!(trace.points().first().map(|p| p.at), Some(Time::ZERO));
        assert_eq!(trace.points().last().map(|p| p.at), Some(Time::from_nanos(9_999)));
    }

    proptest! {
        #[test]
        fn whatever_comes_memory_is_bounded_and_time_does_not_go_back(
            steps in prop::collection::vec((0u64..1_000, -1e6f64..1e6), 1..2_000),
            max_points in 4usize..200,
        ) {
            let mut now = 0;
            let points: Vec<_> =
                steps.iter().map(|(gap, value)| { now += gap; (now, *value) }).collect();
            let trace = build(max_points, Span::from_nanos(now.max(1)), &points);
            // The run's last instant opens one bucket of its own.
            prop_assert!(trace.points().len() <= max_points + 4);
            prop_assert!(trace.points().is_sorted_by_key(|point| point.at));
            let extreme = |pick: fn(f64, f64) -> f64, start: f64| {
                let all = points.iter().map(|(_, value)| *value).fold(start, pick);
                let kept = trace.points().iter().map(|point| point.value).fold(start, pick);
                (all, kept)
            };
            let (all, kept) = extreme(f64::max, f64::NEG_INFINITY);
            prop_assert_eq!(all, kept);
            let (all, kept) = extreme(f64::min, f64::INFINITY);
            prop_assert_eq!(all, kept);
        }
    }
}
