use super::*;
use crate::execute;
use crate::reports::{Origin, run_report};
use crate::run::{RunOptions, without_progress};
use ackord_events::{Event, NoSink, Recorder};
use ackord_measure::SeriesSet;
use ackord_units::Bytes;

fn secs(seconds: f64) -> Time {
    Time::from_nanos((seconds * 1e9) as u64)
}

fn checked(name: &str, changes: &[(&str, &str)]) -> (ScenarioFile, Scenario) {
    let file = ScenarioFile::from_library(name).expect("a built-in scenario");
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = file.with_overrides(changes);
    let scenario = file.check().expect("a sound scenario");
    (file, scenario)
}

fn begun(name: &str, changes: &[(&str, &str)]) -> SteppedRun {
    SteppedRun::new(checked(name, changes), 1, true, None).expect("it builds")
}

fn step(run: &mut SteppedRun, until: f64) {
    run.run_until(secs(until), &mut NoSink, &mut without_progress);
}

fn change(run: &mut SteppedRun, path: &str, value: &str) -> Result<(), RunChangeError> {
    run.change([Override::new(path, value)], &mut NoSink)
}

/// The bytes of a run's JSON, and its series.
fn report_of(
    outcome: &RunOutcome,
    file: &ScenarioFile,
    scenario: &Scenario,
) -> (String, Option<SeriesSet>) {
    let origin = Origin { file, overrides: &[], scenario, history: None };
    (run_report(outcome, origin).json, outcome.series.clone())
}

#[test]
fn stepped_run_without_changes_has_the_report_of_an_ordinary_run() {
    for (name, _) in ackord_scenario::library() {
        let (file, mut scenario) = checked(name, &[]);
        scenario.duration = scenario.duration.min(Span::from_secs(2));
        if kernels_of(&scenario).map_or(true, |kernels| kernels.is_some()) {
            continue;
        }
        let options = RunOptions::with_series(scenario.seed);
        let whole = execute(&scenario, options, &mut without_progress).expect("it runs");
        let expected = report_of(&whole, &file, &scenario);
        let end = scenario.duration.as_secs_f64();
        let odd = vec![0.0, 0.123_456_789, 0.123_456_789, end / 2.0, end];
        let many = (1..=97).map(|part| end * f64::from(part) / 97.0).chain([end]).collect();
        for times in [vec![end], odd, many] {
            let begin = (file.clone(), scenario.clone());
            let mut run = SteppedRun::new(begin, scenario.seed, true, None).expect("it builds");
            for time in &times {
                step(&mut run, *time);
                for flow in 0..scenario.flows.len() {
                    let _ = run.ends(flow).0.snapshot();
                }
            }
            let (stepped, _) = run.finish(&mut NoSink).expect("packets are conserved");
            assert!(report_of(&stepped, &file, &scenario) == expected, "{name}, {times:?}");
        }
    }
}

/// A link of 8 Mbit/s takes 1.5 ms for a packet of 1500 bytes.
const BULK: [(&str, &str); 1] = [("duration", "10 s")];

fn sent_bits(run: &SteppedRun, link: &str) -> f64 {
    let index = run.scenario().links.iter().position(|it| it.name == link).expect("there");
    run.link_state(index, Way::Forward).sent_bytes as f64 * 8.0
}

#[test]
fn changed_rate_holds_from_the_present_on() {
    let mut run = begun("bufferbloat", &BULK);
    let rate = |run: &mut SteppedRun, until| {
        let (from, before) = (run.now().as_secs_f64(), sent_bits(run, "uplink"));
        step(run, until);
        (sent_bits(run, "uplink") - before) / (until - from)
    };
    step(&mut run, 3.0);
    let before = rate(&mut run, 5.0);
    change(&mut run, "links.uplink.rate", "300 kbit/s").expect("it can be changed");
    let after = rate(&mut run, 10.0);
    assert!((after - 300_000.0).abs() < 5_000.0, "{before} {after}");
    assert!(before > 2.0 * after, "{before} {after}");
    let (outcome, _) = run.finish(&mut NoSink).expect("packets are conserved");
    assert_eq!(outcome.changes[0].at_s, 5.0);
    let uplink = outcome.summary.links.iter().find(|link| link.name == "uplink").expect("there");
    assert!(uplink.utilisation.is_some_and(|share| (0.9..=1.0).contains(&share)), "{uplink:?}");
}

#[test]
fn changed_value_that_is_the_old_one_changes_no_byte() {
    let (file, scenario) = checked("bufferbloat", &BULK);
    let report = |touched: bool| {
        let mut run = begun("bufferbloat", &BULK);
        step(&mut run, 4.0);
        if touched {
            let rate = scenario.links.iter().find(|link| link.name == "uplink").expect("there");
            let rate = rate.forward.rate.to_string();
            change(&mut run, "links.uplink.rate", &rate).expect("it can be changed");
        }
        step(&mut run, 10.0);
        let (mut outcome, _) = run.finish(&mut NoSink).expect("packets are conserved");
        outcome.changes.clear();
        report_of(&outcome, &file, &scenario)
    };
    assert_eq!(report(true), report(false));
}

