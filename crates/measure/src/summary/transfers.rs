//! The transfers, or exchanges, of one connection: how long each took, and at what rate.
//!
//! Every completed transfer is kept (32 bytes), so that quantiles of a few are exact.

use super::seconds_between;
use crate::metric::Sheet::*;
use crate::metric::{BYTES, MBIT_S, PLAIN, S, summary};
use crate::stats;
use ackord_units::{Bytes, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// The transfers of a flow. Of an exchange (request and response, write-write-read) the time is
/// from the first write of the question to the reading of the whole answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferSummary {
    /// How many began.
    pub began: u64,
    /// How many were complete before the run ended; what follows is about these.
    pub completed: u64,
    /// Bytes that the flow's sending end sent in them.
    pub bytes: u64,
    /// Time of a transfer, milliseconds; null if none was complete.
    pub time_ms: Option<Ranking>,
    /// Bytes of a transfer over its time, bit/s; null if none was complete.
    pub rate_bit_s: Option<Ranking>,
    /// Each, in order; in `transfers.csv`.
    #[serde(skip)]
    pub each: Vec<CompletedTransfer>,
}

summary! {
    /// One completed transfer.
    #[derive(Copy)]
    pub struct CompletedTransfer, metrics TRANSFER_METRICS {
        /// Which, counted from zero.
        index: u64 => PLAIN, [TransfersCsv.named(0, "transfer")];
        /// Bytes that the flow's sending end sent.
        bytes: u64 => BYTES, [TransfersCsv.at(1)];
        /// When it began.
        began_s: f64 => S, [TransfersCsv.at(2)];
        /// How long it took.
        took_s: f64 => S, [TransfersCsv.at(3)];
    }
    derived {
        /// Its bytes over its time.
        rate_bit_s = |transfer| Some(transfer.rate_bit_s()) => MBIT_S, [TransfersCsv.at(4)];
    }
}

/// Mean, extremes and quantiles of some numbers, exact (type 7 of Hyndman and Fan 1996).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// 1st percentile.
    pub p1: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

impl Ranking {
    /// Of `values`; nothing if there are none.
    pub fn of(values: &[f64]) -> Option<Ranking> {
        let mean = stats::mean(values)?;
        let at = |q| stats::quantile(values, q);
        Some(Ranking {
            mean,
            min: at(0.0)?,
            p1: at(0.01)?,
            p5: at(0.05)?,
            p50: at(0.5)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            max: at(1.0)?,
        })
    }
}

impl CompletedTransfer {
    /// Its bytes over its time, bit/s.
    pub fn rate_bit_s(&self) -> f64 {
        if self.took_s > 0.0 { self.bytes as f64 * 8.0 / self.took_s } else { 0.0 }
    }
}

/// Collects them.
#[derive(Clone, Debug, Default)]
pub(super) struct TransferFold {
    began: u64,
    /// Begun and not complete: which, and since when.
    open: VecDeque<(u64, Time)>,
    completed: Vec<CompletedTransfer>,
}

impl TransferFold {
    pub(super) fn began(&mut self, at: Time, index: u64) {
        self.began += 1;
        self.open.push_back((index, at));
    }

    pub(super) fn completed(&mut self, at: Time, index: u64, bytes: Bytes) {
        // They complete in order; one whose beginning nobody told is left out.
        while let Some((open, since)) = self.open.pop_front() {
            if open == index {
                self.completed.push(CompletedTransfer {
                    index,
                    bytes: bytes.get(),
                    began_s: since.as_secs_f64(),
                    took_s: seconds_between(since, at),
                });
                return;
            }
        }
    }

    pub(super) fn summary(&self) -> TransferSummary {
        let of = |pick: fn(&CompletedTransfer) -> f64| {
            Ranking::of(&self.completed.iter().map(pick).collect::<Vec<_>>())
        };
        TransferSummary {
            began: self.began,
            completed: self.completed.len() as u64,
            bytes: self.completed.iter().map(|transfer| transfer.bytes).sum(),
            time_ms: of(|transfer| transfer.took_s * 1e3),
            rate_bit_s: of(CompletedTransfer::rate_bit_s),
            each: self.completed.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_transfer_is_timed_from_its_beginning_to_its_completion() {
        let mut fold = TransferFold::default();
        fold.began(at(10), 0);
        fold.completed(at(60), 0, Bytes(100_000));
        fold.began(at(100), 1);
        fold.completed(at(200), 1, Bytes(100_000));
        fold.began(at(300), 2);
        let summary = fold.summary();
        assert_eq!((summary.began, summary.completed, summary.bytes), (3, 2, 200_000));
        let time = summary.time_ms.expect("two");
        assert_eq!((time.min, time.p50, time.max, time.mean), (50.0, 75.0, 100.0, 75.0));
        let rate = summary.rate_bit_s.expect("two");
        assert!((rate.min - 8e6).abs() < 1.0 && (rate.max - 16e6).abs() < 1.0, "{rate:?}");
        // The mean of rates is not the rate of the mean: 12 Mbit/s, not 10.67.
        assert!((rate.mean - 12e6).abs() < 1.0, "{rate:?}");
    }

    #[test]
    fn several_may_be_open_and_one_without_a_beginning_does_not_count() {
        let mut fold = TransferFold::default();
        fold.began(at(0), 3);
        fold.began(at(5), 4);
        fold.completed(at(10), 3, Bytes(1));
        fold.completed(at(11), 4, Bytes(1));
        fold.completed(at(12), 5, Bytes(1));
        let took: Vec<_> = fold.summary().each.iter().map(|each| each.took_s).collect();
        assert_eq!(took, [0.01, 0.006]);
    }
}
