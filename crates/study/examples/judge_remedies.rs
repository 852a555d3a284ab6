//! Predicted gains of remedies beside measured ones, between stock kernels: `judge_remedies [PART OF A NAME]`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program"
)]

use ackord_study::remedies::judge::{judge, situations};
use std::process::ExitCode;

fn main() -> ExitCode {
    if ackord_live::is_guest() {
        ackord_live::be_guest();
    }
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    println!(
        "{:<38} {:<22} {:>8} {:>8} {:>8}  {:>9} {:>18} {:>6} {:>6}  right",
        "situation", "remedy", "captured", "without", "with", "measured", "predicted", "fit", "off"
    );
    let mut right = [0, 0];
    let mut all = [0, 0];
    for situation in situations().iter().filter(|one| is_wanted(one.name)) {
        let judged = match judge(situation) {
            Ok(judged) => judged,
            Err(error) => {
                eprintln!("{}: {error}", situation.name);
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
