//! `ackord script`: an endpoint against a peer that a script injects, in virtual time.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::script_against::{self, AgainstKernel, Opponent};
use ackord_report::data;
use ackord_script::{
    Kind, Outcome, QUANTITIES, Record, Verdict, feature_of, find_scripts, ladder, parse,
    render_failure, render_problems, run, write_pcapng,
};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Play scripts: one endpoint against a peer, segment by segment
///
/// A script says what arrives at an endpoint, what its application does and which segments have to
/// leave it, each at its time. Time is virtual: a script of an hour takes a moment, and comes out
/// the same on every machine.
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ScriptArguments {
    /// Scripts, or folders with scripts (*.tcp) in and below them
    #[arg(value_name = "FILE|FOLDER", default_value = "scripts/tcp")]
    paths: Vec<PathBuf>,
    /// Print everything exchanged as a time-sequence diagram: the endpoint left, the peer right
    #[arg(long)]
    trace: bool,
    /// Write everything exchanged as a capture, for Wireshark; of one script
    #[arg(long, value_name = "FILE")]
    pcapng: Option<PathBuf>,
    /// Write what became of each script as JSON: to a file, or `-` for standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
    /// Play the scripts of `profile linux` against a stock kernel in simulated time, and list what it does
    /// otherwise: `kernel`, `kernel=6.1`, or the path of a kernel's binary after `kernel=`
    #[arg(long, value_name = "kernel[=VERSION]", conflicts_with = "pcapng")]
    against: Option<Opponent>,
    /// Those of other profiles too
    #[arg(long, requires = "against")]
    all_profiles: bool,
    /// Those too that ask for what a kernel cannot be told
    #[arg(long, requires = "against")]
    even_so: bool,
    /// All scripts, but only what arrives and what is called: what is expected is what the simulator's
    /// profile linux does then
    #[arg(long, requires = "against", conflicts_with_all = ["all_profiles", "even_so"])]
    as_linux: bool,
    /// Write the page of all differences, of scripts as they stand and of all --as-linux
    #[arg(long, value_name = "FILE", requires = "against")]
    page: Option<PathBuf>,
    /// Exit with 1 where the kernel does anything otherwise
    #[arg(long, requires = "against")]
    strict: bool,
    /// List what `assert` can ask of an endpoint, and stop
    #[arg(long)]
    quantities: bool,
}

const EXAMPLE: &str = "\
A script, line by line:
  # The third duplicate acknowledgment sends the missing segment again (RFC 5681 3.2).
  profile rfc                        what the endpoint is: rfc, linux or ns2
  set congestion = reno              any choice or knob, as in scenario files

  0      handshake rtt 100 ms        connect, SYN, SYN-ACK, ACK; the peer's MSS is 1000
  0.100  call write 10 kB            the application writes
         expect 10 segments of 1000 B from 1
  0.200  inject ack 1                arrives at the endpoint
  +1 ms  inject ack 1                a millisecond later
  +1 ms  inject ack 1 <sack 1001:4001>
         expect seq 1:1001           leaves the endpoint at exactly this time
         assert retransmissions = 1, recovery = fast

Sequence numbers count from each side's initial one. A segment that nothing expects is a failure;
fields that are not written are not compared. docs/scripts.md has it all.

Exit codes: 0 all as they say, 1 some are not or a file cannot be written, 2 a script cannot be read
or played.";

pub(crate) fn script(arguments: &ScriptArguments, console: &Console) -> Result<(), Failure> {
    if arguments.quantities {
        return Ok(console.print(&quantities())?);
    }
    let files = files(&arguments.paths)?;
    keep_scripts(arguments)?;
    if arguments.pcapng.is_some() && files.len() != 1 {
        let why = format!("a capture is of one script, and these are {}", files.len());
        return Err(Failure::Script { path: "--pcapng".to_owned(), why });
    }
    if let Some(opponent) = &arguments.against {
        return against_kernel(opponent, &files, arguments, console);
    }
    let mut played = Played::default();
    for file in &files {
        played.play(file, arguments, console)?;
    }
    if let Some(target) = &arguments.json {
        target.write(&data::to_json(&played.records), console)?;
    }
    played.tell(arguments, console)
}

/// `--json x.tcp` is a script in the place of a file to write: it would be lost.
fn keep_scripts(arguments: &ScriptArguments) -> Result<(), Failure> {
    let json = arguments.json.as_ref().and_then(|target| match target {
        JsonTarget::File(path) => Some(("--json", path)),
        JsonTarget::Stdout => None,
    });
    let capture = arguments.pcapng.as_ref().map(|path| ("--pcapng", path));
    for (option, path) in [json, capture].into_iter().flatten() {
        if path.extension().is_some_and(|extension| extension == "tcp") {
            let why = format!("would be written over the script `{}`", path.display());
            return Err(Failure::Script { path: option.to_owned(), why });
        }
    }
    Ok(())
}

