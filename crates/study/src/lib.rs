//! One run and many runs of scenarios, into summaries and documents.
//!
//! ```text
//! Scenario ─► execute ─► RunOutcome 
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `execute.rs` | [`execute`]: one run, in slices, with progress and a way to stop it |
//! | `labels.rs` | [`run_labels`]: the names behind the numbers that events carry |
//! | `capture.rs` | captures of a run: what is tapped, and the pcapng files it becomes |
//!
//! No clock is read and nothing is printed: whoever wants to show progress is called back. The
//! same scenarios and seeds give the same results whatever the number of threads.
//!
//! Not modelled: runs spread over several machines, results kept from one call to the next.

mod capture;
mod execute;
mod labels;

pub use capture::{CaptureFiles, CapturePoint, capture_points, with_captures};
pub use execute::{
    Ending, ExecuteError, KeepSeries, Progress, RunOptions, RunOutcome, VERSION, execute,
    without_progress,
};
pub use labels::{describe, run_labels};
