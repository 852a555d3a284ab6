//! Bounds that follow from theory.

mod bounds;
mod policers;

use super::allowance::Allowance;
use super::model::{LossProcess, Model, Outage, Place, Traffic};
use super::simulate::{captured, timed};
use super::{
    Advice, GainVerdict, Prediction, WhyNot, fit, fit_traced, predict, remedies_for, verify,
};
use ackord_diagnose::{Cause, Connection, Diagnosis, Remedy, Trace};
use ackord_live::Direction;

/// What a model shows to who captures it, fitted and predicted; what is fitted is printed where it fails.
fn advice(model: &Model, seed: u64) -> Advice {
    let (connection, trace) = seen(model, seed);
    super::advise(&connection, Some(&trace), &Allowance::unlimited(), &mut |_, _| {})
}

/// The diagnosis of a run, with its packets.
fn seen(model: &Model, seed: u64) -> (Connection, Trace) {
    let ran = captured(model, seed, &Allowance::unlimited());
    ran.expect("a sound run").seen.expect("a capture")
}

fn gain(advice: &Advice, remedy: &str) -> f64 {
    let Advice::Helps(_, prediction) = advice else { panic!("{advice:?}") };
    let found = prediction.remedies.iter().find(|one| one.remedy == remedy);
    found.unwrap_or_else(|| panic!("{remedy}: {:?}", prediction.tried)).gain_percent
}

#[test]
fn a_clean_download_has_nothing_to_gain() {
    // 10 MB at 20 Mbit/s: all but the first few round trips at the full rate.
    let found = advice(&Model::clean(20e6, 0.04, 10_000_000), 1);
    assert!(matches!(found, Advice::NothingToGain(_)), "{found:?}");
}

#[test]
fn random_loss_is_fitted_and_bbr_and_a_proxy_gain() {
    let mut model = Model::clean(20e6, 0.06, 5_000_000);
    model.loss = LossProcess::Random { share: 0.02 };
    model.place = Place::Router;
    let (connection, trace) = seen(&model, 3);
    let fit = fit_traced(&connection, Some(&trace), &Allowance::unlimited()).expect("a fit");
    let LossProcess::Random { share } = fit.model.loss else { panic!("{:?}", fit.model) };
    assert!((0.012..0.03).contains(&share), "{share}");
    assert!((16e6..24e6).contains(&fit.model.rate_bit_s), "{:?}", fit.model);
    // CUBIC gets 0.7 of 1.22 MSS / (RTT sqrt(p)) or so, 2 Mbit/s; a path of 20 Mbit/s is there.
    let prediction = predict(&fit, &Allowance::unlimited(), &mut |_, _| {}).expect("sound runs");
    let advice = Advice::Helps(Some(Box::new(fit)), prediction);
    assert!(gain(&advice, "bbr") > 50.0, "{advice:?}");
    assert!(gain(&advice, "proxy-tcp") > 30.0, "{advice:?}");
}

#[test]
fn a_small_receive_window_is_worth_what_the_path_could_carry() {
    let mut model = Model::clean(20e6, 0.1, 4_000_000);
    model.receive_buffer = Some(64_000);
    // 64 kB each 0.1 s are 5.1 Mbit/s of 19.3: about 70 % of the time less, some of that in slow start.
    let gain = gain(&advice(&model, 1), "larger receive buffer");
    assert!((45.0..75.0).contains(&gain), "{gain}");
}

#[test]
fn an_outage_is_bridged_by_a_proxy() {
    let mut model = Model::clean(10e6, 0.06, 5_000_000);
    model.outages = vec![Outage { from_s: 2.0, least_s: 1.7, most_s: 1.7 }];
    model.place = Place::Router;
    // Timers double: 0.26, 0.8, 1.8 s or so after it began; a proxy repeats at the end.
    let found = advice(&model, 1);
    let Advice::Helps(Some(fit), _) = &found else { panic!("{found:?}") };
    assert!(fit.error_percent < 10.0, "{fit:?}");
}

#[test]
fn two_writes_gain_from_nodelay() {
    let mut model = Model::clean(20e6, 0.02, 0);
    model.traffic = Traffic::TwoWrites { head: 60, body: 60, reply: 200, count: 40, gap_s: 0.3 };
    let gain = gain(&advice(&model, 1), "nodelay");
    // A round trip and a delayed ACK of 40 ms become a round trip.
    assert!((40.0..85.0).contains(&gain), "{gain}");
}

