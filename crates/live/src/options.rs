//! What `serve`, `fetch` and `interop` are given, and what they give back.

use crate::addresses::Addresses;
use crate::error::LiveError;
use crate::host::ConnectionReport;
use crate::lateness::Lateness;
use crate::watch::{EventCounts, Observer};
use ackord_path::DropCounts;
use ackord_scenario::{Flow, Scenario, Transport};
use ackord_sys::{CommandEnd, StopHandle};
use ackord_units::{Knobs, Span, Time};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// What every live run needs to know.
pub struct LiveOptions {
    /// The path: its first flow says where the two ends are and what our endpoint is made of.
    /// What its flows carry, and when, does not count.
    pub scenario: Scenario,
    /// What the path's random streams derive from.
    pub seed: u64,
    /// The folder for captures of both ends of the path, `ours.pcapng` and `kernel.pcapng`; it is
    /// made if it is missing.
    pub capture: Option<PathBuf>,
    /// How late 99 % of the packets may be for the run to be trusted.
    pub lateness_budget: Span,
    /// Ends the run from elsewhere.
    pub stop: StopHandle,
    /// Told what happens while the run goes on.
    pub notify: Box<dyn FnMut(&Notice)>,
    /// Told every event of our endpoints and of the path.
    pub observe: Option<Observer>,
}

/// Something a user may want to read while a run goes on.
#[derive(Clone, Debug)]
pub enum Notice {
    /// The namespace is there and our host answers.
    Ready {
        /// Our host's addresses.
        addresses: Addresses,
        /// The command line that enters the namespace.
        enter: String,
        /// When the run began, since 1970 by the system's clock: captures count from there.
        began_at: Time,
    },
    /// A connection was closed.
    ConnectionClosed(ConnectionReport),
}

/// How the command inside ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// With this exit code.
    Exited(i32),
    /// Killed by the signal of this name.
    Killed(&'static str),
    /// It was still running when the run ended, and was killed then.
    StillRunning,
}

/// Which congestion control the stock kernel's end uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelCongestion {
    /// What the scenario names for its end.
    pub asked: String,
    /// What the kernel uses: its own default where it does not let a namespace choose the one named.
    pub used: String,
}

/// What happened in a live run.
#[derive(Clone, Debug)]
pub struct LiveReport {
    /// How long the run took.
    pub took: Span,
    /// How late the driver was; look at [`Lateness::is_within_budget`] before believing any delay.
    pub lateness: Lateness,
    /// The driver had real-time priority, which explains much of its lateness.
    pub realtime_priority: bool,
    /// How the kernel's end controls congestion.
    pub kernel_congestion: KernelCongestion,
    /// Every connection of our host, in order of their ends, those still open last.
    pub connections: Vec<ConnectionReport>,
    /// What happened at the device.
    pub device: DeviceCounts,
    /// What happened at our endpoints.
    pub events: EventCounts,
    /// Packets that died on the path, by reason.
    pub drops: DropCounts,
    /// The command inside, if there was one.
    pub command: Option<CommandOutcome>,
}

/// What happened to packets at the TUN device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Read from the kernel and put on the path.
    pub from_kernel: u64,
    /// Handed to the kernel at the end of the path.
    pub to_kernel: u64,
    /// Read, but not for our host.
    pub ignored: u64,
    /// Read, but malformed or with a wrong checksum.
    pub malformed: u64,
    /// The kernel did not take them.
    pub refused: u64,
    /// Came to their end of the path after a packet that had entered it later: reordered, as
    /// RFC 4737 §4.1 has it.
    pub overtaken: u64,
}

impl CommandOutcome {
    /// How `command` has ended.
    ///
    /// # Errors
    /// Where it could not be started.
    pub(crate) fn of(end: CommandEnd, command: &[String]) -> Result<CommandOutcome, LiveError> {
        match end {
            CommandEnd::Exited(code) => Ok(CommandOutcome::Exited(code)),
            CommandEnd::Killed(signal) => Ok(CommandOutcome::Killed(signal.as_str())),
            CommandEnd::NotStarted(errno) => {
                Err(LiveError::CommandNotStarted { command: command.join(" "), errno })
            }
        }
    }
}

impl LiveOptions {
    /// A run over the path of `scenario`, with its seed and without a capture.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new(scenario: Scenario) -> std::io::Result<LiveOptions> {
        Ok(LiveOptions {
            seed: scenario.seed,
            scenario,
            capture: None,
            lateness_budget: Span::from_millis(1),
            stop: StopHandle::new()?,
            notify: Box::new(|_| {}),
            observe: None,
        })
    }

    /// The flow that says where the two ends are.
    pub(crate) fn flow(&self) -> Result<&Flow, LiveError> {
        let datagrams = |flow: &&Flow| flow.transport() == Transport::Udp;
        if let Some(flow) = self.scenario.flows.iter().find(datagrams) {
            let (flow, traffic) = (flow.name.clone(), flow.traffic.mechanism().name);
            return Err(LiveError::Datagrams { flow, traffic });
        }
        if let Some(proxy) = self.scenario.proxies.iter().find(|proxy| proxy.choice.is_some()) {
            return Err(LiveError::Middlebox { proxy: proxy.name.clone() });
        }
        self.scenario.flows.first().ok_or(LiveError::NoFlow)
    }
}

impl fmt::Debug for LiveOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveOptions")
            .field("scenario", &self.scenario.name)
            .field("seed", &self.seed)
            .field("capture", &self.capture)
            .field("lateness_budget", &self.lateness_budget)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::{Override, ScenarioFile};

    #[test]
    fn a_middlebox_is_refused_by_name_and_an_empty_place_for_one_is_not() {
        let options = |change: &str| {
            let file = ScenarioFile::from_library("fading-access-point").expect("in the library");
            let change: Override = change.parse().expect("a change");
            let scenario = file.with_overrides(vec![change]).check().expect("sound");
            LiveOptions::new(scenario).expect("a file descriptor")
        };
        let refused = options("proxies.base.proxy=snoop").flow().map(|_| ()).expect_err("a box");
        assert!(matches!(&refused, LiveError::Middlebox { proxy } if proxy == "base"));
        assert_eq!(refused.exit_code(), 2);
        assert!(options("proxies.base.proxy=none").flow().is_ok());
    }
}
