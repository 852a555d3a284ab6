//! Delays drawn at random: when they are drawn, from what, and in which order packets arrive.

use crate::common::{at_us, deliver_all, deliver_until, drop_tail, link, one_link, packet};
use ackord_events::{LinkId, NoSink};
use ackord_path::{
    DelayDistribution, DelayShape, Graph, Jitter, JitterConfig, LinkConfig, PacketOrder, Redraw,
};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span, Time};

const INTERVAL: Span = Span::from_millis(50);
const LENGTH: u32 = 1_500;

fn config(mean: u64, deviation: u64) -> JitterConfig {
    JitterConfig {
        distribution: DelayDistribution {
            shape: DelayShape::Normal,
            mean: Span::from_millis(mean),
            deviation: Span::from_millis(deviation),
            floor: Span::from_millis(1),
        },
        when: Redraw::Every(INTERVAL),
        order: PacketOrder::Free,
    }
}

/// A link of 3 Mbit/s: a packet of 1500 bytes takes 4 ms.
fn jittery(config: JitterConfig, seed: u64) -> (Graph, LinkId) {
    let jitter = Some(Jitter::new(config, RandomStream::for_element(seed, "links/hop/jitter")));
    let rate = Rate::from_mbits_per_sec(3);
    one_link(LinkConfig { rate, jitter, queue: drop_tail(1_000_000), ..link(0, 1) })
}

/// A packet's number, when its transmission ended, and when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Crossing {
    tag: u64,
    out_at: Time,
    arrived_at: Time,
}

impl Crossing {
    fn delay(self) -> Span {
        self.arrived_at.saturating_since(self.out_at)
    }

    fn interval(self) -> u64 {
        self.out_at.as_nanos() / INTERVAL.as_nanos()
    }
}

/// Packets sent at these times, in order of arrival. They are sent 4 ms apart or more, so that
/// each one's transmission begins at once.
fn cross(config: JitterConfig, seed: u64, sent: &[Time]) -> (Vec<Crossing>, Graph, LinkId) {
    let (mut graph, id) = jittery(config, seed);
    let takes = Rate::from_mbits_per_sec(3).time_for(Bytes(u64::from(LENGTH)));
    for (tag, &at) in (0..).zip(sent) {
        graph.handle_packet(at, packet(1, LENGTH, tag), &mut NoSink);
    }
    let crossing = |delivery: ackord_path::Delivery| Crossing {
        tag: delivery.packet.tag,
        out_at: sent[delivery.packet.tag as usize] + takes,
        arrived_at: delivery.at,
    };
    let crossings = deliver_all(&mut graph, &mut NoSink).into_iter().map(crossing).collect();
    (crossings, graph, id)
}

fn every_ms(step: u64, count: u64) -> Vec<Time> {
    (0..count).map(|n| at_us(1_000 * step * n)).collect()
}

/// Packets that somebody sent later arrived before.
fn late(crossings: &[Crossing]) -> u64 {
    let mut highest = None;
    let late = crossings.iter().filter(|crossing| {
        let late = highest > Some(crossing.tag);
        highest = highest.max(Some(crossing.tag));
        late
    });
    late.count() as u64
}

#[test]
fn without_deviation_the_delay_is_the_links() {
    let (crossings, graph, id) = cross(config(250, 0), 1, &every_ms(4, 100));
    assert!(crossings.iter().all(|crossing| crossing.delay() == Span::from_millis(250)));
    // The last transmission ends at 400 ms: draws at 0, 50 .. 400 ms.
    assert_eq!(graph.link_stats(id).delays_drawn, 9);
    assert_eq!(graph.link_stats(id).overtaken, 0);
}

#[test]
fn a_delay_holds_for_its_interval_and_is_the_same_for_every_traffic() {
    let (dense, ..) = cross(config(250, 67), 1, &every_ms(4, 500));
    let mut delays: Vec<Option<Span>> = vec![None; 50];
    for crossing in &dense {
        let held = delays[crossing.interval() as usize].get_or_insert(crossing.delay());
        assert_eq!(*held, crossing.delay(), "{crossing:?}");
    }
    let (sparse, ..) = cross(config(250, 67), 1, &every_ms(130, 15));
    assert_eq!(sparse.len(), 15);
    for crossing in sparse {
        assert_eq!(delays[crossing.interval() as usize], Some(crossing.delay()), "{crossing:?}");
    }
    delays.dedup();
    assert!(delays.len() > 40, "no two intervals have one delay");
}

