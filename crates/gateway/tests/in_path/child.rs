//! A process with a queue in the path, which a test starts in the router and does things to.

use ackord_gateway::{AttachBy, InPath, InPathConfig, Journal};
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
        rate: mbits(rate),
        follow: None,
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
                in_path.change(choice(queue), mbits(rate), None).expect("sound");
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
    format!(
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
    )
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

fn mbits(words: &str) -> Rate {
    Rate::from_mbits_per_sec(words.parse().expect("a number"))
}
