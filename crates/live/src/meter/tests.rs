//! The meter against the path's own counters, over simulated runs.

use super::*;
use ackord_events::{DropReason, LinkId};
use ackord_scenario::{Override, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::Bytes;

/// A scenario of the library, simulated with a meter beside it.
struct Metered {
    feed: Arc<MeterFeed>,
    simulation: Simulation,
    lost: u64,
}

fn metered(name: &str, changes: &[(&str, &str)]) -> Metered {
    let overrides = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library(name).expect("in the library");
    let scenario = file.with_overrides(overrides).check().expect("a sound scenario");
    let feed = Arc::new(MeterFeed::of(&scenario));
    let mut fill = feed.fill();
    let mut simulation = Simulation::new(&scenario, scenario.seed).expect("it can be built");
    while !simulation.is_over() {
        let due = fill.due();
        simulation.run_until(due, &mut fill);
        simulation.settle(&mut fill);
        fill.tick(simulation.now(), None);
    }
    simulation.finish(&mut fill).expect("no packet is lost");
    let end = start_of(number_of(simulation.now()) + 1);
    fill.tick(end, None);
    Metered { feed, simulation, lost: 0 }
}

/// Every link's samples come to what the link has counted, whatever the link does to packets.
fn comes_to_what_links_count(run: &mut Metered) {
    for link in 0..run.feed.links().len() {
        let view = run.feed.view(link, Span::from_secs(3_600)).expect("there is this link");
        for way in 0..2 {
            let stats = run.simulation.graph().link_stats(LinkId((link * 2 + way) as u32));
            let samples = view.samples.iter().map(|pair| pair[way]);
            let sum = |of: fn(DirectionSample) -> u64| samples.clone().map(of).sum::<u64>();
            let of =
                |reasons: &[DropReason]| reasons.iter().map(|&r| stats.drops.of(r)).sum::<u64>();
            for reason in DropReason::ALL {
                let told: u64 =
                    samples.clone().map(|s| u64::from(s.dropped[reason as usize])).sum();
                assert_eq!(told, stats.drops.of(reason), "{reason:?} on {}", view.link.name);
            }
            let before = of(&[DropReason::QueueFull, DropReason::OverShare, DropReason::EarlyDrop]);
            let lost = stats.drops.total() - before;
            run.lost += lost;
            assert_eq!(sum(|s| s.delivered.packets), stats.packets - lost, "{}", view.link.name);
            let waiting = samples.clone().next_back().map_or(0, |s| s.queue.packets);
            let offered = stats.packets + before + waiting;
            assert_eq!(sum(|s| s.offered.packets), offered, "{}", view.link.name);
            if lost == 0 {
                assert_eq!(sum(|s| s.delivered.bytes.get()), stats.bytes, "{}", view.link.name);
            }
        }
    }
}

/// No link carries more than it can: what left in an interval had been begun in it.
fn never_above_capacity(view: &MeterView) {
    let packet = Bytes(1_504);
    for (pair, way) in view.samples.iter().flat_map(|pair| [(pair, 0), (pair, 1)]) {
        let Some(capacity) = pair[way].capacity else { continue };
        let most = capacity.bytes_in(METER_INTERVAL).get() + packet.get();
        let carried = pair[way].delivered.bytes.get();
        assert!(carried <= most, "{carried} bytes where {most} fit on {}", view.link.name);
    }
}

#[test]
fn samples_come_to_what_the_links_have_counted() {
    let mut lost = 0;
    for name in ["lossy-wifi", "bufferbloat", "one-flow", "cellular-trace", "phone", "fades"] {
        let mut run = metered(name, &[("duration", "6 s")]);
        comes_to_what_links_count(&mut run);
        lost += run.lost;
    }
    assert!(lost > 50, "something was lost on media: {lost}");
}

#[test]
fn queues_that_drop_from_inside_are_counted_right_too() {
    for queue in ["codel", "fq-codel", "red", "sfq"] {
        let changes = [("links.bottleneck.queue", queue), ("duration", "13 s")];
        comes_to_what_links_count(&mut metered("aqm-unresponsive", &changes));
    }
}

#[test]
fn no_link_of_a_rate_or_a_trace_is_shown_above_it() {
    for name in ["bufferbloat", "one-flow", "cellular-trace"] {
        let run = metered(name, &[("duration", "6 s")]);
        for link in 0..run.feed.links().len() {
            let view = run.feed.view(link, Span::from_secs(60)).expect("there is this link");
            never_above_capacity(&view);
        }
    }
}

#[test]
fn a_full_buffer_shows_its_delay_and_an_idle_direction_none() {
    let run = metered("bufferbloat", &[("duration", "6 s")]);
    let view = run.feed.view(run.feed.slowest(), Span::from_secs(60)).expect("a link");
    let rate = view.link.rates[0];
    // The queue may have been longer between two samples by what comes in an interval.
    let most = view.samples.iter().map(|pair| pair[0].queue.bytes.get() + 30_000).max();
    for pair in &view.samples {
        // Nothing waits for longer than the bytes before it take.
        let theory = rate.time_for(Bytes(most.expect("there are samples")));
        assert!(pair[0].queueing_delay <= theory, "{:?} above {theory}", pair[0]);
        assert!(pair[0].longest_queueing_delay >= pair[0].queueing_delay);
    }
    let longest = view.samples.iter().map(|pair| pair[0].longest_queueing_delay).max();
    assert!(longest > Some(Span::from_millis(100)), "that is what the scenario shows: {longest:?}");
    let back = view.samples.iter().map(|pair| pair[1].longest_queueing_delay).max();
    assert!(back < Some(Span::from_millis(1)), "nothing waits on the way back: {back:?}");
}

#[test]
fn the_oldest_intervals_go_and_a_view_is_as_long_as_asked() {
    let scenario = ScenarioFile::from_library("one-flow").expect("in the library");
    let feed = Arc::new(MeterFeed::of(&scenario.check().expect("sound")));
    let mut fill = feed.fill();
    for number in 1..=METER_KEPT as u64 + 50 {
        fill.tick(start_of(number), None);
    }
    let all = feed.view(0, Span::from_secs(3_600)).expect("a link");
    assert_eq!((all.samples.len(), all.began_at), (METER_KEPT, start_of(50)));
    let minute = feed.view(0, Span::from_secs(60)).expect("a link");
    assert_eq!((minute.samples.len(), minute.began_at), (600, start_of(METER_KEPT as u64 - 550)));
    assert_eq!(feed.view(99, Span::from_secs(1)), None);
}

#[test]
fn a_machine_that_slept_for_a_day_does_not_fill_the_memory() {
    let scenario = ScenarioFile::from_library("one-flow").expect("in the library");
    let feed = Arc::new(MeterFeed::of(&scenario.check().expect("sound")));
    let mut fill = feed.fill();
    fill.tick(start_of(5), None);
    let day = Time::ZERO + Span::from_secs(86_400);
    fill.tick(day, None);
    fill.tick(day + Span::from_millis(300), None);
    let view = feed.view(0, Span::from_secs(3_600)).expect("a link");
    assert!(view.samples.len() <= 10, "{}", view.samples.len());
    assert!(view.began_at <= day + Span::from_millis(300));
    assert!(!view.over);
    drop(fill);
    assert!(feed.is_over());
}

#[test]
fn the_slowest_link_is_the_one_that_queues() {
    let slowest = |name| {
        let file = ScenarioFile::from_library(name).expect("in the library");
        let feed = MeterFeed::of(&file.check().expect("sound"));
        feed.links()[feed.slowest()].name.clone()
    };
    assert_eq!(slowest("aqm-capacity"), "bottleneck");
    assert_eq!(slowest("dumbbell"), "bottleneck");
}
