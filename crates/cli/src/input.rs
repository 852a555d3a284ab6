//! What several commands take: a scenario with changes, and where its results go.

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use ackord_report::document::Document;
use ackord_report::{OutputFile, WriteError, to_terminal, write_all, write_one};
use ackord_scenario::{KernelChoice, Override, ScenarioFile};
use ackord_uml::DEFAULT_KERNEL;
use clap::Args;
use clap_complete::ArgValueCompleter;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A scenario with changes.
#[derive(Args)]
pub(crate) struct ScenarioArguments {
    /// Scenario file, or the name of a built-in scenario (`ackord list scenarios`)
    #[arg(add = ArgValueCompleter::new(completions::scenarios))]
    file: PathBuf,
    /// Change a value before the run; may be given several times
    ///
    /// Links and flows go by name, by number from zero, or all at once:
    /// `links.bottleneck.queue.limit="25 packets"`, `flows.*.tcp.congestion=cubic`. A value that
    /// is not allowed is refused as if it stood in the file.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", add = ArgValueCompleter::new(completions::settings))]
    changes: Vec<Override>,
    /// This host's TCP is that of a stock Linux kernel, in simulated time; may be given several times
    ///
    /// `all` for every host. The kernel is one that `ackord kernel build` has built: a version such as
    /// 6.12 (which is meant where nothing is said), or the name of your own; with ticks per second,
    /// 6.12@1000. The same as `kernel = "6.12"` at the host in the file.
    #[arg(long = "kernel", value_name = "HOST[=VERSION[@HZ]]")]
    kernels: Vec<String>,
}

impl ScenarioArguments {
    /// The file as it stands, with its changes.
    pub(crate) fn open(&self) -> Result<ScenarioFile, Failure> {
        let file = ScenarioFile::open(&self.file)?;
        Ok(file.with_overrides(self.changes()))
    }

    /// The changes, as given.
    pub(crate) fn changes(&self) -> Vec<Override> {
        let kernel = |given: &String| {
            let (host, kernel) = given.split_once('=').unwrap_or((given, DEFAULT_KERNEL));
            let host = if host == "all" { "*" } else { host };
            // Quoted: 6.12 by itself is a number.
            Override::new(format!("hosts.{host}.kernel"), format!("{kernel:?}"))
        };
        self.changes.iter().cloned().chain(self.kernels.iter().map(kernel)).collect()
    }
}

/// A stock kernel, by name.
#[derive(Clone, Debug)]
pub(crate) struct KernelName(pub(crate) KernelChoice);

impl FromStr for KernelName {
    type Err = String;

    fn from_str(text: &str) -> Result<KernelName, String> {
        let choice = KernelChoice::parse(text).map(KernelName);
        choice.ok_or_else(|| {
            "a version like 6.12, or a name; with ticks per second, 6.12@1000".to_owned()
        })
    }
}

/// Where results go besides the terminal.
#[derive(Args)]
pub(crate) struct OutputArguments {
    /// Write the report into this folder: report.html, JSON, CSV, plots as SVG and PNG
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the results as JSON to this file, or with `-` to standard output instead of the
    /// tables
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
}

/// Where JSON goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonTarget {
    /// Standard output.
    Stdout,
    /// This file.
    File(PathBuf),
}

impl FromStr for JsonTarget {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<JsonTarget, Self::Err> {
        Ok(match text {
            "-" => JsonTarget::Stdout,
            path => JsonTarget::File(PathBuf::from(path)),
        })
    }
}

