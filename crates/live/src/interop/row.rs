//! One row of the table: a case, who opens the connections, and over which IP.

use super::actor::{Actor, Tally};
use super::case::{Case, Connections, Programs, Sizes};
use super::counters::KernelCounters;
use super::outcome::{Evidence, OurSums, Row};
use super::peer::{self, Plan};
use super::program::Step;
use super::stream::{Sender, Source};
use super::{InteropOptions, verdict};
use crate::addresses::{KERNEL, OURS};
use crate::error::LiveError;
use crate::host::{Listener, Service};
use crate::options::LiveOptions;
use crate::session::Session;
use ackord_scenario::{Override, ScenarioFile};
use ackord_units::{Span, Time};
use ackord_wire::{Endpoints, IpVersion, Side};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// The port that is listened to, at either end.
const PORT: u16 = 5_000;
/// First of the ports our clients use, and how many they are.
const CLIENT_PORTS: (u16, u16) = (49_152, 16_384);
/// First of the ports the kernel's clients use where they have few.
const KERNEL_FIRST_PORT: u16 = 40_000;
/// After this long without an end a row is given up.
const LIMIT: Span = Span::from_secs(1_800);
/// How long our connections may go on after the kernel's application has ended.
const LINGER: Span = Span::from_secs(30);
/// How long what is under way at the end has to arrive.
const SETTLE: Span = Span::from_millis(60);

/// A row under way.
struct RowRun<'a> {
    case: &'static Case,
    side: Side,
    ip: IpVersion,
    options: &'a InteropOptions,
    our_steps: Rc<[Step]>,
    kernel_steps: Vec<Step>,
    connections: u32,
    at_once: u32,
    tallies: Rc<RefCell<Vec<Rc<RefCell<Tally>>>>>,
}