/// A script's name and text.
fn read(file: &Path) -> Result<(String, String), Failure> {
    let name = file.display().to_string();
    let refuse = |why: String| Failure::Script { path: name.clone(), why };
    let bytes = std::fs::read(file).map_err(|error| refuse(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|octet| **octet == b'\n').count() + 1;
        refuse(format!("line {line} is not text in UTF-8"))
    })?;
    Ok((name, text))
}

fn against_kernel(
    opponent: &Opponent,
    files: &[PathBuf],
    arguments: &ScriptArguments,
    console: &Console,
) -> Result<(), Failure> {
    let mut scripts = Vec::new();
    for file in files {
        let (name, text) = read(file)?;
        let script = parse(&text).map_err(|problems| {
            console.complain(&render_problems(&name, &text, &problems));
            Failure::Script { path: name.clone(), why: "it cannot be read".to_owned() }
        })?;
        scripts.push((name, script));
    }
    let asked = AgainstKernel {
        opponent,
        trace: arguments.trace,
        all_profiles: arguments.all_profiles,
        even_so: arguments.even_so,
        as_linux: arguments.as_linux,
        strict: arguments.strict,
        json: arguments.json.as_ref(),
        page: arguments.page.as_deref(),
    };
    script_against::play(&asked, scripts, console)
}

fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let found = find_scripts(path)
            .map_err(|error| Failure::Script { path: name.clone(), why: error.to_string() })?;
        if found.is_empty() {
            let why = "no script (*.tcp) is in it".to_owned();
            return Err(Failure::Script { path: name, why });
        }
        files.extend(found);
    }
    Ok(files)
}

#[derive(Default)]
struct Played {
    records: Vec<Record>,
    /// Passed and all, by folder.
    counts: BTreeMap<String, (usize, usize)>,
}

impl Played {
    fn play(
        &mut self,
        file: &Path,
        arguments: &ScriptArguments,
        console: &Console,
    ) -> Result<(), Failure> {
        let (name, text) = read(file)?;
        let record = match parse(&text) {
            Err(problems) => {
                console.complain(&render_problems(&name, &text, &problems));
                Record::of_problems(&name, &problems)
            }
            Ok(script) => {
                let outcome = run(&script);
                self.show(&name, &outcome, arguments, console)?;
                console.complain(&render_failure(&name, &script.lines, &outcome));
                Record::of_outcome(&name, &outcome)
            }
        };
        let (passed, all) = self.counts.entry(feature_of(file)).or_default();
        *passed += usize::from(record.result == Verdict::Passed);
        *all += 1;
        self.records.push(record);
        Ok(())
    }

    fn show(
        &self,
        name: &str,
        outcome: &Outcome,
        arguments: &ScriptArguments,
        console: &Console,
    ) -> Result<(), Failure> {
        if arguments.trace {
            let title = if self.records.is_empty() { "" } else { "\n" };
            console.print(&format!("{title}{name}\n{}", ladder(&outcome.exchanged)))?;
        }
        if let Some(path) = &arguments.pcapng {
            ackord_report::write_one(path, &write_pcapng(outcome, Vec::new())?)?;
        }
        Ok(())
    }

    fn tell(&self, arguments: &ScriptArguments, console: &Console) -> Result<(), Failure> {
        let count = |verdict| self.records.iter().filter(|each| each.result == verdict).count();
        let (failed, bad) = (count(Verdict::Failed), count(Verdict::Bad));
        let all = self.records.len();
        if arguments.json != Some(JsonTarget::Stdout) {
            console.print(&self.table(all - failed - bad))?;
        }
        match (failed, bad) {
            (0, 0) => Ok(()),
            _ => Err(Failure::Scripts { failed, bad, all }),
        }
    }

    fn table(&self, passed: usize) -> String {
        let mut text = String::new();
        if self.counts.len() > 1 {
            for (feature, (passed, all)) in &self.counts {
                text += &format!("{passed:>5} of {all:<4} {feature}\n");
            }
        }
        let all = self.records.len();
        let folders = match self.counts.len() {
            1 => String::new(),
            folders => format!(", in {folders} folders"),
        };
        text + &format!("{passed:>5} of {all:<4} scripts came out as they say{folders}\n")
    }
}

fn quantities() -> String {
    let mut text = String::new();
    for quantity in QUANTITIES {
        let kind = match quantity.kind {
            Kind::Bytes => "1000 B or 10 segments".to_owned(),
            Kind::Span => "200 ms".to_owned(),
            Kind::Count => "3".to_owned(),
            Kind::Relative => "1001".to_owned(),
            Kind::Word(words) => words.join(", "),
        };
        text += &format!("{:<18} {}\n{:<18} {kind}\n", quantity.name, quantity.doc, "");
    }
    text
}
