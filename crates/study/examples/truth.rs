//! Captures of the self-test and the truth about them: `truth FOLDER [PART OF A NAME]`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program"
)]

use ackord_study::self_test;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    if ackord_live::is_guest() {
        ackord_live::be_guest();
    }
    let mut words = std::env::args().skip(1);
    let Some(folder) = words.next().map(PathBuf::from) else {
        eprintln!("usage: truth FOLDER [PART OF A NAME]...");
        return ExitCode::from(2);
    };
    let wanted: Vec<String> = words.collect();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let mut failed = ExitCode::SUCCESS;
    for plan in self_test::cases().into_iter().filter(|plan| is_wanted(&plan.name())) {
        match self_test::make_case(&plan, &folder.join(plan.name())) {
            Ok(truth) => {
                println!("{} {:.3} s", truth.case, truth.duration_s);
                let mut by = std::collections::BTreeMap::<&str, f64>::new();
                for one in &truth.intervals {
                    *by.entry(one.cause.name()).or_default() += one.to_s - one.from_s;
                }
                for (cause, seconds) in by {
                    println!("    {cause:<28} {seconds:8.3}");
                }
            }
            Err(error) => {
                eprintln!("{}: {error}", plan.name());
                failed = ExitCode::FAILURE;
            }
        }
    }
    failed
}
