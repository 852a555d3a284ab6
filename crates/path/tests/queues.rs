//! What every queue owes, whichever it is: packets are conserved, none waits while the transmitter
//! idles, a flow's packets stay in order, the limit is kept, and nothing depends on luck.

use crate::common::yard::{Out, Yard};
use ackord_events::DropReason;
use ackord_path::QueueDiscipline;
use ackord_path::registry::QueueChoice;
use ackord_units::{Choice, KnobValue, Span};
use ackord_wire::Ecn;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Arrive { flow: u32, ip_len: u32, ecn: Ecn },
    Depart,
    Wait { micros: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let ip_len = prop_oneof![Just(40), Just(1_500), 40..1_500_u32];
    let step = prop_oneof![
        5 => (0..5_u32, ip_len, ecn)
            .prop_map(|(flow, ip_len, ecn)| Step::Arrive { flow: flow * flow, ip_len, ecn }),
        3 => Just(Step::Depart),
        1 => prop_oneof![0..2_000_u64, 0..400_000_u64].prop_map(|micros| Step::Wait { micros }),
    ];
    prop::collection::vec(step, 0..400)
}

/// Every registered queue with a limit of 20 packets, and in both modes where it has two.
fn every_queue() -> Vec<(&'static str, Vec<(&'static str, KnobValue)>)> {
    let word = |word: &'static str| KnobValue::Choice(word);
    let mut all = Vec::new();
    for mechanism in QueueChoice::MECHANISMS {
        let mut knobs = vec![("limit", KnobValue::Packets(20))];
        if mechanism.knobs.iter().any(|listed| listed.name == "buckets") {
            // So few that flows share them.
            knobs.push(("buckets", KnobValue::Count(3)));
        }
        all.push((mechanism.name, knobs.clone()));
        for (knob, other) in [
            ("mode", "paper"),
            ("ecn", "on"),
            ("push_out", "head"),
            ("push_out", "tail"),
            ("adaptive", "on"),
            ("delay_from", "departure-rate"),
            ("turn", "quantum"),
        ] {
            if mechanism.knobs.iter().any(|listed| listed.name == knob) {
                knobs.push((knob, word(other)));
                all.push((mechanism.name, knobs.clone()));
            }
        }
    }
    all
}

fn run(yard: &mut Yard, steps: &[Step]) -> Vec<Out> {
    let mut outs = Vec::new();
    for step in steps {
        match *step {
            Step::Arrive { flow, ip_len, ecn } => {
                let _ = yard.arrive_with(flow, ip_len, ecn);
                yard.check();
                assert!(yard.queue.length().packets <= 20, "the limit is kept");
            }
            Step::Depart => outs.extend(yard.depart()),
            Step::Wait { micros } => yard.advance(Span::from_micros(micros)),
        }
    }
    outs.extend(yard.drain());
    outs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The yard checks conservation, order, work conservation and ECN at every step.
    #[test]
    fn a_queue_accounts_for_every_packet(steps in steps()) {
        for (name, knobs) in every_queue() {
            let mut yard = Yard::registered(name, &knobs);
            let outs = run(&mut yard, &steps);
            prop_assert_eq!(yard.queue.length().packets, 0, "{} is empty in the end", name);
            let deaths = yard.deaths.len() as u64;
            prop_assert_eq!(yard.entered, outs.len() as u64 + deaths, "{}", name);
            let management =
                [DropReason::QueueFull, DropReason::EarlyDrop, DropReason::OverShare];
            prop_assert!(yard.deaths.iter().all(|death| management.contains(&death.1)));
        }
    }

    /// The same arrivals give the same departures, drops and marks.
    #[test]
    fn a_queue_does_the_same_again(steps in steps()) {
        for (name, knobs) in every_queue() {
            let once = || {
                let mut yard = Yard::registered(name, &knobs);
                let outs = run(&mut yard, &steps);
                (outs, yard.deaths.clone(), yard.marked())
            };
            prop_assert_eq!(once(), once(), "{}", name);
        }
    }
}

#[test]
fn an_empty_queue_gives_nothing() {
    for (name, knobs) in every_queue() {
        let mut yard = Yard::registered(name, &knobs);
        assert_eq!(yard.depart(), None, "{name}");
        yard.arrive(1, 1_500).expect(name);
        assert!(yard.depart().is_some(), "{name}");
        assert_eq!(yard.depart(), None, "{name}");
    }
}
