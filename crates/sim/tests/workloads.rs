//! Workloads in which both ends talk: how long exchanges take, by arithmetic.

use ackord_events::{Event, Sink};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{Bytes, Choice, KnobValue, Span, Time};

fn library(name: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library(name).expect("in the library");
    file.with_overrides(changes).check().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Times of the transfers of the only flow, in order.
#[derive(Default)]
struct Times {
    began: Vec<(Time, Bytes)>,
    took: Vec<Span>,
}

impl Sink for Times {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::TransferBegan { index, bytes, .. } => {
                assert_eq!(index, self.began.len() as u64, "in order");
                self.began.push((at, bytes));
            }
            Event::TransferCompleted { index, bytes, .. } => {
                let (began, announced) = self.began[index as usize];
                assert_eq!(bytes, announced);
                self.took.push(at.saturating_since(began));
            }
            _ => {}
        }
    }
}

fn times(scenario: &Scenario) -> Times {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("builds");
    let mut times = Times::default();
    simulation.run_until(Time::ZERO + scenario.duration, &mut times);
    simulation.finish(&mut times).expect("packets are conserved");
    assert!(simulation.is_over());
    times
}

fn millis(spans: &[Span]) -> Vec<u64> {
    spans.iter().map(|span| span.as_nanos().div_ceil(1_000_000)).collect()
}

#[test]
fn write_write_read_waits_for_the_delayed_ack_only_under_nagle_and_only_for_a_lone_segment() {
    let took = |changes: &[(&str, &str)]| {
        let times = times(&library("write-write-read", changes));
        assert_eq!(times.took.len(), 100);
        millis(&times.took)
    };
    // A round trip of 10 ms, and 94 + 94 + 144 bytes at 100 Mbit/s: just above 10 ms.
    assert!(took(&[("tcp.nagle", "off")]).iter().all(|ms| *ms == 11));
    // The head reaches the server after 5 ms, its ACK leaves 200 ms later and lets the body go,
    // which takes a round trip more to bring the reply.
    let stalled = took(&[]);
    assert!(stalled.iter().all(|ms| *ms == 221), "{stalled:?}");
    // Acknowledged at once, the body follows one round trip after the head.
    assert!(took(&[("tcp.ack", "immediate")]).iter().all(|ms| *ms == 21));
    // In Minshall's variant the head is a small segment too.
    assert!(took(&[("tcp.nagle", "minshall")]).iter().all(|ms| *ms == 221));
    // What is asked in one write does not stall.
    let one = "{ kind = 'request', request = '100 B', response = '100 B', count = 100 }";
    let asked = took(&[("flows.questions.traffic", one)]);
    assert!(asked.iter().all(|ms| *ms == 11), "{asked:?}");
}

#[test]
fn think_time_adds_to_every_exchange_and_gaps_to_none() {
    let traffic = |think: &str, gap: &str| {
        let traffic =
            format!("{{ kind = 'request', count = 20, think = '{think}', gap = '{gap}' }}");
        times(&library("write-write-read", &[("flows.questions.traffic", &traffic)])).took
    };
    let (quick, paused) = (traffic("0 s", "1 ms"), traffic("0 s", "90 ms"));
    let slow = traffic("7 ms", "1 ms");
    // After the first, when the window has grown to carry a response in one flight.
    for index in 5..20 {
        assert_eq!(quick[index] + Span::from_millis(7), slow[index]);
        assert_eq!(quick[index], paused[index]);
    }
}

#[test]
fn transfers_come_in_the_sizes_listed_with_their_pauses_and_none_beats_the_link() {
    let change =
        [("links.wifi.loss", "none"), ("flows.downloads.traffic.gap_distribution", "fixed")];
    let scenario = library("short-transfers", &change);
    let times = times(&scenario);
    let sizes: Vec<u64> = times.began.iter().map(|(_, bytes)| bytes.get()).collect();
    assert_eq!(sizes.len(), 60);
    assert_eq!(sizes[..5], [100_000, 300_000, 500_000, 1_000_000, 100_000]);
    for (index, took) in times.took.iter().enumerate() {
        // Payload at the rate of the link, and 20 ms for the last byte to arrive.
        let least = scenario.links[0].forward.rate.time_for(Bytes(sizes[index]));
        assert!(*took > least + Span::from_millis(20), "transfer {index}: {took}");
    }
    for pair in times.began.windows(2).zip(&times.took) {
        let ([(first, _), (second, _)], took) = pair else { unreachable!("windows of two") };
        // The last ACK comes back 20 ms after the data, or a delayed-ACK timer later.
        let rest = second.saturating_since(*first + *took).as_secs_f64();
        assert!((0.22..0.43).contains(&rest), "{rest} s between two transfers");
    }
}

