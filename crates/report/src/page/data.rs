//! What the page of a diagnosis shows.

use ackord_diagnose::{Diagnosis, Trace};

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct PageData<'a> {
    /// Heading.
    pub title: &'a str,
    /// Version of the program.
    pub version: &'a str,
    /// The answer in a few sentences, or nothing.
    pub summary: &'a str,
    /// Remarks about the predictions, such as why there is none for a connection.
    pub remarks: &'a [String],
    /// Remarks about the page itself, such as what it leaves out.
    pub notes: &'a [String],
    /// One diagnosis; or two, before and after, which are drawn over each other.
    pub diagnoses: &'a [PageDiagnosis<'a>],
}

/// One diagnosis of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageDiagnosis<'a> {
    /// What it is called: "before", "after". Not shown where it is the only one.
    pub label: &'a str,
    /// The diagnosis.
    pub diagnosis: &'a Diagnosis,
    /// Display filters for Wireshark, one per connection of `diagnosis` in the same order; empty for none.
    pub filters: &'a [String],
    /// Packets of some of its connections, for the graphs.
    pub traces: &'a [Trace],
}
