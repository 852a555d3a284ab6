//! What is known of the gaps between model and kernel: the mechanism, and how it was found.
//!
//! An explanation is shown only where its quantity is beyond its goal in the report at hand: it
//! accounts for a gap and never hides one.

use ackord_measure::{FidelityScenario, FidelityVerdict};

/// A gap that was looked into.
struct Explanation {
    scenario: &'static str,
    metric: &'static str,
    why: &'static str,
}

const EXPLANATIONS: &[Explanation] = &[];

/// Those of the gaps that this scenario has.
pub(super) fn explanations(scenario: &FidelityScenario) -> Vec<String> {
    let gap = |explanation: &&Explanation| {
        explanation.scenario == scenario.name
            && scenario.metric(explanation.metric).is_some_and(|metric| {
                metric.verdict.is_some_and(|verdict| verdict != FidelityVerdict::Within)
            })
    };
    let told = EXPLANATIONS.iter().filter(gap);
    told.map(|explanation| format!("{}: {}", explanation.metric, explanation.why)).collect()
}
