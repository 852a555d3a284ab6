//! A process with a queue in the path, which a test starts in the router and does things to.

use ackord_gateway::{AttachBy, Decisions, Follow, InPath, InPathConfig, Journal};
use ackord_path::follow::{RateLimits, RateReason};
use ackord_path::registry::QueueChoice;
use ackord_units::{Bytes, Choice, KnobValue, Rate, Span};
use std::path::Path;
use std::sync::Arc;

/// Not a test: what [`crate::hosts::world::World::gateway`] starts.
#[test]
#[ignore = "a process that other tests start"]
fn the_gateway_itself() {
    let Ok(words) = std::env::var("GATEWAY_TEST") else { return };
    let words: Vec<&str> = words.split(' ').collect();
    let [interface, queue, rate, attach, directory] = words[..] else { panic!("five words") };
    let (journal, undone) = Journal::open(Path::new(directory)).expect("a journal");
    let config = InPathConfig {
        interface: interface.to_owned(),
        queue: choice(queue),
        rate: rate_of(rate).0,
        follow: rate_of(rate).1,
        delay: Span::from_millis(1),
        seed: 1,
        memory: Bytes(16 << 20),
        attach: if attach == "tcx" { AttachBy::Tcx } else { AttachBy::Clsact },
        real_time: true,
    };
    let mut in_path = match InPath::start(config, &Arc::new(journal)) {
        Ok(in_path) => in_path,
        Err(error) => return println!("gateway: {error}"),
    };
    println!("gateway: ready undone={}", undone.undone.len());
    for line in std::io::stdin().lines() {
        let line = line.expect("text");
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["stats"] => println!("gateway: {}", told(&in_path)),
            ["change", queue, rate] => {
                let (rate, follow) = rate_of(rate);
                in_path.change(choice(queue), rate, follow).expect("sound");
                println!("gateway: changed");
            }
            ["stop"] => {
                let stats = in_path.stop();
                println!("gateway: stopped lapses={}", stats.lapses);
                return;
            }
            _ => println!("gateway: what?"),
        }
    }
}

fn told(in_path: &InPath) -> String {
    let stats = in_path.stats();
    let drops: String = stats
        .drops
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!(" {name}={count}"))
        .collect();
    let count = |reason| {
        let place = RateReason::ALL.iter().position(|one| *one == reason).expect("listed");
        stats.follow.as_ref().map_or(0, |follow| follow.counts[place])
    };
    let baseline = stats.follow.as_ref().and_then(|follow| follow.last?.baseline);
    let follow = format!(
        "rate={} raised={} baseline_us={} ",
        stats.rate.as_bits_per_sec(),
        count(RateReason::Raise),
        baseline.map_or(0, |baseline| baseline.as_nanos() / 1_000)
    );
    let rest = format!(
        "in={} out={} cut_up={} control={} marked={} reverse={} waiting={} p50_ns={} dropped={} \
         heartbeat_ms={} lapses={}{drops} state={:?}",
        stats.packets_in,
        stats.packets_out,
        stats.cut_up,
        stats.control,
        stats.marked,
        stats.reverse,
        stats.waiting,
        stats.delay.p50.as_nanos(),
        stats.drops.total(),
        stats.heartbeat_age.as_millis(),
        stats.lapses,
        stats.state
    );
    follow + &rest
}

/// A queue, perhaps with how many packets it may hold: `drop-tail:1000`.
fn choice(words: &str) -> QueueChoice {
    let (name, limit) = words.split_once(':').map_or((words, None), |(a, b)| (a, Some(b)));
    let choice = QueueChoice::named(name).expect("listed");
    match limit {
        Some(limit) => choice.with("limit", KnobValue::Packets(limit.parse().expect("a number"))),
        None => choice,
    }
}

/// A rate, or the lowest, the first and the highest rate of one that follows the link: `auto:1:10:100`, or `report:..` of
/// one whose decisions are only reported.
fn rate_of(words: &str) -> (Rate, Option<Follow>) {
    let parts: Vec<&str> = words.split(':').collect();
    let [word, min, start, max] = parts[..] else { return (mbits(words), None) };
    let [min, start, max] = [min, start, max].map(mbits);
    let decisions = if word == "auto" { Decisions::Apply } else { Decisions::Report };
    (start, Some(Follow { limits: RateLimits { min, max, start }, decisions }))
}

fn mbits(words: &str) -> Rate {
    Rate::from_mbits_per_sec(words.parse().expect("a number"))
}