/// Runs one row in a namespace of its own.
pub(super) fn run(
    (case, side, ip): (&'static Case, Side, IpVersion),
    options: &InteropOptions,
) -> Result<Row, LiveError> {
    let (our_steps, kernel_steps) = steps(case, side, &options.sizes);
    let (connections, at_once) = match case.connections {
        Connections::One => (1, 1),
        Connections::Short { at_once } => (options.sizes.connections, at_once),
    };
    let running = RowRun {
        case,
        side,
        ip,
        options,
        our_steps: our_steps.into(),
        kernel_steps,
        connections,
        at_once,
        tallies: Rc::default(),
    };
    running.run()
}

fn steps(case: &Case, side: Side, sizes: &Sizes) -> (Vec<Step>, Vec<Step>) {
    match ((case.programs)(sizes), side) {
        (Programs::ByEnd { ours, kernel }, _) => (ours, kernel),
        (Programs::ByRole { client, server }, Side::Client) => (client, server),
        (Programs::ByRole { client, server }, Side::Server) => (server, client),
    }
}

impl RowRun<'_> {
    fn run(self) -> Result<Row, LiveError> {
        let folder = tempfile::Builder::new().prefix("ackord-interop-").tempdir()?;
        let live = self.live_options(folder.path())?;
        let command = self.plan(folder.path()).command();
        let listener = (self.side == Side::Server).then(|| self.listener());
        let mut session = Session::open(live, self.side, listener, command)?;
        session.start_command()?;
        let broken_off = self.drive(&mut session, folder.path())?;
        let ended_at = session.now();
        settle(&mut session, ended_at + SETTLE)?;
        let kernel = KernelCounters::read(|name| session.table(name));
        let report = session.finish()?;
        let peer = peer::result(folder.path())?;
        let ours = self.sums();
        let began_at = report.connections.iter().map(|connection| connection.began_at).min();
        let mut row = Row {
            case: self.case,
            side: self.side,
            ip: self.ip,
            connections: self.connections,
            bytes: ours.received + peer.as_ref().map_or(0, |peer| peer.received_bytes),
            took: ended_at.saturating_since(began_at.unwrap_or(ended_at)),
            received_sha256: ours.received_checksum.hex(),
            checksums_equal: false,
            our_retransmissions: report
                .connections
                .iter()
                .map(|connection| connection.stats.retransmitted_segments)
                .sum(),
            events: report.events,
            device: report.device,
            drops: report.drops,
            kernel,
            malformed: self.options.look_at_packets(&self.captures(folder.path()))?,
            kernel_congestion: peer
                .as_ref()
                .map_or_else(String::new, |peer| peer.congestion.clone()),
            ss: peer.as_ref().map_or_else(String::new, |peer| peer.ss.clone()),
            failures: Vec::new(),
        };
        let evidence = Evidence {
            connections: self.connections,
            our_steps: &self.our_steps,
            kernel_steps: &self.kernel_steps,
            ours,
            peer: peer.as_ref(),
            reports: &report.connections,
            seed: self.options.seed,
            pause: self.options.sizes.pause,
            broken_off,
        };
        let byte_failures = verdict::byte_failures(&evidence);
        row.checksums_equal = byte_failures.is_empty();
        row.failures = verdict::failures(&row, &evidence);
        row.failures.extend(byte_failures);
        Ok(row)
    }

    fn live_options(&self, folder: &Path) -> Result<LiveOptions, LiveError> {
        let link = self.case.path.link.iter();
        let link = link.map(|(key, value)| Override::new(format!("links.path.{key}"), *value));
        let settings = self.case.settings.iter().map(|(key, value)| Override::new(*key, *value));
        let file = ScenarioFile::new("interop.toml", include_str!("interop.toml"));
        let scenario = file.with_overrides(link.chain(settings)).check();
        let mut live = LiveOptions::new(scenario.expect("the cases' scenarios are sound"))?;
        live.seed = self.options.seed;
        live.stop = self.options.stop.clone();
        live.capture = match &self.options.captures {
            Some(_) => Some(self.captures(folder)),
            None => self.options.looks_at_packets.then(|| folder.to_owned()),
        };
        Ok(live)
    }

    /// Where this row's captures are.
    fn captures(&self, folder: &Path) -> PathBuf {
        let end = if self.side == Side::Client { "client" } else { "server" };
        let ip = if self.ip == IpVersion::V4 { "ipv4" } else { "ipv6" };
        match &self.options.captures {
            Some(captures) => captures.join(format!("{}-{end}-{ip}", self.case.name)),
            None => folder.to_owned(),
        }
    }

    fn plan<'a>(&self, folder: &'a Path) -> Plan<'a> {
        let mut sysctls: Vec<_> = self.case.sysctls.iter().map(|(k, v)| own(k, v)).collect();
        if let Some(ports) = self.case.ports {
            let range = format!("{KERNEL_FIRST_PORT} {}", KERNEL_FIRST_PORT + ports - 1);
            sysctls.push(own("net.ipv4.ip_local_port_range", &range));
        }
        let (role, address) = match self.side {
            Side::Client => ("listen", KERNEL),
            Side::Server => ("connect", OURS),
        };
        Plan {
            folder,
            role,
            address: address.of(self.ip).to_string(),
            port: PORT,
            connections: self.connections,
            at_once: self.at_once,
            seed: self.options.seed,
            patience_s: LIMIT.as_nanos() / 1_000_000_000,
            ss: self.connections == 1,
            sysctls,
            program: peer::words(&self.kernel_steps),
        }
    }

    fn listener(&self) -> Listener {
        let (steps, seed) = (Rc::clone(&self.our_steps), self.options.seed);
        let tallies = Rc::clone(&self.tallies);
        let accept = move || Box::new(actor(&steps, seed, &tallies)) as Box<dyn Service>;
        Listener { port: PORT, accept: Box::new(accept) }
    }

    /// Runs until both ends are done; the answer is why they are not, if they are not.
    fn drive(&self, session: &mut Session, folder: &Path) -> Result<Option<String>, LiveError> {
        let limit = session.now() + LIMIT;
        let mut left = if self.side == Side::Client { self.connections } else { 0 };
        let mut ready = false;
        let mut gone_at = None;
        let mut under_way: Vec<Endpoints> = Vec::new();
        loop {
            let now = session.now();
            if left == 0 && !session.command_runs() && session.host().is_quiet() {
                return Ok(None);
            }
            if now >= limit {
                return Ok(Some(format!("it was not over after {LIMIT}")));
            }
            if !session.command_runs() {
                // The kernel's application is gone; its connections may still be closing.
                if left > 0 {
                    return Ok(Some("the kernel's end was gone before all connections".to_owned()));
                }
                if now >= *gone_at.get_or_insert(now) + LINGER {
                    return Ok(Some("our connections did not end with the kernel's".to_owned()));
                }
            }
            ready = ready || peer::is_ready(folder);
            if ready && left > 0 {
                under_way.retain(|endpoints| !session.host().is_over(*endpoints));
                while left > 0 && under_way.len() < self.at_once as usize {
                    under_way.push(self.connect(session, self.connections - left)?);
                    left -= 1;
                }
            }
            let look_again = now + Span::from_millis(if ready { 500 } else { 10 });
            if session.turn(look_again.min(limit))? {
                return Ok(Some("stopped".to_owned()));
            }
        }
    }

    fn connect(&self, session: &mut Session, index: u32) -> Result<Endpoints, LiveError> {
        let (first, most) = CLIENT_PORTS;
        let ports = u32::from(self.case.ports.unwrap_or(most));
        let dst = SocketAddr::new(KERNEL.of(self.ip), PORT);
        let from = |turn| first + ((index + turn) % ports) as u16;
        let candidates = (0..ports).map(|turn| SocketAddr::new(OURS.of(self.ip), from(turn)));
        let mut candidates = candidates.map(|src| Endpoints { src, dst });
        let endpoints = candidates.find(|endpoints| session.host().is_free(*endpoints));
        let endpoints = endpoints.ok_or(std::io::ErrorKind::AddrNotAvailable);
        let endpoints = endpoints.map_err(std::io::Error::from)?;
        let service = actor(&self.our_steps, self.options.seed, &self.tallies);
        session.connect(endpoints, Box::new(service))?;
        Ok(endpoints)
    }

    fn sums(&self) -> OurSums {
        let mut sums = OurSums::default();
        for tally in self.tallies.borrow().iter() {
            let tally = tally.borrow();
            sums.sent += tally.sent;
            sums.received += tally.received;
            sums.sent_checksum.join(tally.sent_checksum());
            sums.received_checksum.join(tally.received_checksum());
        }
        sums
    }
}

