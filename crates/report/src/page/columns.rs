//! Packets in columns of small whole numbers: a tenth of what they are as objects.

use ackord_diagnose::{Point, PointKind, Trace};
use serde::Serialize;

/// One connection's points: of the direction of most data, and of the other if there are any.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct TraceColumns {
    connection: u32,
    #[serde(flatten)]
    columns: Columns,
    reverse: Option<Columns>,
}

impl TraceColumns {
    pub(super) fn of(trace: &Trace) -> TraceColumns {
        TraceColumns {
            connection: trace.connection,
            columns: Columns::of(&trace.points),
            reverse: (!trace.reverse.is_empty()).then(|| Columns::of(&trace.reverse)),
        }
    }
}

/// Points of one direction. Times, starts and frames are differences to the point before.
#[derive(Debug, PartialEq, Serialize)]
struct Columns {
    /// A letter a point.
    kinds: String,
    /// Microseconds.
    times: Vec<i64>,
    starts: Vec<i64>,
    lengths: Vec<i64>,
    frames: Vec<i64>,
}

impl Columns {
    fn of(points: &[Point]) -> Columns {
        let mut points: Vec<_> = points.iter().filter(|point| point.t.is_finite()).collect();
        // The browser searches by time.
        points.sort_by(|one, other| one.t.total_cmp(&other.t));
        let micros = points.iter().map(|point| (point.t * 1e6).round() as i64);
        let starts = points.iter().map(|point| signed(point.from));
        Columns {
            kinds: points.iter().map(|point| letter(point.kind)).collect(),
            times: differences(micros),
            starts: differences(starts),
            lengths: points.iter().map(|point| signed(point.to) - signed(point.from)).collect(),
            frames: differences(points.iter().map(|point| signed(point.frame))),
        }
    }
}

/// Offsets in a stream and numbers of frames stay far below 2^53, which JavaScript can hold.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn differences(values: impl Iterator<Item = i64>) -> Vec<i64> {
    values
        .scan(0, |before, value| {
            let step = value - *before;
            *before = value;
            Some(step)
        })
        .collect()
}

/// As `KINDS` in `ui/src/data.ts`.
fn letter(kind: PointKind) -> char {
    match kind {
        PointKind::Data => 'd',
        PointKind::OutOfOrder => 'o',
        PointKind::Retransmission => 'r',
        PointKind::Sack => 's',
        PointKind::Ack => 'a',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_differences_in_the_order_of_time() {
        let point = |t, kind, from, to, frame| Point { t, kind, from, to, frame };
        let columns = Columns::of(&[
            point(0.25, PointKind::Data, 1_000, 2_000, 7),
            point(0.250_001, PointKind::Sack, 5_000, 6_000, 9),
            point(0.250_001, PointKind::Ack, 1_000, 9_000, 9),
            point(0.1, PointKind::Retransmission, 0, 1_000, 4),
        ]);
        assert_eq!(columns.kinds, "rdsa");
        assert_eq!(columns.times, [100_000, 150_000, 1, 0]);
        assert_eq!(columns.starts, [0, 1_000, 4_000, -4_000]);
        assert_eq!(columns.lengths, [1_000, 1_000, 1_000, 8_000]);
        assert_eq!(columns.frames, [4, 3, 2, 0]);
    }
}
