//! The command line: arguments in, tables and files out, exit codes.
//!
//! | file | what |
//! | --- | --- |
//! | `main.rs` | the commands there are, and which function each calls |
//! | `command_line.rs` | from words to arguments: colours, width, the nearest name for a misspelt one |
//! | `completions.rs`, `completions/` | `ackord completions`, and the names that shells ask for |
//! | `groups.rs` | the commands by purpose, for the help and the manual page |
//! | `input.rs` | what several commands take: scenario files with changes, where results go |
//! | `run.rs` | `ackord run` |
//! | `compare.rs` | `ackord compare` |
//! | `cost.rs` | the time and memory of a run, checked before it begins |
//! | `new.rs`, `new.toml` | `ackord new`: a scenario file to begin with |
//! | `check.rs` | `ackord check` |
//! | `sweep/` | `ackord sweep`: many runs at many points |
//! | `paper.rs` | `ackord paper` |
//! | `list.rs`, `list/` | `ackord list` |
//! | `guide.rs` | `ackord guide` |
//! | `live.rs`, `live_papers.rs` | `ackord live`: our TCP against this machine's |
//! | `shell.rs` | `ackord shell`: a command behind an emulated link |
//! | `accuracy.rs` | `ackord live accuracy` |
//! | `gateway.rs`, `gateway/` | `ackord gateway`: remedies and queues on a router |
//! | `agent.rs`, `agent/` | `ackord agent`: delayed ACKs and Nagle on this host's sockets |
//! | `daemons.rs` | what these two fail by |
//! | `left_out.rs`, `meter_left_out.rs` | the same two, and `--meter`, in a program built without them |
//! | `diagnose.rs` | `ackord diagnose`: captures, and where the time went |
//! | `validate.rs` | `ackord validate`: the simulator beside the kernel |
//! | `kernel.rs` | `ackord kernel`: stock kernels, built and kept |
//! | `man.rs` | `ackord man`: manual pages |
//! | `history.rs`, `with_history.rs` | `ackord history`, and `--history` of runs |
//! | `trace.rs` | `ackord trace`: delivery traces |
//! | `script.rs`, `script_against.rs` | `ackord script`: an endpoint against an injected peer |
//! | `bench.rs` | `ackord bench`, hidden: what a packet costs |
//! | `captures.rs` | folders for captures |
//! | `meter.rs`, `meter/` | `--meter`: a live picture of a link |
//! | `progress.rs` | the progress bar |
//! | `interrupt.rs` | Ctrl-C |
//! | `wrap.rs` | text broken into lines |
//! | `console.rs` | standard output and error: colour, width, closed pipes |
//! | `errors.rs` | every error as text and exit code |
//!
//! Exit codes: 0 done, 1 something failed, 2 bad input, 3 warnings (where --exit-code asks for it), 130 interrupted.

mod accuracy;
#[cfg(feature = "daemons")]
mod agent;
mod bench;
mod captures;
mod check;
mod command_line;
mod compare;
mod completions;
mod console;
mod cost;
#[cfg(feature = "daemons")]
mod daemons;
mod diagnose;
mod errors;
#[cfg(feature = "daemons")]
mod gateway;
mod groups;
mod guide;
mod history;
mod input;
mod interop;
mod interrupt;
mod kernel;
#[cfg(not(feature = "daemons"))]
mod left_out;
mod list;
mod live;
mod live_papers;
mod live_run;
mod man;
#[cfg(feature = "meter")]
mod meter;
#[cfg(not(feature = "meter"))]
mod meter_left_out;
mod new;
mod paper;
mod progress;
mod run;
mod script;
mod script_against;
mod shell;
mod sweep;
mod trace;
mod validate;
mod with_history;
mod wrap;

use clap::{ColorChoice, Parser, Subcommand};
use console::Console;
use errors::Failure;
#[cfg(not(feature = "meter"))]
use meter_left_out as meter;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: ackord_sys::Allocator = ackord_sys::Allocator;

/// Version of this build, with its commit if `scripts/package.sh` built it.
const VERSION: &str = match option_env!("ACKORD_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Answers questions about TCP.
#[derive(Parser)]
#[command(name = "ackord", version = VERSION, after_help = EXAMPLES)]
#[command(
    about = "Which congestion control, loss recovery, ACK policy and queue serve this traffic \
                   on this path, and what does each cost?"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Colour the output: on terminals unless NO_COLOR is set (auto), always, or never
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        default_value = "auto",
        hide_possible_values = true
    )]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Begin with:
  ackord list scenarios                     the built-in ones
  ackord run reno-against-vegas             one of them, its table on the terminal
  ackord run reno-against-vegas --out out   the same with plots, CSV and report.html
  ackord new my.toml                        a scenario of your own, to be changed
  ackord compare lossy-wifi --vary 'flows.*.tcp.congestion=reno,cubic,vegas' --runs 5
  ackord sweep my-study.toml --out out      many runs at many points, on all cores
  ackord paper selective-drop --quick       a published table, and what we find

