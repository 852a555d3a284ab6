//! What is run, and everything that was measured.

use super::sample::Sample;
use super::setup::{Id, pairs};
use super::{boxes, detection, fading, kernel, paths, readings, stock, windows};
use crate::plan::Plan;
use crate::reproduction::{PaperError, Watch};
use ackord_study::Effort;
use ackord_units::Span;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) effort: Effort,
    /// Runs of Table 3 and its readings, and of Fig. 6.
    pub(super) readings: u32,
    pub(super) boxes: boxes::Extent,
    /// Length of the runs with bit errors.
    pub(super) lasts: Span,
    /// Moments at which a fade begins.
    pub(super) phases: u32,
    /// Moments at which a stock Linux sender's path goes out.
    pub(super) outages: u32,
}

impl Extent {
    pub(super) fn of(effort: Effort) -> Extent {
        match effort {
            Effort::Quick => Extent {
                effort,
                readings: 4,
                boxes: boxes::Extent { seeds: 3, deaths: 2, death_run_s: 40.0 },
                lasts: Span::from_secs(50),
                phases: 8,
                outages: 1,
            },
            Effort::Full => Extent {
                effort,
                readings: 20,
                boxes: boxes::Extent { seeds: 10, deaths: 10, death_run_s: 40.0 },
                lasts: Span::from_secs(100),
                phases: 40,
                outages: 10,
            },
        }
    }
}

/// Everything that was measured.
pub(super) struct Measured {
    pub(super) extent: Extent,
    pub(super) total_runs: usize,
    pub(super) reads: readings::Reads,
    pub(super) boxes: boxes::Boxes,
    pub(super) fades: fading::Fades,
    pub(super) mistaken: detection::Mistaken,
    pub(super) stock: stock::Stock,
    pub(super) kernel: Vec<kernel::Beside>,
    pub(super) windows: windows::Windows,
    pub(super) paths: paths::Placed,
}

pub(super) fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let Extent { readings, boxes, lasts, phases, outages, .. } = extent;
    let seeds = boxes.seeds;
    let mut plan = Plan::default();
    let reads =
        plan.each(readings::keys(), |key| [readings::setup(*key, lasts).seeds(readings)])?;
    let errors =
        plan.each(boxes::error_keys(), |key| [boxes::with_errors(*key, lasts).seeds(seeds)])?;
    let deaths = plan.each(pairs(), |pair| boxes::deaths(*pair, boxes, lasts))?;
    let sweeps = plan.each(fading::keys(), |key| fading::setups(*key, phases))?;
    let curves = plan.each(fading::curve_keys(), |key| [fading::curve(*key, lasts)])?;
    let mistaken =
        plan.each(detection::keys(), |key| [detection::setup(*key, lasts).seeds(seeds)])?;
    let out = plan.each(stock::keys(), |key| stock::setups(*key, outages))?;
    let senders = stock::SENDERS.iter().map(|sender| sender.id);
    let clean = plan.each(senders, |sender: &Id| [stock::clean(sender)])?;
    let short = plan.each(windows::keys(), |key| [windows::short(*key, lasts).seeds(readings)])?;
    let wide = plan.each(windows::fade_keys(), |key| windows::fades(*key, phases))?;
    let paths = plan.each(paths::keys(), |key| paths::setups(*key, seeds, phases, lasts))?;
    let outcomes = plan.run(|_, outcome| Sample::of(outcome), watch)?;
    let stock = stock::Stock { outages: outcomes.of(out), clean: outcomes.of(clean) };
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        reads: outcomes.of(reads),
        boxes: boxes::Boxes { errors: outcomes.of(errors), deaths: outcomes.of(deaths) },
        fades: fading::Fades { sweeps: outcomes.of(sweeps), curves: outcomes.of(curves) },
        mistaken: outcomes.of(mistaken),
        kernel: kernel::compare(&stock),
        stock,
        windows: windows::Windows { short: outcomes.of(short), fades: outcomes.of(wide) },
        paths: outcomes.of(paths),
    })
}
