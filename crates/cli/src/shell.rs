//! `ackord shell`: a command, or a shell, behind an emulated link.

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::{JsonTarget, check_folder};
use crate::meter::MeterArguments;
use ackord_live::{
    LinkOptions, MeterFeed, Outside, ShellBegins, ShellLink, ShellOptions, ShellOrders, shell,
};
use ackord_report::data;
use ackord_scenario::Override;
use ackord_study::shell::{results, summary};
use ackord_units::Span;
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// Run a command, or your shell, behind an emulated link
///
/// What runs inside sees the world through one link with this rate, delay, loss, queue; the rest of
/// the machine sees nothing of it. Shells go in shells: each adds its link. A link does what its
/// options say in both directions; without --rate or --trace it is as fast as this machine emulates.
///
/// Inside, $ACKORD_BASE ($MAHIMAHI_BASE) is the address of this machine. Ordinary users can do this
/// where the kernel lets them make user namespaces and open /dev/net/tun; otherwise the refusal names
/// the one command that would allow it. The exit code is the command's.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShellArguments {
    #[command(flatten)]
    link: LinkArguments,
    #[command(flatten)]
    meter: MeterArguments,
    /// With --meter on this terminal: where the command's output goes meanwhile. Without this it is
    /// printed when the command has ended
    #[arg(long, value_name = "FILE", requires = "meter")]
    output: Option<PathBuf>,
    /// Write captures (pcapng) of what passes at both ends of the link into this folder:
    /// inside.pcapng, outside.pcapng, and base.pcapng where there is a middlebox
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Write the summary as JSON to this file, or with `-` to standard output after the command's
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
    /// Print the link as a scenario file, which `ackord run` also takes, and run nothing
    #[arg(long)]
    print_scenario: bool,
    /// Ask for real-time scheduling, where that is permitted: packets are then late by less
    #[arg(long)]
    realtime_priority: bool,
    /// How the caller's network is reached
    #[arg(long, value_enum, default_value = "best")]
    outside: OutsideArgument,
    /// Say nothing about the link, neither before nor after
    #[arg(short, long)]
    quiet: bool,
    /// What runs inside; your shell ($SHELL) if nothing is given
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The options that say what the link does.
#[derive(Args)]
#[command(next_help_heading = "The link")]
struct LinkArguments {
    /// Rate of both directions, such as 2mbit
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Rate of what the shell sends
    #[arg(long, value_name = "RATE")]
    up: Option<String>,
    /// Rate of what the shell gets
    #[arg(long, value_name = "RATE")]
    down: Option<String>,
    /// Propagation delay each way, such as 20ms; a round trip takes twice that
    #[arg(long, value_name = "SPAN")]
    delay: Option<String>,
    /// Standard deviation of each packet's delay, such as 5ms: packets may then overtake one another.
    /// Or a kind with its knobs, such as redraw:every=50ms,deviation=5ms
    #[arg(long, value_name = "SPAN|KIND:..", conflicts_with = "reorder")]
    jitter: Option<String>,
    /// Share of packets that are held back, by 10 ms or the time given, so that others overtake them,
    /// such as 1% or 1%:5ms
    #[arg(long, value_name = "SHARE[:SPAN]")]
    reorder: Option<String>,
    /// Share of packets that are lost, such as 1% or 0.01; or a kind with its knobs, such as
    /// gilbert-elliott:good_for=1s,bad_for=50ms
    #[arg(long, value_name = "SHARE|KIND:..", conflicts_with = "burst_loss")]
    loss: Option<String>,
    /// The same, of what the shell sends
    #[arg(long, value_name = "SHARE|KIND:..", conflicts_with = "burst_loss")]
    loss_up: Option<String>,
    /// The same, of what the shell gets
    #[arg(long, value_name = "SHARE|KIND:..", conflicts_with = "burst_loss")]
    loss_down: Option<String>,
    /// Share of packets that are lost in bursts, of 4 packets on average or as many as given, such as
    /// 1% or 1%:8
    #[arg(long, value_name = "SHARE[:PACKETS]")]
    burst_loss: Option<String>,
    /// Share of packets that are damaged on the way
    #[arg(long, value_name = "SHARE|KIND:..")]
    corrupt: Option<String>,
    /// Share of packets that arrive twice
    #[arg(long, value_name = "SHARE")]
    duplicate: Option<String>,
    /// When nothing gets through: 3s+1.5s is 1.5 s after 3 s, several go with commas between them,
    /// and with /20s behind they come again every 20 s; or random:up=10s,down=1s
    #[arg(long, value_name = "FROM+FOR..|KIND:..")]
    fade: Option<String>,
    /// Delivery opportunities in mahimahi's format, of what the shell sends and of what it gets, in
    /// place of rates
    #[arg(long, num_args = 2, value_names = ["UP", "DOWN"], conflicts_with_all = ["rate", "up", "down"])]
    trace: Option<Vec<String>>,
    /// Queue before the link, with knobs if they are to differ, such as codel or
    /// codel:target=15ms; see `ackord list mechanisms`
    #[arg(long, value_name = "QUEUE[:..]", add = ArgValueCompleter::new(completions::queues))]
    queue: Option<String>,
    /// The same, of what the shell sends
    #[arg(long, value_name = "QUEUE[:..]", add = ArgValueCompleter::new(completions::queues))]
    queue_up: Option<String>,
    /// The same, of what the shell gets
    #[arg(long, value_name = "QUEUE[:..]", add = ArgValueCompleter::new(completions::queues))]
    queue_down: Option<String>,
    /// What the queues hold, such as 100 (packets) or 64kB; 1000 packets for a drop-tail queue if
    /// nothing is given
    #[arg(long, value_name = "CAPACITY")]
    limit: Option<String>,
    /// A middlebox before the link, such as snoop, with knobs if they are to differ
    #[arg(long, value_name = "BOX[:..]", add = ArgValueCompleter::new(completions::proxies))]
    proxy: Option<String>,
    /// Propagation delay each way between this machine and the middlebox
    #[arg(long, value_name = "SPAN", requires = "proxy")]
    wired_delay: Option<String>,
    /// Begin with a link of this scenario file (or of a built-in one); options change it
    #[arg(long, value_name = "FILE", add = ArgValueCompleter::new(completions::scenarios))]
    scenario: Option<PathBuf>,
    /// Which link of the scenario, where it has several
    #[arg(long, value_name = "LINK", requires = "scenario")]
    link: Option<String>,
    /// Seed of everything that is drawn at random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Change a value of the finished scenario, such as links.link.reverse.delay="50 ms"; see
    /// --print-scenario
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    changes: Vec<Override>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutsideArgument {
    /// A device towards this machine, where that is allowed, and a gateway for the rest
    Best,
    /// The gateway for everything: TCP ends in this process and goes on over plain sockets
    Gateway,
}

const EXAMPLES: &str = "\
Examples:
  ackord shell --rate 2mbit --delay 20ms
  ackord shell --delay 20ms -- ping -c 3 $HOST
  ackord shell --trace up.trace down.trace --queue codel -- curl -o /dev/null http://$HOST/file
  ackord shell --delay 50ms -- ackord shell --rate 10mbit --loss 1% -- iperf3 -c $HOST
  ackord shell --rate 10mbit --meter=/dev/pts/3
  ackord shell --scenario fades --link air --proxy proxy-tcp

From mahimahi and netem: docs/shell.md has a table.";

pub(crate) fn run(arguments: &ShellArguments, console: &Console) -> Result<(), Failure> {
    let link = arguments.link.options().check(&said())?;
    if arguments.print_scenario {
        return Ok(console.print(&link.text)?);
    }
    let json_folder = match &arguments.json {
        Some(JsonTarget::File(path)) => path.parent(),
        _ => None,
    };
    for folder in arguments.pcap.as_deref().into_iter().chain(json_folder) {
        check_folder(folder)?;
    }
    let own_terminal = arguments.meter.takes_own_terminal();
    if own_terminal && arguments.command.is_empty() {
        return Err(Failure::MeterNeedsTerminal);
    }
    let feed = MeterFeed::of(&link.scenario).with_directions(0, ["down", "up"]);
    let meter = arguments.meter.on(feed)?;
    let output = if own_terminal { Some(output(arguments.output.as_ref())?) } else { None };
    let orders = ShellOrders::new()?;
    listen(&orders, own_terminal)?;
    let options = ShellOptions {
        link: link.clone(),
        command: arguments.command.clone(),
        only_gateway: arguments.outside == OutsideArgument::Gateway,
        captures: arguments.pcap.clone(),
        realtime_priority: arguments.realtime_priority,
        lateness_budget: Span::from_millis(1),
        meter: meter.as_ref().map(|meter| meter.feed()),
        output: output.clone(),
        orders,
    };
    let screen = meter.map(|meter| meter.begin(console)).transpose()?;
    let report = shell(options, &mut |begins| announce(arguments, &link, begins, console));
    // The terminal is the command's output again.
    drop(screen);
    if let Some(output) = output.filter(|_| arguments.output.is_none()) {
        print_output(&output, console)?;
    }
    let report = report?;
    if !arguments.quiet {
        console.complain(&summary(&link, &report));
    }
    if let Some(target) = &arguments.json {
        target.write(&data::to_json(&results(&link, &arguments.command, &report)), console)?;
    }
    match report.end.exit_code() {
        0 => Ok(()),
        code => Err(Failure::CommandEnded(code)),
    }
}

impl LinkArguments {
    fn options(&self) -> LinkOptions {
        let trace = self.trace.as_deref().and_then(|files| match files {
            [up, down] => Some([up.clone(), down.clone()]),
            _ => None,
        });
        LinkOptions {
            rate: self.rate.clone(),
            up: self.up.clone(),
            down: self.down.clone(),
            delay: self.delay.clone(),
            jitter: self.jitter.clone(),
            reorder: self.reorder.clone(),
            loss: self.loss.clone(),
            loss_up: self.loss_up.clone(),
            loss_down: self.loss_down.clone(),
            burst_loss: self.burst_loss.clone(),
            corrupt: self.corrupt.clone(),
            duplicate: self.duplicate.clone(),
            fade: self.fade.clone(),
            trace,
            queue: self.queue.clone(),
            queue_up: self.queue_up.clone(),
            queue_down: self.queue_down.clone(),
            limit: self.limit.clone(),
            proxy: self.proxy.clone(),
            wired_delay: self.wired_delay.clone(),
            scenario: self.scenario.clone(),
            link: self.link.clone(),
            seed: self.seed,
            changes: self.changes.clone(),
        }
    }
}

/// The command line up to the command, for the scenario's source.
fn said() -> String {
    let words =
        std::env::args().skip(1).take_while(|word| word != "--" && word != "--print-scenario");
    ["ackord".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Signals are for the command; those of keys it gets from the terminal itself, unless the meter has
/// that.
fn listen(orders: &ShellOrders, meter_has_terminal: bool) -> Result<(), Failure> {
    let orders = orders.clone();
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]).map_err(Failure::Signals)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if meter_has_terminal {
                orders.signal(signal);
            } else {
                orders.received(signal);
            }
        }
    });
    Ok(())
}