#[test]
fn a_short_transfer_gains_from_a_larger_first_window() {
    let model = Model::clean(100e6, 0.1, 300_000);
    let gain = gain(&advice(&model, 1), "initcwnd 32");
    // 208 segments: 10, 20, 40, 80, 58 or so; with 32 two round trips less of six.
    assert!((15.0..45.0).contains(&gain), "{gain}");
}

/// Connections of several seeds, the first of them with what was predicted for it.
fn diagnosis(model: &Model, seeds: std::ops::Range<u64>, predicted: &[Remedy]) -> Diagnosis {
    let one = |seed| {
        let (mut connection, _) = seen(model, seed);
        connection.remedies = predicted.to_vec();
        connection
    };
    Diagnosis { captures: Vec::new(), artefacts: Vec::new(), connections: seeds.map(one).collect() }
}

#[test]
fn a_gain_that_came_is_told_from_one_that_did_not() {
    let mut model = Model::clean(20e6, 0.04, 3_000_000);
    model.loss = LossProcess::Random { share: 0.01 };
    let Advice::Helps(_, prediction) = advice(&model, 1) else { panic!("losses can be helped") };
    let before = diagnosis(&model, 1..7, &prediction.remedies);
    let with = super::RemedyKind::Bbr.on(&model);
    let came = verify(&before, &diagnosis(&with, 7..13, &[]), Some("bbr"));
    assert!(matches!(came.verdict, GainVerdict::Came | GainVerdict::More), "{came:?}");
    // Nothing was installed.
    let same = verify(&before, &diagnosis(&model, 7..13, &[]), Some("bbr"));
    assert_eq!(same.verdict, GainVerdict::Less, "{same:?}");
    // One connection tells nothing.
    let one = verify(&before, &diagnosis(&with, 7..8, &[]), None);
    assert_eq!(one.verdict, GainVerdict::CannotBeTold, "{one:?}");
}

#[test]
fn each_remedy_of_the_table_gives_a_sound_scenario() {
    let mut model = Model::clean(10e6, 0.04, 100_000);
    model.loss = LossProcess::Random { share: 0.01 };
    for kind in Cause::ALL.iter().flat_map(|cause| remedies_for(*cause)) {
        let ran = timed(&kind.on(&model), 1).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert!(ran.done, "{kind:?}");
    }
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let model = Model::clean(20e6, 0.04, 1_000_000);
    let (mut connection, _) = seen(&model, 1);
    connection.path.rate_bit_s = None;
    assert!(matches!(fit(&connection, &Allowance::unlimited()), Err(WhyNot::NoPath)));
    connection.bytes_by = [0, 0];
    assert!(matches!(fit(&connection, &Allowance::unlimited()), Err(WhyNot::NoData)));
    // A window's worth a round trip says nothing of the rate behind it: better no answer than "no gain".
    let mut model = Model::clean(20e6, 0.1, 4_000_000);
    model.receive_buffer = Some(64_000);
    let (connection, _) = seen(&model, 1);
    assert!(matches!(fit(&connection, &Allowance::unlimited()), Err(WhyNot::UnknownCapacity)));
}

#[test]
fn two_outages_in_a_row_are_two_and_no_losses_by_chance() {
    let mut model = Model::clean(12e6, 0.06, 3_000_000);
    let outage = |from_s, lasts_s| Outage { from_s, least_s: lasts_s, most_s: lasts_s };
    model.outages = vec![outage(1.4, 1.8), outage(4.2, 1.5)];
    model.place = Place::Server;
    let (connection, trace) = seen(&model, 1);
    let facts = super::facts::Facts::of(&connection, Some(&trace));
    assert_eq!(facts.outages.len(), 2, "{:?}", facts.outages);
    for (found, true_one) in facts.outages.iter().zip(&model.outages) {
        // From the last answer on: a way and a queue later, or before it where little was under way. What is
        // known of the end has the true one in it.
        assert!((-0.05..0.15).contains(&(found.from_s - true_one.from_s)), "{found:?}");
        let end = true_one.from_s + true_one.least_s - found.from_s;
        assert!(found.least_s - 0.05 < end && end < found.most_s + 0.05, "{found:?}");
    }
    assert!(facts.lost_beside < 10.0, "{}", facts.lost_beside);
    let Advice::Helps(Some(fit), _) = advice(&model, 1) else { panic!("an outage can be bridged") };
    assert!(fit.error_percent < 15.0, "{fit:?}");
}

