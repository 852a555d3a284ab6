//! The first difference: where the model and a stock kernel in simulated time part, segment by segment.
//!
//! Both run the same scenario with the same seed over the same path, and neither is ever late. So the
//! segments of each end can be laid side by side by their number, and the first that is not the same
//! is what the model does otherwise, or follows from it directly. What comes after means nothing.
//!
//! | file | what |
//! | --- | --- |
//! | `difference.rs` | [`first_difference`]: both runs, and where they part |
//! | `difference/record.rs` | what each end sent, and what it was like then |
//! | `difference/told.rs` | the same as a document |
//!
//! Segments are compared by flags, sequence numbers, length, SACK blocks and time, as they enter the
//! path; numbers count from each end's SYN. Not compared: windows and timestamps, which follow from
//! buffers and clocks; PSH, which a sender sets as it likes (RFC 9293 §3.9.1.2).

mod record;
mod told;

use super::set::kernels_and_ours;
use super::{ValidateCase, ValidateError};
use ackord_live::{EmulationOptions, SimulatedKernels, emulate_in_simulated_time};
use ackord_scenario::Scenario;
use ackord_sim::Simulation;
use ackord_study::Effort;
use ackord_uml::Kernel;
use ackord_units::{Span, Time};
use ackord_wire::Side;
use record::{Recorder, Row};
use serde::Serialize;
use std::ops::ControlFlow;

pub use record::{EndState, SentSegment};
pub use told::difference_document;

/// What to compare.
#[derive(Clone, Debug)]
pub struct DifferenceOptions {
    /// Which scenario.
    pub case: &'static ValidateCase,
    /// How long.
    pub effort: Effort,
    /// With which seed.
    pub seed: u64,
    /// The kernel at every host that is one.
    pub kernel: Kernel,
    /// Segments whose times differ by no more are the same.
    pub tolerance: Span,
}

/// Where a run of the model and one of the kernel part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstDifference {
    /// The scenario.
    pub scenario: String,
    /// Its seed.
    pub seed: u64,
    /// The kernel's release.
    pub kernel: String,
    /// Times that differ by no more are the same, microseconds.
    pub tolerance_us: f64,
    /// Segments of all ends that are the same on both sides before they part.
    pub alike_segments: u64,
    /// Where; nothing if they never do.
    pub parting: Option<Parting>,
}

/// The first segment that is not the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parting {
    /// Whose: the flow.
    pub flow: String,
    /// Whose: the host.
    pub host: String,
    /// Which of that end's segments, counted from zero.
    pub number: u64,
    /// In what it differs.
    pub in_what: Vec<&'static str>,
    /// The model's segment; nothing if it sends no more.
    pub model: Option<SentSegment>,
    /// The kernel's.
    pub kernel: Option<SentSegment>,
    /// The model's end when it sent that, or when the kernel did.
    pub model_state: EndState,
    /// The kernel's.
    pub kernel_state: EndState,
    /// Segments of both ends just before, as the model sent them.
    pub before: Vec<SentSegment>,
}

/// How many segments are told from before.
const BEFORE: usize = 8;
/// How often the kernel is asked: its state is known no more exactly.
const SAMPLES_EVERY: Span = Span::from_millis(1);