#[test]
fn shorter_delay_keeps_packets_in_order() {
    let mut run =
        begun("lossy-wifi", &[("links.wifi.delay", "200 ms"), ("links.wifi.loss", "none")]);
    // So many segments that none is lost in the queue.
    let steering = Steering { cwnd: Bytes(80 * 1460), ssthresh: Bytes::MAX, pacing_rate: None };
    run.steer(0, steering, &mut NoSink);
    step(&mut run, 3.0);
    let srtt = |run: &SteppedRun| run.ends(0).0.srtt().expect("known").as_secs_f64();
    assert!(srtt(&run) > 0.4, "{}", srtt(&run));
    change(&mut run, "links.wifi.delay", "5 ms").expect("it can be changed");
    let mut events = Recorder::default();
    run.run_until(secs(5.0), &mut events, &mut without_progress);
    assert!(srtt(&run) < 0.1, "{}", srtt(&run));
    let lost = events.0.iter().filter(|event| event.what.starts_with("SegmentLost")).count();
    assert_eq!(lost, 0, "packets that overtake others look lost");
    run.finish(&mut NoSink).expect("packets are conserved");
}

/// Counts drops.
#[derive(Default)]
struct Drops(u32);

impl Sink for Drops {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        self.0 += u32::from(matches!(event, Event::PacketDropped { .. }));
    }
}

#[test]
fn loss_can_begin_change_and_end() {
    let mut run = begun("lossy-wifi", &[("links.wifi.loss", "none"), ("flows.*.traffic", "bulk")]);
    let drops = |run: &mut SteppedRun, until| {
        let mut drops = Drops::default();
        run.run_until(secs(until), &mut drops, &mut without_progress);
        drops.0
    };
    let set = |run: &mut SteppedRun, value: &str| change(run, "links.wifi.loss", value);
    let queue = "links.wifi.queue.limit";
    change(&mut run, queue, "100000 packets").expect("it can be changed");
    assert_eq!(drops(&mut run, 1.0), 0);
    set(&mut run, "{ kind = 'random', per_packet = '20 %' }").expect("it can be changed");
    assert!(drops(&mut run, 2.0) > 3);
    set(&mut run, "none").expect("it can be changed");
    step(&mut run, 2.5);
    assert_eq!(drops(&mut run, 4.0), 0);
    run.finish(&mut NoSink).expect("packets are conserved");
}

#[test]
fn queue_settings_change_for_every_queue_that_takes_them() {
    for queue in ["drop-tail", "red", "codel", "pie", "drr", "sfq", "fq-codel"] {
        let mut run = begun("bufferbloat", &[("links.uplink.queue", queue), BULK[0]]);
        step(&mut run, 4.0);
        change(&mut run, "links.uplink.queue.limit", "4 packets").expect(queue);
        let uplink = run.scenario().links.iter().position(|it| it.name == "uplink").expect("there");
        step(&mut run, 7.0);
        for part in 1..=20 {
            step(&mut run, 7.0 + f64::from(part) / 10.0);
            let length = run.link_state(uplink, Way::Forward).queue_packets;
            assert!(length <= 4, "{queue}: {length}");
        }
        run.finish(&mut NoSink).expect("packets are conserved");
    }
}

#[test]
fn refuses_what_cannot_be_changed_and_keeps_running() {
    let refused = |name: &str, path: &str, value: &str| {
        let mut run = begun(name, &[]);
        step(&mut run, 0.5);
        let error = change(&mut run, path, value).expect_err(path).to_string();
        step(&mut run, 1.0);
        assert!(run.changes().is_empty());
        run.finish(&mut NoSink).expect("packets are conserved");
        error
    };
    for (path, value) in [
        ("duration", "99 s"),
        ("flows.*.tcp.congestion", "vegas"),
        ("links.uplink.queue", "fq-codel"),
        ("flows.upload.start", "100 ms"),
    ] {
        let error = refused("bufferbloat", path, value);
        assert!(error.contains(path) && error.contains("links.*.rate"), "{error}");
    }
    let error = refused("bufferbloat", "links.uplink.rate", "fast");
    assert!(error.contains("links.uplink.rate") && !error.contains("links.*.rate"), "{error}");
}

#[test]
fn steered_sender_keeps_the_window_it_was_given() {
    let mut run = begun("bufferbloat", &BULK);
    step(&mut run, 3.0);
    let flow = run.scenario().flows.iter().position(|it| it.transport() == Transport::Tcp);
    let flow = flow.expect("a connection");
    let window = Bytes(20 * 1448);
    let steering = Steering { cwnd: window, ssthresh: Bytes::MAX, pacing_rate: None };
    run.steer(flow, steering, &mut NoSink);
    step(&mut run, 5.0);
    for part in 1..=20 {
        step(&mut run, 5.0 + f64::from(part) / 10.0);
        let (sender, _) = run.ends(flow);
        assert_eq!(sender.cwnd(), window);
        assert!(sender.flight_size() <= window, "{}", sender.flight_size());
    }
    let (outcome, _) = run.finish(&mut NoSink).expect("packets are conserved");
    assert_eq!(outcome.changes.len(), 1);
}
