//! Fleets: one diagnosis per capture, in one Parquet data set, and tables and plots over it.
//!
//! ```text
//! files, folders ─► FleetFile ─► Fleet ─► a part per capture ─► data set
//!                                 ▲                                └────► FleetSummary ─► tables, plots
//!                                 └── the same folder: known captures are skipped
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `files.rs` | [`fleet_files`]: which captures there are; [`FleetFile`], what identifies one |
//! | `part.rs` | [`fleet_part`]: one capture diagnosed |
//! | `tables.rs` | the tables and their columns |
//! | `folder.rs` | [`FleetFolder`]: the data set, a Parquet file per capture and table |
//! | `run.rs` | [`Fleet`]: all captures on all cores, resumable |
//! | `rows.rs` | cells of columns by name |
//! | `summary.rs` | [`FleetSummary`]: sums over the data set |
//! | `show.rs` | [`fleet_report`]: the sums as tables, plots and JSON |
//!
//! Not modelled: one connection in captures of two hosts. Each capture is diagnosed by itself, and such a
//! connection has a row from each.

mod files;
mod folder;
mod part;
mod rows;
mod run;
mod show;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

pub use files::{FleetFile, fleet_files};
pub use folder::{FleetError, FleetFolder};
pub use part::{FleetOptions, FleetPart, fleet_part};
pub use run::{Fleet, FleetOutcome};
pub use show::{FleetReport, fleet_report, fleet_report_files, show_fleet};
pub use summary::FleetSummary;
pub use tables::{TABLES, Tables, no_rows};
