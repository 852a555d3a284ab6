//! Turns by reports of made-up connections.

use super::*;
use crate::application::Allowed;
use crate::engine::EngineConfig;
use crate::kernel::layout::RawReport;
use crate::lever::{Rule, Standing};
use crate::report::Report;
use ackord_daemon::switchback::Turns;
use ackord_units::Span;

const TURNS: Turns = Turns { length: Span::from_secs(10), settle: Span::from_secs(2), in_block: 2 };
const NODELAY: u8 = 1;

fn config(turns: Option<Turns>) -> EngineConfig {
    EngineConfig {
        acts: true,
        control_per_mille: 0,
        delack_least: Span::from_millis(8),
        has_quick_routes: false,
        rule: Rule {
            least_share: 0.01,
            least_lost: Span::from_millis(100),
            least_stalls: 5,
            enough: 1_000_000,
            each: 5,
            confidence: 0.999,
            retry: None,
        },
        turns,
        connections: 100_000,
        applications: 100,
    }
}

/// A host with a connection of an application that needs a setting, and one of another application.
struct Host {
    engine: Engine,
    raw: [RawReport; 2],
    is_treated: bool,
    turns: Vec<Turn>,
    word: u64,
}

/// What a second of a turn with settings brings, over one without: bytes, segments, time in exchanges of the first
/// application, and of the other.
struct Treated {
    bytes: f64,
    segments: f64,
    active: f64,
    others: f64,
}

const SAME: Treated = Treated { bytes: 1.0, segments: 1.0, active: 1.0, others: 1.0 };

impl Host {
    fn new(turns: Option<Turns>) -> Host {
        let raw = |application| RawReport {
            kind: 1,
            cookie: application,
            application,
            mss: 1_448,
            arm: if application == 1 { 1 } else { 0 },
            ..RawReport::default()
        };
        let mut host = Host {
            engine: Engine::new(config(turns)),
            raw: [raw(1), raw(2)],
            is_treated: true,
            turns: Vec::new(),
            word: 1,
        };
        (0..2).for_each(|at| host.report(at));
        host.raw[0].kind = 2;
        host.raw[1].kind = 2;
        (host.raw[0].nagle_us, host.raw[0].nagle_stalls) = (800_000, 20);
        (host.raw[0].active_us, host.raw[0].data_segments_in) = (1_000_000, 50);
        host.report(0);
        host
    }

    fn report(&mut self, at: usize) {
        let report = Report::of(&self.raw[at]).expect("a report");
        let names = ["web", "other"];
        let named = self.engine.wants_name(&report).then(|| {
            self.engine.name(report.application, names[at], Allowed::of([Lever::Nodelay]))
        });
        self.engine.handle(&report, named);
    }

    /// A second goes by.
    fn second(&mut self, second: u64, treated: &Treated) {
        let of = |value: f64| if self.is_treated { value } else { 1.0 };
        self.word = ackord_daemon::mix(self.word);
        let noise = 1.0 + 0.02 * ((self.word >> 40) as f64 / (1_u64 << 24) as f64 - 0.5);
        let [web, other] = &mut self.raw;
        web.bytes_acked += (1e6 * of(treated.bytes) * noise) as u64;
        web.data_segments_out += (1e3 * of(treated.segments) * noise) as u32;
        web.active_us += (5e5 * of(treated.active) * noise) as u64;
        web.levers = u8::from(self.is_treated) * NODELAY;
        other.bytes_acked += (1e5 * noise) as u64;
        other.active_us += (1e5 * of(treated.others)) as u64;
        (0..2).for_each(|at| self.report(at));
        self.engine.look(Time::ZERO + Span::from_secs(second));
        for done in self.engine.take() {
            if let Do::Turn(turn) = done {
                self.is_treated = turn == Turn::Treated;
                self.turns.push(turn);
            }
        }
    }

    fn run(treated: &Treated) -> Host {
        let mut host = Host::new(Some(TURNS));
        (1..=400).for_each(|second| host.second(second, treated));
        host
    }

    fn standing(&self) -> Standing {
        self.engine.applications()[0].trial(Lever::Nodelay).standing()
    }

