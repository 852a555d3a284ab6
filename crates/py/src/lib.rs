//! The lab in Python: the private module `ackord._ackord`, which the package `ackord` wraps.
//!
//! | file | what |
//! | --- | --- |
//! | `scenario.rs` | scenarios as texts with changes, checked by the checker of the command line |
//! | `run.rs` | one run, and what it comes to |
//! | `simulation.rs`, `states.rs` | a run in steps, and the state of flows and links between them |
//! | `observers.rs` | functions in Python that receive events |
//! | `algorithms/` | mechanisms that are written in Python |
//! | `batch.rs` | many runs for a sweep, one after the other |
//! | `compare.rs`, `papers.rs`, `diagnose.rs` | the same for comparisons, papers and captures |
//! | `fleet.rs` | many captures, each by itself, and their data set |
//! | `table.rs` | tables that Arrow's readers take without a copy |
//! | `series.rs` | values against time as such tables |
//! | `watch.rs` | progress, Ctrl-C, and the interpreter meanwhile released |
//! | `errors.rs` | what is raised |
//!
//! Here is no more than the border: what is computed is computed by the crates of the program, so
//! that a seed gives the same bytes in Python and on the command line.

mod algorithms;
mod batch;
mod compare;
mod diagnose;
mod errors;
mod fleet;
mod observers;
mod papers;
mod run;
mod scenario;
mod series;
mod simulation;
mod states;
mod table;
mod watch;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

#[pymodule]
mod _ackord {
    #[pymodule_export]
    use super::algorithms::{
        AckSample, Arrival, Close, Datagram, Delivered, Established, Flight, Loss, LossFacts,
        LostSegment, Mark, Packet, RateSample, Recovered, RecoveryAck, RecoveryEntry, Restart,
        Spurious, Timeout, TransferBegan, TransferCompleted, Undone, Write, knob_default,
        mechanisms, register,
    };
    #[pymodule_export]
    use super::batch::run_batch;
    #[pymodule_export]
    use super::compare::{Comparison, compare};
    #[pymodule_export]
    use super::diagnose::diagnose;
    #[pymodule_export]
    use super::errors::{AlgorithmError, InputError, RunError};
    #[pymodule_export]
    use super::fleet::{FleetFolder, FleetSummary, fleet_files, fleet_no_rows, fleet_parts};
    #[pymodule_export]
    use super::papers::{Paper, paper_names, run_paper};
    #[pymodule_export]
    use super::run::{Run, run, run_live};
    #[pymodule_export]
    use super::scenario::{Checked, check, library, schema};
    #[pymodule_export]
    use super::series::quantities;
    #[pymodule_export]
    use super::simulation::Stepped;
    #[pymodule_export]
    use super::states::{FlowState, LinkState};
    #[pymodule_export]
    use super::table::Table;
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // What is wrong elsewhere than at a path of a scenario has none.
        module.py().get_type::<InputError>().setattr("paths", PyTuple::empty(module.py()))?;
        module.add("__version__", ackord_study::VERSION)
    }
}
