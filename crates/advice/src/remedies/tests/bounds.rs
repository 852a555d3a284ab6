//! What holds for every model and every connection: sound scenarios, bounded gains, bounded work.

use super::super::allowance::{Allowance, MOST_PACKETS};
use super::super::backoff::Backoff;
use super::super::facts::{Facts, active_s};
use super::super::guess::guess;
use super::super::limit::LimitKind;
use super::super::model::{LossProcess, Model, Outage, Place, Traffic};
use super::super::stalls::Stalls;
use super::super::{Advice, Prediction, WhyNot, advise, fit_traced, name_no_delay};
use super::seen;
use ackord_diagnose::{Cause, CauseShare, Connection, Point, PointKind, Remedy, Trace};
use ackord_live::Direction;
use ackord_scenario::ScenarioFile;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers as a damaged capture may lead to.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -1.0..1e3_f64,
        0.0..1e-6_f64,
        1e6..1e15_f64,
        Just(0.0),
        Just(f64::INFINITY)
    ]
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    let count = prop_oneof![any::<u64>(), 0..5_u64];
    let sizes = prop::collection::vec(any::<u64>(), 0..20);
    prop_oneof![
        any::<u64>().prop_map(|bytes| Traffic::Bulk { bytes }),
        (sizes, any_number()).prop_map(|(sizes, gap_s)| Traffic::Transfers { sizes, gap_s }),
        (any::<[u64; 2]>(), count.clone(), any_number(), any_number()).prop_map(
            |([request, response], count, gap_s, think_s)| Traffic::Questions {
                request,
                response,
                count,
                gap_s,
                think_s
            }
        ),
        (any::<u64>(), any_number(), count.clone()).prop_map(|(message, interval_s, messages)| {
            Traffic::Paced { message, interval_s, messages }
        }),
        (any::<[u64; 3]>(), count, any_number()).prop_map(|([head, body, reply], count, gap_s)| {
            Traffic::TwoWrites { head, body, reply, count, gap_s }
        }),
    ]
}

fn any_loss() -> impl Strategy<Value = LossProcess> {
    prop_oneof![
        Just(LossProcess::None),
        any_number().prop_map(|share| LossProcess::Random { share }),
        (any_number(), any_number())
            .prop_map(|(good_s, bad_s)| LossProcess::Bursts { good_s, bad_s }),
    ]
}

fn any_outages() -> impl Strategy<Value = Vec<Outage>> {
    let outage = (any_number(), any_number(), any_number())
        .prop_map(|(from_s, least_s, most_s)| Outage { from_s, least_s, most_s });
    prop::collection::vec(outage, 0..6)
}

prop_compose! {
    fn any_model()(
        (rate_bit_s, wired_s, air_s, duration_s) in
            (any_number(), any_number(), any_number(), any_number()),
        (buffer, initial_window, rivals, upload, no_delay, outages_hold) in
            (any::<u64>(), any::<u32>(), any::<u32>(), any::<bool>(), any::<bool>(), any::<bool>()),
        loss in any_loss(),
        outages in any_outages(),
        reordering in prop::option::of((any_number(), any_number())),
        (receive_buffer, send_buffer) in
            (prop::option::of(any::<u64>()), prop::option::of(any::<u64>())),
        ack_delay_s in prop::option::of(any_number()),
        traffic in any_traffic(),
        place in prop::sample::select(vec![Place::Server, Place::Router, Place::Client]),
    ) -> Model {
        Model {
            direction: if upload { Direction::Upload } else { Direction::Download },
            wired_s, air_s, duration_s, buffer, initial_window, rivals, no_delay, outages_hold, loss,
            outages, reordering, receive_buffer, send_buffer, ack_delay_s, traffic, place,
            ..Model::clean(rate_bit_s, 0.0, 0)
        }
    }
}

