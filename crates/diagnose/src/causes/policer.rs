//! Whether losses are those of a policer: a token bucket without a queue (Flach et al. 2016).
//!
//! At each loss the bucket is empty, so what has passed until then is the burst and the rate times the
//! time: all losses lie on one line. Losses by chance lie beside it by as much as the rate varies.

use crate::flow::Connection;
use crate::flow::loss::{Loss, Trigger};

/// Fewer losses lie on a line by chance.
const LOSSES: usize = 8;
/// Losses lie this near to the line, in segments (root of the mean square).
const SEGMENTS: f64 = 6.0;
/// The line is as long as this at least, in segments.
const LENGTH: f64 = 200.0;

/// A policer's rate and burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Policer {
    /// Octets per second.
    pub(crate) rate: f64,
    /// Octets that pass at once.
    pub(crate) burst: f64,
}

/// The policer that explains the losses of one direction, if one does.
pub(super) fn policer(connection: &Connection, side: usize, mss: f64) -> Option<Policer> {
    let by_acks = |loss: &&Loss| usize::from(loss.side) == side && loss.trigger == Trigger::Acks;
    let seconds = |loss: &Loss| loss.at.saturating_since(connection.began).as_secs_f64();
    let points: Vec<(f64, f64)> = connection
        .losses
        .iter()
        .filter(by_acks)
        .map(|loss| (seconds(loss), loss.delivered as f64))
        .collect();
    line(&points, mss)
}

fn line(points: &[(f64, f64)], mss: f64) -> Option<Policer> {
    if points.len() < LOSSES {
        return None;
    }
    let count = points.len() as f64;
    let mean_t = points.iter().map(|(t, _)| t).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(t, _)| (t - mean_t) * (t - mean_t)).sum();
    let both: f64 = points.iter().map(|(t, y)| (t - mean_t) * (y - mean_y)).sum();
    let rate = both / spread;
    let off = |(t, y): &(f64, f64)| y - mean_y - rate * (t - mean_t);
    let square = points.iter().map(|point| off(point) * off(point)).sum::<f64>() / count;
    let length = points.last()?.1 - points.first()?.1;
    let on_line = square.sqrt() <= SEGMENTS * mss && length >= LENGTH * mss;
    (on_line && rate > 0.0).then(|| Policer { rate, burst: (mean_y - rate * mean_t).max(0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: f64 = 1448.0;

    #[test]
    fn losses_on_a_line_are_a_policers_and_others_are_not() {
        // 500 kB/s after 100 kB at once; each loss some segments late.
        let times = (1..20).map(f64::from).map(|at| at * 0.7);
        let policed: Vec<_> =
            times.clone().map(|t| (t, 1e5 + 5e5 * t + (t * 10.0) % 3.0 * MSS)).collect();
        let found = line(&policed, MSS).expect("a policer");
        assert!((found.rate - 5e5).abs() < 5e3, "{found:?}");
        assert!((found.burst - 1e5).abs() < 5e3, "{found:?}");
        // The same on average, but a tenth faster or slower between one loss and the next.
        let mut sum = 1e5;
        let by_chance: Vec<_> = times
            .enumerate()
            .map(|(at, t)| {
                sum += 3.5e5 * if at % 4 < 2 { 1.1 } else { 0.9 };
                (t, sum)
            })
            .collect();
        assert_eq!(line(&by_chance, MSS), None);
        assert_eq!(line(&policed[..5], MSS), None);
    }
}
