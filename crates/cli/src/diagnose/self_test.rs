//! `ackord diagnose --self-test`: the diagnosis held against what truly happened.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results, check_file};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_report::{OutputFile, data, document_files, to_markdown, write_one};
use ackord_study::Effort;
use ackord_validation::self_test::{
    CaseScore, SelfTestError, SelfTestOptions, cases, diagnoser, kept_cases, report, rescore,
    self_test, self_test_document,
};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// How the diagnosis is tried.
#[derive(Args)]
pub(super) struct SelfTestArguments {
    /// Try the diagnosis itself: captures of stock kernels with injected causes, against what truly
    /// happened in each instant
    #[arg(long)]
    self_test: bool,
    /// One case of each kind only
    #[arg(long, requires = "self_test")]
    quick: bool,
    /// Other paths and seeds than those on which the diagnosis was made (series 0)
    #[arg(long, requires = "self_test", value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u64).range(..1000))]
    series: u64,
    /// Only cases with this in their names
    #[arg(long, requires = "self_test", value_name = "NAME")]
    only: Vec<String>,
    /// Diagnose the captures again that an earlier `--self-test --out DIR` left, without running kernels
    #[arg(long, requires = "self_test", value_name = "DIR", conflicts_with_all = ["quick", "series"])]
    from: Option<PathBuf>,
    /// Write the report as a Markdown page to this file
    #[arg(long, requires = "self_test", value_name = "FILE")]
    page: Option<PathBuf>,
}

impl SelfTestArguments {
    /// Whether this is what is asked for.
    pub(super) fn wanted(&self) -> bool {
        self.self_test
    }

    /// Refuses parts of names that no case has.
    fn check_only(&self, cases: &[String]) -> Result<(), Failure> {
        let unknown = |part: &&String| !cases.iter().any(|name| name.contains(part.as_str()));
        match self.only.iter().find(unknown) {
            Some(part) => Err(Failure::unknown_name("case of the self-test", part, cases.to_vec())),
            None => Ok(()),
        }
    }

    /// Returns true if a case of this name is selected.
    fn takes(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }

    /// Returns the cases to run. With `--out`, captures and truths are kept beside the report.
    fn options(
        &self,
        jobs: NonZeroUsize,
        output: &OutputArguments,
    ) -> Result<SelfTestOptions, Failure> {
        let effort = if self.quick { Effort::Quick } else { Effort::Full };
        let mut cases = cases(effort, self.series);
        self.check_only(&cases.iter().map(|plan| plan.name()).collect::<Vec<_>>())?;
        cases.retain(|plan| self.takes(&plan.name()));
        let keep = output.folder().map(|folder| folder.join("cases"));
        Ok(SelfTestOptions { cases, jobs, keep })
    }

    fn command(&self) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let only = self.only.iter().map(|name| format!(" --only {name}")).collect::<String>();
        let series = match self.series {
            0 => String::new(),
            series => format!(" --series {series}"),
        };
        let from = self.from.iter().map(|from| format!(" --from {}", from.display()));
        let from = from.collect::<String>();
        format!("ackord diagnose --self-test{quick}{series}{from}{only}")
    }
}

pub(super) fn run(
    arguments: &SelfTestArguments,
    jobs: Option<usize>,
    output: &OutputArguments,
    console: &Console,
) -> Result<(), Failure> {
    arguments.page.as_deref().map_or(Ok(()), check_file)?;
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = NonZeroUsize::new(jobs.unwrap_or_else(processors)).unwrap_or(NonZeroUsize::MIN);
    let options = arguments.options(jobs, output)?;
    let interrupt = Interrupt::listen()?;
    let meter = Meter::begin("diagnosing");
    let tell = |share: f64, _: &CaseScore| {
        meter.at(share);
        interrupt.check()
    };
    let scores = match &arguments.from {
        Some(from) => kept_cases(from).and_then(|mut kept| {
            kept.retain(|one| arguments.takes(&one.truth.case));
            rescore(&kept, jobs, &diagnoser, &tell)
        }),
        None => self_test(&options, &diagnoser, &tell),
    };
    meter.end();
    let scores = scores.map_err(|error| match error {
        SelfTestError::Stopped => Failure::Interrupted,
        other => Failure::Diagnose(other.to_string()),
    })?;
    let report = report(scores);
    let document = self_test_document(&report, &arguments.command());
    let json = data::to_json(&report);
    output.write(console, &Results { document: &document, json: &json }, || {
        let mut files = document_files(&document);
        files.push(OutputFile::new("self-test.json", json.clone().into_bytes()));
        files
    })?;
    if let Some(page) = &arguments.page {
        write_one(page, to_markdown(&document, ".").as_bytes())?;
        console.remark(&format!("wrote {}", page.display()));
    }
    Ok(())
}
