//! A shaper that follows a cellular link, compared with an oracle, constant rates and no shaper: a row of Markdown each.
//!
//! ```text
//! rate_following [--log] [--modem PACKETS] [--congestion NAME] (TRACE | synthetic[:SEED])...
//! ```
//!
//! Ratios are to the oracle. `synthetic:SEED` is a drawn trace of two minutes. `--log` prints every decision of the control law instead.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program"
)]

use ackord_path::follow::RateReason;
use ackord_units::{Rate, Span};
use ackord_validation::rate_following::{
    Comparison, Shaped, ShapedBy, limits, percentile, synthetic,
};
use std::error::Error;
use std::path::PathBuf;

/// Length of a run: that of a short trace.
const DURATION: Span = Span::from_secs(120);
/// The oracle sets the mean rate of the trace over this time to come.
const AHEAD: Span = Span::from_millis(100);

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (mut modem, mut congestion, mut log) = (1_000, "cubic".to_owned(), false);
    let mut traces = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--log" => log = true,
            "--modem" => modem = words.next().unwrap_or_default().parse()?,
            "--congestion" => congestion = words.next().unwrap_or_default(),
            _ => traces.push(word),
        }
    }
    if !log {
        println!(
            "| trace | rate | downloads, Mbit/s | to oracle | voice, ms | to oracle | p95, ms | lost |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    }
    let folder = tempfile::tempdir()?;
    for name in traces {
        let trace = match name.strip_prefix("synthetic") {
            None => std::fs::canonicalize(&name)?,
            Some(seed) => {
                let seed = seed.trim_start_matches(':').parse().unwrap_or(1);
                let path = folder.path().join(format!("synthetic-{seed}.trace"));
                let trace = synthetic(seed, Rate::from_mbits_per_sec(10), DURATION)?;
                std::fs::write(&path, trace.to_text())?;
                path
            }
        };
        let name = PathBuf::from(&name).file_name().map_or(name, |name| name.display().to_string());
        compare(&name, trace, (modem, &congestion), log)?;
    }
    Ok(())
}

fn compare(
    name: &str,
    path: PathBuf,
    (modem, congestion): (u32, &str),
    log: bool,
) -> Result<(), Box<dyn Error>> {
    let congestion = congestion.to_owned();
    let comparison = Comparison { trace: path, duration: DURATION, modem, congestion };
    let trace = comparison.trace()?;
    if log {
        let shaped = comparison.run(ShapedBy::Follow(limits()))?;
        for (at, decision) in &shaped.decisions {
            let millis = |span: Option<Span>| span.map_or(-1.0, |span| span.as_secs_f64() * 1e3);
            println!(
                "{:8.3} {:>10} {:6.2} Mbit/s delivered {:6.2} load {:4.2} delay {:6.1} baseline {:6.1}",
                at.as_secs_f64(),
                decision.reason.name(),
                mbits(decision.rate),
                mbits(decision.delivered),
                decision.load,
                millis(decision.delay),
                millis(decision.baseline)
            );
        }
        return Ok(());
    }
    let oracle = comparison.run(ShapedBy::Oracle(AHEAD, 1.0))?;
    let (best, shortest) = (oracle.goodput, oracle.mean_delay().as_secs_f64());
    let row = |what: &str, shaped: &Shaped| {
        let mean = shaped.mean_delay().as_secs_f64();
        println!(
            "| {name} | {what} | {:.2} | {:.2} | {:.0} | {:.2} | {:.0} | {} |",
            shaped.goodput / 1e6,
            shaped.goodput / best,
            mean * 1e3,
            mean / shortest,
            shaped.delay_at(0.95).as_secs_f64() * 1e3,
            shaped.voice_lost
        );
    };
    row("oracle", &oracle);
    let followed = comparison.run(ShapedBy::Follow(limits()))?;
    row("auto", &followed);
    for share in [0.1, 0.5, 0.9] {
        let rate = percentile(&trace, share);
        let shaped = comparison.run(ShapedBy::Fixed(rate))?;
        row(&format!("{:.2} Mbit/s (p{:.0})", mbits(rate), share * 100.0), &shaped);
    }
    row("none", &comparison.run(ShapedBy::Nothing)?);
    let reasons = RateReason::ALL.map(|reason| {
        let count = followed.decisions.iter().filter(|(_, one)| one.reason == reason).count();
        format!("{} {count}", reason.name())
    });
    eprintln!("{name}: decisions of auto: {}", reasons.join(", "));
    Ok(())
}

fn mbits(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64 / 1e6
}
