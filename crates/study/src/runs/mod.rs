//! Many runs: on all cores, put together in order, finished ones written down.
//!
//! | file | what |
//! | --- | --- |
//! | `engine.rs` | [`run_all`], [`run_all_with_journal`]: what comparisons, papers and sweeps run on; [`run_each`]: jobs of any kind |
//! | `journal.rs` | [`Journal`]: finished runs, line by line, with which a later start goes on |

mod engine;
mod journal;

pub use engine::{
    Ended, Job, OfJob, Panicked, Watch, caught, run_all, run_all_with_journal, run_each,
};
pub use journal::{Journal, Key};
