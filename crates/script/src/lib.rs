#![doc = include_str!("../README.md")]
//!
//! ## Where to look
//!
//! | file | what |
//! | --- | --- |
//! | `parse/` | text to a [`Script`]; whatever the text is, the answer is a value |
//! | `model.rs` | a script as it has been understood |
//! | `run/` | [`run`]: a script played in virtual time; comparison, the injected peer, the codec |
//! | `facts.rs`, `quantities.rs` | what can be asserted |
//! | `notation.rs` | segments as scripts write them |
//! | `ladder.rs`, `render.rs` | the diagram; failures and problems as people read them |
//! | `record.rs`, `capture.rs` | the outcome as JSON and as pcapng |
//! | `library.rs` | scripts in folders |

mod capture;
mod facts;
mod ladder;
mod library;
mod model;
mod notation;
mod parse;
mod problem;
mod quantities;
mod record;
mod render;
mod run;

pub use capture::write_pcapng;
pub use facts::{Assertion, Comparison, Fact, Kind, Quantity, Wanted};
pub use ladder::ladder;
pub use library::{EXTENSION, feature_of, find_scripts};
pub use model::{
    Action, Call, Fields, FlagsWanted, Injection, Len, Number, OptionsWanted, Quiet, Reads, Script,
    Stamps, Step, Want, Window,
};
pub use notation::Direction;
pub use parse::parse;
pub use problem::Problem;
pub use quantities::{QUANTITIES, quantity_of};
pub use record::{FailureRecord, ProblemRecord, Record, SegmentRecord, Verdict};
pub use render::{render_failure, render_problems};
pub use run::{
    After, Departure, Endpoint, Exchange, Failure, Manner, Outcome, Row, Went, retold, run,
    run_against, seconds,
};