#[test]
fn the_draws_have_the_mean_and_the_deviation_and_those_below_the_floor_are_counted() {
    let intervals = 20_000_u64;
    let middles: Vec<Time> = (0..intervals).map(|n| at_us(50_000 * n + 20_000)).collect();
    for (shape, mean, deviation) in [
        (DelayShape::Normal, 250, 67),
        (DelayShape::Uniform, 250, 67),
        // The paper's tau = 2: 450 ms, 133 ms.
        (DelayShape::Normal, 450, 133),
    ] {
        let mut config = config(mean, deviation);
        config.distribution.shape = shape;
        let (crossings, ..) = cross(config, 3, &middles);
        let seconds: Vec<f64> = crossings.iter().map(|c| c.delay().as_secs_f64()).collect();
        let count = intervals as f64;
        let found_mean = seconds.iter().sum::<f64>() / count;
        let squares = seconds.iter().map(|delay| (delay - found_mean).powi(2)).sum::<f64>();
        let found_deviation = (squares / count).sqrt();
        let (mean, deviation) = (mean as f64 / 1e3, deviation as f64 / 1e3);
        // Five standard errors; what the floor cuts off is less than that here (0.01 %).
        assert!((found_mean - mean).abs() < 5.0 * deviation / count.sqrt(), "{found_mean}");
        let bound = 5.0 * deviation / (2.0 * count).sqrt();
        assert!((found_deviation - deviation).abs() < bound, "{found_deviation}");
    }
    // A floor one deviation below the mean: 15.87 % of a normal distribution lie below it.
    let mut config = config(250, 50);
    config.distribution.floor = Span::from_millis(200);
    let (crossings, graph, id) = cross(config, 3, &middles);
    let clipped = graph.link_stats(id).delays_clipped;
    let at_floor = crossings.iter().filter(|c| c.delay() == config.distribution.floor).count();
    assert_eq!(clipped, at_floor as u64);
    let (expected, error) = (0.158_66 * 2e4, (2e4 * 0.158_66 * 0.841_34_f64).sqrt());
    assert!((clipped as f64 - expected).abs() < 5.0 * error, "{clipped} of {expected}");
}

#[test]
fn free_packets_overtake_one_another_and_kept_ones_wait() {
    let sent = every_ms(4, 5_000);
    let (free, graph, id) = cross(config(250, 67), 1, &sent);
    assert_eq!(free.len(), sent.len());
    let stats = graph.link_stats(id);
    assert_eq!(stats.overtaken, late(&free));
    // Two draws in a row differ by 67 ms * sqrt(2) * Normal: a delay falls in half of the
    // intervals, and then by 76 ms on average, which is more than the twelve packets of 4 ms
    // before can escape.
    let share = stats.overtaken as f64 / sent.len() as f64;
    assert!((0.3..0.8).contains(&share), "{share}");
    let kept = JitterConfig { order: PacketOrder::Kept, ..config(250, 67) };
    let (kept, graph, id) = cross(kept, 1, &sent);
    assert_eq!((late(&kept), graph.link_stats(id).overtaken), (0, 0));
    // Whoever waits arrives with the one before it, and never before its own delay is over.
    let mut own: Vec<Crossing> = free;
    own.sort_by_key(|crossing| crossing.tag);
    let mut latest = Time::ZERO;
    for (own, kept) in own.iter().zip(&kept) {
        latest = latest.max(own.arrived_at);
        assert_eq!((kept.tag, kept.arrived_at), (own.tag, latest));
    }
}

#[test]
fn a_packet_that_waited_overtakes_one_on_the_wire_on_time() {
    // All at once: each waits for the transmitter, which ends one every 4 ms, through fifty draws.
    let packets = 600;
    let (mut graph, id) = jittery(config(450, 133), 2);
    for tag in 0..packets {
        graph.handle_packet(Time::ZERO, packet(1, LENGTH, tag), &mut NoSink);
    }
    let mut arrivals = Vec::new();
    while let Some(due) = graph.deadline() {
        for delivery in deliver_until(&mut graph, due, &mut NoSink) {
            assert_eq!(delivery.at, due, "nobody is told late");
            arrivals.push((delivery.packet.tag, delivery.at));
        }
        graph.conservation().check().expect("balanced at every step");
    }
    // As if each had been sent when its turn came.
    let (expected, ..) = cross(config(450, 133), 2, &every_ms(4, packets));
    let expected: Vec<_> = expected.iter().map(|c| (c.tag, c.arrived_at)).collect();
    assert_eq!(arrivals, expected);
    assert!(graph.link_stats(id).overtaken > 0);
}

#[test]
fn every_packet_may_have_a_delay_of_its_own() {
    let config = JitterConfig { when: Redraw::PerPacket, ..config(250, 20) };
    let (crossings, graph, id) = cross(config, 1, &every_ms(4, 1_000));
    assert_eq!(graph.link_stats(id).delays_drawn, 1_000);
    let mut delays: Vec<_> = crossings.iter().map(|crossing| crossing.delay()).collect();
    delays.sort();
    delays.dedup();
    assert_eq!(delays.len(), 1_000);
}

#[test]
fn the_seed_decides_the_delays() {
    let sent = every_ms(4, 200);
    let run = |seed| cross(config(250, 67), seed, &sent).0;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_share_of_packets_is_held_back_for_exactly_its_time_and_overtaken_by_what_follows_within_it() {
    let (share, by) = (Ratio::new(0.1).expect("a share"), Span::from_millis(10));
    let mut config = config(20, 0);
    config.when = Redraw::PerPacket;
    config.distribution.shape = DelayShape::HeldBack { share, by };
    // 4 ms apart: two packets overtake one that is held back by 10 ms, unless they are too.
    let (crossings, ..) = cross(config, 7, &every_ms(4, 10_000));
    let (mean, longer) = (Span::from_millis(20), Span::from_millis(30));
    let held = crossings.iter().filter(|crossing| crossing.delay() == longer).count();
    assert!(crossings.iter().all(|crossing| [mean, longer].contains(&crossing.delay())));
    // Five standard deviations of a binomial with n = 10000, p = 0.1 are 150.
    assert!((850..=1_150).contains(&held), "{held}");
    // One stays in front only if the two behind it are held back as well: one in a hundred.
    let late = late(&crossings) as usize;
    assert!(late <= held && late >= held * 95 / 100, "{late} of {held}");
}
