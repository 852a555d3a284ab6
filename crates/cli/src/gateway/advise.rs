//! `ackord gateway advise`: what remedies would have gained here, by looking on.

use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use crate::interrupt::Interrupt;
use ackord_gateway::advise::look_on;
use ackord_gateway::config::{ConfigFile, ConfigOptions, GatewayConfig};
use ackord_scenario::spelling;
use ackord_units::{Quantity, Span};
use clap::Args;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Look on, and say what each remedy would have gained; nothing is changed or sent
///
/// Measured is what passes the LAN interface: what senders retransmitted and when, beside when Proxy TCP and
/// Snoop would have; how long nothing was acknowledged, and how long the sender had not tried when it did so
/// with success; round trips to the mobile hosts; shares. Estimated is that what a remedy retransmits arrives
/// as the sender's copy did, so the time that recoveries save is reported as 0 to at most, with a likely value and
/// its 95 % interval over connections. What a sender gains that does not slow down is not estimated, and is often
/// several times as much. What waits in the interface's own qdisc is not observed. Ctrl-C ends it earlier.
///
/// It needs CAP_NET_RAW, as tcpdump does.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArguments {
    /// A configuration, whose rules tell connections apart; without one they are told of together
    #[arg(required_unless_present = "lan")]
    config: Option<PathBuf>,
    /// The interface towards the fixed hosts: not looked at, but the same line then serves for `run`
    #[arg(long, value_name = "INTERFACE", conflicts_with = "config")]
    wan: Option<String>,
    /// The interface towards the mobile hosts; may be given several times
    #[arg(long, value_name = "INTERFACE", conflicts_with = "config")]
    lan: Vec<String>,
    /// For how long
    #[arg(long = "for", value_name = "SPAN", default_value = "5min", value_parser = span)]
    span: Span,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway advise --wan eth0 --lan wlan0
  ackord gateway advise --lan wlan0 --for 30s --json
  ackord gateway advise gateway.toml --for 1h";

pub(crate) fn advise(arguments: &AdviseArguments, console: &Console) -> Result<(), Failure> {
    let config = arguments.config()?;
    let interrupt = Interrupt::listen()?;
    let lan = config.lan.join(", ");
    console.remark(&format!("looking on at {lan} for {}; Ctrl-C ends it earlier", arguments.span));
    let go_on = |elapsed: Span| match elapsed < arguments.span {
        true => interrupt.check(),
        false => ControlFlow::Break(()),
    };
    let advice = look_on(&config.lan, config.rules, config.limits.limits(), go_on)
        .map_err(DaemonFailure::LookOn)?;
    let text = match arguments.json {
        true => ackord_report::data::to_json(&advice.to_json()),
        false => advice.to_string(),
    };
    Ok(console.print(&text)?)
}

impl AdviseArguments {
    fn config(&self) -> Result<GatewayConfig, Failure> {
        if let Some(path) = &self.config {
            return Ok(ConfigFile::open(path)?.check()?);
        }
        let options = ConfigOptions {
            wan: self.wan.clone().unwrap_or_else(|| "(none)".to_owned()),
            lan: self.lan.clone(),
            // A configuration has something to do; here nothing is done whatever it says.
            remedy: Some("proxy-tcp".to_owned()),
            ..ConfigOptions::default()
        };
        Ok(options.file().check()?)
    }
}

fn span(text: &str) -> Result<Span, String> {
    let span = Span::parse(&spelling::span(text)).map_err(|error| error.to_string())?;
    match span {
        Span::ZERO => Err("longer than nothing, like 5min".to_owned()),
        span => Ok(span),
    }
}
