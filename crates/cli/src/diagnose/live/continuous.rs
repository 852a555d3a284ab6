//! `--live IFACE --metrics ADDRESS:PORT`: an interface followed for days, as metrics for Prometheus.
//!
//! ```text
//! tcpdump ─► Reader ─► packets ─► Follower ─► totals ─► every 2 s: Shared ◄── HTTP ◄── Prometheus
//!               tracefs: drops by reason, in the kernel ──┘
//! ```
//!
//! Memory is bounded: connections that have closed are forgotten, and above `--most-connections` those that are
//! idle longest.

use super::capture::Capture;
use super::drops::Drops;
use super::metrics::{Packets, Snapshot, serve};
use super::{LiveArguments, NOTICE, SHARE, WAITING};
use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results};
use crate::interrupt::Interrupt;
use ackord_daemon::status::Process;
use ackord_daemon::{Shared, local_addresses, wall_nanos};
use ackord_diagnose::{Follower, Seen, Totals};
use ackord_report::document::{Block, Cell, Document, Section};
use ackord_report::{data, document_files, table};
use ackord_units::Time;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// Totals are brought up to date this often.
const SETTLE: Duration = Duration::from_secs(2);
/// Buffer of the capture, KiB: packets wait in it while connections are judged.
const CAPTURE_BUFFER: &str = "16384";

/// Follows an interface and exports metrics until the time is over, or the user ends it.
pub(super) fn run(
    arguments: &LiveArguments,
    (interface, listen): (&str, SocketAddr),
    output: &OutputArguments,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<(), Failure> {
    let shared = Arc::new(Shared::<Snapshot>::default());
    serve(listen, Arc::clone(&shared)).map_err(|error| {
        Failure::Diagnose(format!(
            "--metrics {listen}: {error}; it takes an address of this host and a port that is free"
        ))
    })?;
    let drops = Drops::begin().map_err(|why| {
        console.remark(&format!("the kernel's reasons for dropping packets are left out: {why}"));
    });
    let mut capture = Capture::begin(interface, None, &["-B", CAPTURE_BUFFER])?;
    console.remark(&format!("metrics of {interface}: http://{listen}/metrics"));
    let mut service = Service {
        began: Instant::now(),
        follower: Follower::new(arguments.most_connections()),
        packets: Packets::default(),
        drops: drops.ok(),
        shared,
    };
    let limit = arguments.time();
    let began = service.began;
    let ended = service.follow(&mut capture, || {
        interrupt.check().is_break() || limit.is_some_and(|limit| began.elapsed() >= limit)
    });
    let rest = capture.end(|seen| service.take(seen))?;
    if !ended {
        return Err(Failure::Diagnose(format!(
            "--live {interface}: tcpdump ended; is the interface still there?"
        )));
    }
    let packets = Packets { dropped: rest.dropped.unwrap_or(0), ..service.packets };
    let totals = service.follower.finish(now());
    let document = document(interface, &totals, packets);
    let json = data::to_json(&totals);
    let results = Results { document: &document, json: &json };
    output.write(console, &results, || document_files(&document))
}

/// The state of the service.
struct Service {
    began: Instant,
    follower: Follower,
    packets: Packets,
    drops: Option<Drops>,
    shared: Arc<Shared<Snapshot>>,
}

impl Service {
    /// Takes packets in until `enough`. Returns false if the capture ended before.
    fn follow(&mut self, capture: &mut Capture, enough: impl Fn() -> bool) -> bool {
        let mut due = Instant::now();
        let mut looked = due;
        loop {
            match capture.packets.recv_timeout(NOTICE) {
                Ok(seen) => self.take(&seen),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return enough(),
            }
            capture.packets.try_iter().take(WAITING).for_each(|seen| self.take(&seen));
            self.shared.beat();
            let now = Instant::now();
            if now >= due {
                self.publish(capture);
                due = Instant::now() + SETTLE.max(now.elapsed() * SHARE);
            }
            if now.duration_since(looked) >= NOTICE {
                looked = now;
                if enough() {
                    return true;
                }
            }
        }
    }

    fn take(&mut self, seen: &Seen) {
        self.packets.tcp += 1;
        self.packets.captured = seen.frame;
        self.follower.take(seen);
    }

    /// Brings the totals up to date and publishes them.
    fn publish(&mut self, capture: &mut Capture) {
        // Addresses come and go with networks. Without any, all packets count as forwarded.
        self.follower.set_local(local_addresses());
        self.follower.settle(now());
        self.packets.dropped = self.packets.dropped.max(capture.dropped());
        let reasons = self.drops.as_ref().and_then(|drops| drops.read().ok());
        let uptime_s = self.began.elapsed().as_secs_f64();
        self.shared.publish(Snapshot {
            process: Process::now(uptime_s, String::new(), 0),
            totals: self.follower.totals().clone(),
            packets: self.packets,
            drop_reasons: reasons,
        });
    }
}

/// Returns the time of the wall clock, as packets have it.
fn now() -> Time {
    Time::from_nanos(wall_nanos())
}

/// Builds the report of the totals.
fn document(interface: &str, totals: &Totals, packets: Packets) -> Document {
    let mut causes: Vec<_> = totals.seconds.iter().filter(|(_, seconds)| **seconds > 0.0).collect();
    causes.sort_by(|one, other| other.1.total_cmp(one.1));
    let all: f64 = causes.iter().map(|(_, seconds)| **seconds).sum();
    let table = table!(causes, |(cause, seconds)| [
        words("cause") => cause.title(),
        numbers("time", "s") => Cell::number(*seconds, 3),
        numbers("share", "%") => Cell::number(100.0 * seconds / all.max(1e-9), 1),
        words("to be gained") => if cause.is_loss() { "yes" } else { "" },
    ]);
    let facts = [
        ("connections", totals.opened),
        ("open at the end", totals.open),
        ("TCP packets", packets.tcp),
        ("packets missed by the capture", packets.dropped),
    ];
    Document {
        title: format!("Diagnosis of {interface}"),
        purpose: format!("{} connections, {all:.1} s in all", totals.opened),
        facts: facts.map(|(what, count)| (what.to_owned(), count.to_string())).into(),
        sections: vec![Section::new("Where the time went").with(Block::Table(table))],
    }
}
