//! All five papers' remedies at one phone behind a fading access point: each alone, all together, and
//! every combination between.
//!
//! | file | what |
//! | --- | --- |
//! | `setup.rs` | the remedies and their thirty-two combinations |
//! | `sample.rs` | what is taken from each run |
//! | `effects.rs` | what each is worth, and what two do to each other |
//! | `claims.rs` | what this project claims of them |

mod claims;
mod effects;
mod sample;
mod setup;

use crate::plan::Plan;
use crate::report::{Report, context};
use crate::reproduction::{Options, PaperError, PaperReport, Watch};
use crate::tables::record;
use sample::{Outcomes, Sample};
use setup::{Combination, SCENARIO};

/// Runs every combination, all with the same seeds, so that they meet the same fades.
pub(crate) fn reproduce(
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    let outcomes = measure(options.effort.of(3, 20), watch)?;
    Ok(report(&outcomes, options))
}

fn measure(seeds: u32, watch: &Watch<'_>) -> Result<Outcomes, PaperError> {
    let mut plan = Plan::default();
    let combinations = plan.each(Combination::each(), |one| [one.setup().seeds(seeds)])?;
    Ok(plan.run(|_, outcome| Sample::of(&outcome), watch)?.of(combinations))
}

fn report(outcomes: &Outcomes, options: Options<'_>) -> PaperReport {
    let seeds = outcomes[0].0.len();
    let purpose = "A phone behind a fading access point loads a video, pages and a chat while a \
                   neighbour downloads: packets overtake one another on the way, the air loses some \
                   and fades, one queue is shared. Each of the five remedies is switched on alone, \
                   and in every combination.";
    let effort = options.effort.of("Quick: the full run has 20 seeds.", "This is the full run.");
    let notes = vec![
        format!(
            "{} runs of 60 s: {seeds} seeds for each of 32 combinations, all with the same seeds \
             and so the same fades. {effort}",
            32 * seeds
        ),
        "Without a remedy both ends are stock Linux. The adaptive delayed ACK and ARI stand at \
         both hosts (practical), DAD-SD at the senders (practical), Proxy TCP beside the access \
         point (practical), selective drop in the queue of its line (practical). Both \
         acknowledgment remedies at once are ARI with the adaptive delay after its count."
            .to_owned(),
    ];
    let text = ackord_scenario::library().find(|(name, _)| *name == SCENARIO);
    Report::default()
        .table("effects", effects::effects_table(outcomes))
        .table("interactions", effects::interactions_table(outcomes))
        .table("combinations", effects::combinations_table(outcomes))
        .section("What each is worth")
        .show(["effects"])
        .plots([effects::plot(outcomes)])
        .section("What they do to each other")
        .show(["interactions"])
        .section("Every combination")
        .show(["combinations"])
        .section("Scenario file")
        .code(&format!("scenarios/{SCENARIO}.toml"), text.map_or("", |(_, text)| text))
        .finish(
            "together",
            &context("All five at one phone", purpose, "this project", notes),
            claims::claims(outcomes),
            record! {
                effort: options.effort.id(),
                seeds: seeds,
                combinations: effects::combinations_data(outcomes),
                effects: effects::effects_data(outcomes),
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::unwatched;
    use crate::testkit::{is_measured, is_sound};
    use sample::Metric;

    #[test]
    fn every_combination_is_measured_and_the_neighbour_never_beats_the_line() {
        let outcomes = measure(1, &unwatched).expect("sound runs");
        for one in &*outcomes {
            let rate = |metric| one.mean(|run| run.get(metric)).mean;
            let carried = rate(Metric::Video) + rate(Metric::Neighbour);
            assert!((1.0..=20.0).contains(&carried), "{}: {carried}", one.key);
            for metric in Metric::ALL {
                assert!(rate(metric).is_finite(), "{}: {}", one.key, metric.id());
            }
        }
        let report = report(&outcomes, Options::default());
        is_sound(&report, &[]);
        assert_eq!(report.tables.len(), 3);
        is_measured(&report.claims);
    }
}
