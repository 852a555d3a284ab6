//! What is said between a host's kernel in simulated time and the run it is part of.

use crate::apps::{AppNews, Call, EndReport};
use crate::emulate::{CommandLasts, CommandStarts, HostCommand, HostNews, HostReport, Place};
use crate::interop::KernelCounters;
use crate::settings::SettingTold;
use crate::tcp_info::TcpInfo;
use ackord_events::EndpointId;
use ackord_sys::CommandEnd;
use ackord_traffic::Transfer;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, NodeId, Side};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;

/// Where the job is.
pub(crate) const JOB_PATH: &str = "/job.json";

/// What a host is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// What the kernel's random numbers begin with.
    pub(crate) entropy: String,
    /// The scenario, in its canonical form.
    pub(crate) scenario: String,
    /// What the workloads' random streams derive from.
    pub(crate) seed: u64,
    /// Which of its hosts this is.
    pub(crate) node: u16,
    /// The programs of all hosts.
    pub(crate) commands: Vec<JobCommand>,
    /// Where its own run; nothing if it has none.
    pub(crate) programs: Option<ProgramPlace>,
    /// How often the kernel is asked about its connections.
    pub(crate) samples_every_ns: u64,
}

/// Where the programs of a host run: among the files of the machine that all of this runs on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProgramPlace {
    /// The folder that they start in.
    pub(crate) folder: String,
    /// All that they have of the environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// A program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobCommand {
    /// Its host.
    pub(crate) node: u16,
    pub(crate) argv: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Nothing: before the run.
    pub(crate) starts_at_ns: Option<u64>,
    pub(crate) serves: bool,
    pub(crate) ends: Vec<FlowEnd>,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FlowEnd {
    flow: u32,
    client: bool,
}

/// What the run tells a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The run begins when the kernel's CLOCK_MONOTONIC says so many nanoseconds.
    Begin(u64),
    /// The run is over.
    Stop,
}

/// What a host tells the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum GuestMessage {
    /// It is set up; what CLOCK_MONOTONIC says, in nanoseconds.
    Ready { monotonic: u64 },
    /// It cannot be set up, or not go on.
    Failed(String),
    /// At an end of a flow.
    At { at: u64, end: FlowEnd, what: What },
    /// A program has ended.
    Command { number: usize, exited: Option<i32>, killed: Option<i32>, not_started: Option<i32> },
    /// What a program has written: a character for each byte, which is short where it is text.
    Output { number: usize, stream: OutputStream, bytes: String },
    /// The run is over: an end of a flow.
    Left(Box<EndRemains>),
    /// The run is over: the host.
    Host { settings: Vec<SettingTold>, refused: Vec<(String, i32)>, counters: KernelCounters },
}

/// Where a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OutputStream {
    Output,
    Error,
}

/// What has happened at an end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum What {
    Established,
    Began { index: u64, bytes: u64 },
    Completed { index: u64, bytes: u64 },
    Sampled(Box<TcpInfo>),
    Closed,
    Failed { call: String, errno: i32 },
}

/// An end of a flow when all is over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndRemains {
    end: FlowEnd,
    established_at: Option<u64>,
    closed_at: Option<u64>,
    written: u64,
    read: u64,
    datagrams: u64,
    datagrams_refused: u64,
    last: Option<TcpInfo>,
    failure: Option<(String, i32)>,
    options_refused: Vec<(String, i32)>,
}

impl From<EndpointId> for FlowEnd {
    fn from(endpoint: EndpointId) -> FlowEnd {
        FlowEnd { flow: endpoint.flow.0, client: endpoint.side == Side::Client }
    }
}

impl From<FlowEnd> for EndpointId {
    fn from(end: FlowEnd) -> EndpointId {
        let side = if end.client { Side::Client } else { Side::Server };
        EndpointId { flow: FlowId(end.flow), side }
    }
}

