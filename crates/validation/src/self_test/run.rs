//! One run of a case: between stock kernels in simulated time, captured at three places.

use super::facts::{Facts, Observer};
use super::plan::{Plan, Reader};
use ackord_events::EndpointId;
use ackord_live::Direction;
use ackord_live::{
    EmulationOptions, HostCommand, LiveError, TapObserver, emulate_in_simulated_time,
};
use ackord_scenario::{Errors, Scenario};
use ackord_study::CaptureError;
use ackord_study::kernels_of;
use ackord_study::{CaptureFiles, CaptureSink};
use ackord_uml::KernelError;
use ackord_units::{Span, Time};
use ackord_wire::{FlowAddresses, FlowNodes, IpVersion, Side};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Where captures are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// At the server.
    Server,
    /// At the router, on its interface to `air`.
    Router,
    /// At the client.
    Client,
}

impl Place {
    /// All three, from the server to the client.
    pub const ALL: [Place; 3] = [Place::Server, Place::Router, Place::Client];

    /// As files are called.
    pub const fn name(self) -> &'static str {
        match self {
            Place::Server => "server",
            Place::Router => "router",
            Place::Client => "client",
        }
    }
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    /// A case is not sound: a defect.
    #[error("the case `{0}` is not sound: {1}")]
    Case(String, String),
    /// The kernel has not been built.
    #[error(transparent)]
    NoKernel(#[from] KernelError),
    /// A run did not go on.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The system refused.
    #[error("cannot write what the self-test leaves")]
    Io(#[from] io::Error),
    /// Kept cases cannot be read.
    #[error("cannot read kept cases: `{}`: {}", .0.display(), .1)]
    Kept(PathBuf, String),
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
}

/// How much of each packet is kept: every header with its options, and none of the payload.
const KEPT: usize = 128;

/// How often the kernels are asked about the connection.
const SAMPLES_EVERY: Span = Span::from_millis(2);

/// Runs a case; captures go to `folder`.
pub(super) fn run(plan: &Plan, folder: &Path) -> Result<(Facts, Scenario), SelfTestError> {
    let unsound = |errors: Errors| SelfTestError::Case(plan.name(), errors.to_string());
    let scenario = plan.scenario().map_err(unsound)?;
    let other = || SelfTestError::Case(plan.name(), "no such links or hosts".to_owned());
    let mut observer = Observer::new(&scenario).ok_or_else(other)?;
    let kernels = kernels_of(&scenario)?.ok_or_else(other)?;
    let mut files = Files(folder);
    let taps = Rc::new(RefCell::new(CaptureSink::create(&scenario, &mut files)?));
    let mut options = EmulationOptions::new(scenario.clone())?;
    options.seed = plan.seed;
    options.samples_every = SAMPLES_EVERY;
    options.taps = Some(tapping(&taps));
    options.commands =
        plan.reader.iter().map(|it| reader(plan, &scenario, *it)).collect::<Result<_, _>>()?;
    let go_on = &mut |_: Time| ControlFlow::Continue(());
    let report = emulate_in_simulated_time(options, &kernels, &mut observer, go_on)?;
    match Rc::try_unwrap(taps) {
        Ok(sink) => sink.into_inner().finish()?,
        Err(shared) => shared.borrow_mut().take_error()?,
    }
    Ok((observer.finish(&report.samples), scenario))
}

fn tapping(sink: &Rc<RefCell<CaptureSink>>) -> TapObserver {
    let sink = Rc::clone(sink);
    Box::new(move |packet| {
        let kept = &packet.bytes[..packet.bytes.len().min(KEPT)];
        sink.borrow_mut().take(packet.at, packet.tap, (kept, packet.original_len));
    })
}

/// The captures that are kept: at the server, the client, and the router's side of `air`.
struct Files<'a>(&'a Path);

/// The file of a place.
pub(super) fn capture_file(folder: &Path, place: Place) -> PathBuf {
    folder.join(format!("{}.pcapng", place.name()))
}

impl CaptureFiles for Files<'_> {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        let place = match name {
            "access.at-server.pcapng" => Place::Server,
            "air.at-router.pcapng" => Place::Router,
            "air.at-client.pcapng" => Place::Client,
            _ => return Ok(Box::new(io::sink())),
        };
        Ok(Box::new(BufWriter::new(File::create(capture_file(self.0, place))?)))
    }
}

/// A program that reads as the plan says, in place of the client's application: it has the
/// application's address and port, so that the server's end is none the wiser.
fn reader(plan: &Plan, scenario: &Scenario, reader: Reader) -> Result<HostCommand, SelfTestError> {
    if plan.direction != Direction::Download {
        return Err(SelfTestError::Case(plan.name(), "only a client reads slowly".to_owned()));
    }
    let flow = &scenario.flows[0];
    let nodes = FlowNodes { client: flow.client, server: flow.server };
    let FlowAddresses { client, server } =
        FlowAddresses::of(super::facts::FLOW, nodes, IpVersion::V4);
    let Reader { bytes, pause_ms } = reader;
    let script = format!(
        "use IO::Socket::INET; \
         my $s = IO::Socket::INET->new(PeerAddr => '{}', PeerPort => {}, LocalAddr => '{}', \
         LocalPort => {}, Proto => 'tcp', ReuseAddr => 1) or die $!; my $n = 0; \
         while (1) {{ my $r = sysread($s, my $b, 16384); last unless $r; $n += $r; \
         if ($n >= {bytes}) {{ $n = 0; select(undef, undef, undef, {}) }} }}",
        server.ip(),
        server.port(),
        client.ip(),
        client.port(),
        pause_ms as f64 / 1e3,
    );
    let nothing = || Ok::<_, io::Error>(Some(Arc::new(File::create("/dev/null")?)));
    Ok(HostCommand {
        host: flow.client,
        argv: vec!["perl".to_owned(), "-e".to_owned(), script],
        environment: Vec::new(),
        starts_at: Some(Time::ZERO + Span::from_millis(plan.start_ms)),
        ends: vec![EndpointId { flow: super::facts::FLOW, side: Side::Client }],
        serves: false,
        stdout: nothing()?,
        stderr: nothing()?,
    })
}