    fn harm(&self) -> Option<Outcome> {
        match self.standing() {
            Standing::Withdrawn { why: Why::HarmToHost(outcome), .. } => Some(outcome),
            _ => None,
        }
    }
}

#[test]
fn one_turn_of_each_block_is_without_settings_and_totals_are_compared() {
    let host = Host::run(&Treated { bytes: 1.2, active: 0.6, ..SAME });
    assert_eq!(host.harm(), None);
    let untreated = host.turns.iter().filter(|turn| **turn == Turn::Untreated).count();
    // 40 turns in blocks of two: two untreated ones may follow each other.
    assert!((10..=20).contains(&untreated), "{:?}", host.turns);
    let compared = host.engine.turns_compared();
    assert!(compared.blocks >= 18, "{compared:?}");
    let delivered = compared.log_ratios[0].expect("enough blocks");
    // 1.1 MB of the two, with 1.2 of the first.
    assert!((delivered.mean - ackord_units::portable::ln(1.3 / 1.1)).abs() < 0.02, "{delivered:?}");
    let segments = compared.log_ratios[2].expect("enough blocks");
    assert!(segments.high < 0.0, "{segments:?}");
}

#[test]
fn harm_to_the_host_withdraws_settings_and_a_price_of_a_gain_does_not() {
    assert_eq!(Host::run(&Treated { bytes: 0.8, ..SAME }).harm(), Some(Outcome::Goodput));
    assert_eq!(Host::run(&Treated { active: 1.3, ..SAME }).harm(), Some(Outcome::TimePerByte));
    assert_eq!(Host::run(&Treated { segments: 4.6, ..SAME }).harm(), Some(Outcome::AirPerByte));
    assert_eq!(Host::run(&Treated { segments: 4.6, active: 0.5, ..SAME }).harm(), None);
    let slower = Treated { others: 1.6, active: 0.6, ..SAME };
    assert_eq!(Host::run(&slower).harm(), Some(Outcome::OthersDelay));
    assert_eq!(Host::run(&SAME).harm(), None);
}

#[test]
fn with_harm_open_connections_lose_their_settings_and_new_ones_get_none() {
    let mut host = Host::new(Some(TURNS));
    let treated = Treated { bytes: 0.8, ..SAME };
    let mut done = Vec::new();
    for second in 1..=400 {
        host.second(second, &treated);
        if host.harm().is_some() {
            done = host.turns.clone();
            break;
        }
    }
    assert_eq!(done[done.len() - 2..], [Turn::Untreated, Turn::Over]);
    assert_eq!(host.engine.applications()[0].class(0), Default::default());
    assert!(!host.engine.switches(), "nothing is at work");
}

#[test]
fn time_without_settings_is_no_evidence_against_them() {
    let mut host = Host::new(Some(TURNS));
    let mut seen = 0;
    for second in 1..=60 {
        host.second(second, &SAME);
        if !host.is_treated {
            // All that is lost is lost in turns without.
            host.raw[0].nagle_us += 500_000;
            host.raw[0].nagle_stalls += 10;
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
    let connection = &host.engine.connections()[&1];
    let sample = connection.sample(|figures| figures.nagle).expect("enough was seen");
    // A report of a turn that has just ended may count half a second of it.
    assert!(sample.stalled_share < 0.15, "{sample:?}");
}

#[test]
fn without_turns_or_settings_at_work_nothing_changes() {
    let mut host = Host::new(None);
    (1..=60).for_each(|second| host.second(second, &SAME));
    assert!(host.turns.is_empty() && !host.engine.switches());
    let mut host = Host::new(Some(TURNS));
    host.engine.look(Time::ZERO + Span::from_secs(1));
    (2..=60).for_each(|second| host.second(second, &SAME));
    assert!(host.engine.switches());
    // Another configuration without turns: all connections have their settings.
    let while_untreated = (61..=200).any(|second| {
        host.second(second, &SAME);
        !host.is_treated
    });
    assert!(while_untreated);
    host.engine.allow(config(None), |_| Allowed::of([Lever::Nodelay]));
    assert!(host.engine.take().contains(&Do::Turn(Turn::Treated)));
}
