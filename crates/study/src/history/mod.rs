//! The history of applications in runs: what an endpoint takes from it before, what it gets after,
//! what captures add to it, and how it is shown.
//!
//! | file | what |
//! | --- | --- |
//! | `apply.rs` | [`apply_history`]: knobs that ARI takes from a history; [`finished_transfers`] |
//! | `import.rs` | [`CaptureImport`]: captures into transfers by application |
//! | `document.rs` | [`history_list`], [`history_of`]: histories as reports |
//! | `date.rs` | times since 1970 as dates |
//!
//! Nothing here opens a store: who calls brings the histories, and takes the transfers away.

mod apply;
mod date;
mod document;
mod import;

pub use apply::{HistoryUse, apply_history, default_segments, finished_transfers};
pub use date::utc;
pub use document::{HistoryContext, history_list, history_of};
pub use import::{CaptureImport, GroupBy, ImportCounts, import_report};
