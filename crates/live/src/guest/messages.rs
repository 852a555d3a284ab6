//! What is said between a host's kernel in simulated time and the run it is part of.

use crate::apps::{AppNews, EndReport};
use crate::emulate::{HostCommand, HostNews, HostReport};
use ackord_sys::CommandEnd;
use ackord_units::Span;
use ackord_wire::NodeId;
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
    #[serde(with = "crate::plain")]
    pub(crate) node: NodeId,
    /// The programs of all hosts.
    pub(crate) commands: Vec<HostCommand>,
    /// Where its own run; nothing if it has none.
    pub(crate) programs: Option<ProgramPlace>,
    /// How often the kernel is asked about its connections.
    #[serde(rename = "samples_every_ns", with = "crate::plain")]
    pub(crate) samples_every: Span,
}

/// Where the programs of a host run: among the files of the machine that all of this runs on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProgramPlace {
    /// The folder that they start in.
    pub(crate) folder: String,
    /// All that they have of the environment.
    pub(crate) environment: Vec<(String, String)>,
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
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum GuestMessage {
    /// It is set up; what CLOCK_MONOTONIC says, in nanoseconds.
    Ready { monotonic: u64 },
    /// It cannot be set up, or not go on.
    Failed(String),
    /// At an end of a flow.
    At(AppNews),
    /// A program has ended.
    Command {
        number: usize,
        #[serde(flatten, with = "crate::plain")]
        end: CommandEnd,
    },
    /// What a program has written: a character for each byte, which is short where it is text.
    Output { number: usize, stream: OutputStream, bytes: String },
    /// The run is over: an end of a flow.
    Left(Box<EndReport>),
    /// The run is over: the host.
    Host(Box<HostReport>),
}

/// Where a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OutputStream {
    Output,
    Error,
}

impl From<HostNews> for GuestMessage {
    fn from(news: HostNews) -> GuestMessage {
        match news {
            HostNews::App(news) => GuestMessage::At(news),
            HostNews::CommandEnded { number, end } => GuestMessage::Command { number, end },
        }
    }
}

impl GuestMessage {
    /// What a program has written.
    pub(crate) fn output(number: usize, stream: OutputStream, bytes: &[u8]) -> GuestMessage {
        let bytes = bytes.iter().map(|byte| char::from(*byte)).collect();
        GuestMessage::Output { number, stream, bytes }
    }
}

/// What a program has written, as a host has told it.
pub(crate) fn output_bytes(bytes: &str) -> Vec<u8> {
    bytes.chars().map(|byte| byte as u8).collect()
}

