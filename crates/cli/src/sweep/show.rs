//! `ackord sweep show`: pivot tables, the best points, plots.

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::{JsonTarget, OutputArguments, Results};
use ackord_study::sweep::{ShowOptions, show_sweep, sweep_report_files};
use clap::Args;
use clap_complete::ArgValueCompleter;
use std::path::PathBuf;

/// Show what a sweep came to: tables with intervals, the best points, plots
///
/// It may be under way, or a part of one: finished runs count. A metric is `KEY` as in `ackord list metrics`,
/// `TABLE.KEY`, or `TABLE.NAME.KEY` for one flow, link or box; of several it is the mean in each run. Tables
/// are runs, flows, links, queues and proxies.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArguments {
    /// Folder of the sweep
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Which metric; may be given several times. Without it what the study's `until` looks at, or goodput
    #[arg(long = "metric", value_name = "METRIC", add = ArgValueCompleter::new(completions::metrics))]
    metrics: Vec<String>,
    /// Axes that go down, by name, path or a part of either; those named nowhere get a table for each value
    #[arg(long, value_name = "AXIS,..", value_delimiter = ',')]
    rows: Vec<String>,
    /// Axes that go across; the last one where nothing is said
    #[arg(long, value_name = "AXIS,..", value_delimiter = ',')]
    columns: Vec<String>,
    /// The best points by a metric, and which others these runs do not tell from them
    ///
    /// Less is better of times, packets and segments, and more of everything else, unless `:least` or `:most`
    /// behind the metric says otherwise.
    #[arg(long, value_name = "METRIC", add = ArgValueCompleter::new(completions::metrics))]
    best: Option<String>,
    /// The points that no other beats in both of two metrics
    #[arg(long, value_name = "METRIC,METRIC", value_delimiter = ',', num_args = 1)]
    pareto: Vec<String>,
    /// Write a row per point as CSV to this file, or with `-` to standard output instead of the tables
    #[arg(long, value_name = "FILE|-", conflicts_with = "json")]
    csv: Option<JsonTarget>,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord sweep show out/buffer-size --metric total_goodput_bit_s --columns limit
  ackord sweep show out/buffer-size --metric queues.bottleneck.p99_delay_ms --out out/plots
  ackord sweep show out/buffer-size --pareto total_goodput_bit_s,queues.bottleneck.p99_delay_ms
  ackord sweep show out/buffer-size --best jain_index --json -";

pub(super) fn show(arguments: &ShowArguments, console: &Console) -> Result<(), Failure> {
    let pareto = match &arguments.pareto[..] {
        [] => None,
        [one, two] => Some([one.clone(), two.clone()]),
        _ => return Err(Failure::Pareto(arguments.pareto.join(","))),
    };
    let options = ShowOptions {
        metrics: arguments.metrics.clone(),
        rows: arguments.rows.clone(),
        columns: arguments.columns.clone(),
        best: arguments.best.clone(),
        pareto,
    };
    arguments.output.check()?;
    arguments.csv.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let report = show_sweep(&arguments.folder, &options)?;
    if let Some(target) = &arguments.csv {
        let csv = String::from_utf8_lossy(&report.csv);
        arguments.output.write_files("", console, || sweep_report_files(&report))?;
        target.write(&csv, console)?;
        if *target == JsonTarget::Stdout {
            return Ok(());
        }
        return arguments.output.print(&report.document, console);
    }
    let results = Results { document: &report.document, json: &report.json };
    arguments.output.write(console, &results, || sweep_report_files(&report))
}