impl From<&AppNews> for GuestMessage {
    fn from(news: &AppNews) -> GuestMessage {
        let transfer = |of: &Transfer| (of.index, of.bytes.get());
        let (at, endpoint, what) = match news {
            AppNews::Established { at, endpoint } => (at, endpoint, What::Established),
            AppNews::Began { at, endpoint, transfer: of } => {
                let (index, bytes) = transfer(of);
                (at, endpoint, What::Began { index, bytes })
            }
            AppNews::Completed { at, endpoint, transfer: of } => {
                let (index, bytes) = transfer(of);
                (at, endpoint, What::Completed { index, bytes })
            }
            AppNews::Sampled { at, endpoint, info } => (at, endpoint, What::Sampled(info.clone())),
            AppNews::Closed { at, endpoint } => (at, endpoint, What::Closed),
            AppNews::Failed { at, endpoint, call, errno } => {
                let call = call.word().to_owned();
                (at, endpoint, What::Failed { call, errno: *errno as i32 })
            }
        };
        GuestMessage::At { at: at.as_nanos(), end: (*endpoint).into(), what }
    }
}

/// What a host has told of an end of a flow, as an application in this process tells it.
pub(crate) fn app_news(at: u64, end: FlowEnd, what: What) -> AppNews {
    let (at, endpoint) = (Time::from_nanos(at), EndpointId::from(end));
    let transfer = |index, bytes| Transfer { index, bytes: Bytes(bytes) };
    match what {
        What::Established => AppNews::Established { at, endpoint },
        What::Began { index, bytes } => {
            AppNews::Began { at, endpoint, transfer: transfer(index, bytes) }
        }
        What::Completed { index, bytes } => {
            AppNews::Completed { at, endpoint, transfer: transfer(index, bytes) }
        }
        What::Sampled(info) => AppNews::Sampled { at, endpoint, info },
        What::Closed => AppNews::Closed { at, endpoint },
        What::Failed { call, errno } => {
            AppNews::Failed { at, endpoint, call: call_of(&call), errno: Errno::from_raw(errno) }
        }
    }
}

fn call_of(word: &str) -> Call {
    Call::ALL.into_iter().find(|call| call.word() == word).unwrap_or(Call::Connect)
}

impl From<&EndReport> for EndRemains {
    fn from(report: &EndReport) -> EndRemains {
        let refused = report.options_refused.iter();
        EndRemains {
            end: report.endpoint.into(),
            established_at: report.established_at.map(Time::as_nanos),
            closed_at: report.closed_at.map(Time::as_nanos),
            written: report.written.get(),
            read: report.read.get(),
            datagrams: report.datagrams,
            datagrams_refused: report.datagrams_refused,
            last: report.last,
            failure: report.failure.map(|(call, errno)| (call.word().to_owned(), errno as i32)),
            options_refused: refused.map(|(name, errno)| (name.clone(), *errno as i32)).collect(),
        }
    }
}

impl From<Box<EndRemains>> for EndReport {
    fn from(left: Box<EndRemains>) -> EndReport {
        let errno = Errno::from_raw;
        let refused = left.options_refused.into_iter();
        EndReport {
            endpoint: left.end.into(),
            established_at: left.established_at.map(Time::from_nanos),
            closed_at: left.closed_at.map(Time::from_nanos),
            written: Bytes(left.written),
            read: Bytes(left.read),
            datagrams: left.datagrams,
            datagrams_refused: left.datagrams_refused,
            last: left.last,
            failure: left.failure.map(|(call, number)| (call_of(&call), errno(number))),
            options_refused: refused.map(|(name, number)| (name, errno(number))).collect(),
        }
    }
}

