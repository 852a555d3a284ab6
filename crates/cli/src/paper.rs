//! `ackord paper`: a published result beside ours.

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::OutputArguments;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_measure::Claim;
use ackord_papers::{self as paper, Options, Paper, PaperError, PaperReport};
use ackord_report::{WriteError, data};
use ackord_study::{Effort, Journal};
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde::Serialize;
use std::fs;

/// Reproduce a paper: every number beside ours, with a verdict and its reason
///
/// A claim of the paper's, or of this project's, `holds`, `differs` (the direction is as claimed, the
/// number is not), `fails` or is `undecided`, by the 95 % interval of the runs. Interrupted with Ctrl-C, the
/// papers that were finished are kept.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PaperArguments {
    /// Which paper (`ackord list papers`), or `all`
    #[arg(add = ArgValueCompleter::new(completions::papers_or_all))]
    name: String,
    /// As few runs as the claims need
    #[arg(long)]
    quick: bool,
    /// Go on where an earlier attempt with the same --out was stopped: its finished runs are used
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord paper selective-drop --quick
  ackord paper dad-sd --out out/dad-sd --resume
  ackord paper all --out out/papers --json out/papers.json";

/// The file beside the results that finished runs are written to.
const JOURNAL: &str = "runs.jsonl";

/// What stands for every paper.
const ALL: &str = "all";

pub(crate) fn paper(arguments: &PaperArguments, console: &Console) -> Result<(), Failure> {
    let papers = papers_named(&arguments.name)?;
    arguments.output.check()?;
    let interrupt = Interrupt::listen()?;
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let mut reports = Vec::new();
    for paper in papers {
        let journal = open_journal(arguments, paper, console)?;
        let meter = Meter::begin(paper.name);
        let report = paper::run(paper, Options { effort, journal: journal.as_ref() }, &|share| {
            meter.at(share);
            interrupt.check()
        });
        meter.end();
        if let Some(error) = journal.as_ref().and_then(Journal::take_error) {
            console.remark(&format!("{JOURNAL} is incomplete: {error}"));
        }
        match report {
            Ok(report) => reports.push((paper, report)),
            Err(PaperError::Interrupted) => {
                write(arguments, &reports, console)?;
                let count = reports.len();
                console.remark(&format!("interrupted in {}; {count} papers finished", paper.name));
                return Err(Failure::Interrupted);
            }
            Err(PaperError::Scenario(errors)) => return Err(errors.into()),
            Err(PaperError::Run(error)) => return Err(error.into()),
        }
    }
    write(arguments, &reports, console)
}

/// The folder of a paper below `--out`.
fn folder_of(arguments: &PaperArguments, paper: &Paper) -> &'static str {
    if arguments.name == ALL { paper.name } else { "" }
}

/// Where finished runs go, if there is a folder for them: a file that begins anew, or that goes on.
fn open_journal(
    arguments: &PaperArguments,
    paper: &Paper,
    console: &Console,
) -> Result<Option<Journal>, Failure> {
    let Some(out) = arguments.output.folder() else { return Ok(None) };
    let path = out.join(folder_of(arguments, paper)).join(JOURNAL);
    let failed = |what, source| WriteError::Io { what, path: path.clone(), source };
    if !arguments.resume && path.exists() {
        fs::remove_file(&path).map_err(|source| failed("remove", source))?;
    }
    let journal = Journal::at(&path).map_err(|source| failed("read", source))?;
    if journal.known_runs() > 0 {
        console.remark(&format!("{}: {} runs known", path.display(), journal.known_runs()));
    }
    Ok(Some(journal))
}

fn papers_named(name: &str) -> Result<Vec<&'static Paper>, Failure> {
    if name == ALL {
        return Ok(paper::papers().iter().collect());
    }
    paper::find(name).map(|paper| vec![paper]).ok_or_else(|| {
        let known = paper::papers().iter().map(|paper| paper.name).chain([ALL]);
        Failure::unknown_name("paper", name, known.map(str::to_owned).collect())
    })
}

/// One paper by itself; of several, each in a folder of its own, and their claims together.
fn write(
    arguments: &PaperArguments,
    reports: &[(&Paper, PaperReport)],
    console: &Console,
) -> Result<(), Failure> {
    let output = &arguments.output;
    let several = arguments.name == ALL;
    for (paper, report) in reports {
        let folder = folder_of(arguments, paper);
        output.write_files(folder, console, || report.files.clone())?;
    }
    match reports {
        [(_, report)] if !several => output.write_json(&report.json, console)?,
        [] => {}
        reports => output.write_json(&together(reports), console)?,
    }
    for (_, report) in reports {
        output.print(&report.document, console)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Together<'a> {
    papers: Vec<&'static str>,
    claims: Vec<ClaimOf<'a>>,
}

#[derive(Serialize)]
struct ClaimOf<'a> {
    /// The paper; `paper` is its number.
    of: &'static str,
    #[serde(flatten)]
    claim: &'a Claim,
}

/// The claims of several papers as JSON.
fn together(reports: &[(&Paper, PaperReport)]) -> String {
    let claims = reports.iter().flat_map(|(paper, report)| {
        report.claims.iter().map(|claim| ClaimOf { of: paper.name, claim })
    });
    let papers = reports.iter().map(|(paper, _)| paper.name).collect();
    data::to_json(&Together { papers, claims: claims.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_measure::{Allowed, Claimant, Direction, Verdict};
    use ackord_report::document::Document;

    #[test]
    fn claims_of_several_papers_say_whose_they_are_and_keep_their_keys() {
        let claim = Claim {
            id: "t1".to_owned(),
            by: Claimant::Paper,
            what: "fairness".to_owned(),
            unit: "%".to_owned(),
            paper: Some(97.3),
            allowed: Allowed::AtLeast { low: 90.0 },
            direction: Direction { what: "fairer".to_owned(), measured: 6.0, ci95: Some(0.0) },
            measured: 96.0,
            ci95: Some(0.0),
            runs: 1,
            verdict: Verdict::Holds,
            runs_to_decide: None,
            contradicted: Vec::new(),
            why: String::new(),
        };
        let report = PaperReport {
            document: Document::default(),
            json: String::new(),
            claims: vec![claim],
            tables: Vec::new(),
            files: Vec::new(),
        };
        let paper = &paper::papers()[0];
        let found: serde_json::Value =
            serde_json::from_str(&together(&[(paper, report)])).expect("JSON");
        assert_eq!(found["papers"][0], paper.name);
        let claim = &found["claims"][0];
        assert_eq!((&claim["of"], &claim["paper"]), (&paper.name.into(), &97.3.into()));
        assert_eq!((&claim["id"], &claim["verdict"]), (&"t1".into(), &"holds".into()));
    }
}