/// Runs both sides and finds where they part. `go_on` is asked every now and then.
///
/// # Errors
/// If a run is not possible.
pub fn first_difference(
    options: &DifferenceOptions,
    go_on: &dyn Fn() -> ControlFlow<()>,
) -> Result<FirstDifference, ValidateError> {
    let scenario = ackord_study::with_captures(&options.case.scenario(options.effort)?);
    let live = |source| {
        let (scenario, seed) = (options.case.name.to_owned(), options.seed);
        ValidateError::Live { scenario, seed, source }
    };
    let mut model = Recorder::new(&scenario);
    let mut simulation =
        Simulation::new(&scenario, options.seed).map_err(|error| live(error.into()))?;
    simulation.run_until(Time::ZERO + scenario.duration, &mut model);
    let mut kernel = Recorder::new(&scenario);
    let mut emulation =
        EmulationOptions::new(scenario.clone()).map_err(|error| live(error.into()))?;
    emulation.seed = options.seed;
    emulation.samples_every = SAMPLES_EVERY;
    let (kernels, _) = kernels_and_ours(&scenario);
    let kernels = kernels.into_iter().map(|host| (host, options.kernel.clone())).collect();
    let kernels = SimulatedKernels { kernels, program: None };
    emulate_in_simulated_time(emulation, &kernels, &mut kernel, &mut |_| go_on())
        .map_err(|error| live(error.into()))?;
    let found = parting(&scenario, (&model, &kernel), options.tolerance);
    let alike = match &found {
        Some((at, _)) => model.rows_before(*at),
        None => model.rows_before(Time::NEVER),
    };
    Ok(FirstDifference {
        scenario: options.case.name.to_owned(),
        seed: options.seed,
        kernel: format!("{}, HZ = {}", options.kernel.release, options.kernel.hz),
        tolerance_us: options.tolerance.as_secs_f64() * 1e6,
        alike_segments: alike,
        parting: found.map(|(_, parting)| parting),
    })
}

/// The earliest of the first differences of all ends, and when it was.
fn parting(
    scenario: &Scenario,
    (model, kernel): (&Recorder, &Recorder),
    tolerance: Span,
) -> Option<(Time, Parting)> {
    let ends = model.ends().into_iter().filter_map(|endpoint| {
        let (ours, theirs) = (model.rows(endpoint), kernel.rows(endpoint));
        let longest = ours.len().max(theirs.len());
        let differs =
            |number: &usize| !in_what(ours.get(*number), theirs.get(*number), tolerance).is_empty();
        let number = (0..longest).find(differs)?;
        let at = |row: Option<&Row>| row.map_or(Time::NEVER, |row| row.at);
        Some((at(ours.get(number)).min(at(theirs.get(number))), endpoint, number))
    });
    // The end of the run cuts off what was under way: the last rows may have no counterpart.
    let end = Time::ZERO + scenario.duration;
    let (at, endpoint, number) = ends.min().filter(|(at, ..)| *at + tolerance < end)?;
    let (ours, theirs) = (model.rows(endpoint).get(number), kernel.rows(endpoint).get(number));
    let flow = &scenario.flows[endpoint.flow.0 as usize];
    let host = if endpoint.side == Side::Client { flow.client } else { flow.server };
    let told = |recorder: &Recorder, row: Option<&Row>| row.map(|row| recorder.told(scenario, row));
    let parting = Parting {
        flow: flow.name.clone(),
        host: scenario.node(host).name.clone(),
        number: number as u64,
        in_what: in_what(ours, theirs, tolerance),
        model: told(model, ours),
        kernel: told(kernel, theirs),
        model_state: model.state_at(endpoint, at),
        kernel_state: kernel.state_at(endpoint, at),
        before: model.before(at, BEFORE).map(|row| model.told(scenario, row)).collect(),
    };
    Some((at, parting))
}

/// In what two segments differ.
fn in_what(ours: Option<&Row>, theirs: Option<&Row>, tolerance: Span) -> Vec<&'static str> {
    let (Some(ours), Some(theirs)) = (ours, theirs) else {
        return vec![if ours.is_some() {
            "the kernel sends no more"
        } else {
            "the model sends no more"
        }];
    };
    let late = ours.at.saturating_since(theirs.at) + theirs.at.saturating_since(ours.at);
    let differences = [
        ("flags", ours.flags != theirs.flags),
        ("sequence number", ours.seq != theirs.seq),
        ("length", ours.len != theirs.len),
        ("acknowledgment", ours.ack != theirs.ack),
        ("SACK blocks", ours.sack != theirs.sack),
        ("time", late > tolerance),
    ];
    differences.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
}
