//! Text of a script: it is played to its end or its failure, or a list of what is wrong with it can
//! be shown.

use ackord_script::{parse, render_problems, run};
use ackord_units::{Span, Time};

/// Longer scripts are read and not played.
const STEPS: usize = 100;
const LASTING: Span = Span::from_secs(600);

/// Text of a script.
pub fn script(data: &[u8]) {
    let text = crate::text(data);
    match parse(text) {
        Ok(script) => {
            let last = script.steps.last().map_or(Time::ZERO, |step| step.at);
            if script.steps.len() <= STEPS && last <= Time::ZERO + LASTING {
                run(&script);
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(!render_problems("fuzzed.tcp", text, &problems).is_empty());
        }
    }
}
