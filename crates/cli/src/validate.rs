//! `ackord validate`: how far the simulator and a kernel are apart.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{KernelName, OutputArguments, Results, check_file};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_measure::KernelTime;
use ackord_report::document::Document;
use ackord_report::{
    FidelitySeries, OutputFile, data, document_files, fidelity_document, to_markdown,
    without_plots, write_one,
};
use ackord_scenario::KernelChoice;
use ackord_study::{Effort, kernel_of};
use ackord_uml::DEFAULT_KERNEL;
use ackord_units::Span;
use ackord_validation::validate::{
    CASES, DifferenceOptions, KernelSide, LiveEnded, Sampling, SimulatedKernel, StockKernel,
    ValidateCase, ValidateOptions, ValidateOutcome, difference_document, first_difference,
    validate as make_report,
};
use clap::Args;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Compare the simulator with the kernel of this machine: the same scenarios, side by side
///
/// Each scenario runs in the simulator, with the profile `linux` at both ends, and in real time
/// between stock kernels in network namespaces over the same path, with the same seeds and so the
/// same random losses. The report has goodput, retransmissions, timeouts, acknowledgments and the
/// times of transfers of both sides with 95 % intervals, and says where they are apart and, as far
/// as it is known, why. Goals: goodput within 5 %, of all flows and of each where they compete, the number of
/// acknowledgments within 10 %, with the whole interval; what lies across is undecided. Runs are added
/// where the interval of a goodput is wide.
///
/// Packets that an overloaded machine hands over late make the kernel's side wrong: such runs are
/// repeated, and left out if that does not help. Nothing else should run meanwhile. Each run takes as
/// long as its scenario, up to half a minute and with --quick a few seconds, and --jobs of them go at the
/// same time. Root, or a /dev/net/tun that ordinary users may open, is needed.
///
/// With --kernel the kernel's side is in simulated time, too: on any machine, however busy, by anybody,
/// and always the same.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ValidateArguments {
    /// Runs of a few seconds and two seeds: to see that everything works, not what it comes to
    #[arg(long)]
    quick: bool,
    /// Runs of each scenario, of each side, each with the next seed; 5, with --quick 2, unless said
    #[arg(long, value_name = "N")]
    seeds: Option<NonZeroU32>,
    /// Runs of a scenario at most: more than --seeds are made as long as the 95 % interval of a goodput is
    /// wider than 3 % to either side; four times --seeds, with --quick none more, unless said, and never fewer
    /// than --seeds
    #[arg(long, value_name = "N")]
    most: Option<NonZeroU32>,
    /// Seed of the first run of each scenario
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Only this scenario; may be given several times
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
    /// Live runs in parallel: more finish sooner, and their packets start later
    #[arg(long, value_name = "N", default_value = "2")]
    jobs: NonZeroUsize,
    /// How often a run that was too late is done again
    #[arg(long, value_name = "N", default_value = "2")]
    repeats: u32,
    /// How late 99 % of the packets of a live run may be for it to count
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    lateness_budget: Span,
    /// Schedule the path like every other program, also where the system allows more
    #[arg(long)]
    ordinary_priority: bool,
    /// Compare with a stock kernel in simulated time instead: nothing is late, and nothing is repeated
    ///
    /// One that `ackord kernel build` has built: a version such as 6.12 (which is meant where nothing is
    /// said), or the name of your own; with ticks per second, 6.12@1000.
    #[arg(long, value_name = "VERSION[@HZ]", num_args = 0..=1, require_equals = true,
          default_missing_value = DEFAULT_KERNEL)]
    kernel: Option<KernelName>,
    /// Find the first segment at which the model and a stock kernel in simulated time part, and tell it
    /// with the state of both
    #[arg(long)]
    first_difference: bool,
    /// With --first-difference: times that differ by no more are the same
    #[arg(long, value_name = "SPAN", default_value = "20 us", requires = "first_difference")]
    tolerance: Span,
    /// Write the report as a Markdown page to this file
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord validate --quick
  ackord validate --only loss-1 --only fading --seeds 10 --out out/fidelity
  ackord validate --json fidelity.json --page docs/fidelity.md
  ackord validate --kernel=6.1 --seeds 30                 a stock kernel in simulated time
  ackord validate --first-difference --only fading        where the model and 6.12 part";

