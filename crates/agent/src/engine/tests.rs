use super::*;
use crate::kernel::layout::{ALONE, RawArrival, RawReport};
use crate::lever::Why;
use crate::report::Own;
use ackord_daemon::evidence::Figure;

fn config() -> EngineConfig {
    EngineConfig {
        acts: true,
        control_per_mille: 100,
        delack_least: Span::from_millis(8),
        has_quick_routes: false,
        rule: Rule {
            least_share: 0.01,
            least_lost: Span::from_millis(100),
            least_stalls: 5,
            enough: 40,
            each: 5,
            confidence: 0.999,
            retry: None,
        },
        turns: None,
        connections: 1_000,
        applications: 100,
    }
}

fn all() -> Allowed {
    Allowed::of(Lever::ALL)
}

/// A report of a connection of application 7 with these figures.
fn report(kind: u8, cookie: u64, change: impl FnOnce(&mut RawReport)) -> Report {
    let mut raw = RawReport { kind, cookie, application: 7, mss: 1_448, ..RawReport::default() };
    change(&mut raw);
    Report::of(&raw).expect("a report")
}

fn opened(engine: &mut Engine, cookie: u64, arm: u8) {
    let report = report(1, cookie, |raw| raw.arm = arm);
    let application = engine.wants_name(&report).then(|| engine.name(7, "web", all()));
    engine.handle(&report, application);
}

