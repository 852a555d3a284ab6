//! Every error as text and exit code, in one place.

#[cfg(feature = "daemons")]
use crate::daemons::DaemonFailure;
use ackord_history::StoreError;
use ackord_live::{LinkError, LiveError, ShellError};
use ackord_report::WriteError;
use ackord_scenario::{Errors, Style};
use ackord_sim::BuildError;
use ackord_study::guide::GuideError;
use ackord_study::sweep::{StudyError, SweepError};
use ackord_study::{CaptureFolderError, ExecuteError, LiveRunError, VaryError};
use ackord_uml::KernelError;
use ackord_validation::validate::ValidateError;
use ackord_wire::ReadError;
use std::error::Error;
use std::io;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A scenario is not sound.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// A scenario is not sound; its problems have been printed as JSON.
    #[error("the problems are on standard output")]
    ProblemsListed,
    /// What is to be varied is not sound.
    #[error("--vary {0}")]
    Vary(VaryError),
    /// A name that nothing has.
    #[error("there is no {what} called `{given}`{}", hint(nearest.as_deref(), known))]
    UnknownName {
        /// What it would be the name of.
        what: &'static str,
        /// The name.
        given: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// Every name there is.
        known: Vec<String>,
    },
    /// A study is not sound at a point.
    #[error("{0}")]
    Study(StudyError),
    /// A sweep cannot go on, or be looked at.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A front is of two metrics.
    #[error("--pareto `{0}` is not two metrics: allowed is METRIC,METRIC")]
    Pareto(String),
    /// Runs of a sweep failed; the first have been told.
    #[error("{failed} of {of} runs failed; the same command tries them again")]
    SweepRuns {
        /// How many failed.
        failed: usize,
        /// Of how many.
        of: usize,
    },
    /// A run could not be done.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A live run could not be done.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// A shell could not be had.
    #[error(transparent)]
    Shell(#[from] ShellError),
    /// The options of a link are not sound.
    #[error(transparent)]
    Link(LinkError),
    /// The meter and a shell cannot have the same terminal.
    #[error(
        "an interactive shell has this terminal: say which other one the meter may have, as in \
         --meter=/dev/pts/3 (`tty` tells its name there), or give a command"
    )]
    MeterNeedsTerminal,
    /// A file is there that is not to be lost.
    #[error("`{0}` is there already and stays as it is; name another file, or `-` to only print")]
    Exists(String),
    /// Where a command's output was to go.
    #[error("cannot write `{path}`")]
    CommandOutput {
        /// Where.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The command of a shell ended with this exit code, of which nothing is to be said.
    #[error("the command ended with exit code {0}")]
    CommandEnded(u8),
    /// The command of a live run failed.
    #[error("the command inside {0}")]
    Inside(String),
    /// A program of a live run failed.
    #[error("the program at the {end} of flow `{flow}` {outcome}")]
    Program {
        /// Whose flow it stands for.
        flow: String,
        /// At which end.
        end: &'static str,
        /// How it ended.
        outcome: String,
    },
    /// A live run of a scenario could not be done.
    #[error(transparent)]
    LiveRun(#[from] LiveRunError),
    /// Rows of the interoperation matrix did not go as expected.
    #[error("{failed} of {rows} rows did not go as expected")]
    Interop {
        /// How many did not.
        failed: usize,
        /// Of how many.
        rows: usize,
    },
    /// A kernel cannot be had.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The simulator and the kernel could not be compared.
    #[error(transparent)]
    Validate(#[from] ValidateError),
    /// The history of applications cannot be used.
    #[error("{0}{hint}", hint = history_hint(.0))]
    History(#[source] Box<StoreError>),
    /// Nobody knows where the history is.
    #[error("neither XDG_STATE_HOME nor HOME is set: say --store FILE")]
    NoStateFolder,
    /// A capture cannot be read.
    #[error("cannot read the capture `{path}`")]
    Capture {
        /// Which.
        path: String,
        /// Why not.
        source: ReadError,
    },
    /// Many captures cannot be diagnosed, or their data set not be shown.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Fleet(#[from] ackord_advice::fleet::FleetError),
    /// A capture cannot be diagnosed.
    #[error("{0}")]
    Diagnose(String),
    /// A trace cannot be read or made.
    #[error("`{path}`: {why}")]
    Trace {
        /// The file, or the option.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A script cannot be read.
    #[error("`{path}`: {why}")]
    Script {
        /// The file, or the option.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// Scripts did not come out as they say; each has been told.
    #[error("of {all} scripts {failed} did not come out as they say, {bad} could not be played")]
    Scripts {
        /// So many failed.
        failed: usize,
        /// So many have to be changed.
        bad: usize,
        /// So many there were.
        all: usize,
    },
    /// A kernel did not go on under a script, or did otherwise where that is asked about.
    #[error(
        "of {all} scripts the kernel did otherwise in {different}, and did not go on in {broken}"
    )]
    AgainstKernel {
        /// In so many it did otherwise.
        different: usize,
        /// In so many it did not go on.
        broken: usize,
        /// So many there were.
        all: usize,
    },
    /// A size is none.
    #[error("`{given}` is not a size: {why}")]
    Size {
        /// What was given.
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// Standard input could not be read.
    #[error("cannot read standard input")]
    Input(#[source] io::Error),
    /// The guide says something that its runs do not.
    #[error(transparent)]
    Guide(GuideError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Captures could not be written.
    #[error(transparent)]
    Captures(#[from] CaptureFolderError),
    /// Standard output could not be written.
    #[error("cannot write to standard output")]
    Output(#[from] io::Error),
    /// There is no terminal to draw a meter on.
    #[cfg(feature = "meter")]
    #[error("--meter cannot draw on `{terminal}`")]
    Meter {
        /// Which.
        terminal: String,
        /// Why not.
        source: io::Error,
    },
    /// A daemon cannot be, not go on, or not be asked.
    #[cfg(feature = "daemons")]
    #[error(transparent)]
    Daemon(#[from] DaemonFailure),
    /// This program was built without something.
    #[cfg(not(all(feature = "daemons", feature = "meter", feature = "parquet")))]
    #[error(
        "this program was built without `{0}`: build it with \
         `cargo build --release --package ackord-cli`"
    )]
    LeftOut(&'static str),
    /// A run would take more time or memory than is allowed without `--yes`.
    #[error(
        "this would take up to about {0}: give --yes to begin, or make it smaller (a shorter \
         `duration`, fewer flows, lower rates)"
    )]
    Costs(String),
    /// Ctrl-C cannot be listened for.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// There are warnings, which have been printed, and --exit-code asks for an exit code of their own.
    #[cfg(feature = "daemons")]
    #[error("there are warnings")]
    Warned,
    /// Somebody pressed Ctrl-C; what there was to say about it has been said.
    #[error("interrupted")]
    Interrupted,
}

/// What is wrong can be put right by whoever called.
const BAD_INPUT: u8 = 2;
/// Something failed.
const FAILED: u8 = 1;
/// The work is done, with warnings, and an exit code for those was asked for.
#[cfg(feature = "daemons")]
const WARNED: u8 = 3;
/// As shells show a process that SIGINT (2) ended: 128 + 2.
pub(crate) const INTERRUPTED: u8 = 130;

impl Failure {
    /// A name that is not among `known`.
    pub(crate) fn unknown_name(what: &'static str, given: &str, known: Vec<String>) -> Failure {
        let nearest = ackord_units::nearest_name(given, known.iter().map(String::as_str));
        let nearest = nearest.map(str::to_owned);
        Failure::UnknownName { what, given: given.to_owned(), nearest, known }
    }

    /// What the process exits with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Scenario(_)
            | Failure::Costs(_)
            | Failure::ProblemsListed
            | Failure::Study(_)
            | Failure::Pareto(_)
            | Failure::Vary(_)
            | Failure::UnknownName { .. } => BAD_INPUT,
            Failure::Sweep(error) if error.is_bad_input() => BAD_INPUT,
            #[cfg(feature = "parquet")]
            Failure::Fleet(error) if error.is_bad_input() => BAD_INPUT,
            // A checked scenario that is too large is still one that has to be changed.
            Failure::Execute(ExecuteError::Build(
                BuildError::Graph(_) | BuildError::Element { .. },
            )) => BAD_INPUT,
            Failure::Live(LiveError::Interrupted) => INTERRUPTED,
            Failure::Live(error) | Failure::LiveRun(LiveRunError::Live(error)) => error.exit_code(),
            Failure::LiveRun(LiveRunError::CommandsNeedKernel { .. }) => BAD_INPUT,
            Failure::Shell(error) => error.exit_code(),
            Failure::Kernel(error) | Failure::Execute(ExecuteError::NoKernel(error)) => {
                error.exit_code()
            }
            Failure::CommandEnded(code) => *code,
            #[cfg(feature = "daemons")]
            Failure::Warned => WARNED,
            #[cfg(feature = "meter")]
            Failure::Meter { .. } => BAD_INPUT,
            #[cfg(feature = "daemons")]
            Failure::Daemon(error) if error.is_bad_input() => BAD_INPUT,
            #[cfg(not(all(feature = "daemons", feature = "meter", feature = "parquet")))]
            Failure::LeftOut(_) => BAD_INPUT,
            Failure::Link(_)
            | Failure::MeterNeedsTerminal
            | Failure::Exists(_)
            | Failure::CommandOutput { .. } => BAD_INPUT,
            Failure::Validate(ValidateError::Live { source, .. }) => {
                source.downcast_ref::<LiveError>().map_or(FAILED, LiveError::exit_code)
            }
            Failure::NoStateFolder
            | Failure::Size { .. }
            | Failure::Trace { .. }
            | Failure::Diagnose(_) => BAD_INPUT,
            Failure::Script { .. } => BAD_INPUT,
            Failure::Scripts { bad, .. } if *bad > 0 => BAD_INPUT,
            Failure::History(error) => match **error {
                StoreError::Damaged { .. }
                | StoreError::Io { .. }
                | StoreError::Database { .. } => FAILED,
                _ => BAD_INPUT,
            },
            Failure::Capture { source: ReadError::Io(error), .. }
                if error.kind() != io::ErrorKind::NotFound =>
            {
                FAILED
            }
            Failure::Capture { .. } => BAD_INPUT,
            Failure::Write(WriteError::NotAFolder(_) | WriteError::NotWritable { .. }) => BAD_INPUT,
            // Whoever reads our output has seen enough, as with `| head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Interrupted => INTERRUPTED,
            _ => FAILED,
        }
    }

    /// The whole text for standard error.
    pub(crate) fn render(&self, style: Style) -> String {
        match self {
            Failure::Scenario(errors) | Failure::Vary(VaryError::Scenario(errors)) => {
                errors.render(style)
            }
            Failure::Study(error) => error.render(style),
            Failure::Interrupted
            | Failure::ProblemsListed
            | Failure::Kernel(KernelError::Interrupted)
            | Failure::CommandEnded(_)
            | Failure::Live(LiveError::Interrupted) => String::new(),
            #[cfg(feature = "daemons")]
            Failure::Warned => String::new(),
            _ if self.exit_code() == 0 => String::new(),
            _ => {
                let word = match style {
                    Style::Plain => "error",
                    Style::Coloured => "\u{1b}[1;31merror\u{1b}[0m",
                };
                format!("{word}: {}\n", with_causes(self))
            }
        }
    }
}

/// What is wrong with a scenario or a configuration is shown with its place in the file, whoever found it.
macro_rules! with_places {
    ($($(#[$feature:meta])? $error:ty: $places:path, $otherwise:expr;)*) => {$(
        $(#[$feature])?
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                match error {
                    $places(errors) => Failure::Scenario(errors),
                    error => $otherwise(error).into(),
                }
            }
        }
    )*};
}

with_places! {
    LinkError: LinkError::Scenario, Failure::Link;
    StudyError: StudyError::File, Failure::Study;
    VaryError: VaryError::Scenario, Failure::Vary;
    #[cfg(feature = "daemons")] ackord_gateway::DaemonError: ackord_gateway::DaemonError::Config, DaemonFailure::Gateway;
    #[cfg(feature = "agent")] ackord_agent::DaemonError: ackord_agent::DaemonError::Config, DaemonFailure::Agent;
}

#[cfg(feature = "daemons")]
impl From<ackord_gateway::watch::ControlError> for Failure {
    fn from(error: ackord_gateway::watch::ControlError) -> Failure {
        DaemonFailure::Control(error).into()
    }
}

/// The error and what caused it: "cannot write `x`: No space left on device".
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        // Some errors repeat their cause in their own words.
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

/// What to do about a history that is not there.
fn history_hint(error: &StoreError) -> &'static str {
    match error {
        StoreError::Missing(_) => {
            "; `ackord history import`, `ackord history record` or a run with --history makes one"
        }
        StoreError::InUse(_) => "; try again when that has ended",
        _ => "",
    }
}

/// More names than these help nobody.
const MOST_NAMES: usize = 100;

/// What was probably meant, or else what there is.
fn hint(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None if known.is_empty() => "; there are none".to_owned(),
        None if known.len() > MOST_NAMES => {
            let more = known.len() - MOST_NAMES;
            format!("; there are: {} and {more} more", known[..MOST_NAMES].join(", "))
        }
        None => format!("; there are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_its_neighbour_or_all_there_are() {
        let known = || vec!["reno".to_owned(), "vegas".to_owned()];
        let near = Failure::unknown_name("mechanism", "vegass", known());
        assert_eq!(
            near.render(Style::Plain),
            "error: there is no mechanism called `vegass`; did you mean `vegas`?\n"
        );
        let far = Failure::unknown_name("mechanism", "zzzzzzzzzz", known());
        assert!(far.render(Style::Plain).ends_with("; there are: reno, vegas\n"));
        assert_eq!(far.exit_code(), 2);
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_nothing_is_said_about_it() {
        let closed = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((closed.exit_code(), closed.render(Style::Plain)), (0, String::new()));
        let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.exit_code(), 1);
        assert!(full.render(Style::Plain).starts_with("error: cannot write to standard output: "));
    }
}
