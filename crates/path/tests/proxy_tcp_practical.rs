//! Proxy TCP in practical mode: rule by rule, and whatever comes.

use crate::common::boxed::Sent;
use crate::common::boxed::Sent::{Ack, Again, Question, Released, Test};
use crate::common::boxed::{
    MSS, WINDOW, ack, ack_of, acts, data, data_of, ms, sack, sent, stamped, us,
};
use ackord_events::{ProxyAct, ProxySending};
use ackord_path::proxy::proxy_tcp::{
    Freeze, Limits, PracticalConfig, PracticalProxy, ReserveConfig,
};
use ackord_path::proxy::{Heading, InPath, Made, Middlebox, OnPath, Outbox, Verdict};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Flags, Packet};
use proptest::prelude::*;

struct Script {
    proxy: PracticalProxy,
    in_path: Option<ReserveConfig>,
    out: Outbox,
}

const LIMITS: Limits = Limits { flows: 10, cache_per_flow: Bytes(60_000), cache: Bytes(90_000) };

fn script(in_path: Option<ReserveConfig>) -> Script {
    let config = PracticalConfig {
        local_timeout: None,
        probe_interval: Span::from_millis(100),
        freeze: Freeze::WithoutSack,
        in_path,
        limits: LIMITS,
    };
    Script { proxy: PracticalProxy::new(config), in_path, out: Outbox::default() }
}

fn beside() -> Script {
    script(None)
}

fn in_path(most: usize) -> Script {
    let release_every = Span::from_millis(170);
    script(Some(ReserveConfig { most, release_every }))
}

impl Script {
    fn pass(&mut self, at: Time, packet: &Packet, heading: Heading) -> Verdict {
        match self.in_path {
            None => {
                self.proxy.observe(at, packet, heading, &mut self.out);
                Verdict::Forward
            }
            Some(_) => self.proxy.handle(at, packet, heading, &mut self.out),
        }
    }

    fn down(&mut self, at: Time, packets: impl IntoIterator<Item = Packet>) {
        for packet in packets {
            assert_eq!(self.pass(at, &packet, Heading::Mobile), Verdict::Forward);
        }
        assert!(sent(&mut self.out).is_empty(), "data going out is answered by nothing");
    }

    fn up(&mut self, at: Time, packet: Packet) -> Vec<Sent> {
        self.pass(at, &packet, Heading::Fixed);
        sent(&mut self.out)
    }

    /// Whatever is due up to `at`.
    fn run(&mut self, at: Time) -> Vec<(Time, Sent)> {
        let mut all = Vec::new();
        while let Some(due) = self.proxy.deadline().filter(|due| *due <= at) {
            self.proxy.handle_deadline(due, &mut self.out);
            all.extend(sent(&mut self.out).into_iter().map(|what| (due, what)));
        }
        all
    }

    /// Segments 0 to `count`, one each 4 ms, each acknowledged 40 ms later: the wireless round trip
    /// is known to be 40 ms, give or take 20.
    fn steady(&mut self, count: u32) {
        for step in 0..count + 10 {
            let at = ms(u64::from(step) * 4);
            if step < count {
                self.down(at, [data(step)]);
            }
            if step >= 10 {
                assert_eq!(self.up(at, ack(step - 9)), []);
            }
        }
        assert_eq!(self.proxy.stats().holds, 0);
    }
}

#[test]
fn every_hole_is_filled_at_once_and_none_twice() {
    let mut script = beside();
    script.steady(50);
    script.down(ms(300), (50..60).map(data));
    assert_eq!(script.up(ms(340), sack(50, &[(51, 53)])), [Again(50)]);
    assert_eq!(script.up(ms(341), sack(50, &[(54, 57), (51, 53)])), [Again(53)]);
    assert_eq!(script.up(ms(342), sack(50, &[(54, 60), (51, 53)])), []);
    assert_eq!(script.up(ms(380), sack(53, &[(54, 60)])), []);
    assert_eq!(script.up(ms(381), ack(60)), []);
    assert_eq!(script.proxy.stats().data_sent, 2);
}

