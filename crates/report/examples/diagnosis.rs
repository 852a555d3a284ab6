//! Writes pages of made-up diagnoses, to be looked at:
//! `cargo run -p ackord-report --example diagnosis -- target/pages`.

mod made;

use ackord_report::{OutputFile, PageData, PageDiagnosis, diagnosis_page, write_all};
use made::Made;
use std::path::PathBuf;

#[allow(clippy::disallowed_methods, reason = "an example is a command line of its own")]
fn main() -> Result<(), ackord_report::WriteError> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/pages".to_owned()));
    let page = |title: &str, made: &[(&str, Made, u32)]| {
        let all: Vec<_> =
            made.iter().map(|(_, made, many)| made::diagnosis(*made, *many)).collect();
        let diagnoses: Vec<_> = made
            .iter()
            .zip(&all)
            .map(|((label, ..), (diagnosis, trace))| PageDiagnosis {
                label,
                diagnosis,
                filters: &[],
                traces: std::slice::from_ref(trace),
            })
            .collect();
        diagnosis_page(&PageData {
            title,
            version: "0.1.0",
            summary: "Most of the time went to losses.",
            remarks: &[],
            notes: &[],
            diagnoses: &diagnoses,
        })
    };
    let (few, many) =
        (Made { points: 6_000, loss_every: 400 }, Made { points: 100_000, loss_every: 400 });
    let better = Made { points: 6_000, loss_every: 2_000 };
    let files = [
        OutputFile::new("one.html", page("Upload to the archive", &[("", few, 12)])),
        OutputFile::new(
            "two.html",
            page("Upload before and after", &[("before", few, 3), ("after", better, 3)]),
        ),
        OutputFile::new("many.html", page("A long transfer", &[("", many, 400)])),
    ];
    write_all(&folder, &files)?;
    Ok(())
}