/// Where a command's output goes while the meter has the terminal.
fn output(named: Option<&PathBuf>) -> Result<Arc<File>, Failure> {
    let file = match named {
        Some(path) => File::create(path).map_err(|source| Failure::CommandOutput {
            path: path.display().to_string(),
            source,
        })?,
        None => tempfile::tempfile()?,
    };
    Ok(Arc::new(file))
}

fn print_output(mut output: &File, console: &Console) -> Result<(), Failure> {
    output.seek(SeekFrom::Start(0))?;
    let mut text = Vec::new();
    io::Read::read_to_end(&mut output, &mut text)?;
    Ok(console.print_bytes(&text)?)
}

/// What somebody at a prompt wants to know before it is there.
fn announce(arguments: &ShellArguments, link: &ShellLink, begins: &ShellBegins, console: &Console) {
    if arguments.quiet {
        return;
    }
    if arguments.realtime_priority && !begins.realtime_priority {
        console.remark("ackord: real-time scheduling is not permitted here; going on without");
    }
    if !arguments.command.is_empty() {
        return;
    }
    let block = begins.block;
    console.remark(&format!("ackord: {}; this machine is {} there", link.summary, block.base()));
    if let Outside::Gateway(errno) = &begins.outside {
        console.remark(&format!(
            "ackord: no device may be made out here ({}), so connections end at a gateway: the \
             kernel of the far host is not behind the link",
            errno.desc()
        ));
    }
}
