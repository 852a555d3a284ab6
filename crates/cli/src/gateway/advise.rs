//! `ackord gateway advise`: what remedies would gain here, by observing and simulating.

use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_advice::remedies::Allowance;
use ackord_advice::remedies::gateway::{GatewayForecast, NoForecast, forecast};
use ackord_diagnose::Reader;
use ackord_gateway::advise::{Recording, look_on};
use ackord_gateway::config::{ConfigFile, ConfigOptions, GatewayConfig};
use ackord_scenario::spelling;
use ackord_units::{Bytes, Quantity, Span};
use clap::Args;
use serde_json::{Value, json};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Room for the headers of observed connections.
const RECORDED: Bytes = Bytes(32 << 20);

/// Observe, and forecast what each remedy would gain; nothing is changed or sent
///
/// The forecast comes from simulation. The headers of the connections that open meanwhile are recorded in memory (32 MiB
/// at most). They show the link: its rate, round trips, queue, losses and fades. Every recorded download is then simulated
/// without and with each remedy, and the time that users wait less is the gain, with its 95 % interval. It includes what
/// senders gain that do not slow down. A model that does not reproduce the observed times within 30 % forecasts nothing,
/// nor do fewer than five downloads. All mobile hosts are assumed to share one link that loses packets both ways alike.
///
/// Measured are, per class of connections: what senders retransmitted and when, and when Proxy TCP and Snoop would have;
/// how long nothing was acknowledged, and how long the sender had not tried when it did so with success; round trips to the
/// mobile hosts; shares. Packets that wait in the interface's own qdisc are not observed yet. Ctrl-C ends it earlier.
///
/// It needs CAP_NET_RAW, as tcpdump does. With --capture it observes nothing, and forecasts from a file that was
/// captured on the LAN interface.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArguments {
    /// A configuration, whose rules tell connections apart; without one they are told of together
    #[arg(required_unless_present_any = ["lan", "capture"])]
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
    /// Forecast from this capture of the LAN interface, instead of observing
    ///
    /// Headers are enough: tcpdump -i wlan0 -s 128 -w lan.pcap tcp. Mobile hosts are those that opened connections.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "wan", "lan", "span"])]
    capture: Option<PathBuf>,
    /// Time for the simulations of the forecast, as in '30 s'; '0 s' makes none
    #[arg(long, value_name = "TIME", value_parser = Span::parse, default_value = "30 s")]
    predict_for: Span,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway advise --wan eth0 --lan wlan0
  ackord gateway advise --lan wlan0 --for 30s --json
  ackord gateway advise gateway.toml --for 1h
  ackord gateway advise --capture lan.pcap";

pub(crate) fn advise(arguments: &AdviseArguments, console: &Console) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    match &arguments.capture {
        Some(path) => from_file(arguments, path, &interrupt, console),
        None => by_observing(arguments, &interrupt, console),
    }
}

/// Forecasts from a capture file.
fn from_file(
    arguments: &AdviseArguments,
    path: &Path,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<(), Failure> {
    let open = || Reader::open(path, 0).map_err(|error| Failure::Diagnose(error.to_string()));
    let readers = [open()?, open()?];
    let found = arguments.forecast(readers, Some(interrupt));
    let text = match arguments.json {
        true => ackord_report::data::to_json(&as_json(found.as_ref())),
        false => as_text(found.as_ref()),
    };
    console.print(&text)?;
    if interrupt.check().is_break() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Observes the LAN interfaces, and forecasts from what was recorded.
fn by_observing(
    arguments: &AdviseArguments,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<(), Failure> {
    let config = arguments.config()?;
    let lan = config.lan.join(", ");
    console.remark(&format!("looking on at {lan} for {}; Ctrl-C ends it earlier", arguments.span));
    let go_on = |elapsed: Span| match elapsed < arguments.span {
        true => interrupt.check(),
        false => ControlFlow::Break(()),
    };
    let mut recording = Recording::new(RECORDED).map_err(DaemonFailure::LookOn)?;
    let advice =
        look_on(&config.lan, config.rules, config.limits.limits(), Some(&mut recording), go_on)
            .map_err(DaemonFailure::LookOn)?;
    let left_out = recording.left_out();
    let capture: Arc<[u8]> = recording.into_capture().map_err(DaemonFailure::LookOn)?.into();
    let open = || {
        // A capture that was written here can be read.
        Reader::from_reader("observed", Box::new(Cursor::new(Arc::clone(&capture))), 0).ok()
    };
    let readers = open().zip(open()).map(|(first, second)| [first, second]);
    // Ctrl-C has ended the observation, and not what follows from it.
    let found = readers.and_then(|readers| arguments.forecast(readers, None));
    if left_out > 0 {
        console.remark(&format!("{left_out} connections found no room for the forecast"));
    }
    let text = match arguments.json {
        true => {
            let (mut all, forecast) = (advice.to_json(), as_json(found.as_ref()));
            if let (Value::Object(all), Value::Object(forecast)) = (&mut all, forecast) {
                all.extend(forecast);
            }
            ackord_report::data::to_json(&all)
        }
        false => format!("{}\n{advice}", as_text(found.as_ref())),
    };
    Ok(console.print(&text)?)
}

fn as_text(found: Option<&Result<GatewayForecast, NoForecast>>) -> String {
    match found {
        Some(Ok(forecast)) => forecast.to_string(),
        Some(Err(why)) => format!("No forecast: {why}.\n"),
        None => "No forecast: none was requested (--predict-for).\n".to_owned(),
    }
}

fn as_json(found: Option<&Result<GatewayForecast, NoForecast>>) -> Value {
    match found {
        Some(Ok(forecast)) => json!({ "forecast": forecast }),
        Some(Err(why)) => json!({ "forecast": null, "no_forecast": why.to_string() }),
        None => json!({ "forecast": null }),
    }
}

impl AdviseArguments {
    /// Forecasts, for as long as there is time and no `interrupt`. Nothing if there is no time at all.
    fn forecast(
        &self,
        capture: [Reader; 2],
        interrupt: Option<&Interrupt>,
    ) -> Option<Result<GatewayForecast, NoForecast>> {
        if self.predict_for == Span::ZERO {
            return None;
        }
        let until = Instant::now().checked_add(Duration::from_nanos(self.predict_for.as_nanos()));
        let go_on = || match until.is_some_and(|until| Instant::now() >= until) {
            true => ControlFlow::Break(()),
            false => interrupt.map_or(ControlFlow::Continue(()), Interrupt::check),
        };
        let meter = Meter::begin("simulating");
        let found = forecast(capture, &Allowance::new(&go_on), &mut |share| meter.at(share));
        meter.end();
        Some(found)
    }

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
