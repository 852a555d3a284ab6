//! What is kept of each run: what the phone's user notices, and what the neighbour does.

use super::setup::{Combination, Plan};
use crate::runs::{Job, run_all};
use crate::{PaperError, Watch};
use ackord_measure::stats::{Estimate, estimate};
use ackord_measure::{FlowSummary, Ranking};
use ackord_study::RunOutcome;

/// A run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample([f64; Metric::ALL.len()]);

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    /// The phone's bulk download.
    Video,
    /// Mean time of a page.
    Pages,
    /// The slowest in twenty.
    SlowPages,
    /// Mean time of a question in two writes.
    Chat,
    /// The slowest in twenty.
    SlowChat,
    /// What the neighbour's two downloads carry.
    Neighbour,
    /// The video's rate over the mean of the neighbour's two.
    Share,
    /// Wait in the line's queue.
    Delay,
}

impl Metric {
    pub(super) const ALL: [Metric; 8] = [
        Metric::Video,
        Metric::Pages,
        Metric::SlowPages,
        Metric::Chat,
        Metric::SlowChat,
        Metric::Neighbour,
        Metric::Share,
        Metric::Delay,
    ];

    pub(super) const fn id(self) -> &'static str {
        match self {
            Metric::Video => "video",
            Metric::Pages => "pages",
            Metric::SlowPages => "slow-pages",
            Metric::Chat => "chat",
            Metric::SlowChat => "slow-chat",
            Metric::Neighbour => "neighbour",
            Metric::Share => "share",
            Metric::Delay => "delay",
        }
    }

    pub(super) const fn label(self) -> &'static str {
        match self {
            Metric::Video => "video",
            Metric::Pages => "page",
            Metric::SlowPages => "page p95",
            Metric::Chat => "chat",
            Metric::SlowChat => "chat p95",
            Metric::Neighbour => "others",
            Metric::Share => "share",
            Metric::Delay => "queue",
        }
    }

    pub(super) const fn unit(self) -> &'static str {
        match self {
            Metric::Video | Metric::Neighbour => "Mbit/s",
            Metric::Share => "%",
            Metric::Pages | Metric::SlowPages | Metric::Chat | Metric::SlowChat | Metric::Delay => {
                "ms"
            }
        }
    }

    /// Whether more is better for the phone.
    pub(super) const fn more_is_better(self) -> bool {
        matches!(self, Metric::Video | Metric::Share | Metric::Neighbour)
    }
}

/// Every run, combination by combination.
#[derive(Clone, Debug)]
pub(super) struct Outcomes {
    /// By [`Combination::index`], then by seed.
    runs: Vec<Vec<Sample>>,
}

impl Outcomes {
    pub(super) fn of(plan: &Plan, watch: &Watch<'_>) -> Result<Outcomes, PaperError> {
        let samples = run_all(&plan.jobs, Sample::of, watch)?;
        let runs = Combination::each().map(|one| samples[plan.runs(one)].to_vec());
        Ok(Outcomes { runs: runs.collect() })
    }

    /// A metric over the seeds.
    pub(super) fn each(&self, of: Combination, metric: Metric) -> Vec<f64> {
        self.runs[of.index()].iter().map(|sample| sample.get(metric)).collect()
    }

    pub(super) fn mean(&self, of: Combination, metric: Metric) -> Estimate {
        estimate(&self.each(of, metric)).expect("every combination is run")
    }
}

impl Sample {
    pub(super) fn get(&self, metric: Metric) -> f64 {
        self.0[metric as usize]
    }

    fn of(_: &Job, outcome: RunOutcome) -> Sample {
        let run = &outcome.summary;
        let flow = |name: &str| {
            run.flows.iter().find(|flow| flow.name == name).expect("the scenario has it")
        };
        let rate = |name| flow(name).goodput_bit_s / 1e6;
        let neighbour = rate("update") + rate("backup");
        let (pages, chat) = (times_ms(flow("pages")), times_ms(flow("chat")));
        let line = run.queues.iter().find(|queue| queue.link == "line");
        let mut values = [0.0; Metric::ALL.len()];
        for metric in Metric::ALL {
            values[metric as usize] = match metric {
                Metric::Video => rate("video"),
                Metric::Pages => mean(&pages),
                Metric::SlowPages => p95(&pages),
                Metric::Chat => mean(&chat),
                Metric::SlowChat => p95(&chat),
                Metric::Neighbour => neighbour,
                Metric::Share => 100.0 * rate("video") / (neighbour / 2.0),
                Metric::Delay => line.and_then(|queue| queue.mean_delay_ms).unwrap_or(0.0),
            };
        }
        Sample(values)
    }
}

/// Times of the exchanges that were completed, ms.
fn times_ms(flow: &FlowSummary) -> Vec<f64> {
    let transfers = flow.transfers.iter().flat_map(|transfers| &transfers.each);
    transfers.map(|each| each.took_s * 1e3).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn p95(values: &[f64]) -> f64 {
    Ranking::of(values).map_or(f64::NAN, |ranking| ranking.p95)
}
