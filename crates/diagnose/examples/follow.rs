//! Totals of a capture as if it were followed while it happens: `cargo run --release -p ackord-diagnose --example
//! follow -- MOST_CONNECTIONS FILE`. Prints how long settling took at most.

#![allow(clippy::disallowed_methods, reason = "measures")]

use ackord_diagnose::{Follower, Reader};
use ackord_units::{Span, Time};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// Totals are brought up to date this often, by the times of packets.
const SETTLE: Span = Span::from_secs(2);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "follow MOST_CONNECTIONS FILE";
    let most = arguments.next().ok_or(usage)?.parse()?;
    let mut reader = Reader::open(Path::new(&arguments.next().ok_or(usage)?), 0)?;
    let mut follower = Follower::new(most);
    let (mut packets, mut longest, mut all) = (0_u64, Duration::ZERO, Duration::ZERO);
    let (mut batch, mut now, mut due) = (Vec::new(), Time::ZERO, Time::ZERO);
    loop {
        let more = reader.read(&mut batch, 4096)?;
        for seen in batch.drain(..) {
            packets += 1;
            now = now.max(seen.at);
            follower.take(&seen);
            if now >= due {
                let began = Instant::now();
                follower.settle(now);
                longest = longest.max(began.elapsed());
                all += began.elapsed();
                due = now + SETTLE;
            }
        }
        if !more {
            break;
        }
    }
    let totals = follower.finish(now);
    let seconds: f64 = totals.seconds.values().sum();
    println!("{packets} packets, {} connections, {seconds:.1} s", totals.opened);
    println!("open {}, closed {}, forgotten {}", totals.open, totals.closed, totals.forgotten);
    println!("settling took {longest:?} at most, {all:?} in all");
    Ok(())
}
