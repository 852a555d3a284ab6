//! `trace`: a file of delivery opportunities, read where the scenario refers to it.

use super::reader::{Field, Reader};
use super::report::Report;
use crate::document::Value;
use crate::error::Wrong;
use crate::keys;
use crate::library;
use crate::model::TraceFile;
use ackord_path::Trace;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Larger than any trace in use; keeps an endless file from filling memory.
const MAX_TRACE: u64 = 64 * 1024 * 1024;
const ALLOWED: &str = "a text file with one whole number of milliseconds per line, in order";

/// Reads the trace that a field names: a file name, or a table that also says what is in it.
pub(super) fn trace(report: &mut Report, field: Field<'_>) -> Option<TraceFile> {
    let (file, sha256) = match &field.item.value {
        Value::Text(file) => (file.clone(), None),
        Value::Table(_) => {
            let of = "a trace";
            let reader = Reader::new(report, field.item, field.path.clone(), keys::TRACE, of)?;
            let file = reader.prose(report, "file")?;
            (file, reader.get("sha256").and_then(|field| field.item.as_text().map(str::to_owned)))
        }
        _ => {
            field.wrong_type(report, "the name of a trace file");
            return None;
        }
    };
    let refuse = |report: &mut Report, why: String, allowed: &str| {
        field.report(report, Wrong::BadValue { why, allowed: allowed.to_owned() });
        None
    };
    let text = match read(report.folder.as_deref(), &file) {
        Ok(text) => text,
        Err(why) => return refuse(report, why, "a file beside the scenario, or a path from there"),
    };
    let trace = match Trace::parse(&text) {
        Ok(trace) => trace,
        Err(error) => return refuse(report, format!("trace `{file}`, {error}"), ALLOWED),
    };
    let found = TraceFile::new(file, trace);
    match sha256 {
        Some(sha256) if sha256 != found.sha256() => {
            let why = format!("trace `{}` is not the one meant: its hash differs", found.file());
            refuse(report, why, &format!("{sha256}, or no `sha256`"))
        }
        _ => Some(found),
    }
}

/// The text of the file called so in a scenario of this folder, or of the library.
fn read(folder: Option<&Path>, file: &str) -> Result<String, String> {
    let path = folder.unwrap_or(Path::new("")).join(file);
    let mut bytes = Vec::new();
    let opened =
        File::open(&path).and_then(|file| file.take(MAX_TRACE + 1).read_to_end(&mut bytes));
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match library::trace(file) {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("there is no trace file `{}`", path.display())),
        },
        Err(error) => Err(format!("trace `{}` cannot be read: {error}", path.display())),
        Ok(_) if bytes.len() as u64 > MAX_TRACE => {
            Err(format!("trace `{}` is longer than {MAX_TRACE} bytes", path.display()))
        }
        Ok(_) => String::from_utf8(bytes)
            .map_err(|_| format!("trace `{}` is not a text file", path.display())),
    }
}
