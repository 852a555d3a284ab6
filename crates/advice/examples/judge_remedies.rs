//! Predicted gains of remedies beside measured ones, between stock kernels: `judge_remedies [--show] [--account] [PART OF A NAME]`;
//! with `--show` what the capture says and what is fitted to it, too; with `--account` without its packets.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program"
)]

use ackord_advice::remedies::judge::{Evidence, judge, situations};
use std::process::ExitCode;

fn main() -> ExitCode {
    if ackord_live::is_guest() {
        ackord_live::be_guest();
    }
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let has = |option: &str| options.iter().any(|one| one == option);
    let evidence = if has("--account") { Evidence::Account } else { Evidence::Packets };
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    println!(
        "{:<38} {:<22} {:>8} {:>8} {:>8}  {:>9} {:>18} {:>6} {:>6}  right",
        "situation", "remedy", "captured", "without", "with", "measured", "predicted", "fit", "off"
    );
    let mut right = [0, 0];
    let mut all = [0, 0];
    for situation in situations().iter().filter(|one| is_wanted(one.name)) {
        let judged = match judge(situation, evidence) {
            Ok(judged) => judged,
            Err(error) => {
                eprintln!("{}: {error}", situation.name);
                let mut source = std::error::Error::source(&error);
                while let Some(cause) = source {
                    eprintln!("  {cause}");
                    source = cause.source();
                }
                return ExitCode::FAILURE;
            }
        };
        let percent =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
        let interval = judged
            .predicted_ci95
            .map_or(String::new(), |[low, high]| format!(" [{low:.0}, {high:.0}]"));
        println!(
            "{:<38} {:<22} {:>8.3} {:>8.3} {:>8.3}  {:>8.1}% {:>18} {:>6} {:>6}  {}  ({})",
            judged.name,
            judged.remedy,
            judged.captured_s,
            judged.without_s,
            judged.with_s,
            judged.measured_percent,
            percent(judged.predicted_percent) + &interval,
            percent(judged.fit_error_percent),
            percent(judged.off_percent),
            if judged.right { "yes" } else { "NO" },
            judged.words
        );
        if has("--show") {
            println!(
                "{:?}\n{}",
                judged.causes,
                judged.scenario_toml.as_deref().unwrap_or("nothing fitted")
            );
        }
        let kind = usize::from(!judged.helps);
        all[kind] += 1;
        right[kind] += usize::from(judged.right);
    }
    println!(
        "helped: {} of {} right; nothing to gain: {} of {}",
        right[0], all[0], right[1], all[1]
    );
    ExitCode::SUCCESS
}
