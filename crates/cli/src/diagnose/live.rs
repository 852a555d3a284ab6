//! `--live IFACE`: packets as they come, from tcpdump, and what they say so far.
//!
//! ```text
//! tcpdump ─► pipe ─► a thread that reads ─► packets ─► Diagnoser ─► every 2 s: a summary
//! ```
//!
//! tcpdump knows how to get at packets, with what right, and how to give them back; it is not linked but
//! started. Every connection is kept in memory, unless `--metrics` makes it a service.
//! Not modelled: several interfaces (`any` has all).
//!
//! | file | what |
//! | --- | --- |
//! | `live/capture.rs` | tcpdump, and the thread that reads its packets |
//! | `live/continuous.rs` | `--metrics`: totals of days, in bounded memory |
//! | `live/metrics.rs` | these as metrics for Prometheus |
//! | `live/drops.rs` | the kernel's reasons for dropping packets, from tracefs |

mod capture;
#[cfg(feature = "daemons")]
mod continuous;
#[cfg(feature = "daemons")]
mod drops;
#[cfg(feature = "daemons")]
mod metrics;

use super::sources::Passes;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::OutputArguments;
use crate::interrupt::Interrupt;
use ackord_advice::{diagnosis_document, diagnosis_summary};
use ackord_diagnose::{Diagnoser, Diagnosis, Seen};
use ackord_report::to_terminal;
use ackord_units::{Quantity, Span};
use capture::Capture;
use clap::Args;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What is shown is new every so often.
const REFRESH: Duration = Duration::from_secs(2);
/// Of the time, one part in so many may be spent on answers that are only looked at.
const SHARE: u32 = 5;
/// Ctrl-C and the end of the time are noticed within this.
const NOTICE: Duration = Duration::from_millis(100);
/// Packets that may wait to be taken in.
const WAITING: usize = 1 << 16;

/// What is looked at while it happens.
#[derive(Args)]
pub(super) struct LiveArguments {
    /// Look at an interface now, instead of at captures: a summary every 2 s, and at the end, or at
    /// Ctrl-C, the usual answer
    ///
    /// Starts tcpdump, which needs the right to capture (CAP_NET_RAW): run it with sudo.
    #[arg(long, value_name = "IFACE", conflicts_with = "captures")]
    live: Option<String>,
    /// For so long; otherwise until Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = Span::parse, requires = "live")]
    time: Option<Span>,
    /// With --live, run as a service: export totals for Prometheus at http://ADDRESS:PORT/metrics, in bounded
    /// memory
    ///
    /// Seconds by cause, retransmissions, round-trip times, zero windows, and why the kernel drops packets. A
    /// connection enters the totals when it has closed, an open one up to a minute ago, and closed ones are
    /// forgotten: the answer at the end has totals, no connections.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "live")]
    #[arg(conflicts_with_all = ["connection", "qlog", "annotate"])]
    metrics: Option<SocketAddr>,
    /// With --metrics, connections kept in memory at most; those idle longest make room for others
    ///
    /// A short connection takes about 8 kB, one that has been busy for long at most half a megabyte.
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "metrics")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    most_connections: u32,
}

impl LiveArguments {
    /// The interface, if one is to be looked at.
    pub(super) fn interface(&self) -> Option<&str> {
        self.live.as_deref()
    }

    fn time(&self) -> Option<Duration> {
        self.time.map(|time| Duration::from_nanos(time.as_nanos()))
    }

    #[cfg(feature = "daemons")]
    fn most_connections(&self) -> usize {
        self.most_connections as usize
    }

    /// Runs as a service, if that is asked for.
    pub(super) fn serve(
        &self,
        output: &OutputArguments,
        interrupt: &Interrupt,
        console: &Console,
    ) -> Option<Result<(), Failure>> {
        let of = (self.live.as_deref()?, self.metrics?);
        #[cfg(feature = "daemons")]
        return Some(continuous::run(self, of, output, interrupt, console));
        #[cfg(not(feature = "daemons"))]
        {
            let _ = (of, output, interrupt, console, self.most_connections);
            Some(Err(Failure::LeftOut("--metrics")))
        }
    }
}

