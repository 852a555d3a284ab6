//! Proxy TCP in paper mode, rule by rule.

use crate::common::boxed::Sent;
use crate::common::boxed::Sent::{Ack, Again, Test};
use crate::common::boxed::{WINDOW, ack, acts, data, ms, sent, stamped};
use ackord_events::ProxyAct;
use ackord_path::proxy::proxy_tcp::{Limits, PaperConfig, PaperProxy, ProxyAckUse};
use ackord_path::proxy::{Heading, Middlebox, OnPath, Outbox};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Flags, Packet};

struct Script {
    proxy: PaperProxy,
    out: Outbox,
}

fn limits() -> Limits {
    Limits { flows: 10, cache_per_flow: Bytes(20_000), cache: Bytes(50_000) }
}

fn script(proxy_ack: ProxyAckUse) -> Script {
    let config = PaperConfig {
        local_timeout: Some(Span::from_millis(100)),
        probe_interval: Span::from_millis(50),
        proxy_ack,
        limits: limits(),
    };
    Script { proxy: PaperProxy::new(config), out: Outbox::default() }
}

impl Script {
    fn down(&mut self, at: Time, packets: impl IntoIterator<Item = Packet>) -> &mut Script {
        for packet in packets {
            self.proxy.observe(at, &packet, Heading::Mobile, &mut self.out);
        }
        assert!(sent(&mut self.out).is_empty(), "data going out is answered by nothing");
        self
    }

    fn up(&mut self, at: Time, packet: Packet) -> Vec<Sent> {
        self.proxy.observe(at, &packet, Heading::Fixed, &mut self.out);
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
}

#[test]
fn the_first_duplicate_brings_the_lost_segment_again_and_later_ones_nothing() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..5).map(data));
    assert_eq!(script.up(ms(40), ack(1)), []);
    assert_eq!(script.up(ms(44), ack(1)), [Again(1)]);
    assert_eq!(script.up(ms(48), ack(1)), []);
    assert_eq!(script.up(ms(90), ack(3)), []);
    assert_eq!(script.up(ms(94), ack(3)), [Again(3)], "another run");
    assert_eq!(script.proxy.stats().data_sent, 2);
}

#[test]
fn with_the_other_reading_no_two_duplicates_in_a_row_offer_the_same_window() {
    let mut script = script(ProxyAckUse::AtDuplicatesToo);
    script.down(ms(0), (0..5).map(data));
    script.up(ms(40), ack(1));
    assert_eq!(script.up(ms(44), ack(1)), [Again(1), Ack(1, 0)]);
    assert_eq!(script.up(ms(48), ack(1)), [Ack(1, 0)]);
}

#[test]
fn silence_freezes_the_sender_and_tests_the_link_until_the_mobile_is_heard() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..5).map(data));
    script.up(ms(40), ack(2));
    // 100 ms after the last acknowledgment, and every 50 ms from there.
    let told = script.run(ms(255));
    let at = |millis, what| (ms(millis), what);
    assert_eq!(told, [at(140, Ack(2, 0)), at(140, Test(2)), at(190, Test(2)), at(240, Test(2))]);
    script.proxy.observe(ms(280), &ack(3), Heading::Fixed, &mut script.out);
    assert_eq!(acts(&script.out), [ProxyAct::HoldEnded], "the test packet did that");
    assert_eq!(sent(&mut script.out), []);
    let stats = script.proxy.stats();
    assert_eq!((stats.holds, stats.false_holds, stats.probes), (1, 0, 3));
    assert_eq!(stats.held_for, Span::from_millis(140));
    // Data is outstanding still: silence counts anew.
    assert_eq!(script.run(ms(380)), [at(380, Ack(3, 0)), at(380, Test(3))]);
}

#[test]
fn a_hold_is_told_to_have_been_false_when_more_is_acknowledged_than_was_tested() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..5).map(data));
    script.up(ms(40), ack(2));
    script.run(ms(150));
    script.proxy.observe(ms(160), &ack(4), Heading::Fixed, &mut script.out);
    assert_eq!(acts(&script.out), [ProxyAct::HoldEnded, ProxyAct::HoldWasFalse]);
}

#[test]
fn nothing_outstanding_is_nothing_to_do_and_so_is_a_connection_that_was_reset() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..2).map(data));
    script.up(ms(40), ack(2));
    assert_eq!(script.run(ms(60_000)), []);
    script.down(ms(60_000), (2..4).map(data));
    let mut reset = ack(2);
    reset.tcp.as_mut().expect("TCP").flags = Flags::RST;
    script.up(ms(60_010), reset);
    assert_eq!(script.run(ms(90_000)), []);
    assert_eq!(script.proxy.stats().flows, 0);
}

#[test]
fn before_the_mobile_was_heard_nothing_is_said_in_its_name() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), [data(0)]);
    assert_eq!(script.run(ms(110)), [(ms(100), Test(0))]);
}

#[test]
fn what_does_not_fit_passes_uncached_and_is_never_sent() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..30).map(data));
    assert_eq!(script.proxy.stats().uncached, Bytes(10_000));
    script.up(ms(40), ack(25));
    assert_eq!(script.up(ms(44), ack(25)), []);
    assert_eq!(script.run(ms(10_000)), []);
}

/// The sender repeated a segment with a newer stamp, and the mobile took it: an older stamp would be
/// refused (RFC 7323 §5.3).
#[test]
fn stamps_are_raised_to_what_the_mobile_has_taken_and_otherwise_left_as_they_were() {
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..4).map(|index| stamped(data(index), 10, 5)));
    script.up(ms(40), stamped(ack(1), 50, 10));
    let stamp = |script: &mut Script, at, packet| {
        script.proxy.observe(at, &packet, Heading::Fixed, &mut script.out);
        let all: Vec<_> = script.out.packets().map(|(packet, _)| *packet).collect();
        script.out.clear();
        let segment = all.first()?.tcp?;
        Some(segment.options.timestamps.expect("stamped").value)
    };
    assert_eq!(stamp(&mut script, ms(44), stamped(ack(1), 51, 10)), Some(10));
    assert_eq!(stamp(&mut script, ms(84), stamped(ack(2), 60, 300)), None);
    assert_eq!(stamp(&mut script, ms(88), stamped(ack(2), 61, 300)), Some(300));
}

#[test]
fn a_window_of_the_mobiles_own_is_left_to_travel() {
    // The acknowledgment that ends a hold is on its way already; nothing is added to it.
    let mut script = script(ProxyAckUse::AtFading);
    script.down(ms(0), (0..5).map(data));
    script.up(ms(40), ack(2));
    script.run(ms(150));
    let opened = ack(3);
    assert_eq!(opened.tcp.expect("TCP").window, WINDOW);
    assert_eq!(script.up(ms(160), opened), []);
}
