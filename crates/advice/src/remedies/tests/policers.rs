//! Policers: found with rate and burst, and no remedy beats them.

use super::super::facts::Facts;
use super::super::limit::LimitKind;
use super::super::model::{LossProcess, Model, Place};
use super::seen;
use ackord_diagnose::{Cause, Connection};

/// A policer or a shaper on the way of data.
fn limited(kind: &str, rate: &str, burst: &str, place: Place) -> Model {
    let mut model = Model::clean(50e6, 0.03, 6_000_000);
    model.more =
        format!("{kind} = {{ kind = \"token-bucket\", rate = \"{rate}\", burst = \"{burst}\" }}\n");
    model.place = place;
    model
}

#[test]
fn no_remedy_beats_a_policer_that_the_diagnosis_took_for_something_else() {
    for (rate, burst, place) in [
        ("8 Mbit/s", "60 kB", Place::Server),
        ("8 Mbit/s", "60 kB", Place::Router),
        ("8 Mbit/s", "120 kB", Place::Client),
        ("4 Mbit/s", "30 kB", Place::Server),
        ("5 Mbit/s", "15 kB", Place::Client),
    ] {
        let (mut connection, trace) = seen(&limited("policer", rate, burst, place), 1);
        if let Some(policer) = connection.path.policer.take() {
            connection.path.policer = Some(policer);
            let limit = Facts::of(&connection, Some(&trace)).limit.expect("a limit");
            if let Some(rate) = policer.rate_bit_s {
                assert_eq!((limit.bit_s, limit.kind), (rate, LimitKind::Bucket));
            }
            connection.path.policer = None;
        }
        for share in &mut connection.causes {
            if share.cause == Cause::Policer {
                share.cause = Cause::RandomLoss;
            }
        }
        let facts = Facts::of(&connection, Some(&trace));
        let limit = facts.limit.expect("a limit");
        let truth: f64 = rate.split(' ').next().and_then(|one| one.parse().ok()).unwrap_or(0.0);
        assert_eq!(limit.kind, LimitKind::BetweenLosses, "{rate} {burst} {place:?}: {limit:?}");
        assert!((0.8..1.15).contains(&(limit.bit_s / 1e6 / truth)), "{rate} {place:?}: {limit:?}");
    }
}

/// Takes the policer or shaper out of the diagnosis, as where it is not recognised: its time goes to `cause`.
fn disguised(connection: &mut Connection, cause: Cause) {
    connection.path.policer = None;
    let duration_s = connection.duration_s;
    connection.causes.truncate(1);
    (connection.causes[0].cause, connection.causes[0].seconds) = (cause, duration_s);
}

#[test]
fn credits_no_remedy_with_the_line_rate_at_which_packets_pass_a_small_bucket() {
    for (rate, truth, burst) in [("2 Mbit/s", 2e6, "6 kB"), ("1500 kbit/s", 1.5e6, "8 kB")] {
        let mut model = limited("policer", rate, burst, Place::Server);
        (model.rate_bit_s, model.duration_s) = (1e9, 300.0);
        let (mut connection, trace) = seen(&model, 1);
        disguised(&mut connection, Cause::RandomLoss);
        let limit = Facts::of(&connection, Some(&trace)).limit.expect("a limit");
        assert!(limit.bit_s < 1.6 * truth, "{rate}: {limit:?}");
    }
}

#[test]
fn credits_no_remedy_with_more_than_a_full_path_sustains() {
    let (mut connection, trace) = seen(&limited("shaper", "4 Mbit/s", "60 kB", Place::Server), 1);
    disguised(&mut connection, Cause::PathLimited);
    connection.path.rate_bit_s = Some(9e6);
    let limit = Facts::of(&connection, Some(&trace)).limit.expect("a limit");
    assert_eq!(limit.kind, LimitKind::Sustained, "{limit:?}");
    assert!((3.6e6..4.3e6).contains(&limit.bit_s), "{limit:?}");
}

/// Payload in the bytes that a policer counts: 1448 of 1500.
const PAYLOAD: f64 = 1448.0 / 1500.0;

#[test]
fn a_policer_is_found_with_rate_and_burst_at_any_place() {
    for (rate, burst) in [(8.0, 60.0), (8.0, 250.0), (4.0, 30.0), (2.0, 500.0), (12.0, 100.0)] {
        for place in [Place::Server, Place::Router, Place::Client] {
            let model =
                limited("policer", &format!("{rate} Mbit/s"), &format!("{burst} kB"), place);
            let (connection, _) = seen(&model, 1);
            let policer = connection.path.policer;
            let policer = policer.unwrap_or_else(|| panic!("{rate} {burst} {place:?}: none"));
            let found = policer.rate_bit_s.expect("a rate") / 1e6 / PAYLOAD / rate;
            assert!((0.97..1.03).contains(&found), "{rate} {burst} {place:?}: {policer:?}");
            // Behind the policer, drops are known to a round trip only: the bucket fills meanwhile.
            let trip = if place == Place::Server { 0.0 } else { rate * 1e3 / 8.0 * 0.03 };
            let error = (policer.burst_bytes as f64 / 1e3 / PAYLOAD - burst).abs();
            assert!(error <= 0.2 * burst + trip, "{rate} {burst} {place:?}: {policer:?}");
        }
    }
}

#[test]
fn a_bucket_of_a_few_segments_is_found_by_the_place_of_its_drops() {
    for (rate, burst) in [("8 Mbit/s", 8_000), ("3 Mbit/s", 8_000), ("20 Mbit/s", 5_000)] {
        for place in [Place::Server, Place::Client] {
            let mut model = limited("policer", rate, &format!("{burst} B"), place);
            model.wired_s = 0.05;
            model.duration_s = 300.0;
            let (connection, _) = seen(&model, 1);
            let policer = connection.path.policer;
            let policer = policer.unwrap_or_else(|| panic!("{rate} {burst} {place:?}: none"));
            assert_eq!(policer.rate_bit_s, None, "{rate} {place:?}: {policer:?}");
            // Whole segments of it, or one more that passes while it fills.
            let segments = u64::from(burst / 1500_u32);
            let found = policer.burst_bytes / 1448;
            assert!((segments..=segments + 1).contains(&found), "{rate} {place:?}: {policer:?}");
        }
    }
}

#[test]
fn no_policer_is_found_where_losses_come_by_chance() {
    let losses = [
        LossProcess::Random { share: 0.005 },
        LossProcess::Random { share: 0.02 },
        LossProcess::Random { share: 0.05 },
        LossProcess::Bursts { good_s: 0.25, bad_s: 0.003 },
    ];
    let mut found = Vec::new();
    for (seed, loss) in (1..).zip(losses.iter().cycle().take(40)) {
        for place in [Place::Server, Place::Router, Place::Client] {
            let rtt_s = [0.02, 0.04, 0.1][seed as usize % 3];
            let mut model = Model::clean(20e6, rtt_s, 3_000_000);
            model.duration_s = 300.0;
            (model.loss, model.place) = (*loss, place);
            let (connection, _) = seen(&model, seed);
            if let Some(policer) = connection.path.policer {
                found.push(format!("{seed} {loss:?} {rtt_s} s {place:?}: {policer:?}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