/// Tells something, as a line that nothing else gets into: the line takes a write as a whole.
pub(super) fn tell(mut line: &File, told: &GuestMessage) {
    let mut text = serde_json::to_vec(told).unwrap_or_default();
    text.push(b'\n');
    // Whoever does not listen any more is not told.
    let _ = line.write_all(&text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::{AppEvent, Call};
    use crate::interop::KernelCounters;
    use crate::settings::{SettingOutcome, SettingTold};
    use ackord_events::EndpointId;
    use ackord_traffic::Transfer;
    use ackord_units::{Bytes, Time};
    use ackord_wire::{FlowId, Side};
    use nix::errno::Errno;
    use nix::sys::signal::Signal;

    const AT: Time = Time::from_nanos(1_500_000_001);
    const END: EndpointId = EndpointId { flow: FlowId(3), side: Side::Server };

    /// What is told, and the line that tells it.
    fn told() -> Vec<(GuestMessage, String)> {
        let at = |what| GuestMessage::At(AppNews { at: AT, endpoint: END, what });
        let transfer = Transfer { index: 2, bytes: Bytes(700) };
        let failed = AppEvent::Failed { call: Call::Connect, errno: Errno::ECONNREFUSED };
        let at_end = |what: &str| {
            let end = r#""end":{"flow":3,"client":false}"#;
            format!(r#"{{"At":{{"at":1500000001,{end},"what":{what}}}}}"#)
        };
        let mut told = vec![
            (at(AppEvent::Established), at_end(r#""Established""#)),
            (at(AppEvent::Began(transfer)), at_end(r#"{"Began":{"index":2,"bytes":700}}"#)),
            (at(AppEvent::Completed(transfer)), at_end(r#"{"Completed":{"index":2,"bytes":700}}"#)),
            (at(AppEvent::Closed), at_end(r#""Closed""#)),
            (at(failed), at_end(r#"{"Failed":{"call":"connect","errno":111}}"#)),
        ];
        for (end, text) in [
            (CommandEnd::Exited(1), r#""exited":1,"killed":null,"not_started":null"#),
            (
                CommandEnd::Killed(Signal::SIGTERM),
                r#""exited":null,"killed":15,"not_started":null"#,
            ),
            (
                CommandEnd::NotStarted(Errno::ENOENT),
                r#""exited":null,"killed":null,"not_started":2"#,
            ),
        ] {
            let line = format!(r#"{{"Command":{{"number":1,{text}}}}}"#);
            told.push((HostNews::CommandEnded { number: 1, end }.into(), line));
        }
        let output = r#"{"Output":{"number":0,"stream":"Error","bytes":"aÿ"}}"#;
        told.push((GuestMessage::output(0, OutputStream::Error, b"a\xff"), output.to_owned()));
        told.extend([(left(), LEFT.to_owned()), (host(), HOST.to_owned())]);
        told
    }

    const LEFT: &str = concat!(
        r#"{"Left":{"end":{"flow":3,"client":false},"established_at":1500000001,"#,
        r#""closed_at":null,"written":1,"read":2,"datagrams":3,"datagrams_refused":4,"#,
        r#""last":null,"failure":["receive",104],"options_refused":[["x",1]]}}"#
    );

    fn left() -> GuestMessage {
        GuestMessage::Left(Box::new(EndReport {
            endpoint: END,
            established_at: Some(AT),
            closed_at: None,
            written: Bytes(1),
            read: Bytes(2),
            datagrams: 3,
            datagrams_refused: 4,
            last: None,
            failure: Some((Call::Receive, Errno::ECONNRESET)),
            options_refused: vec![("x".to_owned(), Errno::EPERM)],
        }))
    }

    const HOST: &str = concat!(
        r#"{"Host":{"settings":[{"knob":"a","asked":"b","outcome":{"Set":"c"}}],"#,
        r#""refused":[["y",22]],"counters":{}}}"#
    );

    fn host() -> GuestMessage {
        let outcome = SettingOutcome::Set("c".to_owned());
        let set = SettingTold { knob: "a".to_owned(), asked: "b".to_owned(), outcome };
        GuestMessage::Host(Box::new(HostReport {
            node: NodeId(4),
            ours: false,
            settings: vec![set],
            refused: vec![("y".to_owned(), Errno::EINVAL)],
            counters: KernelCounters::default(),
        }))
    }

    #[test]
    fn lines_say_what_is_told_and_are_read_back() {
        for (message, line) in told() {
            assert_eq!(serde_json::to_string(&message).expect("a line"), line);
            let read: GuestMessage = serde_json::from_str(&line).expect("it is understood");
            assert_eq!(serde_json::to_string(&read).expect("a line"), line);
        }
    }

    #[test]
    fn a_job_names_its_programs_and_their_ends() {
        let text = concat!(
            r#"{"entropy":"1","scenario":"2","seed":3,"node":4,"commands":[{"node":4,"argv":["ls"],"#,
            r#""environment":[["A","B"]],"starts_at_ns":1500000001,"serves":true,"#,
            r#""ends":[{"flow":3,"client":false}]},{"node":4,"argv":["ls"],"environment":[],"#,
            r#""starts_at_ns":null,"serves":false,"ends":[]}],"programs":null,"samples_every_ns":5}"#
        );
        let job: Job = serde_json::from_str(text).expect("a job");
        assert_eq!(serde_json::to_string(&job).expect("a job"), text);
        assert_eq!((job.commands[0].host, job.commands[0].starts_at), (NodeId(4), Some(AT)));
        assert_eq!((&job.commands[0].ends[..], job.commands[1].serves), (&[END][..], false));
    }
}