/// How many times the runs that are asked for may be made where they do not tell.
const FOUR_TIMES: NonZeroU32 = NonZeroU32::new(4).expect("more than none");

const NOTES: &[&str] = &[
    "Both sides go through the same definitions: segments and acknowledgments are counted as they \
     enter the path, data as it arrives in order at the receiver, losses and queueing where they \
     happen. What the kernel's ends do is told from the packets on their wires; timeouts are the \
     kernel's own count.",
    "goodput: bytes delivered from a flow's start to the end of the run; of transfers and \
     exchanges the bytes they carry over the time they take, without pauses.",
    "Same seed, same losses: the n-th packet on a link is lost on both sides. Once the two senders \
     send differently, the n-th packet is another one.",
    "pure ACKs: of the end that receives, without data, SYN or FIN.",
];

pub(crate) fn validate(arguments: &ValidateArguments, console: &Console) -> Result<(), Failure> {
    let options = options(arguments)?;
    arguments.output.check()?;
    arguments.page.as_deref().map_or(Ok(()), check_file)?;
    if arguments.first_difference {
        return first_differences(arguments, &options, console);
    }
    let kernel = kernel_side(arguments)?;
    let interrupt = Interrupt::listen_and(|| {})?;
    let meter = Meter::begin("fidelity");
    let outcome = make_report(&options, kernel.as_ref(), &|progress| {
        meter.at(progress.share);
        if let Some(ended) = progress.ended {
            tell(&ended, console);
        }
        interrupt.check()
    });
    meter.end();
    let outcome = outcome?;
    if outcome.report.scenarios.is_empty() {
        console.remark("interrupted before the first scenario was finished");
        return Err(Failure::Interrupted);
    }
    write(arguments, console, &outcome)?;
    if interrupt.check() == ControlFlow::Break(()) {
        let (finished, planned) = (outcome.finished_runs, outcome.planned_runs);
        console.remark(&format!("interrupted: {finished} of {planned} runs were finished"));
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// Where each scenario's runs part.
fn first_differences(
    arguments: &ValidateArguments,
    options: &ValidateOptions,
    console: &Console,
) -> Result<(), Failure> {
    let stock = || KernelChoice { name: DEFAULT_KERNEL.to_owned(), hz: None };
    let choice = arguments.kernel.clone().map_or_else(stock, |KernelName(choice)| choice);
    let kernel = kernel_of(&choice)?;
    let interrupt = Interrupt::listen_and(|| {})?;
    let meter = Meter::begin("first differences");
    let mut found = Vec::new();
    let runs = options.cases.len() as f64;
    for (done, case) in options.cases.iter().enumerate() {
        meter.at(done as f64 / runs);
        if interrupt.check().is_break() {
            break;
        }
        let options = DifferenceOptions {
            case,
            effort: options.effort,
            seed: options.sampling.first_seed,
            kernel: kernel.clone(),
            tolerance: arguments.tolerance,
        };
        found.push(first_difference(&options, &|| interrupt.check())?);
    }
    meter.end();
    let document = difference_document(&found, &command_line(arguments));
    write_documents(arguments, console, &document, &data::to_json(&found))?;
    match interrupt.check() {
        ControlFlow::Break(()) => Err(Failure::Interrupted),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn kernel_side(arguments: &ValidateArguments) -> Result<Box<dyn KernelSide>, Failure> {
    if let Some(KernelName(choice)) = &arguments.kernel {
        return Ok(Box::new(SimulatedKernel { kernel: kernel_of(choice)? }));
    }
    Ok(Box::new(StockKernel {
        lateness_budget: arguments.lateness_budget,
        realtime_priority: !arguments.ordinary_priority,
    }))
}

fn options(arguments: &ValidateArguments) -> Result<ValidateOptions, Failure> {
    let named = |name: &String| {
        let known = || CASES.iter().map(|case| case.name.to_owned()).collect();
        let found = CASES.iter().find(|case| case.name == name);
        found.ok_or_else(|| Failure::unknown_name("scenario of the report", name, known()))
    };
    let cases: Vec<&'static ValidateCase> = match arguments.only.is_empty() {
        true => CASES.iter().collect(),
        false => arguments.only.iter().map(named).collect::<Result<_, _>>()?,
    };
    let usual = NonZeroU32::new(if arguments.quick { 2 } else { 5 }).expect("more than none");
    let seeds = arguments.seeds.unwrap_or(usual);
    let usually = if arguments.quick { seeds } else { seeds.saturating_mul(FOUR_TIMES) };
    let most = arguments.most.unwrap_or(usually).max(seeds).get();
    Ok(ValidateOptions {
        cases,
        effort: if arguments.quick { Effort::Quick } else { Effort::Full },
        sampling: Sampling {
            first_seed: arguments.seed,
            seeds,
            most,
            jobs: arguments.jobs,
            repeats: arguments.repeats,
        },
    })
}

/// A line for a live run that has ended, while others go on.
fn tell(ended: &LiveEnded<'_>, console: &Console) {
    let late = ended.run.lateness;
    let word = if late.within_budget { "" } else { ", too late" };
    let goodput: f64 = ended.run.summary.flows.iter().map(|flow| flow.goodput_bit_s / 1e6).sum();
    if ended.run.time == KernelTime::Simulated {
        let (scenario, seed) = (ended.scenario, ended.seed);
        return console.remark(&format!("{scenario}, seed {seed}: {goodput:.2} Mbit/s"));
    }
    console.remark(&format!(
        "{}, seed {}, attempt {}: {goodput:.2} Mbit/s, packets {:.0} us late at p99{word}",
        ended.scenario, ended.seed, ended.attempt, late.p99_us
    ));
}

fn write(
    arguments: &ValidateArguments,
    console: &Console,
    outcome: &ValidateOutcome,
) -> Result<(), Failure> {
    let series: Vec<FidelitySeries<'_>> = outcome
        .series
        .iter()
        .map(|runs| FidelitySeries {
            scenario: &runs.scenario,
            sim: runs.sim.as_ref(),
            kernel: runs.kernel.as_ref(),
        })
        .collect();
    let notes: Vec<String> = NOTES.iter().map(|note| (*note).to_owned()).collect();
    let command = command_line(arguments);
    let document = fidelity_document(&outcome.report, &series, &command, &notes);
    write_documents(arguments, console, &document, &data::to_json(&outcome.report))
}

fn write_documents(
    arguments: &ValidateArguments,
    console: &Console,
    document: &Document,
    json: &str,
) -> Result<(), Failure> {
    if let Some(page) = &arguments.page {
        let document = without_plots(document.clone());
        write_one(page, to_markdown(&document, ".").as_bytes())?;
        console.remark(&format!("wrote {}", page.display()));
    }
    let results = Results { document, json };
    arguments.output.write(console, &results, || files(document, json))
}

fn files(document: &Document, json: &str) -> Vec<OutputFile> {
    let mut files = document_files(document);
    files.push(OutputFile::new("fidelity.json", json));
    files
}

/// The command that repeats it, for the page.
fn command_line(arguments: &ValidateArguments) -> String {
    let mut line = "ackord validate".to_owned();
    if arguments.quick {
        line.push_str(" --quick");
    }
    for name in &arguments.only {
        line.push_str(&format!(" --only {name}"));
    }
    if let Some(seeds) = arguments.seeds {
        line.push_str(&format!(" --seeds {seeds}"));
    }
    if let Some(most) = arguments.most {
        line.push_str(&format!(" --most {most}"));
    }
    if arguments.seed != 1 {
        line.push_str(&format!(" --seed {}", arguments.seed));
    }
    if arguments.jobs.get() != 2 {
        line.push_str(&format!(" --jobs {}", arguments.jobs));
    }
    if let Some(KernelName(choice)) = &arguments.kernel {
        line.push_str(&format!(" --kernel={choice}"));
    }
    if arguments.first_difference {
        line.push_str(&format!(" --first-difference --tolerance '{}'", arguments.tolerance));
    }
    if arguments.ordinary_priority {
        line.push_str(" --ordinary-priority");
    }
    line
}