/// Repeated at 340 ms; what was sent after that has arrived, so the repetition was lost too.
#[test]
fn a_repetition_that_is_lost_is_repeated_when_something_later_arrives() {
    let mut script = beside();
    script.steady(50);
    script.down(ms(300), (50..53).map(data));
    assert_eq!(script.up(ms(340), sack(50, &[(51, 53)])), [Again(50)]);
    script.down(ms(344), [data(53)]);
    assert_eq!(script.up(ms(384), sack(50, &[(51, 54)])), [Again(50)]);
}

#[test]
fn a_lone_segment_is_repeated_before_a_fade_is_thought_of() {
    let mut script = beside();
    script.steady(50);
    script.down(ms(300), [data(50)]);
    // 40 ms and 20, and 200 for a receiver that delays acknowledgments.
    let told = script.run(ms(1_000));
    let [(at, Again(50)), (_, Ack(50, 0)), (_, Question), ..] = told[..] else {
        panic!("{told:?}");
    };
    assert!(at >= ms(560) && at < ms(580), "{at}");
}

/// The mobile answers a question with nothing new: what had been sent before it is lost.
#[test]
fn after_a_fade_that_lost_everything_it_is_all_sent_again_in_order_and_paced() {
    let mut script = beside();
    script.steady(50);
    script.up(ms(299), sack(50, &[(48, 49)]));
    script.down(ms(300), (50..60).map(data));
    let told = script.run(ms(1_000));
    assert_eq!(told.iter().filter(|(_, what)| *what == Question).count(), 6);
    assert_eq!(told.iter().filter(|(_, what)| *what == Test(50)).count(), 1);
    script.pass(ms(1_040), &ack(50), Heading::Fixed);
    assert_eq!(acts(&script.out), [ProxyAct::HoldEnded]);
    let at_once = sent(&mut script.out);
    assert_eq!(at_once, [Again(50), Again(51), Again(52), Again(53)]);
    let later = script.run(ms(1_070));
    let order: Vec<_> = later.iter().map(|(_, what)| *what).collect();
    assert_eq!(order, [Again(54), Again(55), Again(56), Again(57), Again(58), Again(59)]);
    assert!(later.windows(2).all(|pair| pair[1].0 - pair[0].0 >= Span::from_millis(3)));
    assert_eq!(script.proxy.stats().false_holds, 0);
}

/// The first answer acknowledges what had arrived before the fade, and the next question gets none: hosts
/// answer what is unacceptable twice a second (Linux's tcp_invalid_ratelimit). What the sender sends then
/// arrives, so that all that went before is lost, and crowded as it is, no queue has overflowed.
#[test]
fn after_a_fade_new_data_that_arrives_tells_what_was_lost_as_an_answer_does() {
    let mut script = beside();
    script.steady(50);
    script.up(ms(299), sack(50, &[(48, 49)]));
    script.down(ms(300), (50..70).map(data));
    script.run(ms(1_000));
    assert_eq!(script.up(ms(1_040), ack(52)), [Question]);
    script.down(ms(1_070), [data(70)]);
    assert_eq!(script.run(ms(1_099)), [], "an answer may still come");
    let mut told = script.up(ms(1_099), sack(52, &[(70, 71)]));
    assert_eq!(script.proxy.stats().holds, 1);
    told.extend(script.run(ms(1_170)).into_iter().map(|(_, what)| what));
    assert_eq!(told[..18], (52..70).map(Again).collect::<Vec<_>>());
}

#[test]
fn an_acknowledgment_that_comes_when_an_answer_is_due_lets_a_few_segments_go_at_once() {
    let mut script = beside();
    script.steady(50);
    script.up(ms(299), sack(50, &[(48, 49)]));
    script.down(ms(300), (50..70).map(data));
    let told = script.run(ms(1_000));
    let asked = told.iter().rev().find(|(_, what)| *what == Question).expect("it asks");
    let answer = script.up(asked.0 + Span::from_millis(40), ack(52));
    assert_eq!(answer, [Question, Again(52), Again(53), Again(54), Again(55)]);
    assert_eq!(script.run(asked.0 + Span::from_millis(99)), [], "it may have been luck");
}

