//! The whole reproduction with few runs: physics first, then what comes out.

use super::sample::Sample;
use super::setup::{Growth, Policy, Transfer};
use super::*;
use crate::reproduction::unwatched;
use crate::testkit::{has_numbers, is_sound, may_hold};
use ackord_study::Effort;
use std::sync::OnceLock;

/// Measured once for all tests: the runs take seconds without optimisation.
fn measured() -> &'static Measured {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let extent = Extent { effort: Effort::Quick, transfers: 3, stalls: 1, others: 1 };
        measure(extent, &unwatched).expect("the paper's scenarios run")
    })
}

#[test]
fn no_transfer_beats_the_air() {
    // 524 B of payload in a frame of 612 B: 23 symbols behind a preamble of 20 us, an idle DIFS of
    // 34 us, SIFS and an acknowledgment of 44 us. No backoff, no damage, no acknowledgments of TCP.
    let most_mbit_s = 524.0 * 8.0 / (92.0 + 20.0 + 34.0 + 44.0);
    for runs in &*measured().transfers {
        let setup = runs.key;
        for run in &runs.runs.0 {
            assert_eq!(run.took_s.len(), 1);
            let rate = run.first_rate_mbit_s();
            assert!(rate > 0.0 && rate < most_mbit_s, "{setup:?}: {run:?}");
            let air = run.air_percent();
            assert!((0.0..=100.0).contains(&air), "{setup:?}: {run:?}");
        }
    }
}

#[test]
fn more_acknowledgments_take_more_air() {
    let transfers = &measured().transfers;
    for control in Control::ALL {
        let of = |policy| {
            let (growth, air) = (Growth::PerAck, Air::Quiet);
            transfers.of(&Transfer { size: 3, control, growth, policy, air })
        };
        let acks = |policy| of(policy).mean(|run| run.acks).mean;
        let air = |policy| of(policy).mean(|run| run.up_air_s).mean;
        let time = |policy| of(policy).mean(Sample::time_s).mean;
        // 1909 segments: one acknowledgment for each, or for every second.
        assert!((1_850.0..=1_911.0).contains(&acks(Policy::Immediate)));
        assert!((930.0..=1_000.0).contains(&acks(Policy::QuickAck)), "{}", acks(Policy::QuickAck));
        // Six more of the first eight segments are acknowledged by themselves: three more in all.
        let more = acks(Policy::Ari) - acks(Policy::QuickAck);
        assert!((2.0..=4.0).contains(&more), "{more}");
        assert!(air(Policy::Immediate) > 1.8 * air(Policy::QuickAck));
        assert!(time(Policy::Immediate) > 1.1 * time(Policy::QuickAck));
    }
}

#[test]
fn a_question_of_two_writes_waits_for_the_timer_or_not_at_all() {
    use super::stalls::{Nagle, Question};
    let times = |nagle, policy| {
        let question = Question { asks: Asks::Phone, nagle, policy };
        measured().stalls.of(&question).times()
    };
    let held = times(Nagle::On, Policy::QuickAck);
    assert!((0.040..0.050).contains(&held.p50), "{held:?}");
    // The first exchange is within the two quick acknowledgments.
    assert!(held.min < 0.020, "{held:?}");
    let free = times(Nagle::Off, Policy::QuickAck);
    assert!(free.max < 0.020, "{free:?}");
    assert!(times(Nagle::On, Policy::Immediate).max < 0.020);
}

#[test]
fn claims_have_names_of_their_own_and_reasons_with_numbers() {
    let report = measured().report();
    is_sound(&report, &["table-1.csv", "plots/tail-reno.png"]);
    has_numbers(&report.claims);
    may_hold(
        &report.claims,
        &["fig1-nagle-waits", "nagle-off-no-stall", "nagle-off-load", "quick-ack-load"],
    );
}

#[test]
fn the_report_has_every_table_every_figure_and_json_with_the_contract_s_keys() {
    let report = measured().report();
    let plots: Vec<_> = report.document.plots().map(|plot| plot.id.clone()).collect();
    for figure in [3, 4] {
        for size in &SIZES {
            assert!(plots.contains(&format!("fig-{figure}-{}", size.id)), "{plots:?}");
        }
    }
    let json: serde_json::Value = serde_json::from_str(&report.json).expect("JSON");
    // Two controls, four sizes: five policies for two growth rules, three on a busy air; Reno with
    // a distant host as often again as on the quiet air.
    let set_ups = json["tables"]["transfers"].as_array().map(Vec::len);
    assert_eq!(set_ups, Some(2 * 4 * 13 + 4 * 10));
}
