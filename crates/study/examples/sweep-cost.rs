//! What a sweep costs beside its runs, and what a second thread gains. On a quiet machine:
//!
//! ```text
//! cargo run --release --package ackord-study --features parquet --example sweep-cost
//! ```

use ackord_scenario::{Override, ScenarioFile};
use ackord_study::sweep::{Formats, Study, StudyFile, Sweep};
use ackord_study::{RunOptions, execute, without_progress};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Instant;

const RUNS: u64 = 200;
const TURNS: usize = 3;
/// Simulated time that takes some 30 ms.
const DURATION: &str = "20 s";
const SCENARIO: &str = "dumbbell";

fn main() -> Result<(), Box<dyn Error>> {
    let text = format!(
        "version = 1\nname = 'cost'\nscenario = '{SCENARIO}'\nseeds = {RUNS}\nset = {{ duration = '{DURATION}' }}\n"
    );
    let study = StudyFile::new("cost.toml", text, "").check()?;
    let (mut alone, mut swept, mut one, mut two) = (f64::MAX, f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..TURNS {
        alone = alone.min(taken(runs_by_themselves)?.processor_s);
        let with_one = taken(|| sweep(&study, 1))?;
        swept = swept.min(with_one.processor_s);
        one = one.min(with_one.wall_s);
        two = two.min(taken(|| sweep(&study, 2))?.wall_s);
    }
    let runs = RUNS as f64;
    println!("runs by themselves      {:7.2} ms of processor time each", alone / runs * 1e3);
    println!(
        "a sweep of {RUNS} of them  {:7.2} ms, {:+.1} %",
        swept / runs * 1e3,
        (swept / alone - 1.0) * 100.0
    );
    println!("one thread, two threads {one:7.2} s, {two:.2} s: {:.2} times as fast", one / two);
    Ok(())
}

/// Time that something took.
struct Taken {
    processor_s: f64,
    wall_s: f64,
}

#[expect(clippy::disallowed_methods, reason = "measures")]
fn taken(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Taken, Box<dyn Error>> {
    let processor = || {
        Ok::<i64, nix::Error>(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.num_nanoseconds())
    };
    let (began, began_at) = (processor()?, Instant::now());
    work()?;
    Ok(Taken {
        wall_s: began_at.elapsed().as_secs_f64(),
        processor_s: (processor()? - began) as f64 / 1e9,
    })
}

fn runs_by_themselves() -> Result<(), Box<dyn Error>> {
    let file = ScenarioFile::from_library(SCENARIO)?;
    let scenario = file.with_overrides([Override::new("duration", DURATION)]).check()?;
    for seed in 1..=RUNS {
        execute(&scenario, RunOptions::summary_only(seed), &mut without_progress)?;
    }
    Ok(())
}

fn sweep(study: &Study, threads: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let formats = Formats { parquet: Formats::HAS_PARQUET, csv: true };
    let mut sweep = Sweep::begin(study, folder.path(), None, formats)?;
    sweep.run(NonZeroUsize::new(threads), &|_| ControlFlow::Continue(()))?;
    sweep.write_tables()?;
    Ok(())
}
