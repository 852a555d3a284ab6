//! `ackord paper`: a published result beside ours.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::OutputArguments;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_measure::Claim;
use ackord_report::data;
use ackord_study::paper::{self, Effort, Options, Paper, PaperError, PaperReport};
use clap::Args;
use serde::Serialize;

/// Reproduce a paper: every number beside ours, with a verdict and its reason
///
/// A claim `holds`, `differs` (for the reason given) or `fails`. Interrupted with Ctrl-C, the
/// papers that were finished are kept.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PaperArguments {
    /// Which paper (`ackord list papers`), or `all`
    name: String,
    /// As few runs as the claims need
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord paper selective-drop --quick
  ackord paper all --out out/papers --json out/papers.json";

/// What stands for every paper.
const ALL: &str = "all";

pub(crate) fn paper(arguments: &PaperArguments, console: &Console) -> Result<(), Failure> {
    let papers = papers_named(&arguments.name)?;
    arguments.output.check()?;
    let interrupt = Interrupt::listen()?;
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let mut reports = Vec::new();
    for paper in papers {
        let meter = Meter::begin(paper.name);
        let report = paper::run(paper, Options { effort }, &|share| {
            meter.at(share);
            interrupt.check()
        });
        meter.end();
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
        let folder = if several { paper.name } else { "" };
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
    use ackord_measure::Verdict;
    use ackord_report::document::Document;

    #[test]
    fn claims_of_several_papers_say_whose_they_are_and_keep_their_keys() {
        let claim = Claim {
            id: "t1".to_owned(),
            what: "fairness".to_owned(),
            unit: "%".to_owned(),
            paper: Some(97.3),
            measured: 96.0,
            ci95: None,
            runs: 1,
            verdict: Verdict::Holds,
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
