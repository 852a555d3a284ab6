//! Every segment of a flow in a few bytes, as a page keeps it: columns of small numbers, compressed, as base64.
//!
//! Uncompressed, `count` points are: their marks, one byte each; their times in nanoseconds, each as the difference to
//! the point before; their first bytes, each as the difference to where the last point of the same mark suggests it
//! (where its data ended, or where the ACK or block was); their lengths, each as the difference to the last one of the
//! same mark. Numbers are LEB128, those that may be negative in zigzag order. `ui/src/segments.ts` reads it.

use ackord_measure::{SegmentMark, SegmentPoint, SegmentTrace};
use ackord_units::Time;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use std::io::Write;

/// Points that a plot keeps one by one, all of its flows together: less than a megabyte. Beyond, outlines remain.
pub(crate) const MOST_POINTS: usize = 250_000;

/// The segments of the flows of a plot over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlotSegments {
    /// Nanoseconds per unit of the plot's horizontal axis.
    pub(crate) x: f64,
    /// Bytes per unit of the plot's vertical axis.
    pub(crate) y: f64,
    /// One per flow.
    pub(crate) curves: Vec<SegmentCurve>,
    /// How many points a plot keeps at most.
    pub(crate) bound: usize,
}

/// The segments of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SegmentCurve {
    /// The flow's name.
    name: String,
    /// Number in the palette.
    colour: usize,
    count: usize,
    /// From this instant on points are missing, nanoseconds; nothing where none is.
    exact_until: Option<u64>,
    data: String,
}

impl PlotSegments {
    /// Encodes the segments of flows, by name in the order of the palette; nothing where a flow has none.
    pub(crate) fn of<'a>(
        flows: impl ExactSizeIterator<Item = (&'a str, &'a SegmentTrace)>,
        x: f64,
        y: f64,
    ) -> Option<PlotSegments> {
        let share = MOST_POINTS / flows.len().max(1);
        let curves: Vec<_> = flows
            .enumerate()
            .map(|(colour, (name, trace))| SegmentCurve::of(name, colour, trace, share))
            .collect();
        let known = !curves.is_empty() && curves.iter().all(|curve| curve.count > 0);
        known.then_some(PlotSegments { x, y, curves, bound: MOST_POINTS })
    }

    /// True if no point is missing.
    pub(crate) fn are_complete(&self) -> bool {
        self.curves.iter().all(|curve| curve.exact_until.is_none())
    }
}

impl SegmentCurve {
    fn of(name: &str, colour: usize, trace: &SegmentTrace, most: usize) -> SegmentCurve {
        let until = trace.points.get(most).map_or(Time::NEVER, |point| point.at);
        let until = until.min(trace.exact_until);
        let count = trace.points.partition_point(|point| point.at < until);
        SegmentCurve {
            name: name.to_owned(),
            colour,
            count,
            exact_until: (until < Time::NEVER).then(|| until.as_nanos()),
            data: STANDARD.encode(compressed(&columns(&trace.points[..count]))),
        }
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Memory takes every byte.
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn columns(points: &[SegmentPoint]) -> Vec<u8> {
    let mut bytes: Vec<u8> = points.iter().map(|point| letter(point.mark)).collect();
    let mut before = 0;
    for point in points {
        let at = point.at.as_nanos();
        number(&mut bytes, at - before);
        before = at;
    }
    let mut expected = [0; 4];
    for point in points {
        let expected = &mut expected[usize::from(letter(point.mark))];
        signed(&mut bytes, point.from, *expected);
        *expected = match point.mark {
            SegmentMark::Data | SegmentMark::Retransmission => point.to,
            SegmentMark::Sack | SegmentMark::Ack => point.from,
        };
    }
    let mut lengths = [0; 4];
    for point in points {
        let last = &mut lengths[usize::from(letter(point.mark))];
        let length = point.to.saturating_sub(point.from);
        signed(&mut bytes, length, *last);
        *last = length;
    }
    bytes
}

/// As `MARKS` in `ui/src/segments.ts`.
fn letter(mark: SegmentMark) -> u8 {
    match mark {
        SegmentMark::Data => 0,
        SegmentMark::Retransmission => 1,
        SegmentMark::Sack => 2,
        SegmentMark::Ack => 3,
    }
}

/// Appends the difference of two numbers in zigzag order.
fn signed(bytes: &mut Vec<u8>, value: u64, before: u64) {
    let difference = value.wrapping_sub(before) as i64;
    number(bytes, ((difference << 1) ^ (difference >> 63)) as u64);
}

/// Appends a number as LEB128.
fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: u64, mark: SegmentMark, from: u64, to: u64) -> SegmentPoint {
        SegmentPoint { at: Time::from_nanos(at), mark, from, to }
    }

    #[test]
    fn columns_hold_differences() {
        let points = [
            point(300, SegmentMark::Data, 0, 1_000),
            point(301, SegmentMark::Data, 1_000, 2_000),
            point(301, SegmentMark::Ack, 500, 600),
            point(302, SegmentMark::Retransmission, 500, 1_000),
            point(303, SegmentMark::Ack, 400, 600),
        ];
        let expected: Vec<u8> = [
            vec![0, 0, 3, 1, 3],
            vec![0xac, 0x02, 1, 0, 1, 1],
            vec![0, 0, 0xe8, 0x07, 0xe8, 0x07, 0xc7, 0x01],
            vec![0xd0, 0x0f, 0, 0xc8, 0x01, 0xe8, 0x07, 0xc8, 0x01],
        ]
        .concat();
        assert_eq!(columns(&points), expected);
    }

    #[test]
    fn beyond_their_share_points_are_left_out_from_an_instant_on_and_the_page_is_told() {
        let points: Vec<_> =
            (0..10).map(|n| point(n / 2, SegmentMark::Data, n * 10, n * 10 + 10)).collect();
        let trace = SegmentTrace { points, exact_until: Time::NEVER };
        let cut = SegmentCurve::of("a", 0, &trace, 5);
        assert_eq!((cut.count, cut.exact_until), (4, Some(2)));
        let whole = SegmentCurve::of("a", 0, &trace, 10);
        assert_eq!((whole.count, whole.exact_until), (10, None));
    }

    #[test]
    fn bulk_data_take_a_few_bytes_a_point() {
        let points: Vec<_> = (0..20_000)
            .map(|n| {
                point(n * 1_216_000 + n * n % 977, SegmentMark::Data, n * 1_448, n * 1_448 + 1_448)
            })
            .collect();
        let trace = SegmentTrace { points, exact_until: Time::NEVER };
        let curve = SegmentCurve::of("a", 0, &trace, MOST_POINTS);
        assert!(curve.data.len() < 5 * curve.count, "{} bytes", curve.data.len());
    }
}
