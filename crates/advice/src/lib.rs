//! What a diagnosis says and advises.
//!
//! | folder | what |
//! | --- | --- |
//! | `remedies/` | [`remedies`]: what would help a connection, and what it would gain |
//! | `fleet/` | [`fleet`]: a diagnosis per capture of many, as a data set (feature `parquet`) |
//! | `diagnosis/` | [`diagnosis_document`]: what captures say, told, and written for other tools |
//!
//! No clock is read and nothing is printed.

mod diagnosis;
#[cfg(feature = "parquet")]
pub mod fleet;
pub mod remedies;

pub use diagnosis::{
    Remark, annotate, comments_of, connections_to_trace, diagnosis_document, diagnosis_summary,
    ends_of, intervals_csv, lost_seconds, page_of_diagnosis, qlog_of, verification_document,
};