/// What was seen, and the packets in a file where they are wanted again.
pub(super) struct Watched {
    pub(super) diagnosis: Diagnosis,
    pub(super) kept: Option<File>,
}

/// Looks at the interface until the time is over or somebody has seen enough.
pub(super) fn watch(
    arguments: &LiveArguments,
    interface: &str,
    keep: Passes,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<Watched, Failure> {
    let kept = match keep {
        Passes::Again => Some(tempfile::tempfile().map_err(Failure::Input)?),
        Passes::Once => None,
    };
    let copy = kept.as_ref().map(File::try_clone).transpose().map_err(Failure::Input)?;
    let began = Instant::now();
    let capture = Capture::begin(interface, copy, &[])?;
    let limit = arguments.time();
    let mut screen = Screen::new(interface, began, console);
    let mut diagnoser = follow(&capture.packets, &mut screen, || {
        interrupt.check().is_break() || limit.is_some_and(|limit| began.elapsed() >= limit)
    });
    let read = capture.end(|seen| diagnoser.take(seen));
    screen.clear();
    let diagnosis = diagnoser.answer(vec![read?]);
    Ok(Watched { diagnosis, kept })
}

/// Takes packets in until there are no more or `enough`, and shows what they say meanwhile.
fn follow(
    packets: &Receiver<Seen>,
    screen: &mut Screen<'_>,
    enough: impl Fn() -> bool,
) -> Diagnoser {
    let mut diagnoser = Diagnoser::default();
    let mut looked = Instant::now();
    let mut refresh = looked + REFRESH;
    loop {
        match packets.recv_timeout(NOTICE) {
            Ok(seen) => diagnoser.take(&seen),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return diagnoser,
        }
        packets.try_iter().take(WAITING).for_each(|seen| diagnoser.take(&seen));
        let now = Instant::now();
        if now >= refresh {
            screen.show(&diagnoser.answer(Vec::new()));
            let took = now.elapsed();
            refresh = Instant::now() + REFRESH.max(took * SHARE);
        }
        if now.duration_since(looked) >= NOTICE {
            looked = now;
            if enough() {
                return diagnoser;
            }
        }
    }
}

/// Where the running look is shown: drawn anew on a terminal, line by line anywhere else.
struct Screen<'a> {
    interface: &'a str,
    began: Instant,
    console: &'a Console,
    terminal: bool,
    /// Whether anything was drawn.
    drawn: bool,
}

impl<'a> Screen<'a> {
    fn new(interface: &'a str, began: Instant, console: &'a Console) -> Screen<'a> {
        let terminal = io::stderr().is_terminal();
        Screen { interface, began, console, terminal, drawn: false }
    }

    fn show(&mut self, diagnosis: &Diagnosis) {
        let seconds = self.began.elapsed().as_secs_f64();
        let head = format!("{}, {seconds:.0} s", self.interface);
        let nothing_yet = diagnosis.connections.is_empty();
        if !self.terminal {
            let summary = match nothing_yet {
                true => "no TCP yet".to_owned(),
                false => diagnosis_summary(diagnosis),
            };
            self.console.remark(&format!("{head}: {summary}"));
            return;
        }
        let rows =
            rustix::termios::tcgetwinsize(io::stderr()).map_or(24, |size| size.ws_row.max(8));
        let text = match nothing_yet {
            true => "no TCP yet\n".to_owned(),
            false => to_terminal(&diagnosis_document(diagnosis, None, &[]), self.console.screen()),
        };
        let lines = text.lines().take(usize::from(rows) - 3).collect::<Vec<_>>().join("\n");
        // Home, then everything below is cleared.
        let _ =
            write!(io::stderr(), "\x1b[H\x1b[J{head}; Ctrl-C ends it with an answer\n\n{lines}");
        self.drawn = true;
    }

    fn clear(&self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\x1b[H\x1b[J");
        }
    }
}
