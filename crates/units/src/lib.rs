//! Times, spans, bytes, rates and sequence numbers: the quantities every other room speaks in.
//!
//! | file | what |
//! | --- | --- |
//! | `time.rs` | [`Time`] (an instant of the run) and [`Span`] (a length of time), integer nanoseconds |
//! | `amount.rs` | [`Bytes`] and [`Rate`] (bit/s), and the time that one takes at the other |
//! | `ratio.rs` | [`Ratio`], a share or probability from 0 to 1 |
//! | `seq.rs` | [`Seq`], a 32-bit TCP sequence number without a total order |
//! | `parse.rs` | "50 ms", "2 Mbit/s", "1 KiB", "1 %" to values, and the errors |
//! | `knob.rs` | [`Mechanism`] and [`Knob`]: how a choice and its settings are listed |
//! | `portable.rs` | [`portable`]: logarithm, exponential and power with the same bits everywhere |
//! | `keyword.rs` | what the words of a knob stand for |
//!
//! Arithmetic that would overflow panics in every profile and saturates nowhere silently: the
//! operators are checked, because a wrapped time would reorder a whole run. This crate knows nothing
//! of TCP.

mod amount;
mod keyword;
mod knob;
mod parse;
pub mod portable;
mod ratio;
mod seq;
mod time;

pub use amount::{Bytes, Rate};
pub use knob::{Choice, Knob, KnobKind, KnobValue, Mechanism, Settings, nearest_name};
pub use parse::{ParseUnitError, Quantity};
pub use ratio::Ratio;
pub use seq::Seq;
pub use time::{Span, Time};
