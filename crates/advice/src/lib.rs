//! What would help a diagnosed connection, and the diagnosis as documents, pages, pictures and files.
//!
//! | folder | what |
//! | --- | --- |
//! | `remedies/` | [`remedies`]: what would help a connection, and what it would gain |
//! | `fleet/` | [`fleet`]: a diagnosis per capture of many, as a data set (feature `parquet`) |
//! | `diagnosis/` | [`diagnosis_document`]: the diagnosis for people, and for other tools |
//!
//! No clock is read and nothing is printed.

mod diagnosis;
#[cfg(feature = "parquet")]
pub mod fleet;
pub mod remedies;

pub use diagnosis::{
    Filters, Remark, annotate, comments_of, connections_to_trace, diagnosis_document,
    diagnosis_json, diagnosis_summary, ends_of, intervals_csv, lost_seconds, page_of_diagnosis,
    pictures_of, qlog_of, verification_document,
};
