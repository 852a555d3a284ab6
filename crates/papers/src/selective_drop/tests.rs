//! The whole reproduction with few runs: physics first, then what the paper claims in words.

use super::sample::{Run, Sample};
use super::*;
use crate::cells::Runs;
use crate::reproduction::unwatched;
use crate::testkit::{has_numbers, is_sound, may_hold};
use ackord_study::Effort;
use ackord_units::Span;
use std::sync::OnceLock;

/// Measured once for all tests: the runs take seconds without optimisation.
fn measured() -> &'static Measured {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let duration = Span::from_secs(25);
        let extent = Extent {
            effort: Effort::Quick,
            tables: 1,
            others: 1,
            wider: 1,
            duration,
            // Longer than the latest start in a scenario.
            wider_duration: Span::from_secs(12),
        };
        measure(extent, &unwatched).expect("the paper's scenarios run")
    })
}

/// Every run with two flows, with the rate of its link.
fn runs() -> impl Iterator<Item = (f64, Sample)> {
    let Measured { rows, tried, windows, .. } = measured();
    let all = |rate: f64, runs: &Runs<Run>| {
        runs.0.iter().map(|run| (rate, run.sample)).collect::<Vec<_>>()
    };
    let rows = rows.iter().flat_map(move |row| all(row.key.1.rate_kbit_s, row));
    let tried = tried.iter().flat_map(move |tried| all(tried.key.0.rate_kbit_s, tried));
    let windows = windows.iter().flat_map(move |window| all(fig3::RATE_KBIT_S, window));
    rows.chain(tried).chain(windows)
}

#[test]
fn no_run_carries_more_than_its_link_can() {
    let mut count = 0;
    for (rate, sample) in runs() {
        let payload = sample.reno.goodput_kbit_s + sample.vegas_of(|vegas| vegas.goodput_kbit_s);
        assert!(payload <= rate * 1_000.0 / 1_040.0, "{payload} kbit/s of payload on {rate}");
        assert!((0.0..=100.0).contains(&sample.utilisation_percent), "{sample:?}");
        assert!((0.0..=100.0).contains(&sample.fairness_percent()), "{sample:?}");
        // Fifty packets of 1040 B take this long; nobody waits longer, but for the resolution.
        let full_queue_ms = 50.0 * 8.0 * 1_040.0 / rate;
        assert!(sample.queue_mean_ms < full_queue_ms, "{sample:?}");
        assert!(sample.queue_p99_ms <= full_queue_ms * 1.001, "{sample:?}");
        count += 1;
    }
    assert_eq!(count, 16 * 2 + 48 * 2 + 30 * 2);
}

#[test]
fn drop_tail_is_unfair_and_selective_drop_is_not_and_both_fill_the_link() {
    for row in &*measured().rows {
        let (queue, link) = row.key;
        let (once, fairness) = (row.at_once(), row.fairness().mean);
        match queue {
            Queue::DropTail => assert!(fairness < 30.0, "{}: {fairness} %", link.label),
            Queue::PaperThreshold | Queue::Practical => {
                assert!(fairness > 60.0, "{}: {fairness} %", link.label);
            }
            // Its threshold is too small to let fast retransmit work: no bound but physics.
            Queue::ByEquation => continue,
        }
        assert!(once.utilisation_percent > 99.0, "{}: {once:?}", link.label);
        let drops = (once.dropped_over_share > 0, once.dropped_queue_full > 0);
        assert_eq!(drops, (queue != Queue::DropTail, queue == Queue::DropTail));
    }
}

#[test]
fn selective_drop_shortens_the_queue_many_times() {
    let rows = &measured().rows;
    for link in &setup::LINKS {
        let wait = |queue: Queue| rows.of(&(queue, link)).at_once().queue_mean_ms;
        let (without, with) = (wait(Queue::DropTail), wait(Queue::PaperThreshold));
        assert!(without > 4.0 * with, "{}: {without} and {with} ms", link.label);
    }
}

#[test]
fn one_sender_fills_the_link_from_the_windows_that_its_round_trip_holds() {
    // 1040 B take 4.16 ms on 2 Mbit/s and 0.832 ms on each access link; an acknowledgment of 40 B
    // a twenty-sixth of that; the propagation there and back is 2 * (1 + tau + 1) ms.
    for filling in &*measured().fillings {
        let (access, delay) = filling.key;
        let access_ms = if access == fig6::ACCESSES[0] { 1.0 } else { 1.5 };
        let propagation = 2.0 * (2.0 * access_ms + f64::from(delay.millis));
        let transmission = (4.16 + 2.0 * 0.832) * (1.0 + 1.0 / 26.0);
        let holds = (propagation + transmission) / 4.16;
        // 99 % of the link are enough.
        let smallest = (0.99 * holds).ceil() as u32;
        assert_eq!(fig6::smallest(filling), Some(smallest), "{filling:?}");
    }
}

#[test]
fn claims_have_names_of_their_own_and_reasons_with_numbers() {
    let report = measured().report();
    is_sound(&report, &["table-1.csv", "plots/fig-6.png"]);
    has_numbers(&report.claims);
    may_hold(
        &report.claims,
        &["table1-unfair", "table1-full-use", "table2-full-use", "fig9-2m-reno-cwnd"],
    );
}

#[test]
fn the_report_has_every_table_every_figure_and_json_with_the_contract_s_keys() {
    let report = measured().report();
    let names: Vec<_> = report.tables.iter().map(|(name, _)| *name).collect();
    let tables =
        ["table-1", "table-2", "cost", "ns-2", "figure-3", "figure-6", "thresholds", "factors"];
    assert_eq!(names[..8], tables);
    assert_eq!(
        names.len(),
        9 + measured().asked.len(),
        "and details, and one for each question beyond the paper"
    );
    let plots: Vec<_> = report.document.plots().map(|plot| plot.id.clone()).collect();
    for link in &setup::LINKS {
        for figure in [2, 9] {
            assert!(plots.contains(&format!("fig-{figure}-{}", link.id)), "{plots:?}");
        }
    }
    for plot in ["fig-3-rates", "fig-3-fairness", "fig-6", "fairness", "delay", "thresholds"] {
        assert!(plots.contains(&plot.to_owned()), "{plots:?}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.json).expect("JSON");
    assert_eq!(json["tables"]["tables_1_and_2"].as_array().map(Vec::len), Some(16));
}

#[test]
fn beyond_the_paper_every_queue_answers_within_physics() {
    for asked in &measured().asked {
        let id = asked.question.id;
        assert_eq!(asked.answers().len(), 9, "{id}");
        for answer in asked.answers() {
            let used = answer.used_percent.mean;
            assert!((5.0..=100.0).contains(&used), "{id}, {}: {used} %", answer.queue);
            assert!((0.0..=1.0).contains(&answer.jain_index.mean), "{id}, {}", answer.queue);
            let fairness = answer.min_max_percent.mean;
            assert!((0.0..=100.0).contains(&fairness), "{id}, {}: {fairness}", answer.queue);
        }
        if asked.question.is_of_the_paper() {
            // Runs as short as these begin in slow start: no three points, but no doubt either.
            let apart = |name: &str| asked.of(name).min_max_percent.mean;
            assert!(apart("selective-drop") > apart("drop-tail") + 30.0, "{id}");
            let wait = |name: &str| asked.of(name).delay_p99_ms.mean;
            assert!(wait("selective-drop") < wait("drop-tail"), "{id}");
        }
    }
}
