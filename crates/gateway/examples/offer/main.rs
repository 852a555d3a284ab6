//! Offers packets to the router in whose network namespace this runs, as if they had come in by its interfaces:
//! downloads of so many connections at once, data at the WAN interface and acknowledgments at the LAN interface.
//!
//! ```text
//! offer WAN LAN PACKETS_A_SECOND SECONDS CONNECTIONS BYTES_OF_DATA
//! ```
//!
//! The kernel makes the packets itself and goes through its stack with them (XDP's test runs with live frames,
//! Linux 5.18), so that one core offers several hundred thousand a second. Two of three are data, in turn of each
//! connection; one acknowledges two of them, a window later. They go from 10.1.0.2 to 10.2.0.2, an end of the router's
//! links each. `benches/gateway/rings.sh` is what it is for.
//!
//! | file | what |
//! | --- | --- |
//! | `main.rs` | how many, and when |
//! | `frame.rs` | what they look like |
//! | `program.rs` | what the kernel makes of that: another port and number each time |
//! | `kernel.rs` | bpf(2) |
//!
//! Not there: SYNs. A gateway takes connections up in the middle.

#![allow(clippy::disallowed_methods, reason = "a program of its own: arguments, the clock")]

#[path = "../../src/bpf/assembler.rs"]
#[allow(dead_code, reason = "the gateway's programs use more of it")]
mod assembler;
mod frame;
mod kernel;
mod program;

use kernel::Offering;
use std::time::{Duration, Instant};

/// Which kind of packet an [`Offering`] is asked for.
const DATA: usize = 0;
const ACKS: usize = 1;
/// Segments of a connection that are under way.
const WINDOW: u64 = 4;
/// Packets are offered in portions, so often.
const PORTION: Duration = Duration::from_millis(2);
/// Whoever is late makes up for so many at once, at most.
const AT_ONCE: u64 = 4_096;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(wan), Some(lan)) = (words.get(1), words.get(2)) else { usage() };
    let [Some(rate), Some(seconds), Some(connections), Some(len)] = [3, 4, 5, 6].map(number) else {
        usage()
    };
    let all = all((wan, lan), len as u32, connections, rate);
    if let Err(error) = all.and_then(|all| all.offer(Duration::from_secs(seconds))) {
        println!("SKIPPED: {error}");
        std::process::exit(3);
    }
}

fn all((wan, lan): (&str, &str), len: u32, connections: u64, rate: u64) -> std::io::Result<All> {
    let templates = vec![frame::data(wan, len)?, frame::acknowledgments(lan, len)?];
    Ok(All { offering: Offering::new(templates, connections as u32)?, rate, connections })
}

fn usage() -> ! {
    eprintln!("offer WAN LAN PACKETS_A_SECOND SECONDS CONNECTIONS BYTES_OF_DATA");
    std::process::exit(2);
}

/// Data and acknowledgments, together so many a second.
struct All {
    offering: Offering,
    rate: u64,
    connections: u64,
}

impl All {
    /// Offers them, and says how many they were and how long it took.
    fn offer(&self, span: Duration) -> std::io::Result<()> {
        let began = Instant::now();
        let (mut data, mut acks) = (0, 0);
        while began.elapsed() < span {
            let due = (began.elapsed().as_secs_f64() * self.rate as f64) as u64;
            // Of each two of the connections' segments one acknowledgment, as far as they are out of the window.
            let due_data = due.saturating_sub(acks).saturating_sub(data).min(AT_ONCE);
            self.offering.run(DATA, due_data)?;
            data += due_data;
            let due_acks = data.saturating_sub(WINDOW * self.connections) / 2;
            let due_acks = due_acks.saturating_sub(acks).min(AT_ONCE);
            self.offering.run(ACKS, due_acks)?;
            acks += due_acks;
            if due <= data + acks {
                std::thread::sleep(PORTION);
            }
        }
        println!("{data} {acks} {:.3}", began.elapsed().as_secs_f64());
        Ok(())
    }
}
