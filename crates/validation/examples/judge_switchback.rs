//! Prints what turns of a link show beside the truth, for twelve links: a table in Markdown.
//!
//! ```sh
//! cargo run --release --package ackord-validation --example judge_switchback [RUNS]
//! ```
//!
//! RUNS (5) is the number of runs by turns of each link, 80 minutes each. The truth is that of 6 pairs of runs of 40 minutes, with
//! the remedy all the time and never; with ANEW=1 in the environment the middlebox of these begins anew each turn.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a program")]

use ackord_daemon::switchback::{Outcome, Turns};
use ackord_units::Span;
use ackord_validation::switchback::{Judged, LINKS, SharedLink};
use rayon::prelude::*;

const SECONDS: u64 = 4_800;
const TURNS: Turns =
    Turns { length: Span::from_secs(120), settle: Span::from_secs(45), in_block: 2 };
const TRUTHS: u64 = 6;

fn judge(link: &SharedLink, runs: u64) -> Vec<Vec<Judged>> {
    let anew = std::env::var_os("ANEW").is_some();
    let truth = |seed| {
        [true, false]
            .map(|treated| link.throughout((treated, anew), TURNS, 1_000 + seed, SECONDS / 2))
    };
    let truths: Vec<_> = (0..TRUTHS).map(truth).collect();
    (0..runs).map(|seed| link.judge(TURNS, seed, SECONDS, &truths)).collect()
}

fn percent(log: f64) -> String {
    format!("{:+.1}", 100.0 * (log.exp() - 1.0))
}

fn main() {
    let runs = std::env::args().nth(1).map_or(5, |runs| runs.parse().expect("a number of runs"));
    let all: Vec<_> = LINKS.par_iter().map(|link| (link, judge(link, runs))).collect();
    println!("| link | outcome | truth, % | first run by turns, % | interval holds it |");
    println!("| --- | --- | ---: | ---: | ---: |");
    let mut held = (0, 0);
    for (link, judged) in &all {
        for (at, first) in judged[0].iter().enumerate() {
            let of_outcome: Vec<_> = judged.iter().map(|run| run[at].holds()).collect();
            let holds = of_outcome.iter().filter(|holds| **holds).count();
            held = (held.0 + holds, held.1 + of_outcome.len());
            let name = match first.outcome {
                Outcome::Goodput => "goodput",
                Outcome::TimePerByte => "time per byte",
                Outcome::AirPerByte => "bytes on air per byte",
                Outcome::OthersDelay => "delay of others",
            };
            let [low, mean, high] = first.by_turns.map(percent);
            let truth = percent(first.truth.0);
            println!("| {link} | {name} | {truth} | {mean} [{low}, {high}] | {holds} of {runs} |");
        }
    }
    println!("\n{} of {} intervals hold the truth.", held.0, held.1);
}
