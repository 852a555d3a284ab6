//! `ackord live accuracy`: how exactly this machine emulates, as a table beside the goals.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{JsonTarget, check_file};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_live::{AccuracyOptions, LiveError, StopHandle, accuracy};
use ackord_report::{data, to_markdown, to_terminal, write_one};
use ackord_units::{Quantity, Rate, Span};
use ackord_validation::accuracy::{document, load_average, results};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// Measure how exactly this machine emulates: rate, delay, and the most that goes through
///
/// One emulated link between two namespaces on the stock kernel. Its rate at the receiver's socket
/// is set against the configured one, saturated by UDP and by TCP; the delay of every datagram
/// against what theory says of it, on an idle link and on a busy one; and without a limit on the
/// link, how many bytes and packets go through. Leave the machine alone meanwhile: it measures what
/// else runs on it, too.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord live accuracy
  ackord live accuracy --rates '10 Mbit/s' --duration '2 s'
  ackord live accuracy --realtime-priority --page docs/accuracy.md --json accuracy.json")]
pub(crate) struct AccuracyArguments {
    /// The rates of the link, with commas between them: 100 kbit/s to 100 Gbit/s
    #[arg(
        long,
        value_name = "RATES",
        value_parser = rate,
        value_delimiter = ',',
        default_value = "1 Mbit/s,100 Mbit/s,700 Mbit/s"
    )]
    rates: Vec<Rate>,
    /// How long each measurement sends, 100 ms to 1 hour; there are four for each rate and as much
    /// again
    #[arg(long, value_name = "SPAN", value_parser = duration, default_value = "5 s")]
    duration: Span,
    /// Leave out the most that goes through
    #[arg(long)]
    quick: bool,
    /// Let the emulator come before all other programs (SCHED_FIFO), where that is allowed
    #[arg(long)]
    realtime_priority: bool,
    /// Write the tables as a Markdown page to this file
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write the results as JSON to this file, or with `-` to standard output instead of the tables
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
}

/// What can be measured: over a slower link a few packets take longer than a measurement lasts, and
/// a faster one wants a longer queue than there can be.
fn rate(text: &str) -> Result<Rate, String> {
    let rate = Rate::parse(text).map_err(|error| error.to_string())?;
    match rate.as_bits_per_sec() {
        100_000..=100_000_000_000 => Ok(rate),
        _ => Err(format!("`{text}` is out of range; allowed: 100 kbit/s to 100 Gbit/s")),
    }
}

/// What a measurement can last: in less nothing comes, and nobody waits for longer.
fn duration(text: &str) -> Result<Span, String> {
    let span = Span::parse(text).map_err(|error| error.to_string())?;
    match span {
        span if span < Span::from_millis(100) || span > Span::from_secs(3600) => {
            Err(format!("`{text}` is out of range; allowed: 100 ms to 1 hour"))
        }
        span => Ok(span),
    }
}

pub(crate) fn run(arguments: &AccuracyArguments, console: &Console) -> Result<(), Failure> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    arguments.page.as_deref().map_or(Ok(()), check_file)?;
    let stop = StopHandle::new().map_err(LiveError::System)?;
    let stopping = Arc::new(stop.clone());
    let interrupt = Interrupt::listen_and(move || stopping.stop())?;
    let load = load_average();
    let meter = Meter::begin("accuracy");
    let asked = interrupt.clone();
    let report = accuracy(AccuracyOptions {
        rates: arguments.rates.clone(),
        duration: arguments.duration,
        finds_most: !arguments.quick,
        realtime_priority: arguments.realtime_priority,
        stop,
        notify: Box::new(move |_, number, of| {
            meter.at((number - 1) as f64 / of as f64);
            asked.check()
        }),
    })?;
    if interrupt.check().is_break() {
        return Err(Failure::Interrupted);
    }
    let results = results(&report, arguments.duration, load);
    let document = document(&results, command_line(arguments));
    if arguments.json != Some(JsonTarget::Stdout) {
        console.print(&to_terminal(&document, console.screen()))?;
    }
    if let Some(target) = &arguments.json {
        target.write(&data::to_json(&results), console)?;
    }
    if let Some(path) = &arguments.page {
        write_one(path, to_markdown(&document, ".").as_bytes())?;
    }
    Ok(())
}

fn command_line(arguments: &AccuracyArguments) -> String {
    let rates: Vec<_> = arguments.rates.iter().map(ToString::to_string).collect();
    let mut line = format!(
        "ackord live accuracy --rates '{}' --duration '{}'",
        rates.join(","),
        arguments.duration
    );
    if arguments.quick {
        line.push_str(" --quick");
    }
    if arguments.realtime_priority {
        line.push_str(" --realtime-priority");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_cannot_be_measured_are_refused_with_those_that_can() {
        for text in ["0 Mbit/s", "1 bit/s", "1000000 Gbit/s"] {
            let why = rate(text).expect_err("out of range");
            assert!(why.contains("100 kbit/s to 100 Gbit/s"), "{why}");
        }
        assert_eq!(rate("1 Mbit/s"), Ok(Rate::from_mbits_per_sec(1)));
    }

    #[test]
    fn a_measurement_lasts_long_enough_to_measure_and_comes_to_an_end() {
        for text in ["0 s", "1 ns", "100 h"] {
            let why = duration(text).expect_err("out of range");
            assert!(why.contains("100 ms to 1 hour"), "{why}");
        }
        assert_eq!(duration("2 s"), Ok(Span::from_secs(2)));
    }
}