impl OutputArguments {
    /// Refuses places where nothing can be written, before the work and not after it.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if let Some(folder) = &self.out {
            check_folder(folder)?;
        }
        self.json.as_ref().map_or(Ok(()), JsonTarget::check)
    }

    /// The folder for files, if they are wanted.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Whether a report with plots is wanted.
    pub(crate) fn wants_files(&self) -> bool {
        self.out.is_some()
    }

    /// Writes everything of one piece of work. Files come first, so that they are there even if
    /// nobody reads our output to its end.
    pub(crate) fn write(
        &self,
        console: &Console,
        results: &Results<'_>,
        files: impl FnOnce() -> Vec<OutputFile>,
    ) -> Result<(), Failure> {
        self.write_files("", console, files)?;
        self.write_json(results.json, console)?;
        self.print(results.document, console)
    }

    /// Writes files into the output folder, or one below it, if they are wanted.
    pub(crate) fn write_files(
        &self,
        below: &str,
        console: &Console,
        files: impl FnOnce() -> Vec<OutputFile>,
    ) -> Result<(), Failure> {
        if let Some(folder) = &self.out {
            let folder = if below.is_empty() { folder.clone() } else { folder.join(below) };
            let files = files();
            write_all(&folder, &files)?;
            console.remark(&format!("wrote {}: {}", folder.display(), overview(&files)));
        }
        Ok(())
    }

    /// Writes JSON to where it is wanted.
    pub(crate) fn write_json(&self, json: &str, console: &Console) -> Result<(), Failure> {
        match &self.json {
            Some(target) => target.write(json, console),
            None => Ok(()),
        }
    }

    /// Prints the tables, unless standard output is for JSON.
    pub(crate) fn print(&self, document: &Document, console: &Console) -> Result<(), Failure> {
        if self.json == Some(JsonTarget::Stdout) {
            return Ok(());
        }
        Ok(console.print(&to_terminal(document, console.screen()))?)
    }
}

impl JsonTarget {
    /// Refuses a file that cannot be written, before the work and not after it.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self {
            JsonTarget::Stdout => Ok(()),
            JsonTarget::File(path) => check_file(path),
        }
    }

    /// Writes JSON there, and says so where it is a file.
    pub(crate) fn write(&self, json: &str, console: &Console) -> Result<(), Failure> {
        match self {
            JsonTarget::Stdout => console.print(json)?,
            JsonTarget::File(path) => {
                write_one(path, json.as_bytes())?;
                console.remark(&format!("wrote {}", path.display()));
            }
        }
        Ok(())
    }
}

/// What a command found.
pub(crate) struct Results<'a> {
    /// For people.
    pub(crate) document: &'a Document,
    /// For programs.
    pub(crate) json: &'a str,
}

/// Refuses a folder in whose place, or above which, there is a file, and one that nothing can be
/// written into: the work may take a quarter of an hour.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Failure> {
    match folder.ancestors().find(|path| path.exists()) {
        Some(path) if !path.is_dir() => Err(WriteError::NotAFolder(path.to_owned()).into()),
        Some(path) => match tempfile::tempfile_in(path) {
            Ok(_) => Ok(()),
            Err(source) => Err(WriteError::NotWritable { path: path.to_owned(), source }.into()),
        },
        None => Ok(()),
    }
}

/// Refuses a file for which there is no place. What is there and no plain file, such as a device,
/// is written to as it is.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let source = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(WriteError::NotWritable { path: path.to_owned(), source }.into());
    }
    match path.parent() {
        Some(folder) if !path.exists() || path.is_file() => check_folder(folder),
        _ => Ok(()),
    }
}

/// The files of a folder in a line: each by name, those of a folder in it by their number.
fn overview(files: &[OutputFile]) -> String {
    let mut names = Vec::new();
    let mut folders: BTreeMap<&Path, usize> = BTreeMap::new();
    for file in files {
        match file.path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => *folders.entry(parent).or_default() += 1,
            None => names.push(file.path.display().to_string()),
        }
    }
    names.extend(
        folders.iter().map(|(folder, count)| format!("{}/ ({count} files)", folder.display())),
    );
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_and_those_in_folders_counted() {
        let file = |path: &str| OutputFile::new(path, "");
        let files = [file("a.html"), file("plots/x.svg"), file("b.json"), file("plots/x.png")];
        assert_eq!(overview(&files), "a.html, b.json, plots/ (2 files)");
    }

    #[test]
    fn a_dash_is_standard_output() {
        assert_eq!("-".parse(), Ok(JsonTarget::Stdout));
        assert_eq!("x.json".parse(), Ok(JsonTarget::File(PathBuf::from("x.json"))));
    }
}
