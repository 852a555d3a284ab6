//! What other programs read: qlog for qvis, the capture with comments for Wireshark.

use super::sources::Sources;
use crate::captures::open_folder;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::check_file;
use ackord_advice::{annotate, comments_of, qlog_of};
use ackord_diagnose::{Diagnosis, Trace};
use ackord_report::{OutputFile, write_one};
use ackord_study::CaptureFiles;
use clap::Args;
use std::path::{Path, PathBuf};

/// Files for other programs.
#[derive(Args)]
pub(super) struct ExportArguments {
    /// Write the packets as qlog to this file, for qvis (qvis.quictools.info)
    ///
    /// Of the connection that --connection names, or else of the 20 that lost most time, one trace each.
    #[arg(long, value_name = "FILE")]
    qlog: Option<PathBuf>,
    /// Write the capture again to this file, as pcapng with comments for Wireshark
    ///
    /// Where a stretch of time begins, its cause and why; at retransmissions, within which. Wireshark's
    /// filter `frame.comment` shows them. Takes one capture.
    #[arg(long, value_name = "FILE")]
    annotate: Option<PathBuf>,
}

impl ExportArguments {
    /// Whether packets are wanted, which takes a second pass.
    pub(super) fn wanted(&self) -> bool {
        self.qlog.is_some() || self.annotate.is_some()
    }

    /// Whether packets of more connections are wanted than a page draws.
    pub(super) fn needs_all(&self) -> bool {
        self.annotate.is_some()
    }

    /// Refuses what cannot be written, before the work and not after it.
    pub(super) fn check(&self, captures: &[PathBuf]) -> Result<(), Failure> {
        for path in [&self.qlog, &self.annotate].into_iter().flatten() {
            check_file(path)?;
        }
        let Some(annotated) = &self.annotate else { return Ok(()) };
        if captures.len() > 1 {
            let why = "--annotate takes one capture: numbers of frames are those of one file";
            return Err(Failure::Diagnose(why.to_owned()));
        }
        let same = |capture: &PathBuf| match (capture.canonicalize(), annotated.canonicalize()) {
            (Ok(capture), Ok(annotated)) => capture == annotated,
            _ => false,
        };
        if captures.iter().any(same) {
            let why = format!(
                "--annotate {} is the capture itself; name another file",
                annotated.display()
            );
            return Err(Failure::Diagnose(why));
        }
        Ok(())
    }

    /// Writes what is wanted. `chosen` have their packets in a qlog, all of `traces` in comments.
    pub(super) fn write(&self, found: &Found<'_>, console: &Console) -> Result<(), Failure> {
        if let Some(path) = &self.qlog {
            write_one(path, &found.qlog(found.chosen))?;
            console.remark(&format!("wrote {}", path.display()));
        }
        if let Some(path) = &self.annotate {
            let comments = comments_of(found.diagnosis, found.traces);
            let written = annotated(path, found.sources, &comments)?;
            console.remark(&format!("wrote {}: {written} comments", path.display()));
        }
        Ok(())
    }
}

/// What exports are made of.
pub(super) struct Found<'a> {
    pub(super) title: &'a str,
    pub(super) sources: &'a Sources,
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) traces: &'a [Trace],
    /// The connections that have graphs.
    pub(super) chosen: &'a [u32],
}

impl Found<'_> {
    fn qlog(&self, ids: &[u32]) -> Vec<u8> {
        let chosen = self.traces.iter().filter(|trace| ids.contains(&trace.connection));
        let chosen: Vec<Trace> = chosen.cloned().collect();
        qlog_of(self.title, self.diagnosis, &chosen)
    }

    /// `connection-N.qlog`, beside a report.
    pub(super) fn qlog_file(&self, id: u32) -> OutputFile {
        OutputFile::new(format!("connection-{id}.qlog"), self.qlog(&[id]))
    }
}

fn annotated(
    path: &Path,
    sources: &Sources,
    comments: &std::collections::BTreeMap<u64, String>,
) -> Result<u64, Failure> {
    let refused = |source| Failure::CommandOutput { path: path.display().to_string(), source };
    let capture = sources.unpacked()?;
    let plain = !path.exists() || path.is_file();
    let name = path.file_name().and_then(|name| name.to_str());
    let (true, Some(name)) = (plain, name) else {
        let out = std::fs::File::create(path).map_err(refused)?;
        return annotate(capture, std::io::BufWriter::new(out), comments).map_err(refused);
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut files = open_folder(folder.unwrap_or(Path::new(".")))?;
    let out = files.create(name).map_err(refused)?;
    let written = annotate(capture, std::io::BufWriter::new(out), comments).map_err(refused)?;
    files.commit()?;
    Ok(written)
}
