//! All five papers' remedies at one phone behind a fading access point: each alone, all together, and
//! every combination between.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the remedies, their thirty-two combinations, the plan of runs |
//! | `sample.rs` | what is kept of each run |
//! | `effects.rs` | what each is worth, and what two do to each other |
//! | `claims.rs` | what this project claims of them |

mod claims;
mod effects;
mod sample;
mod setup;

use super::assemble::Parts;
use super::{Effort, Options, PaperError, PaperReport, Watch};
use ackord_report::Context;
use ackord_report::document::{Block, Section, Shown};
use sample::Outcomes;
use serde::Serialize;
use setup::{Plan, SCENARIO};

/// Every table, as data.
#[derive(Serialize)]
struct Data {
    effort: &'static str,
    seeds: u64,
    combinations: Vec<effects::CombinationData>,
    effects: Vec<effects::EffectData>,
}

/// Runs every combination.
pub(super) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    let seeds = match options.effort {
        Effort::Quick => 3,
        Effort::Full => 20,
    };
    let plan = Plan::new(seeds)?;
    let outcomes = Outcomes::of(&plan, watch)?;
    Ok(report(&plan, &outcomes, options.effort))
}

fn report(plan: &Plan, outcomes: &Outcomes, effort: Effort) -> PaperReport {
    let tables = vec![
        ("effects", effects::effects_table(outcomes)),
        ("interactions", effects::interactions_table(outcomes)),
        ("combinations", effects::combinations_table(outcomes)),
    ];
    let block = |at: usize| Block::Table(tables[at].1.clone());
    let mut worth = Section::new("What each is worth").with(block(0));
    worth.blocks.extend(effects::plots(outcomes).into_iter().map(Block::Plot));
    let text = ackord_scenario::library().find(|(name, _)| *name == SCENARIO);
    let file = Block::Code {
        caption: format!("scenarios/{SCENARIO}.toml"),
        text: text.map(|(_, text)| text.to_owned()).unwrap_or_default(),
        shown: Shown::Folded,
    };
    let (combinations, each_effect) = effects::data(outcomes);
    Parts {
        paper: "together",
        claims: claims::claims(outcomes),
        sections: vec![
            worth,
            Section::new("What they do to each other").with(block(1)),
            Section::new("Every combination").with(block(2)),
            Section::new("Scenario file").with(file),
        ],
        context: context(plan, effort),
        data: Data {
            effort: match effort {
                Effort::Quick => "quick",
                Effort::Full => "full",
            },
            seeds: plan.seeds,
            combinations,
            effects: each_effect,
        },
        long_tables: Vec::new(),
        tables,
    }
    .report()
}

fn context(plan: &Plan, effort: Effort) -> Context {
    let effort = match effort {
        Effort::Quick => "Quick: the full run has 20 seeds.",
        Effort::Full => "This is the full run.",
    };
    Context {
        title: "All five at one phone".to_owned(),
        purpose: "A phone behind a fading access point loads a video, pages and a chat while a \
                  neighbour downloads: packets overtake one another on the way, the air loses some \
                  and fades, one queue is shared. Each of the five remedies is switched on alone, \
                  and in every combination."
            .to_owned(),
        source: "this project".to_owned(),
        notes: vec![
            format!(
                "{} runs of 60 s: {} seeds for each of 32 combinations, all with the same seeds \
                 and so the same fades. {effort}",
                plan.jobs.len(),
                plan.seeds
            ),
            "Without a remedy both ends are stock Linux. The adaptive delayed ACK and ARI stand at \
             both hosts (practical), DAD-SD at the senders (practical), Proxy TCP beside the access \
             point (practical), selective drop in the queue of its line (practical). Both \
             acknowledgment remedies at once are ARI with the adaptive delay after its count."
                .to_owned(),
        ],
        ..Context::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::unwatched;
    use super::*;

    #[test]
    fn every_combination_is_measured_and_the_neighbour_never_beats_the_line() {
        let plan = Plan::new(1).expect("sound scenarios");
        let outcomes = Outcomes::of(&plan, &unwatched).expect("sound runs");
        for one in setup::Combination::each() {
            let rate = |metric| outcomes.mean(one, metric).mean;
            let carried = rate(sample::Metric::Video) + rate(sample::Metric::Neighbour);
            assert!((1.0..=20.0).contains(&carried), "{one}: {carried}");
            for metric in sample::Metric::ALL {
                assert!(rate(metric).is_finite(), "{one}: {}", metric.id());
            }
        }
        let report = report(&plan, &outcomes, Effort::Quick);
        super::super::verdict::judge_again(&report.json);
        assert_eq!(report.tables.len(), 3);
        assert!(report.claims.iter().all(|claim| claim.measured.is_finite()));
    }
}