fn is_sound(model: &Model, seed: Option<u64>) -> Result<(), TestCaseError> {
    let checked = ScenarioFile::new("fitted.toml", model.toml(seed)).check();
    prop_assert!(checked.is_ok(), "{}\n{}", checked.unwrap_err(), model.toml(seed));
    Ok(())
}

/// A few connections of all kinds, simulated once.
fn connections() -> &'static [(Connection, Trace)] {
    static MADE: OnceLock<Vec<(Connection, Trace)>> = OnceLock::new();
    MADE.get_or_init(|| {
        let clean = Model::clean;
        let with = |mut model: Model, change: &dyn Fn(&mut Model)| {
            change(&mut model);
            seen(&model, 1)
        };
        vec![
            with(clean(5e6, 0.02, 300_000), &|m| m.loss = LossProcess::Random { share: 0.03 }),
            with(clean(20e6, 0.05, 400_000), &|m| m.receive_buffer = Some(16_000)),
            with(clean(5e6, 0.04, 0), &|m| {
                m.traffic =
                    Traffic::TwoWrites { head: 90, body: 30, reply: 200, count: 10, gap_s: 0.1 };
            }),
            with(clean(5e6, 0.02, 0), &|m| {
                m.traffic = Traffic::Transfers { sizes: vec![30_000; 6], gap_s: 0.2 };
                (m.rivals, m.duration_s) = (1, 4.0);
            }),
            with(clean(3e6, 0.02, 300_000), &|m| {
                m.outages = vec![Outage { from_s: 0.3, least_s: 0.6, most_s: 0.6 }];
            }),
        ]
    })
}

prop_compose! {
    /// A connection whose account and path are not those of its packets.
    fn any_connection()(
        which in 0..5_usize,
        (rtt, rate, queue) in (any_number(), any_number(), any_number()),
        (lost, loss_events, reordered, mss) in
            (0..10_000_u64, 0..5_000_u64, 0..10_000_u64, 0..70_000_u32),
        bytes_by in any::<[u32; 2]>(),
        shares in prop::collection::vec((0..Cause::ALL.len(), 0.0..1.0_f64), 1..6),
        keeps in any::<[bool; 4]>(),
        factor in prop_oneof![Just(1.0), 1e-5..1.0_f64, 1.0..1e4_f64],
    ) -> (Connection, Trace) {
        let (mut connection, mut trace) = connections()[which].clone();
        connection.path.base_rtt_s = keeps[0].then_some(rtt).or(connection.path.base_rtt_s);
        connection.path.rate_bit_s = keeps[1].then_some(rate).or(connection.path.rate_bit_s);
        connection.path.queue_s = Some(queue);
        if keeps[2] {
            (connection.path.lost, connection.path.loss_events) = (lost, loss_events);
            (connection.path.reordered, connection.path.mss) = (reordered, mss);
            connection.bytes_by = bytes_by.map(u64::from);
        }
        if keeps[3] {
            let seconds = connection.duration_s / shares.len() as f64;
            connection.causes = shares
                .iter()
                .map(|(cause, confidence)| CauseShare {
                    cause: Cause::ALL[*cause],
                    seconds,
                    confidence: *confidence,
                    frames: Vec::new(),
                })
                .collect();
        }
        // Another time scale: round trips of microseconds, or of minutes.
        connection.duration_s *= factor;
        connection.causes.iter_mut().for_each(|share| share.seconds *= factor);
        for interval in &mut connection.intervals {
            interval.from_s *= factor;
            interval.to_s *= factor;
        }
        trace.points.iter_mut().for_each(|point| point.t *= factor);
        (connection, trace)
    }
}

