//! What downloads would gain from a gateway's remedies, from a capture taken at the gateway.
//!
//! ```text
//! capture ─► downloads ─► link: rate, round trips, queue, losses, fades ─┐
//!                └──────► episodes: those that overlapped ────────────────┴─► simulated, seed by seed:
//!                                      as observed (does the model hold?), with each remedy ─► gains
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `downloads.rs` | a connection as the gateway saw it: sizes, pauses, round trips, time |
//! | `transmissions.rs` | its packets: lost behind the gateway or not, queueing delay |
//! | `fades.rs` | times at which nothing passes: how often, how long |
//! | `link.rs` | the link behind the gateway, from all downloads |
//! | `episodes.rs` | downloads of one time, as a scenario |
//! | `run.rs` | a scenario run, and its capture at the gateway's place |
//! | `forecast.rs` | [`forecast`]: which congestion control, which gain |
//! | `words.rs` | a forecast as text |
//!
//! Unlike a diagnosed connection's model, nothing is corrected until the model fits: rate, losses, queue and fades are
//! measured, the congestion control is one of three, and a model that then does not reproduce the observed times is
//! refused.
//!
//! Not modelled: mobile hosts with unlike links (all share one), losses before the gateway, traffic other than the
//! captured downloads, a rate that changes, losses towards the gateway other than as frequent as those behind it.

mod downloads;
mod episodes;
mod fades;
mod forecast;
mod link;
mod run;
#[cfg(test)]
mod tests;
mod transmissions;
mod words;

pub use forecast::{ForecastProgress, LEAST_DOWNLOADS, MOST_OFF_PERCENT, forecast};

use super::simulate::SimulateError;
use ackord_diagnose::DiagnoseError;
use serde::Serialize;

/// What remedies gain, and the model that it follows from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatewayForecast {
    /// Downloads of the capture.
    pub downloads: usize,
    /// Downloads that were simulated: a sample of them, if there are many.
    pub simulated: usize,
    /// Times that each was simulated without and with each remedy.
    pub rounds: usize,
    /// Connections that were left out, by the reason.
    pub left_out: Vec<(String, usize)>,
    /// Mean time of a download in the capture, s: from its first packet to the last acknowledgment, without pauses of
    /// its server.
    pub observed_s: f64,
    /// The same in the model without a remedy, s.
    pub modelled_s: f64,
    /// Congestion control of the servers that reproduces the observed time.
    pub congestion_control: String,
    /// The link.
    pub link: LinkFacts,
    /// The remedies.
    pub remedies: Vec<RemedyForecast>,
}

/// The link behind the gateway.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkFacts {
    /// Rate, headers of IP included, bit/s.
    pub rate_bit_s: f64,
    /// Whether packets that follow each other closely show it. Otherwise it is the highest rate seen, and gains are
    /// lower bounds.
    pub rate_is_shown: bool,
    /// Shortest round trip to the mobile hosts, s.
    pub round_trip_s: f64,
    /// Median of the shortest round trips to the servers, s.
    pub round_trip_to_servers_s: f64,
    /// Packets that its queue holds, as far as it was seen to be filled.
    pub queue_packets: f64,
    /// Share of the packets lost, outside of fades and not by a full queue, percent.
    pub loss_percent: f64,
    /// Losses that this is from.
    pub losses: u64,
    /// Times seen at which nothing passed.
    pub fades: u64,
    /// Mean time from one to the next, s.
    pub fade_every_s: Option<f64>,
    /// Mean length, s.
    pub fade_s: Option<f64>,
    /// Share of the rate that was used while there was a download, percent.
    pub used_percent: f64,
}

/// The gain of one remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RemedyForecast {
    /// Its name.
    pub remedy: String,
    /// Share of the mean time of a download that is no longer needed, percent.
    pub gain_percent: f64,
    /// 95 % interval: how simulations of as many downloads scatter, how exactly losses and fades are known, and how far
    /// the model is from the observed time.
    pub ci95: [f64; 2],
    /// Mean time of a download, from connect() to its last byte, without the remedy, s.
    pub without_s: f64,
    /// The same with it, s.
    pub with_s: f64,
    /// The gain is below 2 %.
    pub nothing_to_gain: bool,
    /// All of the interval is above zero. Otherwise more downloads have to be observed.
    pub certain: bool,
}

/// Why there is no forecast.
#[derive(Debug, thiserror::Error)]
pub enum NoForecast {
    /// Too few downloads.
    #[error(
        "{0} complete downloads were captured, and a forecast needs {LEAST_DOWNLOADS}: observe for longer"
    )]
    TooFew(usize),
    /// No rate is known.
    #[error("the downloads are too short to show the link's rate")]
    NoRate,
    /// The model does not behave as was observed.
    #[error(
        "no model fits: with {control}, the best, downloads take {percent:+.0} % longer than those observed, and \
         {MOST_OFF_PERCENT} % are allowed: observe for longer"
    )]
    BadFit {
        /// How much longer they take, percent.
        percent: f64,
        /// The congestion control that fits best.
        control: &'static str,
    },
    /// A simulation failed, or was stopped.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The capture could not be read.
    #[error(transparent)]
    Diagnose(#[from] DiagnoseError),
}

impl GatewayForecast {
    /// True if no remedy has a gain.
    pub fn nothing_to_gain(&self) -> bool {
        self.remedies.iter().all(|one| one.nothing_to_gain)
    }
}