fn own(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// An application for the next connection.
fn actor(steps: &Rc<[Step]>, seed: u64, tallies: &RefCell<Vec<Rc<RefCell<Tally>>>>) -> Actor {
    let mut tallies = tallies.borrow_mut();
    let tally = Rc::new(RefCell::new(Tally::default()));
    let source = Source::new(seed, Sender::Ours, tallies.len() as u64);
    tallies.push(Rc::clone(&tally));
    Actor::new(Rc::clone(steps), source, tally)
}

fn settle(session: &mut Session, until: Time) -> Result<(), LiveError> {
    while session.now() < until {
        session.turn(until)?;
    }
    Ok(())
}

impl InteropOptions {
    /// How many packets tshark calls malformed or of a wrong checksum, where it is installed.
    fn look_at_packets(&self, folder: &Path) -> Result<Option<u64>, LiveError> {
        if !self.looks_at_packets {
            return Ok(None);
        }
        // Linux writes 0xffff where the sum is zero, once in 65,536 packets. It adds up, but
        // RFC 1624 has it 0x0000, and Wireshark calls it bad.
        let bad = format!(
            "_ws.malformed || _ws.short || ip.checksum.status == bad || tcp.option.len.invalid || \
             (tcp.checksum.status == bad && \
             !(tcp.checksum == 0xffff && (ip.src == {} || ipv6.src == {})))",
            KERNEL.v4, KERNEL.v6
        );
        let output = Command::new("tshark")
            .arg("-r")
            .arg(folder.join("kernel.pcapng"))
            .args(["-Y", &bad, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"])
            // Random bytes look like many a protocol above TCP; to this one they are just bytes.
            .args(["-d", &format!("tcp.port=={PORT},echo")])
            .output();
        let output = match output {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            output => output?,
        };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(std::io::Error::other(format!("tshark failed: {said}")).into());
        }
        Ok(Some(output.stdout.iter().filter(|byte| **byte == b'\n').count() as u64))
    }
}
