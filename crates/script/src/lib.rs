//! Scripts.

mod facts;
mod ladder;
mod model;
mod notation;
mod parse;
mod problem;
mod render;
mod run;

pub use facts::{Assertion, Comparison, Fact, Kind, QUANTITIES, Quantity, Wanted, quantity_of};
pub use ladder::ladder;
pub use model::{
    Action, Call, Fields, FlagsWanted, Injection, Len, Number, OptionsWanted, Quiet, Reads, Script,
    Stamps, Step, Want, Window,
};
pub use notation::Direction;
pub use parse::parse;
pub use problem::Problem;
pub use render::{render_failure, render_problems};
pub use run::{Exchange, Failure, Outcome, Row, Went, run};
