//! Every combination of policies moves a transfer over a path that loses and reorders, each byte
//! once.

use crate::kit::Pair;
use crate::kit::stack::stack;
use ackord_events::TcpState;
use ackord_tcp::{CloseReason, registry};
use ackord_units::{Bytes, Choice, Mechanism, Span};
use ackord_wire::Side;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn one_of(table: &'static [Mechanism]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(table.iter().map(|mechanism| mechanism.name).collect::<Vec<_>>())
}

fn on_off() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["on", "off"])
}

/// What a sender is made of.
fn settings() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let choices = (
        one_of(registry::Congestion::MECHANISMS),
        one_of(registry::Loss::MECHANISMS),
        one_of(registry::LossRecovery::MECHANISMS),
        one_of(registry::Ack::MECHANISMS),
        one_of(registry::NagleVariant::MECHANISMS),
    );
    let idle = prop::sample::select(vec!["off", "initial-window", "decay", "rfc-2861", "rfc-7661"]);
    (choices, on_off(), on_off(), on_off(), idle).prop_map(
        |((congestion, loss, recovery, ack, nagle), sack, timestamps, frto, idle)| {
            vec![
                ("congestion", congestion),
                ("loss", loss),
                ("recovery", recovery),
                ("ack", ack),
                ("nagle", nagle),
                ("sack", sack),
                ("timestamps", timestamps),
                ("frto", frto),
                ("idle_restart", idle),
                ("mss", "1000 B"),
                ("rto_min", "200 ms"),
                ("max_retransmissions", "100"),
            ]
        },
    )
}

/// Segments that die, and segments that are late, by number.
fn path() -> impl Strategy<Value = (BTreeSet<u64>, BTreeMap<u64, u64>)> {
    let lost = proptest::collection::btree_set(0u64..600, 0..60);
    let late = proptest::collection::btree_map(0u64..600, 1u64..400, 0..60);
    (lost, late)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_combination_delivers_each_byte_once(
        settings in settings(),
        (lost, late) in path(),
        up in 1u64..150_000,
        down in 0u64..50_000,
    ) {
        let ends = || stack(&settings);
        let (config, client) = ends();
        let mut pair = Pair::new(config, [client, ends().1]);
        pair.late_by =
            late.into_iter().map(|(number, millis)| (number, Span::from_millis(millis))).collect();
        let mut drop = |number, _: Side, _: &ackord_wire::Segment| lost.contains(&number);
        for _ in 0..100 {
            let until = pair.now + Span::from_secs(10);
            pair.run(until, &mut drop);
            if pair.server.state() == TcpState::Established {
                break;
            }
        }
        pair.client.write(Bytes(up));
        pair.server.write(Bytes(down));
        pair.client.close();
        pair.server.close();
        let until = pair.now + Span::from_secs(8_000);
        pair.run(until, &mut drop);
        prop_assert_eq!(pair.client.close_reason(), Some(CloseReason::Orderly));
        prop_assert_eq!(pair.server.close_reason(), Some(CloseReason::Orderly));
        prop_assert_eq!(pair.server.bytes_received(), up);
        prop_assert_eq!(pair.client.bytes_received(), down);
        // Nothing is retransmitted without end: each loss or delay costs a bounded number of times.
        let sent = pair.client.stats().data_segments_sent;
        prop_assert!(sent <= 3 * (up / 1_000 + 150), "{sent} segments for {up} bytes");
    }
}