#[test]
fn after_a_hold_in_which_packets_waited_nothing_is_doubled() {
    let mut script = beside();
    script.steady(50);
    script.up(ms(299), sack(50, &[(48, 49)]));
    script.down(ms(300), (50..60).map(data));
    script.run(ms(1_000));
    let mut told = Vec::new();
    for step in 0..10 {
        let at = us(1_040_000 + 4_000 * u64::from(step));
        script.pass(at, &ack(51 + step), Heading::Fixed);
        told.extend(acts(&script.out));
        let out = sent(&mut script.out);
        assert!(out.is_empty() || (step == 0 && out == [Question]), "{out:?}");
    }
    assert_eq!(told, [ProxyAct::HoldEnded, ProxyAct::HoldWasFalse]);
    assert_eq!(script.proxy.stats().data_sent, 0);
}

#[test]
fn without_sack_and_timestamps_a_run_of_duplicates_is_broken_or_hidden_but_for_the_first_loss() {
    let mut script = beside();
    script.steady(50);
    script.down(ms(300), (50..55).map(data));
    assert_eq!(script.up(ms(340), ack(50)), [Again(50)], "the first loss is shown");
    assert_eq!(script.up(ms(341), ack(50)), []);
    assert_eq!(script.up(ms(380), ack(55)), []);
    script.down(ms(400), (55..60).map(data));
    assert_eq!(script.up(ms(440), ack(55)), [Again(55), Ack(55, 0)]);
    assert_eq!(script.up(ms(441), ack(55)), [Ack(55, 0)]);

    let mut script = in_path(0);
    script.steady(50);
    script.down(ms(300), (50..55).map(data));
    assert_eq!(script.pass(ms(340), &ack(50), Heading::Fixed), Verdict::Forward);
    assert_eq!(sent(&mut script.out), [Again(50)]);
    script.up(ms(380), ack(55));
    script.down(ms(400), (55..60).map(data));
    assert_eq!(script.pass(ms(440), &ack(55), Heading::Fixed), Verdict::Absorb);
    assert_eq!(sent(&mut script.out), [Again(55)]);
    assert_eq!(script.proxy.stats().absorbed, 1);
}

#[test]
fn with_timestamps_duplicates_reach_the_sender_untouched() {
    for mut script in [beside(), in_path(0)] {
        script.down(ms(0), (0..5).map(|index| stamped(data(index), 10, 5)));
        script.up(ms(40), stamped(ack(1), 50, 10));
        let verdict = script.pass(ms(44), &stamped(ack(1), 51, 10), Heading::Fixed);
        assert_eq!((verdict, sent(&mut script.out)), (Verdict::Forward, vec![Again(1)]));
    }
}

#[test]
fn connections_to_one_host_take_turns_at_asking_it() {
    let mut script = beside();
    for flow in 0..5 {
        script.down(ms(0), (0..3).map(|index| data_of(flow, index * MSS, MSS)));
        script.up(ms(40), ack_of(flow, MSS));
    }
    let asked = script.run(ms(3_000)).iter().filter(|(_, what)| *what == Question).count();
    assert!((15..=30).contains(&asked), "{asked} questions in three seconds");
    // One is heard: the others are asked at once.
    script.up(ms(3_100), ack_of(2, 2 * MSS));
    let soon = script.run(ms(3_101)).iter().filter(|(_, what)| *what == Question).count();
    assert_eq!(soon, 1, "and again one by one");
}

#[test]
fn a_reserve_is_let_go_with_closed_windows_in_a_fade_and_in_order_after_it() {
    let mut script = in_path(15);
    script.down(ms(0), (0..60).map(data));
    // The link takes a millisecond for each: the queue of sixty is nearly all of the round trip.
    for index in 1..=30 {
        script.pass(ms(40 + u64::from(index)), &ack(index), Heading::Fixed);
    }
    let before: Vec<_> = sent(&mut script.out);
    assert!(before.len() < 30 && before.iter().all(|it| matches!(it, Released(_, WINDOW))));
    let told = script.run(ms(1_500));
    let closed: Vec<_> =
        told.iter().filter(|(_, what)| matches!(what, Released(_, 0))).map(|it| it.0).collect();
    assert!(!closed.is_empty(), "{told:?}");
    assert!(closed.windows(2).all(|pair| pair[1] - pair[0] == Span::from_millis(170)));
}