impl From<&HostNews> for GuestMessage {
    fn from(news: &HostNews) -> GuestMessage {
        match news {
            HostNews::App(news) => news.into(),
            HostNews::CommandEnded { number, end } => {
                let (mut exited, mut killed, mut not_started) = (None, None, None);
                match end {
                    CommandEnd::Exited(code) => exited = Some(*code),
                    CommandEnd::Killed(signal) => killed = Some(*signal as i32),
                    CommandEnd::NotStarted(errno) => not_started = Some(*errno as i32),
                }
                GuestMessage::Command { number: *number, exited, killed, not_started }
            }
        }
    }
}

/// How a program has ended, as a host has told it.
pub(crate) fn command_end(
    exited: Option<i32>,
    killed: Option<i32>,
    not_started: Option<i32>,
) -> CommandEnd {
    match (exited, not_started) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, Some(errno)) => CommandEnd::NotStarted(Errno::from_raw(errno)),
        (None, None) => {
            let signal = killed.and_then(|number| Signal::try_from(number).ok());
            CommandEnd::Killed(signal.unwrap_or(Signal::SIGKILL))
        }
    }
}

impl GuestMessage {
    /// What a program has written.
    pub(crate) fn output(number: usize, stream: OutputStream, bytes: &[u8]) -> GuestMessage {
        let bytes = bytes.iter().map(|byte| char::from(*byte)).collect();
        GuestMessage::Output { number, stream, bytes }
    }

    /// A host when the run is over.
    pub(crate) fn host(report: &HostReport) -> GuestMessage {
        let refused = report.refused.iter().map(|(what, errno)| (what.clone(), *errno as i32));
        GuestMessage::Host {
            settings: report.settings.clone(),
            refused: refused.collect(),
            counters: report.counters.clone(),
        }
    }
}

/// What a program has written, as a host has told it.
pub(crate) fn output_bytes(bytes: &str) -> Vec<u8> {
    bytes.chars().map(|byte| byte as u8).collect()
}

/// A host as it has told of itself.
pub(crate) fn host_report(
    node: NodeId,
    settings: Vec<SettingTold>,
    refused: Vec<(String, i32)>,
    counters: KernelCounters,
) -> HostReport {
    let refused = refused.into_iter().map(|(what, errno)| (what, Errno::from_raw(errno)));
    HostReport { node, place: Place::Kernel, settings, refused: refused.collect(), counters }
}

impl JobCommand {
    /// A program.
    pub(crate) fn of(command: &HostCommand) -> JobCommand {
        JobCommand {
            node: command.host.0,
            argv: command.argv.clone(),
            environment: command.environment.clone(),
            starts_at_ns: match command.starts {
                CommandStarts::BeforeTheRun => None,
                CommandStarts::At(at) => Some(at.as_nanos()),
            },
            serves: command.lasts == CommandLasts::AsLongAsTheRun,
            ends: command.ends.iter().map(|end| (*end).into()).collect(),
        }
    }

    /// The same where it is to run.
    pub(crate) fn host_command(&self) -> HostCommand {
        HostCommand {
            host: NodeId(self.node),
            argv: self.argv.clone(),
            environment: self.environment.clone(),
            starts: match self.starts_at_ns {
                None => CommandStarts::BeforeTheRun,
                Some(nanos) => CommandStarts::At(Time::from_nanos(nanos)),
            },
            ends: self.ends.iter().map(|end| (*end).into()).collect(),
            lasts: match self.serves {
                true => CommandLasts::AsLongAsTheRun,
                false => CommandLasts::UntilItEnds,
            },
            stdout: None,
            stderr: None,
        }
    }
}

impl Job {
    /// How often the kernel is asked about its connections.
    pub(crate) fn samples_every(&self) -> Span {
        Span::from_nanos(self.samples_every_ns)
    }
}
/// Tells something, as a line that nothing else gets into: the line takes a write as a whole.
pub(super) fn tell(mut line: &File, told: &GuestMessage) {
    let mut text = serde_json::to_vec(told).unwrap_or_default();
    text.push(b'\n');
    // Whoever does not listen any more is not told.
    let _ = line.write_all(&text);
}