#[test]
fn the_same_seed_draws_the_same_lengths_and_pauses_and_another_seed_others() {
    let mut scenario = library("request-response", &[("hosts.phone.count", "1")]);
    scenario.flows[0].traffic =
        scenario.flows[0].traffic.clone().with("count", KnobValue::Count(30));
    let began = |seed| times(&Scenario { seed, ..scenario.clone() }).began;
    let first = began(1);
    assert_eq!(first.len(), 30);
    assert_eq!(first, began(1));
    let lengths = |began: &[(Time, Bytes)]| began.iter().map(|each| each.1).collect::<Vec<_>>();
    assert_ne!(lengths(&first), lengths(&began(2)));
}

#[test]
fn every_transfer_is_told_of_whatever_is_lost() {
    let traffic = "{ kind = 'transfers', size = '100 B', count = 1 }";
    let changes = [
        ("flows.questions.traffic", traffic),
        ("links.path.loss", "{ kind = 'random', per_packet = '40 %' }"),
        ("tcp.syn_retransmissions", "255"),
        ("tcp.syn_ack_retransmissions", "255"),
        ("tcp.rto_max", "2 s"),
        ("duration", "2000 s"),
    ];
    let scenario = library("write-write-read", &changes);
    // Also where data or the FIN is what completes the handshake.
    for seed in 1..=300 {
        let took = times(&Scenario { seed, ..scenario.clone() }).took;
        assert_eq!(took.len(), 1, "seed {seed}");
    }
}

#[test]
fn keystrokes_are_echoed_after_one_round_trip_and_are_slow_only_under_nagle_and_a_delayed_ack() {
    let traffic = "{ kind = 'telnet', gap = '4 ms', gap_distribution = 'fixed', count = 200 }";
    let took = |changes: &[(&str, &str)]| {
        let changes = [&[("flows.questions.traffic", traffic)], changes].concat();
        times(&library("write-write-read", &changes)).took
    };
    // Every key at once on its way: 10 ms and two packets of 53 B with timestamps.
    let quick = took(&[("tcp.nagle", "off")]);
    assert_eq!(quick.len(), 200);
    assert!(millis(&quick).iter().all(|ms| *ms == 11), "{quick:?}");
    // Nagle lets a key go when the one before is acknowledged, here by its echo: those typed
    // meanwhile wait for up to a round trip.
    let held = millis(&took(&[]));
    assert!(held.iter().all(|ms| (11..=21).contains(ms)) && held.contains(&19), "{held:?}");
}

#[test]
fn a_page_takes_a_round_trip_for_each_object_at_least_and_what_the_link_takes_for_all() {
    let traffic = "{ kind = 'web', objects = 4, objects_distribution = 'fixed', object = '20 kB', \
                   object_distribution = 'fixed', reading = '100 ms', count = 30 }";
    let changes = [("flows.questions.traffic", traffic), ("tcp.nagle", "off")];
    let times = times(&library("write-write-read", &changes));
    assert_eq!(times.took.len(), 30);
    assert!(times.began.iter().all(|(_, bytes)| *bytes == Bytes(80_000)));
    // 10 ms each, and 6.4 ms for 80 kB at 100 Mbit/s.
    assert!(times.took.iter().all(|took| *took > Span::from_micros(46_400)));
    // Once the window holds an object: nothing but that and the headers.
    assert!(times.took[5] < Span::from_millis(48), "{}", times.took[5]);
}

#[test]
fn bursts_below_the_rate_of_the_path_last_as_long_as_they_are_made() {
    let traffic = "{ kind = 'on-off', rate = '8 Mbit/s', message = '1000 B', on = '200 ms', \
                   off = '300 ms', count = 20 }";
    let changes = [("flows.questions.traffic", traffic), ("tcp.nagle", "off")];
    let times = times(&library("write-write-read", &changes));
    assert_eq!(times.took.len(), 20);
    assert!(times.began.iter().all(|(_, bytes)| *bytes == Bytes(200_000)));
    // The last message is made 199 ms after the first and arrives 5 ms later; the first burst has
    // its window still to grow.
    for took in &times.took[1..] {
        assert!((204..206).contains(&took.as_millis()), "{took}");
    }
    let periods = times.began.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(periods.skip(1).all(|period| period == Span::from_millis(500)));
}
