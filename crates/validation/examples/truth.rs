//! Captures of the self-test and the truth about them: `truth FOLDER [PART OF A NAME]...`; with `--score`
//! in front, what the diagnosis makes of them, too; with `--series=1`, of other cases of the same families.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program"
)]

use ackord_study::Effort;
use ackord_validation::self_test::{
    CaseScore, SelfTestOptions, cases, diagnoser, report, self_test, self_test_document,
};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    if ackord_live::is_guest() {
        ackord_live::be_guest();
    }
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let scored = words.first().is_some_and(|word| word == "--score");
    if scored {
        words.remove(0);
    }
    let series = words.first().and_then(|word| word.strip_prefix("--series=")?.parse().ok());
    if series.is_some() {
        words.remove(0);
    }
    let Some((folder, wanted)) = words.split_first() else {
        eprintln!("usage: truth [--score] [--series=N] FOLDER [PART OF A NAME]...");
        return ExitCode::from(2);
    };
    let mut cases = cases(Effort::Full, series.unwrap_or(0));
    cases.retain(|plan| {
        wanted.is_empty() || wanted.iter().any(|part| plan.name().contains(part.as_str()))
    });
    let jobs = NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN);
    let options = SelfTestOptions { cases, jobs, keep: Some(PathBuf::from(folder)) };
    let tell = |share: f64, case: &CaseScore| {
        let truth = case.truth.iter().map(|(cause, s)| format!("{} {s:.2}", cause.name()));
        let right =
            case.scores.iter().map(|one| format!("{:.0}%", one.all.share().unwrap_or(0.0) * 100.0));
        let right = if scored { right.collect::<Vec<_>>().join(" ") } else { String::new() };
        println!(
            "{:3.0} % {} {right}\n    {}",
            share * 100.0,
            case.case,
            truth.collect::<Vec<_>>().join(", ")
        );
        ControlFlow::Continue(())
    };
    match self_test(&options, &diagnoser, &tell) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok(scores) => {
            let report = report(scores);
            if scored {
                let document = self_test_document(&report, "ackord diagnose --self-test");
                println!("{}", ackord_report::to_markdown(&document, ""));
            }
            ExitCode::SUCCESS
        }
    }
}
