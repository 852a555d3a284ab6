//! `ackord live papers`: the two phone papers on this machine's kernel.

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::OutputArguments;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_live::StopHandle;
use ackord_papers::live_papers::{LivePaper, LivePapersError, live_papers, on_this_kernel};
use ackord_study::Effort;
use clap::Args;
use clap_complete::ArgValueCompleter;

/// Repeat the two phone papers on this kernel: what does a user of stock Linux gain?
///
/// The papers' own paths, in real time, with stock Linux as the sender. At the other end stands
/// stock Linux too, or our TCP with the paper's ACK policy and with the standard one.
/// Beside every live number stands the simulator's. A full measurement takes half an hour
/// and a machine that has nothing else to do; where packets were handed over too late, it says so.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord live papers --quick
  ackord live papers ari --out out/ari-live
  ackord live papers --json live-papers.json")]
pub(crate) struct LivePapersArguments {
    /// `adaptive-delack`, `ari`, or both when absent
    #[arg(add = ArgValueCompleter::new(completions::papers_named))]
    name: Option<String>,
    /// Fewer questions and runs: five minutes
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &LivePapersArguments, console: &Console) -> Result<(), Failure> {
    let papers = match &arguments.name {
        None => LivePaper::ALL.to_vec(),
        Some(name) => vec![LivePaper::find(name).ok_or_else(|| {
            let known = LivePaper::ALL.map(|paper| paper.name().to_owned());
            Failure::unknown_name("paper with a live measurement", name, known.to_vec())
        })?],
    };
    arguments.output.check()?;
    let stop = StopHandle::new()?;
    let waker = stop.clone();
    let interrupt = Interrupt::listen_and(move || waker.stop())?;
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let meter = Meter::begin("live papers");
    let report =
        live_papers(&papers, effort, &mut |job| on_this_kernel(job, &stop), &mut |share| {
            meter.at(share);
            interrupt.check()
        });
    meter.end();
    let report = report.map_err(|error| match error {
        LivePapersError::Scenario(errors) => Failure::from(errors),
        LivePapersError::Simulated(error) => Failure::from(error),
        LivePapersError::Live(error) => Failure::from(error),
        LivePapersError::Interrupted => Failure::Interrupted,
    })?;
    arguments.output.write_files("", console, || report.files.clone())?;
    arguments.output.write_json(&report.json, console)?;
    arguments.output.print(&report.document, console)
}
