//! Packets per second that a capture is read with: `cargo run --release -p ackord-diagnose --example
//! read_speed -- FILE [TIMES]`. The best of several passes, so that the file comes from memory.

#![allow(clippy::disallowed_methods, reason = "measures")]

use ackord_diagnose::Reader;
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("read_speed FILE [TIMES]");
    let times: usize = arguments.next().map_or(5, |times| times.parse().expect("a number"));
    let mut best = f64::INFINITY;
    for _ in 0..times {
        let began = Instant::now();
        let mut reader =
            Reader::open(Path::new(&file), 0).unwrap_or_else(|error| panic!("{error}"));
        let mut seen = Vec::new();
        while reader.read(&mut seen, 4096).expect("readable") {
            seen.clear();
        }
        let read = reader.finish();
        best = best.min(began.elapsed().as_secs_f64());
        if times == 1 {
            println!("{read:#?}");
        }
        let len = std::fs::metadata(&file).map_or(0, |about| about.len());
        let [million, rate] = [read.frames as f64 / best / 1e6, len as f64 / best / 1e9];
        println!(
            "{} frames, {} TCP: {million:.1} million/s, {rate:.2} GB/s",
            read.frames, read.tcp
        );
    }
}
