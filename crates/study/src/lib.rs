//! One run and many runs of scenarios, into summaries and documents.
//!
//! ```text
//! Scenario ─► execute ─► RunOutcome ─► run_report ─► document, JSON, files
//! ScenarioFile, values of a key ─► Variants ─► compare ─► compare_report ─► the same
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `execute.rs` | [`execute`]: one run, in slices, with progress and a way to stop it |
//! | `cost.rs` | [`cost`]: the time and memory of a run, estimated before it begins |
//! | `stepped.rs` | [`SteppedRun`]: one run in steps, read and changed between them |
//! | `labels.rs` | [`run_labels`]: the names behind the numbers that events carry |
//! | `capture.rs` | captures of a run: what is tapped, and the pcapng files it becomes |
//! | `sender_taps.rs` | where a report's segments and ACKs are observed |
//! | `topology.rs` | a scenario as a picture of hosts, links, queues and flows |
//! | `capture_folder.rs`, `reserved.rs` | [`CaptureFolder`]: capture files that appear when they are complete, and grow into reserved room |
//! | `runs/` | [`run_all`], [`Journal`]: many runs in parallel, and finished ones written down |
//! | `sweep/` | [`sweep`]: a study file, its runs in a folder, and what they came to |
//! | `compare.rs` | [`compare`]: one key varied, several seeds each |
//! | `dumbbell.rs` | [`Dumbbell`]: what a packet costs in the simulator |
//! | `history/` | the history of applications: before a run, after it, from captures, shown |
//! | `reports.rs` | runs and comparisons as reports |
//! | `trace.rs` | delivery traces: made of rates or a capture, and told |
//! | `transfer.rs` | [`simulate_transfer`]: what a real transfer is compared with |
//! | `live_run.rs`, `live_run/` | [`live_run`]: one run in real time, between stock kernels |
//! | `live_transfers.rs`, `shell.rs` | what `ackord live serve`, `fetch` and `ackord shell` came to |
//! | `kernels.rs`, `kernel_list.rs` | stock kernels: those of a scenario, those that are kept |
//! | `mechanisms.rs` | mechanisms and their knobs as lists |
//! | `guide/` | [`guide`]: what each mechanism does, with runs that show it |
//!
//! No clock is read and nothing is printed: whoever wants to show progress is called back. The
//! same scenarios and seeds give the same results whatever the number of threads.

mod capture;
mod capture_folder;
mod compare;
mod cost;
mod dumbbell;
mod effort;
mod execute;
pub mod guide;
mod history;
pub mod kernel_list;
mod kernels;
mod labels;
mod live_run;
pub mod live_transfers;
pub mod mechanisms;
mod reports;
mod reserved;
mod run;
mod runs;
mod sender_taps;
pub mod shell;
mod stepped;
pub mod sweep;
mod topology;
mod trace;
mod transfer;

pub use capture::{
    CaptureError, CaptureFiles, CapturePoint, CaptureSink, capture_points, with_captures,
};
pub use capture_folder::{CaptureFolder, CaptureFolderError};
pub use compare::{CompareOptions, ComparisonOutcome, Variant, Variants, VaryError, compare};
pub use cost::{Cost, cost};
pub use dumbbell::{Dumbbell, DumbbellRun, DumbbellStack};
pub use effort::Effort;
pub use execute::{ExecuteError, execute};
pub use history::{
    CaptureImport, GroupBy, HistoryContext, HistoryUse, ImportCounts, apply_history,
    default_segments, finished_transfers, history_list, history_of, import_report, utc,
};
pub use kernels::{kernel_of, kernels_of};
pub use labels::{describe, run_labels};
pub use live_run::{LiveRunError, LiveRunOptions, LiveRunOutcome, ProgramOutput, live_run};
pub use reports::{
    Origin, Report, compare_report, compare_report_files, live_run_report, live_run_report_files,
    run_report, run_report_files,
};
pub use run::{
    Ending, Progress, RunOptions, RunOutcome, VERSION, series_options, without_progress,
};
pub use runs::{
    Ended, Job, Journal, Key, OfJob, Panicked, Watch, caught, run_all, run_all_with_journal,
    run_each,
};
pub use stepped::{CHANGEABLE, LinkState, RunChange, RunChangeError, SteppedRun};
pub use trace::{
    CaptureTraceError, TraceFacts, TraceRates, trace_document, trace_facts, trace_of_capture,
    trace_of_rates,
};
pub use transfer::{Transfer, simulate_transfer};