/// What holds for the gains of a connection.
fn is_bounded(facts: &Facts, prediction: &Prediction) -> Result<(), TestCaseError> {
    for remedy in prediction.tried.iter().chain(&prediction.remedies) {
        let [low, high] = remedy.ci95;
        prop_assert!(low < high, "{remedy:?}");
        prop_assert!(low <= remedy.gain_percent && remedy.gain_percent <= high, "{remedy:?}");
        prop_assert!(high < 100.0, "{remedy:?}");
        if remedy.remedy != "nodelay" {
            let least_s = facts.active_s * (1.0 - remedy.gain_percent / 100.0);
            prop_assert!(least_s >= 0.999 * facts.floor_s().min(facts.active_s), "{remedy:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_scenario_of_any_model_is_sound(model in any_model(), seed in 0..100_u64) {
        is_sound(&model, Some(seed))?;
        is_sound(&model, None)?;
    }

    #[test]
    fn the_first_guess_for_any_connection_is_sound((connection, trace) in any_connection()) {
        for trace in [Some(&trace), None] {
            let (model, _) = guess(&Facts::of(&connection, trace), &mut Vec::new());
            is_sound(&model, Some(1))?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A counting closure stands for a clock: it breaks after so many calls, and no thread works on.
    #[test]
    fn gains_and_work_are_bounded_for_any_connection(
        (connection, trace) in any_connection(),
        most in 1..4_000_u64,
    ) {
        let calls = AtomicU64::new(0);
        let go_on = || match calls.fetch_add(1, Ordering::Relaxed) < most {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let facts = Facts::of(&connection, Some(&trace));
        let advice = advise(&connection, Some(&trace), &Allowance::new(&go_on), &mut |_, _| {});
        let threads = rayon::current_num_threads() as u64 + 1;
        prop_assert!(calls.load(Ordering::Relaxed) <= most + threads, "work goes on after the end");
        match &advice {
            Advice::Helps(_, prediction) => is_bounded(&facts, prediction)?,
            Advice::NothingToGain(_) => {}
            Advice::Unknown(why) => {
                let words = why.to_string();
                prop_assert!(!words.contains("out of range"), "{words}");
                prop_assert!(!words.contains("cannot be simulated"), "{words}");
            }
        }
    }
}

#[test]
fn a_model_of_more_packets_than_a_run_may_have_is_not_run() {
    let calls = AtomicU64::new(0);
    let go_on = || {
        calls.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let large = Model::clean(10e9, 20e-6, 1448 * (MOST_PACKETS + 1));
    let refused = super::super::simulate::captured(&large, 1, &Allowance::new(&go_on));
    assert!(matches!(refused, Err(super::super::SimulateError::TooLarge)));
    assert_eq!(calls.load(Ordering::Relaxed), 1, "only whether it may begin");
}

#[test]
fn nodelay_has_the_gain_of_the_stalls_where_the_model_has_none() {
    let mut model = Model::clean(20e6, 0.02, 0);
    model.traffic = Traffic::TwoWrites { head: 60, body: 60, reply: 200, count: 40, gap_s: 0.3 };
    let (connection, trace) = seen(&model, 1);
    let mut facts = Facts::of(&connection, Some(&trace));
    let useless = Remedy {
        remedy: "nodelay".to_owned(),
        gain_percent: 0.0,
        ci95: [-1.0, 1.0],
        r#where: String::new(),
        command: String::new(),
    };
    let tried = |has_stalls, facts: &Facts| {
        let mut prediction = Prediction { tried: vec![useless.clone()], ..Prediction::default() };
        name_no_delay(facts, has_stalls, &mut prediction);
        prediction.tried
    };
    assert_eq!(tried(true, &facts)[0].gain_percent, 0.0);
    let direct = tried(false, &facts);
    assert!(direct.len() == 1 && direct[0].gain_percent > 30.0, "{direct:?}");
    // More exchanges than there are stalls make it no less certain.
    facts.stalls = facts.stalls.map(|stalls| Stalls { count: 10 * stalls.count, ..stalls });
    assert!(tried(false, &facts)[0].ci95[0] > 20.0, "{:?}", tried(false, &facts));
}

#[test]
fn sentences_have_no_number_that_cannot_be() {
    let (mut connection, trace) = seen(&Model::clean(20e6, 0.04, 3_000_000), 1);
    let mut fit = fit_traced(&connection, Some(&trace), &Allowance::unlimited()).expect("a fit");
    (fit.observed_s, fit.error_percent) = (fit.simulated_s.mean / 213.0, 21_200.0);
    let words = WhyNot::BadFit(Box::new(fit)).to_string();
    assert_eq!(words, "no model fits: a simulated transfer takes 213.0 times as long");
    connection.causes.retain(|share| share.cause == Cause::PathLimited);
    let advice = advise(&connection, Some(&trace), &Allowance::unlimited(), &mut |_, _| {});
    let Advice::NothingToGain(words) = advice else { panic!("{advice:?}") };
    assert_eq!(words, "a remedy could save 0.0 % of the time at most");
}

#[test]
fn losses_that_no_bucket_causes_set_no_limit_below_the_path() {
    let outage = |from_s| Outage { from_s, least_s: 0.5, most_s: 0.5 };
    let random = |share| LossProcess::Random { share };
    let bursts = LossProcess::Bursts { good_s: 0.25, bad_s: 0.003 };
    for (loss, outages, place, seed) in [
        (random(0.01), vec![], Place::Server, 1),
        (random(0.01), vec![], Place::Client, 2),
        (random(0.02), vec![], Place::Router, 3),
        (random(0.1), vec![], Place::Client, 4),
        (bursts, vec![], Place::Server, 5),
        (bursts, vec![], Place::Client, 6),
        (random(0.002), vec![outage(0.8), outage(2.8)], Place::Server, 7),
    ] {
        let mut model = Model::clean(20e6, 0.04, 3_000_000);
        model.duration_s = 300.0;
        (model.loss, model.outages, model.place) = (loss, outages, place);
        let (connection, trace) = seen(&model, seed);
        let limit = Facts::of(&connection, Some(&trace)).limit.expect("a limit");
        assert!(limit.bit_s > 15e6, "{loss:?} {place:?}: {limit:?}");
    }
}

/// What a slow reader does to the window is made here: an application that reads at a steady rate.
#[test]
fn a_slow_steady_reader_is_offered_no_larger_buffer() {
    let mut model = Model::clean(50e6, 0.02, 3_000_000);
    model.receive_buffer = Some(64_000);
    let (mut connection, trace) = seen(&model, 1);
    let fast = Facts::of(&connection, Some(&trace)).limit.expect("a limit");
    assert_eq!(fast.kind, LimitKind::Capacity, "a small buffer is read as fast as it is filled");
    // 4 Mbit/s: 5 kB each 10 ms, of a buffer of 64 kB that is nearly full.
    let mut slow = Trace { connection: trace.connection, ..Trace::default() };
    for step in 0..600_u64 {
        let (t, acked) = (0.02 + 0.01 * step as f64, 5_000 * step);
        let free = if step % 2 == 0 { 3_000 } else { 8_000 };
        let point = |kind, from, to, t| Point { t, kind, from, to, frame: step + 1 };
        slow.points.push(point(PointKind::Data, acked, acked + 5_000, t));
        let edge = if step < 10 { acked + 64_000 } else { acked + free };
        slow.points.push(point(PointKind::Ack, acked, edge, t + 0.002));
    }
    connection.duration_s = 6.0;
    connection.causes = vec![CauseShare {
        cause: Cause::ReceiverWindow,
        seconds: 6.0,
        confidence: 0.9,
        frames: Vec::new(),
    }];
    connection.intervals.clear();
    let facts = Facts::of(&connection, Some(&slow));
    let limit = facts.limit.expect("a limit");
    assert_eq!(limit.kind, LimitKind::Reader, "{limit:?}");
    assert!((3.6e6..4.4e6).contains(&limit.bit_s), "{limit:?}");
    let advice = advise(&connection, Some(&slow), &Allowance::unlimited(), &mut |_, _| {});
    assert!(!matches!(advice, Advice::Helps(..)), "{advice:?}");
}

#[test]
fn the_congestion_control_is_read_from_what_is_in_flight() {
    for (congestion, expected) in
        [("\"reno\"", Some(Backoff::Half)), ("\"cubic\"", Some(Backoff::Cubic))]
    {
        let mut model = Model::clean(20e6, 0.06, 20_000_000);
        model.loss = LossProcess::Random { share: 0.0005 };
        model.congestion = congestion.to_owned();
        let (connection, trace) = seen(&model, 1);
        assert_eq!(Facts::of(&connection, Some(&trace)).backoff, expected, "{congestion}");
        model.place = Place::Client;
        let (connection, trace) = seen(&model, 1);
        assert_eq!(Facts::of(&connection, Some(&trace)).backoff, None, "not seen at the receiver");
    }
}

#[test]
fn one_way_messages_that_stall_are_modelled_with_the_timer_of_the_receiver() {
    let mut model = Model::clean(100e6, 0.01, 0);
    model.direction = Direction::Upload;
    model.traffic = Traffic::Paced { message: 300, interval_s: 0.06, messages: 200 };
    model.ack_delay_s = Some(0.2);
    model.place = Place::Client;
    let (connection, trace) = seen(&model, 1);
    let stalls = Facts::of(&connection, Some(&trace)).stalls.expect("stalls");
    assert!(!stalls.replies && stalls.head == 300 && stalls.count == 200, "{stalls:?}");
    assert!((0.055..0.065).contains(&stalls.interval_s), "{stalls:?}");
    assert!(stalls.ack_delay_s.is_some_and(|s| (0.18..0.22).contains(&s)), "{stalls:?}");
    // The truth, as the same definition of active time has it.
    let with = |change: &dyn Fn(&mut Model)| {
        let mut changed = model.clone();
        change(&mut changed);
        active_s(&seen(&changed, 1).0)
    };
    let without = with(&|_| {});
    let truth = 100.0 * (1.0 - with(&|model| model.no_delay = true) / without);
    // A message is on its way for 10 ms of 60 ms. A delayed ACK of one that has arrived costs nothing.
    assert!((82.0..85.0).contains(&truth), "{truth}");
    let advice = advise(&connection, Some(&trace), &Allowance::unlimited(), &mut |_, _| {});
    let Advice::Helps(Some(_), prediction) = advice else { panic!("{advice:?}") };
    let nodelay = prediction.remedies.iter().find(|one| one.remedy == "nodelay").expect("nodelay");
    let [low, high] = nodelay.ci95;
    assert!(low <= truth && truth <= high, "{truth}: {nodelay:?}");
}

#[test]
fn stalls_that_no_model_fits_have_a_gain_from_the_account() {
    let mut model = Model::clean(20e6, 0.01, 0);
    model.traffic = Traffic::TwoWrites { head: 150, body: 100, reply: 200, count: 20, gap_s: 0.2 };
    let (connection, trace) = seen(&model, 1);
    let stalls = Facts::of(&connection, Some(&trace)).stalls.expect("stalls");
    assert!((140..=160).contains(&stalls.head) && (90..=110).contains(&stalls.body), "{stalls:?}");
    // Stopped at once: no simulation at all.
    let stop = || ControlFlow::Break(());
    let advice = advise(&connection, Some(&trace), &Allowance::new(&stop), &mut |_, _| {});
    let Advice::Helps(None, prediction) = &advice else { panic!("{advice:?}") };
    assert!(prediction.stopped);
    let nodelay = &prediction.remedies[0];
    assert_eq!(nodelay.remedy, "nodelay");
    let mut changed = model.clone();
    changed.no_delay = true;
    let truth = 100.0 * (1.0 - active_s(&seen(&changed, 1).0) / active_s(&connection));
    let [low, high] = nodelay.ci95;
    assert!(low < truth && truth < high, "{truth}: {nodelay:?}");
}