/// It has lost so much of a second to Nagle's algorithm, in tenths of that.
fn lost_to_nagle(raw: &mut RawReport, micros: u32) {
    raw.active_us = 1_000_000;
    (raw.nagle_us, raw.nagle_stalls) = (micros, micros / 40_000);
    (raw.bytes_received, raw.data_segments_in) = (10_000, 50);
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

#[test]
fn an_application_that_loses_time_to_nagle_gets_nodelay_for_its_next_connections() {
    let mut engine = Engine::new(config());
    opened(&mut engine, 1, 0);
    assert_eq!(engine.take(), [Do::Application(7, 1)]);
    engine.look(at(1));
    assert_eq!(engine.take(), [], "nothing was lost yet");
    engine.handle(&report(2, 1, |raw| lost_to_nagle(raw, 800_000)), None);
    engine.look(at(2));
    let class = RawClass { control_per_mille: 100, nodelay: 1, ..RawClass::default() };
    let standing = Standing::AtWork { since: at(2) };
    let expected = [Do::Standing(0, Lever::Nodelay, standing), Do::Class(1, class)];
    assert_eq!(engine.take(), expected);
}

#[test]
fn where_nothing_is_lost_nothing_is_done() {
    let mut engine = Engine::new(config());
    for cookie in 1..200 {
        opened(&mut engine, cookie, 0);
        engine.handle(&report(3, cookie, |raw| lost_to_nagle(raw, 0)), None);
    }
    engine.look(at(1));
    assert_eq!(engine.take(), [Do::Application(7, 1)]);
    assert!(engine.connections().is_empty());
    assert_eq!(engine.applications()[0].counted()[0], 199);
}

#[test]
fn who_only_looks_changes_nothing() {
    let mut engine = Engine::new(EngineConfig { acts: false, ..config() });
    opened(&mut engine, 1, 0);
    engine.handle(&report(2, 1, |raw| lost_to_nagle(raw, 800_000)), None);
    engine.look(at(2));
    let done = engine.take();
    assert!(done.iter().all(|one| !matches!(one, Do::Class(..) | Do::Order(..))), "{done:?}");
    assert!(engine.applications()[0].trial(Lever::Nodelay).is_at_work(), "it would be");
}

/// Treated and control connections of 40 and 10, which lose so much of a second.
fn tried(treated: u32, control: u32) -> Engine {
    let mut engine = Engine::new(config());
    opened(&mut engine, 1, 0);
    engine.handle(&report(2, 1, |raw| lost_to_nagle(raw, 800_000)), None);
    engine.look(at(2));
    for cookie in 10..60 {
        let (arm, lost) = if cookie % 5 == 0 { (2, control) } else { (1, treated) };
        opened(&mut engine, cookie, arm);
        let lost = lost + (cookie as u32 % 7) * 1_000;
        let change = |raw: &mut RawReport| {
            lost_to_nagle(raw, lost);
            raw.bytes_received += cookie * 37 % 100;
            (raw.arm, raw.levers) = (arm, if arm == 1 { NODELAY } else { 0 });
        };
        engine.handle(&report(3, cookie, change), None);
    }
    engine.take();
    engine.look(at(3));
    engine
}

#[test]
fn what_does_not_help_is_withdrawn_and_what_helps_stays() {
    let mut engine = tried(10_000, 700_000);
    assert_eq!(engine.take(), []);
    assert!(engine.applications()[0].trial(Lever::Nodelay).is_at_work());
    let mut engine = tried(700_000, 700_000);
    let withdrawn = Standing::Withdrawn { since: at(3), why: Why::NoGain };
    let stock = RawClass { control_per_mille: 100, ..RawClass::default() };
    let expected = [Do::Standing(0, Lever::Nodelay, withdrawn), Do::Class(1, stock)];
    assert_eq!(engine.take(), expected);
}

#[test]
fn what_harms_is_withdrawn_and_who_comes_next_is_stock_again() {
    let mut engine = tried(700_000, 10_000);
    let withdrawn = Standing::Withdrawn { since: at(3), why: Why::Harm(Figure::Stalls) };
    let stock = RawClass { control_per_mille: 100, ..RawClass::default() };
    let expected = [Do::Standing(0, Lever::Nodelay, withdrawn), Do::Class(1, stock)];
    assert_eq!(engine.take(), expected);
    // Without `retry` it stays so, whatever is lost.
    engine.handle(&report(1, 99, |raw| raw.class = 1), None);
    engine.handle(&report(2, 99, |raw| lost_to_nagle(raw, 800_000)), None);
    engine.look(at(100_000));
    assert_eq!(engine.take(), []);
}

#[test]
fn connections_that_were_there_show_what_is_lost_and_are_not_taken_for_treated_ones() {
    let mut engine = Engine::new(config());
    let adopted = |raw: &mut RawReport| (raw.way, raw.arm) = (3, 1);
    let application = engine.name(7, "web", all());
    engine.handle(&report(1, 1, adopted), Some(application));
    let lost = |raw: &mut RawReport| {
        adopted(raw);
        lost_to_nagle(raw, 800_000);
    };
    engine.handle(&report(2, 1, lost), None);
    engine.look(at(1));
    assert!(engine.applications()[0].trial(Lever::Nodelay).is_at_work());
    // It goes on without, as it began: that is no harm of the lever's.
    let more = |raw: &mut RawReport| {
        lost(raw);
        (raw.active_us, raw.nagle_us, raw.data_segments_in) = (2_000_000, 1_800_000, 100);
    };
    engine.handle(&report(2, 1, more), None);
    engine.look(at(2));
    let nodelay = engine.applications()[0].trial(Lever::Nodelay);
    assert_eq!(nodelay.compared().treated.connections, 0);
}

/// Of a peer that waits for each acknowledgment.
fn waits(raw: &mut RawReport, exchanges: u32) {
    raw.active_us = u64::from(exchanges) * 45_000;
    (raw.delack_us, raw.delack_stalls) = (exchanges * 42_000, exchanges);
    (raw.bytes_received, raw.data_segments_in) = (u64::from(exchanges) * 100, exchanges * 2);
    raw.srtt_us = 100;
    raw.arrivals = 8;
    for (number, arrival) in raw.arrival.iter_mut().enumerate() {
        *arrival = match number % 2 {
            0 => RawArrival { gap_us: 1_000, acked_us: 42_000 | ALONE },
            _ => RawArrival { gap_us: 42_500, acked_us: 100 },
        };
    }
}

fn last_order(done: &[Do]) -> Option<RawOrder> {
    done.iter().rev().find_map(|one| match one {
        Do::Order(_, order) => Some(*order),
        _ => None,
    })
}

#[test]
fn a_peer_that_waits_for_acknowledgments_gets_them_as_soon_as_this_kernel_can() {
    for (has_quick_routes, expected) in [
        (false, RawOrder { delack_max_us: 8_000, ..RawOrder::default() }),
        // The bound as well: quick routes do not reach the host itself.
        (true, RawOrder { delack_max_us: 8_000, quick: 1, ..RawOrder::default() }),
    ] {
        let config = EngineConfig { has_quick_routes, control_per_mille: 0, ..config() };
        let mut engine = Engine::new(config);
        opened(&mut engine, 1, 0);
        for round in 1..10 {
            engine.handle(&report(2, 1, |raw| waits(raw, round * 4)), None);
            engine.look(at(u64::from(round)));
        }
        assert_eq!(last_order(&engine.take()), Some(expected));
        // New connections begin with the bound.
        let class = engine.applications()[0].class(0);
        assert_eq!(class.delack_max_us, expected.delack_max_us);
    }
}

#[test]
fn an_option_that_the_application_has_set_is_not_touched() {
    let config = EngineConfig { has_quick_routes: true, control_per_mille: 0, ..config() };
    let mut engine = Engine::new(config);
    opened(&mut engine, 1, 0);
    for round in 1..10 {
        let change = |raw: &mut RawReport| {
            waits(raw, round * 4);
            raw.own = Own::DELACK | Own::MARK;
        };
        engine.handle(&report(2, 1, change), None);
        engine.look(at(u64::from(round)));
    }
    let order = last_order(&engine.take()).unwrap_or_default();
    assert_eq!(order, RawOrder::default());
}

#[test]
fn a_lever_that_the_applications_own_option_forbids_is_not_begun_and_nobody_counts_as_treated() {
    for (own, begins) in [(Own::NODELAY, false), (Own::DELACK, true), (0, true)] {
        let mut engine = Engine::new(config());
        opened(&mut engine, 1, 0);
        let change = |raw: &mut RawReport| {
            lost_to_nagle(raw, 800_000);
            raw.own = own;
        };
        engine.handle(&report(2, 1, change), None);
        engine.look(at(2));
        let is_at_work = engine.applications()[0].trial(Lever::Nodelay).is_at_work();
        assert_eq!(is_at_work, begins, "{own}");
        assert_eq!(engine.applications()[0].total().nagle, Span::from_millis(800));
    }
    // Begun by a connection that has set nothing: those that have are of neither group.
    for (own, compared, treated, control) in [(Own::DELACK, 0, 1, 0), (0, 10, 8, 3)] {
        let mut engine = Engine::new(EngineConfig { control_per_mille: 0, ..config() });
        opened(&mut engine, 1, 0);
        engine.handle(&report(2, 1, |raw| waits(raw, 8)), None);
        engine.look(at(1));
        engine.handle(&report(2, 1, |raw| waits(raw, 9)), None);
        for cookie in 10..20 {
            let arm = if cookie < 17 { 1 } else { 2 };
            opened(&mut engine, cookie, arm);
            let change = |raw: &mut RawReport| {
                waits(raw, 12);
                (raw.arm, raw.own) = (arm, own);
            };
            engine.handle(&report(2, cookie, change), None);
        }
        engine.look(at(2));
        let one = &engine.applications()[0];
        let of = one.trial(Lever::DelayedAck).compared();
        assert_eq!(of.treated.connections + of.control.connections, compared, "{own}");
        assert_eq!(one.counted()[2..], [treated, control], "{own}");
    }
}

#[test]
fn there_is_room_for_so_many_and_the_rest_is_counted() {
    let mut engine = Engine::new(EngineConfig { connections: 3, ..config() });
    for cookie in 1..=5 {
        opened(&mut engine, cookie, 0);
    }
    assert_eq!(engine.connections().len(), 3);
    assert_eq!(engine.stats().unfollowed, 2);
    engine.handle(&report(3, 5, |raw| lost_to_nagle(raw, 0)), None);
    engine.handle(&report(3, 1, |raw| lost_to_nagle(raw, 0)), None);
    assert_eq!(engine.connections().len(), 2);
}

#[test]
fn sockets_with_a_lever_are_told_until_they_are_gone() {
    let mut engine = Engine::new(config());
    let open = report(1, 9, |raw| (raw.levers, raw.arm) = (NODELAY, 1));
    let application = engine.name(7, "web", all());
    engine.handle(&open, Some(application));
    assert!(engine.take().contains(&Do::Nodelay(9)));
    let close = report(3, 9, |raw| (raw.levers, raw.arm) = (NODELAY, 1));
    engine.handle(&close, None);
    assert!(engine.take().contains(&Do::Gone(9)));
}

#[test]
fn a_host_to_which_packets_overtake_each_other_is_told() {
    let mut engine = Engine::new(config());
    opened(&mut engine, 1, 0);
    let change = |raw: &mut RawReport| {
        (raw.reordering, raw.reordering_seen, raw.dsacks, raw.family) = (12, 1, 3, 2);
        raw.remote_ip[0] = u32::from_ne_bytes([198, 51, 100, 9]);
    };
    engine.handle(&report(3, 1, change), None);
    let to = "198.51.100.9".parse().expect("an address");
    assert!(engine.take().contains(&Do::Reordered(to, 12)));
}

/// Opens a connection of application 7 at this second, which has the lever or not, and exchanges something.
fn opened_at(engine: &mut Engine, cookie: u64, seconds: u64, has_it: bool) {
    let report = report(1, cookie, |raw| {
        raw.at_us = seconds * 1_000_000;
        (raw.arm, raw.levers) = if has_it { (1, NODELAY) } else { (0, 0) };
    });
    let application = engine.wants_name(&report).then(|| engine.name(7, "web", all()));
    engine.handle(&report, application);
}

fn web(engine: &Engine) -> crate::lever::Reached {
    engine.applications()[0].trial(Lever::Nodelay).reached()
}

#[test]
fn a_lever_that_reaches_no_connection_is_known() {
    let mut engine = Engine::new(config());
    opened(&mut engine, 1, 0);
    engine.handle(&report(2, 1, |raw| lost_to_nagle(raw, 800_000)), None);
    engine.look(at(10));
    assert!(engine.applications()[0].trial(Lever::Nodelay).is_at_work());
    // What opened as it began may have missed it.
    opened_at(&mut engine, 2, 10, false);
    engine.look(at(11));
    assert_eq!(web(&engine).connections, 0);
    for cookie in 3..8 {
        opened_at(&mut engine, cookie, 12, false);
    }
    engine.handle(&report(3, 3, |raw| raw.data_segments_in = 1), None);
    engine.look(at(13));
    assert_eq!((web(&engine).connections, web(&engine).is_none()), (5, true));
    opened_at(&mut engine, 9, 14, true);
    engine.look(at(15));
    assert_eq!((web(&engine).treated, web(&engine).is_none()), (1, false));
}

#[test]
fn a_program_that_the_kernel_has_forgotten_is_told_once_more() {
    let mut engine = Engine::new(config());
    opened(&mut engine, 1, 0);
    assert_eq!(engine.take(), [Do::Application(7, 1)]);
    opened(&mut engine, 2, 0);
    assert_eq!(engine.take(), [], "on its way");
    engine.look(at(1));
    opened(&mut engine, 3, 0);
    opened(&mut engine, 4, 0);
    assert_eq!(engine.take(), [Do::Application(7, 1)], "once a second");
}

#[test]
fn other_names_of_an_application_have_rules_too() {
    let mut engine = Engine::new(config());
    opened(&mut engine, 1, 0);
    let allowed = |names: &[String]| match names.iter().any(|name| name == "nginx") {
        true => Allowed::default(),
        false => all(),
    };
    engine.call(0, vec!["nginx".to_owned()], allowed);
    assert_eq!(engine.applications()[0].trial(Lever::Nodelay).standing(), Standing::Off);
    assert_eq!(engine.applications()[0].names(), ["web", "nginx"]);
}
