//! Times, spans, bytes, rates and sequence numbers: the quantities every other room speaks in.
//!
//! | file | what |
//! | --- | --- |
//! | `time.rs` | [`Time`] (an instant of the run) and [`Span`] (a length of time), integer nanoseconds |
//! | `amount.rs` | [`Bytes`] and [`Rate`] (bit/s), and the time that one takes at the other |
//! | `ratio.rs` | [`Ratio`], a share or probability from 0 to 1 |
//! | `random.rs` | [`RandomStream`]: one stream of random numbers per element of a run |
//! | `seq.rs` | [`Seq`], a 32-bit TCP sequence number without a total order |
//! | `parse.rs` | "50 ms", "2 Mbit/s", "1 KiB", "1 %" to values, and the errors |
//! | `knob.rs` | [`Mechanism`] and [`Knob`]: how a mechanism and its knobs are listed, and values read |
//! | `knob_type.rs` | the types that knobs have in the structs that hold them |
//! | `mechanism.rs` | [`Knobs`](trait@Knobs) and [`Choice`]: mechanisms that somebody chose, with their values |
//! | `plug_in.rs` | [`PlugIns`]: mechanisms that are registered while the program runs |
//! | `portable.rs` | [`portable`]: logarithm, exponential and power with the same bits everywhere |
//!
//! Arithmetic that would overflow panics in every profile and saturates nowhere silently: the
//! operators are checked, because a wrapped time would reorder a whole run. Only [`count`] is not,
//! which no run is long enough to wrap. This crate knows nothing of TCP.

// What the derives name has to be found from here, too.
extern crate self as ackord_units;

mod amount;
mod knob;
mod knob_type;
mod mechanism;
mod parse;
mod plug_in;
pub mod portable;
mod random;
mod ratio;
mod seq;
mod time;

pub use ackord_knobs_derive::{Keyword, Knobs};
pub use amount::{Bytes, Rate, count};
pub use knob::{Knob, KnobKind, KnobValue, Mechanism, nearest_name};
pub use knob_type::{Keyword, KnobType, default_of, put};
pub use mechanism::{
    AnyChoice, Choice, Contradiction, Knobs, confused_words, count_knobs, join_knobs, names_of,
};
pub use parse::{ParseUnitError, Quantity};
pub use plug_in::{CannotPlugIn, Declared, PlugIn, PlugIns, PluggedIn};
pub use random::{RandomStream, mix64};
pub use ratio::Ratio;
pub use seq::Seq;
pub use time::{Span, Time};
