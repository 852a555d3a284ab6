//! What ns-3 says about the same set-up: `papers/adaptive-delack/ns3/band.json`.

use crate::cells::over;
use ackord_measure::stats::Estimate;
use serde::Deserialize;

/// `band.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Band {
    pub(super) simulator: String,
    setups: Vec<BandSetup>,
}

/// Twenty runs of a timeout, with or without errors.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BandSetup {
    timeout_ms: f64,
    errors_per_byte: f64,
    acks: Vec<f64>,
    data_segments_sent: Vec<f64>,
    data_segments_received: Vec<f64>,
    cwnd_mean_bytes: Vec<f64>,
    done_s: Vec<f64>,
    /// Every tenth of a second.
    pub(super) first_run_cwnd_bytes: Vec<f64>,
}

impl Band {
    pub(super) fn embedded() -> Band {
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../papers/adaptive-delack/ns3/band.json"
        ));
        serde_json::from_str(text).expect("band.json is what band.py writes, which a test reads")
    }

    /// The runs of this timeout, with damaged bytes or without, if ns-3 was asked for it.
    pub(super) fn setup(&self, timeout_ms: f64, damaged: bool) -> Option<&BandSetup> {
        let same = |setup: &&BandSetup| {
            (setup.timeout_ms - timeout_ms).abs() < 1e-6 && (setup.errors_per_byte > 0.0) == damaged
        };
        self.setups.iter().find(same)
    }
}

impl BandSetup {
    pub(super) fn acks(&self) -> Estimate {
        over(&self.acks)
    }

    /// Segments sent and not received, a run: each is sent once more.
    pub(super) fn retransmitted_segments(&self) -> f64 {
        over(&self.data_segments_sent).mean - over(&self.data_segments_received).mean
    }

    pub(super) fn cwnd_mean_bytes(&self) -> Estimate {
        over(&self.cwnd_mean_bytes)
    }

    pub(super) fn done_s(&self) -> Estimate {
        over(&self.done_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_band_has_every_timeout_of_the_paper_with_and_without_errors() {
        let band = Band::embedded();
        for damaged in [true, false] {
            for timeout_ms in [200.0, 0.9, 0.8] {
                let setup = band.setup(timeout_ms, damaged).expect("measured");
                assert_eq!((setup.acks.len(), setup.first_run_cwnd_bytes.len()), (20, 100));
                // An acknowledgment for each of two thousand segments, or for each pair.
                let acks = setup.acks().mean;
                let per_pair = if timeout_ms == 0.8 { 2_000.0 } else { 1_020.0 };
                assert!((acks / per_pair - 1.0).abs() < 0.03, "{timeout_ms}: {acks}");
            }
        }
        assert!(band.setup(5.0, true).is_none());
    }
}
