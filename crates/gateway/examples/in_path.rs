//! A queue in the path until standard input ends: `in_path INTERFACE QUEUE MBIT [best|tcx|clsact] [fifo|other]`.
//! Says every second how it stands.

#![allow(clippy::disallowed_methods, reason = "a program of its own: arguments, the clock")]

use ackord_gateway::{AttachBy, InPath, InPathConfig, Journal};
use ackord_path::registry::QueueChoice;
use ackord_units::{Bytes, Choice, KnobValue, Rate, Span};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let word = |at: usize| words.get(at).map(String::as_str);
    let (Some(interface), Some(queue), Some(rate)) = (word(1), word(2), word(3)) else {
        eprintln!("in_path INTERFACE QUEUE MBIT [best|tcx|clsact] [fifo|other] [PACKETS]");
        std::process::exit(2);
    };
    let mut choice = QueueChoice::named(queue).expect("a queue that is listed");
    if let Some(packets) = word(6) {
        let packets = packets.parse().expect("a number of packets");
        choice = choice.with("limit", KnobValue::Packets(packets));
    }
    let config = InPathConfig {
        interface: interface.to_owned(),
        queue: choice,
        rate: Rate::from_mbits_per_sec(rate.parse().expect("a rate in Mbit/s")),
        follow: None,
        delay: Span::from_millis(10),
        seed: 1,
        memory: Bytes(64 << 20),
        attach: match word(4) {
            Some("tcx") => AttachBy::Tcx,
            Some("clsact") => AttachBy::Clsact,
            _ => AttachBy::Best,
        },
        real_time: word(5) != Some("other"),
    };
    let directory = std::env::var("STATE_DIRECTORY").unwrap_or("/run/ackord-example".to_owned());
    let (journal, undone) = Journal::open(Path::new(&directory)).expect("a journal");
    println!("{undone:?}");
    let in_path = match InPath::start(config, &Arc::new(journal)) {
        Ok(in_path) => in_path,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(over);
    });
    let second = std::time::Duration::from_secs(1);
    while is_over.recv_timeout(second) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        println!("{:?}", in_path.stats());
    }
    println!("{:?}", in_path.stop());
}
