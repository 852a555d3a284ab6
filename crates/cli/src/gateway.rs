//! `ackord gateway`: middleboxes and queues of the simulator on a real router.
//!
//! | file | what |
//! | --- | --- |
//! | `gateway.rs` | the commands there are, and what several of them take |
//! | `gateway/run.rs` | `ackord gateway run` |
//! | `gateway/status.rs` | `ackord gateway status` |
//! | `gateway/ending.rs` | `ackord gateway reload` and `stop` |
//! | `gateway/capture.rs` | `ackord gateway capture`: one connection, with what was decided about it |
//! | `gateway/advise.rs` | `ackord gateway advise` |
//! | `gateway/probe.rs` | `ackord gateway probe`: what this machine allows |
//! | `gateway/check.rs` | `ackord gateway check` |
//! | `gateway/plan.rs` | `ackord gateway plan` |
//! | `gateway/trial.rs` | `ackord gateway trial` |

mod advise;
mod capture;
mod check;
mod ending;
mod plan;
mod probe;
mod run;
mod status;
mod trial;

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use ackord_gateway::Machine;
use ackord_gateway::config::{ConfigFile, ConfigOptions, GatewayConfig, gateway_json_schema};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use std::path::PathBuf;

/// Middleboxes and queues on a router, beside stock kernels at both ends
///
/// Runs on the Linux router in front of a wireless or access network. WAN is the side of the servers, called fixed hosts;
/// LAN the side of the subscribers, called mobile hosts. Remedies are on-path: the kernel forwards, the gateway observes
/// copies and injects packets. Proxy TCP freezes senders during an outage and retransmits when the link is back; Snoop
/// retransmits what the radio link lost; M-TCP closes the window during an outage. Queues (FQ-CoDel, selective drop and
/// others) are in-path while a heartbeat is fresh; a remedy needs one. Both are the code that `ackord run` simulates.
/// It needs Linux 5.8, CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF; `ackord gateway probe` names what is missing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GatewayArguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway advise --wan eth0 --lan wlan0
  ackord gateway plan --wan eth0 --lan wlan0 --remedy proxy-tcp --queue fq-codel --rate 18mbit
  ackord gateway check --wan eth0 --lan wlan0 --remedy proxy-tcp --queue fq-codel --rate 18mbit --print > gateway.toml
  ackord gateway check gateway.toml
  ackord gateway plan gateway.toml";

#[derive(Subcommand)]
enum What {
    Run(run::RunArguments),
    Status(status::StatusArguments),
    Reload(ending::ReloadArguments),
    Stop(ending::StopArguments),
    Capture(capture::CaptureArguments),
    Advise(advise::AdviseArguments),
    Probe(probe::ProbeArguments),
    Check(check::CheckArguments),
    Plan(plan::PlanArguments),
    Trial(trial::TrialArguments),
    /// Print the JSON Schema of a gateway's configuration, for editors
    ///
    /// Put `#:schema gateway.schema.json` into the first line of the file.
    #[command(after_help = "For example:\n  ackord gateway schema > gateway.schema.json")]
    Schema,
}

pub(crate) fn gateway(arguments: &GatewayArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Run(arguments) => run::run(arguments, console),
        What::Status(arguments) => status::status(arguments, console),
        What::Reload(arguments) => ending::reload(arguments, console),
        What::Stop(arguments) => ending::stop(arguments, console),
        What::Capture(arguments) => capture::capture(arguments, console),
        What::Advise(arguments) => advise::advise(arguments, console),
        What::Probe(arguments) => probe::probe(arguments, console),
        What::Check(arguments) => check::check(arguments, console),
        What::Plan(arguments) => plan::plan(arguments, console),
        What::Trial(arguments) => trial::trial(arguments, console),
        What::Schema => Ok(console.print(&ackord_report::data::to_json(&gateway_json_schema()))?),
    }
}

/// A configuration: a file, or a line of options.
#[derive(Args)]
pub(crate) struct ConfigArguments {
    /// The configuration file; without one, options say what is to be done
    #[arg(required_unless_present = "wan")]
    config: Option<PathBuf>,
    /// The interface towards the fixed hosts
    #[arg(long, value_name = "INTERFACE", requires = "lan", conflicts_with = "config")]
    wan: Option<String>,
    /// The interface towards the mobile hosts; may be given several times
    #[arg(long, value_name = "INTERFACE", requires = "wan")]
    lan: Vec<String>,
    /// What is done for connections: proxy-tcp, snoop or m-tcp, with knobs behind a colon
    ///
    /// `ackord list` tells what there is; knobs are separated by commas: proxy-tcp:mode=paper.
    #[arg(long, value_name = "REMEDY[:KNOB=VALUE,..]", requires = "wan", add = ArgValueCompleter::new(completions::proxies))]
    remedy: Option<String>,
    /// The queue towards the mobile hosts: selective-drop, fq-codel and others, with knobs behind a colon
    #[arg(long, value_name = "QUEUE[:KNOB=VALUE,..]", requires = "rate", add = ArgValueCompleter::new(completions::queues))]
    queue: Option<String>,
    /// How fast that queue is emptied (20mbit): a little less than what the link behind it can do; or auto
    ///
    /// With `auto` the rate follows the link, by the acknowledgments of the mobile hosts, between --rate-min and --rate-max.
    #[arg(long, value_name = "RATE", requires = "queue", requires = "wan", add = ArgValueCompleter::new(completions::rates))]
    rate: Option<String>,
    /// The lowest rate of --rate auto
    #[arg(long, value_name = "RATE", requires = "rate")]
    rate_min: Option<String>,
    /// The highest rate of --rate auto
    #[arg(long, value_name = "RATE", requires = "rate")]
    rate_max: Option<String>,
    /// The rate of --rate auto at the start and after idle times [default: the geometric mean of both limits]
    #[arg(long, value_name = "RATE", requires = "rate")]
    rate_start: Option<String>,
    /// Only report what --rate auto decides; the rate stays where it starts
    #[arg(long, requires = "rate")]
    rate_dry_run: bool,
    /// The share of connections that never get a remedy [default: 5%]
    #[arg(long, value_name = "SHARE", requires = "wan")]
    control: Option<String>,
    /// The share of turns, of minutes each, in which no connection gets a remedy: they show what remedies do to the whole
    /// link [default: 10%]
    #[arg(long, value_name = "SHARE", requires = "wan")]
    untreated: Option<String>,
}

impl ConfigArguments {
    /// The file, where one was given.
    pub(crate) fn path(&self) -> Option<&std::path::Path> {
        self.config.as_deref()
    }

    /// The configuration's text, not yet checked.
    pub(crate) fn file(&self) -> Result<ConfigFile, Failure> {
        if let Some(path) = &self.config {
            return Ok(ConfigFile::open(path)?);
        }
        let options = ConfigOptions {
            wan: self.wan.clone().unwrap_or_default(),
            lan: self.lan.clone(),
            remedy: self.remedy.clone(),
            queue: self.queue.clone(),
            rate: self.rate.clone(),
            rate_min: self.rate_min.clone(),
            rate_max: self.rate_max.clone(),
            rate_start: self.rate_start.clone(),
            rate_dry_run: self.rate_dry_run,
            control: self.control.clone(),
            untreated: self.untreated.clone(),
        };
        Ok(options.file())
    }
}

/// The machine that this runs on, as far as a configuration has to do with it.
fn machine(config: &GatewayConfig) -> Machine {
    Machine::look([&config.wan].into_iter().chain(&config.lan).map(String::as_str))
}
