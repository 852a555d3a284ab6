//! Many runs: on all cores, put together in order, finished ones written down.
//!
//! | file | what |
//! | --- | --- |
//! | `engine.rs` | [`run_all`], [`run_all_with_journal`]: what comparisons, papers and sweeps run on |
//! | `journal.rs` | [`Journal`]: finished runs, line by line, with which a later start goes on |

mod engine;
mod journal;

pub use engine::{Ended, Job, Watch, run_all, run_all_with_journal};
pub use journal::{Journal, Key};
