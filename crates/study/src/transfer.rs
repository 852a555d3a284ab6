//! What the simulator says about one transfer over a scenario's path: what a real transfer over
//! the same path, emulated, is compared with.
//!
//! Not modelled: the other end is of the scenario's making too, where the real one is a stock
//! kernel with its own ACK policy, window limits and congestion control.

use crate::execute::{ExecuteError, execute};
use crate::run::{Ending, Progress, RunOptions};
use ackord_measure::stats::{Estimate, estimate};
use ackord_scenario::{Scenario, Start};
use ackord_traffic::BulkKnobs;
use ackord_units::{Bytes, Span};
use ackord_wire::Side;
use std::ops::ControlFlow;

/// One transfer between the ends of a scenario's first flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// How much is sent; more than nothing.
    pub bytes: Bytes,
    /// The end that sends it.
    pub sends: Side,
}

/// Simulated time after which a transfer is given up.
const PATIENCE: Span = Span::from_secs(3_600);

/// Goodput in bit/s of `transfer`, alone on the path of `scenario`, over `runs` runs whose seeds
/// follow each other from `seed`; nothing if the scenario has no flow or no run completes. Runs
/// that `progress` stops do not count, nor those after them.
///
/// # Errors
/// Those of [`execute`].
pub fn simulate_transfer(
    scenario: &Scenario,
    transfer: Transfer,
    (seed, runs): (u64, u32),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<Estimate>, ExecuteError> {
    let Some(alone) = with_only(scenario, transfer) else { return Ok(None) };
    let mut goodputs = Vec::new();
    for number in 0..runs {
        let options = RunOptions::summary_only(seed.wrapping_add(u64::from(number)));
        let outcome = execute(&alone, options, progress)?;
        if outcome.ending != Ending::Complete {
            break;
        }
        let flow = &outcome.summary.flows[0];
        goodputs.extend(flow.completion_s.map(|_| flow.goodput_bit_s));
    }
    Ok(estimate(&goodputs))
}

/// The scenario with this transfer as its only flow, from the start.
fn with_only(scenario: &Scenario, transfer: Transfer) -> Option<Scenario> {
    let mut alone = scenario.clone();
    alone.flows.truncate(1);
    let flow = alone.flows.first_mut()?;
    flow.start = Start::At(Span::ZERO);
    flow.sends = transfer.sends;
    flow.traffic = BulkKnobs { size: Some(transfer.bytes) }.into();
    alone.duration = PATIENCE;
    Some(alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::ScenarioFile;

    #[test]
    fn both_directions_of_a_symmetric_path_take_about_as_long() {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it comes along");
        let scenario = file.check().expect("a sound scenario");
        let goodput = |sends| {
            let transfer = Transfer { bytes: Bytes(2_000_000), sends };
            let found =
                simulate_transfer(&scenario, transfer, (1, 5), &mut crate::without_progress);
            let found = found.expect("sound runs");
            found.expect("it completes").mean
        };
        let (down, up) = (goodput(Side::Server), goodput(Side::Client));
        assert!((0.3..3.0).contains(&(down / up)), "{down} bit/s down, {up} bit/s up");
        assert!(down < 20e6 && up < 20e6, "the path has 20 Mbit/s");
    }
}
