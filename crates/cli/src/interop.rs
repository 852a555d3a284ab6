//! `ackord live interop`: the same cases between our TCP and the kernel's, as a table.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_live::{CASES, Case, InteropOptions, LiveError, Row, Sizes, interop};
use ackord_report::{data, to_markdown, to_terminal, write_one};
use ackord_validation::interop::{document, results};
use ackord_wire::{IpVersion, Side};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::Arc;

/// Try our TCP against the kernel's: transfers, short connections, closes, loss, reordering, ECN
///
/// Every case runs with our end as client and as server, over IPv4 and IPv6, each in a network
/// namespace of its own. Both ends work out checksums of what they sent and received; the kernel's
/// counters have to show nothing that the case does not make. The kernel's end is a python3 script
/// on plain sockets; where tshark is installed it looks at every packet.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord live interop --quick
  ackord live interop --case loss-to-us --case ecn-to-us --ip 6
  ackord live interop --page docs/interop.md --json interop.json")]
pub(crate) struct InteropArguments {
    /// Only this case; may be given several times
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Only over this IP
    #[arg(long, value_enum)]
    ip: Option<Family>,
    /// Only with our end as this
    #[arg(long, value_enum)]
    we_are: Option<End>,
    /// 2 MB, 300 connections and pauses of 3 s in place of 100 MB, 10,000 and 30 s; as client over
    /// IPv4 and as server over IPv6 only, unless said otherwise
    #[arg(long)]
    quick: bool,
    /// Seed of the paths' random streams and of the bytes sent
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Leave tshark out
    #[arg(long)]
    no_tshark: bool,
    /// Keep captures (pcapng) of both ends of the path in this folder, one below it for each row
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Write the table as a Markdown page to this file
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write the results as JSON to this file, or with `-` to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Family {
    #[value(name = "4")]
    V4,
    #[value(name = "6")]
    V6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum End {
    Client,
    Server,
}

pub(crate) fn run(arguments: &InteropArguments, console: &Console) -> Result<(), Failure> {
    let options = options(arguments)?;
    let stop = Arc::new(options.stop.clone());
    let interrupt = Interrupt::listen_and(move || stop.stop())?;
    let wanted = arguments.we_are.map(|end| match end {
        End::Client => Side::Client,
        End::Server => Side::Server,
    });
    let mut plan = options.rows();
    plan.retain(|(_, side, _)| wanted.is_none_or(|wanted| wanted == *side));
    if arguments.quick && arguments.ip.is_none() && wanted.is_none() {
        // Every case, end and IP, but not every combination of them.
        plan.retain(|(_, side, ip)| (*side == Side::Client) == (*ip == IpVersion::V4));
    }
    let rows = all_rows(&plan, (&options, &interrupt), console)?;
    if interrupt.check().is_break() {
        return Err(Failure::Interrupted);
    }
    let results = results(&rows, arguments.seed);
    let document = document(&results, command_line(arguments));
    // Before any file that may turn out not to be writable: it may have taken an hour.
    if arguments.json != Some(JsonTarget::Stdout) {
        console.print(&to_terminal(&document, console.screen()))?;
    }
    if let Some(target) = &arguments.json {
        target.write(&data::to_json(&results), console)?;
    }
    if let Some(path) = &arguments.page {
        write_one(path, to_markdown(&document, ".").as_bytes())?;
    }
    match rows.iter().filter(|row| !row.failures.is_empty()).count() {
        0 => Ok(()),
        failed => Err(Failure::Interop { failed, rows: rows.len() }),
    }
}

/// A row to be run: which of the table it is, and what it is.
type Planned = (usize, (&'static Case, Side, IpVersion));

/// Runs the rows, those that mostly wait all at once and then the others one by one.
fn all_rows(
    plan: &[(&'static Case, Side, IpVersion)],
    (options, interrupt): (&InteropOptions, &Interrupt),
    console: &Console,
) -> Result<Vec<Row>, Failure> {
    let meter = Meter::begin("interoperation");
    let mut rows: Vec<Option<Row>> = plan.iter().map(|_| None).collect();
    let mut done = 0;
    let mut finished = |(number, row): (usize, Result<Row, LiveError>)| {
        let row = row?;
        done += 1;
        meter.at(done as f64 / plan.len() as f64);
        console.remark(&line(&row, (done, plan.len())));
        rows[number] = Some(row);
        Ok::<(), Failure>(())
    };
    let planned = plan.iter().copied().enumerate();
    let (waiting, busy): (Vec<Planned>, Vec<Planned>) =
        planned.partition(|(_, (case, _, _))| case.mostly_waits());
    std::thread::scope(|scope| {
        let (say, hear) = std::sync::mpsc::channel();
        for (number, row) in waiting {
            let say = say.clone();
            // Nobody listens any more once a row could not be run.
            scope.spawn(move || say.send((number, interop(row, options))).unwrap_or_default());
        }
        drop(say);
        let result = hear.iter().try_for_each(&mut finished);
        if result.is_err() {
            options.stop.stop();
        }
        result
    })?;
    for (number, row) in busy {
        if interrupt.check().is_break() {
            break;
        }
        finished((number, interop(row, options)))?;
    }
    meter.end();
    Ok(rows.into_iter().flatten().collect())
}

fn options(arguments: &InteropArguments) -> Result<InteropOptions, Failure> {
    let sizes = if arguments.quick { Sizes::QUICK } else { Sizes::FULL };
    let mut options = InteropOptions::new(sizes).map_err(LiveError::System)?;
    let named = |name: &String| {
        let found = CASES.iter().find(|case| case.name == name);
        let known = || CASES.iter().map(|case| case.name.to_owned()).collect();
        found.ok_or_else(|| Failure::unknown_name("case", name, known()))
    };
    if !arguments.cases.is_empty() {
        let chosen: Result<Vec<&Case>, Failure> = arguments.cases.iter().map(named).collect();
        options.cases = chosen?;
    }
    if let Some(family) = arguments.ip {
        options.families = vec![match family {
            Family::V4 => IpVersion::V4,
            Family::V6 => IpVersion::V6,
        }];
    }
    options.seed = arguments.seed;
    options.captures.clone_from(&arguments.pcap);
    options.looks_at_packets = !arguments.no_tshark;
    Ok(options)
}

/// What a user sees of a row while others are to come.
fn line(row: &Row, (number, all): (usize, usize)) -> String {
    let side = if row.side == Side::Client { "client" } else { "server" };
    let ip = if row.ip == IpVersion::V4 { 4 } else { 6 };
    let verdict = if row.failures.is_empty() { "as expected" } else { "NOT AS EXPECTED" };
    let seconds = row.took.as_secs_f64();
    let name = row.case.name;
    let mut line = format!("{number}/{all} {name}, {side}, IPv{ip}: {verdict}, {seconds:.2} s");
    for failure in &row.failures {
        line.push_str(&format!("\n    {failure}"));
    }
    line
}

/// The command that repeats it, for the page.
fn command_line(arguments: &InteropArguments) -> String {
    let mut line = "ackord live interop".to_owned();
    for case in &arguments.cases {
        line.push_str(&format!(" --case {case}"));
    }
    if arguments.quick {
        line.push_str(" --quick");
    }
    if arguments.seed != 1 {
        line.push_str(&format!(" --seed {}", arguments.seed));
    }
    line
}