/// What a passer-by may see, in any order.
#[derive(Clone, Debug)]
enum Step {
    Data { flow: u32, index: u32, len: u32 },
    Ack { flow: u32, index: u32, blocks: Vec<(u32, u32)>, window: u16 },
    Flagged { flow: u32, flags: u8, heading: u8 },
    Wait { millis: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4u32, 0..80u32, 1..1_500u32)
            .prop_map(|(flow, index, len)| Step::Data { flow, index, len }),
        4 => (0..4u32, 0..80u32, prop::collection::vec((0..80u32, 0..80u32), 0..4), any::<u16>())
            .prop_map(|(flow, index, blocks, window)| Step::Ack { flow, index, blocks, window }),
        1 => (0..4u32, any::<u8>(), 0..2u8)
            .prop_map(|(flow, flags, heading)| Step::Flagged { flow, flags, heading }),
        2 => (1..500u64).prop_map(|millis| Step::Wait { millis }),
    ]
}

fn packet_of(step: &Step, base: u32) -> Option<(Packet, Heading)> {
    let moved = |mut packet: Packet| {
        if let Some(segment) = &mut packet.tcp {
            segment.seq += base;
            segment.ack += base;
        }
        packet
    };
    Some(match step {
        Step::Data { flow, index, len } => {
            (moved(data_of(*flow, index * MSS, *len)), Heading::Mobile)
        }
        Step::Ack { flow, index, blocks, window } => {
            let mut packet = moved(ack_of(*flow, index * MSS));
            let segment = packet.tcp.as_mut().expect("TCP");
            segment.window = *window;
            for (start, end) in blocks {
                segment.options.sack.push(ackord_wire::SackBlock {
                    start: Seq(start * MSS) + base,
                    end: Seq(end * MSS) + base,
                });
            }
            (packet, Heading::Fixed)
        }
        Step::Flagged { flow, flags, heading } => {
            let mut packet = moved(ack_of(*flow, 5 * MSS));
            packet.tcp.as_mut().expect("TCP").flags = Flags::from_bits(*flags);
            (packet, if *heading == 0 { Heading::Mobile } else { Heading::Fixed })
        }
        Step::Wait { .. } => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Nobody is told of anything the mobile did not say, nothing is sent that had not been seen,
    /// memory stays within its bounds, and a box is done at some time.
    #[test]
    fn whatever_passes_the_box_invents_nothing(
        steps in prop::collection::vec(step(), 1..120),
        base in prop_oneof![Just(0u32), Just(u32::MAX - 30_000)],
        in_the_path in any::<bool>(),
    ) {
        let mut script = if in_the_path { in_path(15) } else { beside() };
        let (mut now, mut tags) = (Time::ZERO, std::collections::BTreeSet::new());
        let mut acks: std::collections::BTreeSet<(u32, u32)> = std::collections::BTreeSet::new();
        for step in &steps {
            match packet_of(step, base) {
                Some((packet, heading)) => {
                    let segment = packet.tcp.expect("TCP");
                    if heading == Heading::Mobile && segment.payload_len > 0 {
                        tags.insert(packet.tag);
                    }
                    if heading == Heading::Fixed {
                        acks.insert((packet.flow.0, segment.ack.0));
                    }
                    now += Span::from_micros(300);
                    script.pass(now, &packet, heading);
                }
                None => {
                    let Step::Wait { millis } = step else { unreachable!("only waits are none") };
                    now += Span::from_millis(*millis);
                    let mut calls = 0;
                    while let Some(due) = script.proxy.deadline().filter(|due| *due <= now) {
                        script.proxy.handle_deadline(due, &mut script.out);
                        calls += 1;
                        prop_assert!(calls < 5_000, "it is busy for ever at {due}");
                    }
                }
            }
            for (packet, made) in script.out.packets() {
                let segment = packet.tcp.expect("TCP");
                match made {
                    Made::New(ProxySending::Acknowledgment) | Made::Released => {
                        prop_assert!(acks.contains(&(packet.flow.0, segment.ack.0)));
                        prop_assert_eq!(segment.payload_len, 0);
                    }
                    _ if segment.payload_len > 0 => prop_assert!(tags.contains(&packet.tag)),
                    _ => {}
                }
            }
            script.out.clear();
            let stats = script.proxy.stats();
            prop_assert!(stats.cached <= LIMITS.cache && stats.flows <= 10);
        }
    }
}
