//! Sweeps: a study file, its runs in a folder, and what they came to.
//!
//! ```text
//! study file ─► Study ─► Sweep ─► journal ─► data set (Parquet, CSV)
//!                          ▲          └────► show: pivot tables, plots
//!                          └── the same folder: goes on where it was
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `keys.rs` | every key of a study file, for the checker and the schema |
//! | `draft.rs` | the tables of a study file, read |
//! | `study.rs` | [`StudyFile`], [`Study`]: checked at every point |
//! | `axes.rs` | what varies: lists, ranges, paths that vary together |
//! | `named.rs` | axes with names, and with names for their values |
//! | `columns.rs` | the columns that identify the point of a row |
//! | `metrics.rs` | the tables, which metrics are kept, and one of them by its name |
//! | `record.rs` | what is kept of a run |
//! | `plan.rs` | everything the runs follow from; the stopping rule; shards |
//! | `folder.rs` | the folder: what it is of, its journal |
//! | `sweep.rs` | [`Sweep`]: rounds of runs until every point has enough |
//! | `shards.rs` | [`merge_sweeps`]: shards into one |
//! | `tables.rs` | the data set |
//! | `show/` | [`show_sweep`]: pivot tables, the best points, plots |
//!
//! Not modelled: points that follow from what others came to (optimisers).

mod axes;
mod columns;
mod draft;
mod folder;
mod keys;
mod metrics;
mod named;
mod plan;
mod record;
mod shards;
mod show;
mod study;
#[expect(clippy::module_inception, reason = "the sweep itself is one of its files")]
mod sweep;
mod tables;
#[cfg(test)]
mod tests;

pub use folder::SweepError;
pub use keys::study_json_schema;
pub use plan::{ParseShardError, Shard};
pub use show::{Better, ShowOptions, SweepReport, show_sweep, sweep_report_files};
pub use study::{Study, StudyError, StudyFile};
pub use sweep::{FailedRun, Sweep, SweepOutcome, merge_sweeps};
pub use tables::Formats;
