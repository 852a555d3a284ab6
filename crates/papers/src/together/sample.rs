//! What is taken from each run: what the phone's user notices, and what the neighbour does.

use super::setup::Combination;
use crate::cells::Cells;
use crate::tables::choices;
use ackord_measure::stats::mean;
use ackord_measure::{FlowSummary, Ranking};
use ackord_study::RunOutcome;

/// A run: every [`Metric`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample([f64; Metric::ALL.len()]);

/// Every run, combination by combination.
pub(super) type Outcomes = Cells<Combination, Sample>;

choices! {
    /// What is measured.
    Metric {
        /// The phone's bulk download.
        Video = "video", "video";
        /// Mean time of a page.
        Pages = "pages", "page";
        /// The slowest in twenty.
        SlowPages = "slow-pages", "page p95";
        /// Mean time of a question in two writes.
        Chat = "chat", "chat";
        /// The slowest in twenty.
        SlowChat = "slow-chat", "chat p95";
        /// What the neighbour's two downloads carry.
        Neighbour = "neighbour", "others";
        /// The video's rate over the mean of the neighbour's two.
        Share = "share", "share";
        /// Wait in the line's queue.
        Delay = "delay", "queue";
    }
}

impl Metric {
    /// What the phone's user notices.
    pub(super) const NOTICED: [Metric; 5] =
        [Metric::Video, Metric::Pages, Metric::SlowPages, Metric::Chat, Metric::SlowChat];

    pub(super) const fn unit(self) -> &'static str {
        match self {
            Metric::Video | Metric::Neighbour => "Mbit/s",
            Metric::Share => "%",
            _ => "ms",
        }
    }

    /// Whether more is better for the phone.
    pub(super) const fn more_is_better(self) -> bool {
        matches!(self, Metric::Video | Metric::Share | Metric::Neighbour)
    }
}

impl Sample {
    pub(super) fn get(&self, metric: Metric) -> f64 {
        self.0[metric as usize]
    }

    pub(super) fn of(outcome: &RunOutcome) -> Sample {
        let run = &outcome.summary;
        let flow = |name: &str| {
            run.flows.iter().find(|flow| flow.name == name).expect("the scenario has it")
        };
        let rate = |name| flow(name).goodput_bit_s / 1e6;
        let neighbour = rate("update") + rate("backup");
        let (pages, chat) = (times_ms(flow("pages")), times_ms(flow("chat")));
        let line = run.queues.iter().find(|queue| queue.link == "line");
        let mean = |times: &[f64]| mean(times).unwrap_or(f64::NAN);
        let p95 = |times: &[f64]| Ranking::of(times).map_or(f64::NAN, |ranking| ranking.p95);
        Sample(Metric::ALL.map(|metric| match metric {
            Metric::Video => rate("video"),
            Metric::Pages => mean(&pages),
            Metric::SlowPages => p95(&pages),
            Metric::Chat => mean(&chat),
            Metric::SlowChat => p95(&chat),
            Metric::Neighbour => neighbour,
            Metric::Share => 100.0 * rate("video") / (neighbour / 2.0),
            Metric::Delay => line.and_then(|queue| queue.mean_delay_ms).unwrap_or(0.0),
        }))
    }
}

/// Times of the exchanges that were completed, ms.
fn times_ms(flow: &FlowSummary) -> Vec<f64> {
    let transfers = flow.transfers.iter().flat_map(|transfers| &transfers.each);
    transfers.map(|each| each.took_s * 1e3).collect()
}