FILE is a scenario file, or the name of a built-in scenario.
Exit codes: 0 done, 1 something failed, 2 bad input, 3 warnings (where --exit-code asks for it), 130 interrupted.
Tables and help are as wide as the terminal, or elsewhere as COLUMNS says.";

#[derive(Subcommand)]
enum Command {
    Run(run::RunArguments),
    Compare(compare::CompareArguments),
    Sweep(Box<sweep::SweepArguments>),
    Check(check::CheckArguments),
    New(new::NewArguments),
    Paper(paper::PaperArguments),
    List(list::ListArguments),
    Guide(guide::GuideArguments),
    Shell(Box<shell::ShellArguments>),
    Live(live::LiveArguments),
    #[cfg(feature = "daemons")]
    Gateway(Box<gateway::GatewayArguments>),
    #[cfg(feature = "daemons")]
    Agent(Box<agent::AgentArguments>),
    #[cfg(not(feature = "daemons"))]
    Gateway(left_out::LeftOut),
    #[cfg(not(feature = "daemons"))]
    Agent(left_out::LeftOut),
    Diagnose(Box<diagnose::DiagnoseArguments>),
    Validate(validate::ValidateArguments),
    History(history::HistoryArguments),
    Kernel(kernel::KernelArguments),
    Trace(trace::TraceArguments),
    Script(script::ScriptArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
    /// Print the JSON Schema of scenario files, for editors
    ///
    /// With the schema in hand an editor completes keys and marks mistakes while you type; put
    /// `#:schema scenario.schema.json` into the first line of the file.
    Schema,
    #[command(hide = true)]
    Bench(bench::BenchArguments),
}

fn main() -> ExitCode {
    if ackord_live::is_guest() {
        ackord_live::be_guest();
    }
    completions::answer();
    let arguments = command_line::parse();
    let console = Console::of_process(arguments.color);
    let outcome = match &arguments.command {
        Command::Run(arguments) => run::run(arguments, &console),
        Command::Compare(arguments) => compare::compare(arguments, &console),
        Command::Sweep(arguments) => sweep::sweep(arguments, &console),
        Command::Check(arguments) => check::check(arguments, &console),
        Command::New(arguments) => new::new(arguments, &console),
        Command::Paper(arguments) => paper::paper(arguments, &console),
        Command::Guide(arguments) => guide::guide(arguments, &console),
        Command::List(arguments) => list::list(arguments, &console),
        Command::Shell(arguments) => shell::run(arguments, &console),
        Command::Live(arguments) => live::live(arguments, &console),
        #[cfg(feature = "daemons")]
        Command::Gateway(arguments) => gateway::gateway(arguments, &console),
        #[cfg(feature = "daemons")]
        Command::Agent(arguments) => agent::agent(arguments, &console),
        #[cfg(not(feature = "daemons"))]
        Command::Gateway(_) => Err(Failure::LeftOut("ackord gateway")),
        #[cfg(not(feature = "daemons"))]
        Command::Agent(_) => Err(Failure::LeftOut("ackord agent")),
        Command::Diagnose(arguments) => diagnose::run(arguments, &console),
        Command::Man(arguments) => man::man(command_line::command(), arguments, &console),
        Command::Validate(arguments) => validate::validate(arguments, &console),
        Command::History(arguments) => history::history(arguments, &console),
        Command::Kernel(arguments) => kernel::kernel(arguments, &console),
        Command::Trace(arguments) => trace::trace(arguments, &console),
        Command::Script(arguments) => script::script(arguments, &console),
        Command::Completions(arguments) => completions::completions(arguments, &console),
        Command::Schema => schema(&console),
        Command::Bench(arguments) => bench::bench(arguments, &console),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.complain(&failure.render(console.error_style()));
            ExitCode::from(failure.exit_code())
        }
    }
}

fn schema(console: &Console) -> Result<(), Failure> {
    Ok(console.print(&ackord_report::data::to_json(&ackord_scenario::json_schema()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        command_line::command().debug_assert();
    }
}