#[test]
fn who_writes_twice_is_told_without_pauses_and_from_either_end() {
    for (writer, reply) in
        [(Direction::Upload, 60), (Direction::Upload, 700), (Direction::Download, 90)]
    {
        let mut model = Model::clean(20e6, 0.01, 0);
        model.direction = writer;
        model.traffic = Traffic::TwoWrites { head: 60, body: 60, reply, count: 20, gap_s: 0.0 };
        let place = if writer == Direction::Upload { Place::Client } else { Place::Server };
        for place in [place, Place::Router] {
            model.place = place;
            let (connection, trace) = seen(&model, 1);
            let facts = super::facts::Facts::of(&connection, Some(&trace));
            let stalls = facts.stalls.expect("two writes");
            assert_eq!(stalls.writer, writer, "{reply} {place:?}");
            assert!((19..=21).contains(&stalls.count), "{stalls:?}");
        }
    }
}

#[test]
fn closing_gains_nothing_and_the_error_of_the_fit_widens_the_interval() {
    let mut model = Model::clean(20e6, 0.02, 0);
    model.traffic = Traffic::TwoWrites { head: 60, body: 60, reply: 200, count: 40, gap_s: 0.0 };
    let Advice::Helps(Some(fit), prediction) = advice(&model, 1) else { panic!("two writes wait") };
    let nodelay = |prediction: &Prediction| {
        prediction.tried.iter().find(|one| one.remedy == "nodelay").expect("nodelay").clone()
    };
    let exact = nodelay(&prediction);
    let changed = super::Fit { closing: 0.1, error_percent: 20.0, ..(*fit).clone() };
    let worse = predict(&changed, &Allowance::unlimited(), &mut |_, _| {}).expect("sound runs");
    let worse = nodelay(&worse);
    let transfer = exact.gain_percent / (1.0 - fit.closing);
    assert!((worse.gain_percent - 0.9 * transfer).abs() < 1e-9, "{worse:?}");
    let half = worse.gain_percent - worse.ci95[0];
    // A fifth, and what every model is off.
    let off = (0.2_f64.powi(2) + 0.05_f64.powi(2)).sqrt();
    assert!((half - off * (100.0 - worse.gain_percent)).abs() < 0.2, "{worse:?}");
    assert!(worse.ci95[1] - worse.ci95[0] > exact.ci95[1] - exact.ci95[0], "{worse:?}");
}

#[test]
fn predictions_are_weighed_as_what_is_measured() {
    let model = Model::clean(20e6, 0.04, 1_000_000);
    let gain = |percent: f64| Remedy {
        remedy: "bbr".to_owned(),
        gain_percent: percent,
        ci95: [percent - 2.0, percent + 2.0],
        r#where: String::new(),
        command: String::new(),
    };
    let mut before = diagnosis(&model, 1..4, &[]);
    let after = diagnosis(&model, 4..7, &[]);
    // One took three times as long, and would lose half of it; the second nothing; of the third nothing is known.
    before.connections[0].duration_s *= 3.0;
    before.connections[0].remedies = vec![gain(50.0)];
    before.connections[1].remedies = vec![gain(0.0)];
    let found = verify(&before, &after, Some("bbr"));
    let percent = found.predicted_percent.expect("a prediction");
    assert!((36.0..39.0).contains(&percent), "{found:?}");
    assert_eq!(found.predicted_for, 2);
    let [low, high] = found.predicted_ci95.expect("an interval");
    assert!(high - low > 4.0, "{found:?}");
    let quick: Vec<_> = (1..4).map(|_| gain(50.5)).collect();
    for (connection, remedy) in before.connections.iter_mut().zip(quick) {
        connection.duration_s = 1.0 + 1e-6 * f64::from(connection.packets[0] as u32);
        connection.remedies = vec![Remedy { ci95: [50.4, 50.6], ..remedy }];
    }
    let mut halved = before.clone();
    for connection in &mut halved.connections {
        connection.duration_s *= 0.5;
        connection.causes.iter_mut().for_each(|share| share.seconds *= 0.5);
    }
    let close = verify(&before, &halved, Some("bbr"));
    assert_eq!(close.verdict, GainVerdict::Came, "{close:?}");
    assert_eq!(super::connections_to_verify(&before, &after, 2).len(), 2);
    assert_eq!(super::connections_to_verify(&before, &after, 8).len(), 3);
}
