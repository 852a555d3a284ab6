//! What is taken from each run.

use crate::cells::Runs;
use ackord_measure::stats::Estimate;
use ackord_measure::{OutageRecovery, ProxySummary, Trace};
use ackord_study::RunOutcome;

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    pub(super) delivered_bytes: u64,
    pub(super) retransmitted: u64,
    pub(super) timeouts: u64,
    /// The most that was acknowledged before the mobile had it, and what it never got.
    pub(super) early_bytes: u64,
    pub(super) lost_bytes: u64,
    pub(super) outages: Vec<OutageRecovery>,
    /// What the box counted, if there was one.
    pub(super) proxy: Option<ProxySummary>,
    /// Delivered so far, against time, where series are kept.
    pub(super) delivered: Option<Trace>,
}

impl Sample {
    pub(super) fn of(outcome: RunOutcome) -> Sample {
        let run = &outcome.summary;
        let flow = &run.flows[0];
        Sample {
            seconds: run.duration_s,
            delivered_bytes: flow.bytes_delivered,
            retransmitted: flow.retransmitted_segments,
            timeouts: flow.timeouts,
            early_bytes: flow.acknowledged_early_peak_bytes,
            lost_bytes: flow.acknowledged_undelivered_bytes,
            outages: flow.outages.clone(),
            proxy: run.proxies.first().cloned(),
            delivered: outcome.series.map(|series| series.flows[0].delivered.clone()),
        }
    }

    /// The most data that the box kept.
    pub(super) fn peak_kept_bytes(&self) -> u64 {
        self.proxy.as_ref().map_or(0, |proxy| proxy.counters.peak_cached_bytes)
    }

    /// How often the box held its sender by mistake.
    pub(super) fn false_holds(&self) -> f64 {
        self.proxy.as_ref().map_or(0.0, |proxy| proxy.counters.false_holds as f64)
    }

    /// How long the box took to notice the first outage, seconds; nothing where it did not.
    pub(super) fn detection_s(&self) -> Option<f64> {
        let spread = self.proxy.as_ref()?.detection.as_ref()?;
        Some(spread.mean_ms / 1e3)
    }

    /// Payload delivered over the length of the run.
    pub(super) fn goodput_mbit_s(&self) -> f64 {
        self.delivered_bytes as f64 * 8.0 / self.seconds / 1e6
    }

    pub(super) fn delivered_mb(&self) -> f64 {
        self.delivered_bytes as f64 / 1e6
    }

    /// From the end of its first outage to the first data after it. Where none came before the run
    /// ended, the time until then: no more than the truth.
    pub(super) fn recovery_s(&self) -> f64 {
        let Some(outage) = self.outages.first() else { return f64::NAN };
        outage.first_data_s.unwrap_or(self.seconds - outage.ended_s)
    }

    /// The same until the rate was back.
    pub(super) fn rate_back_s(&self) -> f64 {
        let Some(outage) = self.outages.first() else { return f64::NAN };
        outage.rate_back_s.unwrap_or(self.seconds - outage.ended_s)
    }
}

/// The rate is looked at in steps of this, seconds: as `ackord-measure` does for its `rate_back_s`.
const STEP_S: f64 = 0.05;
/// It is back when so long passes at it, seconds.
const BACK_FOR_S: f64 = 0.2;
/// The share of the former rate that counts as its return.
const BACK: f64 = 0.9;

impl Sample {
    /// Delivered by then, bytes, where series are kept.
    fn delivered_by(&self, at_s: f64) -> f64 {
        let points = self.delivered.as_ref().map_or(&[][..], |trace| trace.points());
        let after = points.partition_point(|point| point.at.as_secs_f64() <= at_s);
        after.checked_sub(1).map_or(0.0, |last| points[last].value)
    }

    /// Bytes per second in the second before the first outage, where series are kept.
    pub(super) fn rate_before(&self) -> f64 {
        let Some(outage) = self.outages.first() else { return f64::NAN };
        self.delivered_by(outage.began_s) - self.delivered_by(outage.began_s - 1.0)
    }

    /// From the end of its first outage until data came at this rate, bytes per second, or nine tenths of
    /// it. Where it never did, the time until the end of the run: no more than the truth.
    pub(super) fn rate_reached_s(&self, rate: f64) -> f64 {
        let Some(outage) = self.outages.first() else { return f64::NAN };
        let mut at_s = outage.ended_s + BACK_FOR_S;
        while at_s < self.seconds {
            let bytes = self.delivered_by(at_s) - self.delivered_by(at_s - BACK_FOR_S);
            if bytes >= BACK * rate * BACK_FOR_S {
                return at_s - outage.ended_s;
            }
            at_s += STEP_S;
        }
        self.seconds - outage.ended_s
    }
}

impl Runs<Sample> {
    pub(super) fn goodput(&self) -> Estimate {
        self.mean(Sample::goodput_mbit_s)
    }

    /// New data after the first outage.
    pub(super) fn first_data(&self) -> Estimate {
        self.mean(Sample::recovery_s)
    }
}
