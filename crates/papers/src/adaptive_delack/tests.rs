//! The whole reproduction with few runs: physics first, then what the paper claims in words.

use super::sample::Sample;
use super::setup::{
    DELAYED, DELAYED_NS3, Growth, IMMEDIATE, LINUX, PRACTICAL, STATIC_800, STATIC_900,
};
use super::simulation::Row;
use super::*;
use crate::reproduction::unwatched;
use crate::testkit::{is_measured, is_sound, may_hold};
use ackord_study::Effort;
use ackord_units::Span;
use std::sync::OnceLock;

/// Measured once for all tests: the runs take seconds without optimisation.
fn measured() -> &'static Measured {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let short = Span::from_secs(3);
        let extent = Extent {
            effort: Effort::Quick,
            simulation: 4,
            fit: 1,
            phones: 1,
            gains: 1,
            ato: 1,
            phone: short,
            work: short,
        };
        measure(extent, &unwatched).expect("the paper's scenarios run")
    })
}

/// Without errors: who loses its last segments has a longer story to tell.
fn acks(row: Row<'_>) -> f64 {
    row.clean.mean(|run| run.acks).mean
}

/// A receiver's row of §4.
fn row(policy: setup::Policy, growth: Growth) -> Row<'static> {
    measured().simulations.of(Writes::Messages, policy, growth)
}

#[test]
fn no_run_takes_more_air_than_there_is_nor_more_acks_than_segments() {
    let rows = measured().phones.runs.iter().flat_map(|row| &row.runs.0);
    let simulated = measured().simulations.rows(Writes::Messages);
    for sample in rows.chain(simulated.flat_map(|row| &row.damaged.0)) {
        let air = |of: Option<f64>| of.expect("the path has a medium");
        assert!(air(sample.data_air_percent) + air(sample.ack_air_percent) < 100.0, "{sample:?}");
        // A pure ACK for each data segment, and one that ends the handshake or the connection.
        assert!(sample.acks <= sample.data_segments + 10, "{sample:?}");
        // 1460 bytes in 34 + 67.5 + 248 + 44 us, each sent once: nobody gets more.
        assert!(sample.goodput_mbit_s < 1_460.0 * 8.0 / 393.5, "{sample:?}");
    }
}

#[test]
fn two_segments_a_message_make_one_ack_or_two_by_the_timeout() {
    let of = |policy| acks(row(policy, Growth::PerAck));
    assert!((1_000.0..1_050.0).contains(&of(DELAYED_NS3)), "{}", of(DELAYED_NS3));
    assert!((1_000.0..1_080.0).contains(&of(STATIC_900)), "{}", of(STATIC_900));
    assert!((1_990.0..2_010.0).contains(&of(STATIC_800)), "{}", of(STATIC_800));
}

#[test]
fn without_errors_cwnd_is_what_slow_start_makes_of_the_acks() {
    for policy in [DELAYED_NS3, STATIC_800] {
        let row = row(policy, Growth::PerAck);
        // About 120 messages in the first second, an ACK or two for each: a segment of 536 for each.
        let per_message = if policy == STATIC_800 { 2.0 } else { 1.0 };
        let expected = 119.0 * per_message * 536.0;
        let found = row.cwnd_at_start().mean;
        assert!((found / expected - 1.0).abs() < 0.05, "{}: {found}", policy.id);
    }
    let by_bytes = |policy| row(policy, Growth::PerByte).cwnd_at_start().mean;
    let ratio = by_bytes(STATIC_800) / by_bytes(DELAYED_NS3);
    assert!((ratio - 1.0).abs() < 0.1, "counting bytes, ACKs make no difference: {ratio}");
}

/// How much better a policy does at a workload.
fn gain(id: &str, policy: setup::Policy, base: setup::Policy) -> f64 {
    let gains = &measured().gains;
    let found = gains.iter().find(|cell| cell.key.0.0.id == id).expect("it is run");
    gains::gain(gains, found.key.0, policy, base).mean
}

#[test]
fn every_workload_is_done_under_every_policy() {
    for gain in gains::data(&measured().gains) {
        let json = serde_json::to_value(&gain).expect("plain data");
        assert!(json["gain_over_delayed"].as_f64().is_some_and(|gain| gain > 0.0), "{json}");
        assert!(json["gain_over_linux"].as_f64().is_some_and(|gain| gain > 0.0), "{json}");
    }
    for cell in &*measured().gains {
        assert!((gain(cell.key.0.0.id, DELAYED, DELAYED) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn write_write_read_stalls_only_where_the_ack_waits() {
    // 200 ms of waiting against a round trip of 22 ms.
    for (policy, least) in [(IMMEDIATE, 3.0), (PRACTICAL, 2.0), (LINUX, 1.5)] {
        let found = gain("write-write-read", policy, DELAYED);
        assert!(found > least, "{}: {found}", policy.id);
    }
}

#[test]
fn a_larger_gain_makes_the_ato_jump_further() {
    let most = |a| measured().ato.of(&(0, a)).ato(|ato| ato.max_ms).mean;
    assert!(most("0.02") < most("0.1") && most("0.1") < most("0.9"));
}

#[test]
fn the_report_has_every_table_figure_and_claim() {
    let report = measured().report();
    is_sound(&report, &["simulation.csv"]);
    assert!(report.claims.len() >= 15, "{} claims", report.claims.len());
    is_measured(&report.claims);
    may_hold(&report.claims, &["fig6-start"]);
    let quick = |sample: &Sample| sample.goodput_mbit_s > 0.0;
    assert!(measured().phones.runs.iter().flat_map(|row| &row.runs.0).all(quick));
}
