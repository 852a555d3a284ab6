//! What a strict TOML format is read with: keys listed once, values with units, mechanisms with knobs, and
//! errors that say where. Scenario files are one such format; whoever has another brings its keys.
//!
//! ```
//! use ackord_scenario::Errors;
//! use ackord_scenario::format::{Key, Reader, Report, Shape, optional, parse, required, whole};
//!
//! static KEYS: &[Key] = &[
//!     required("rate", Shape::Rate, "How fast", "rate = \"2 Mbit/s\""),
//!     optional("delay", Shape::Span, "none", "How far"),
//! ];
//! let text = "raet = \"2 Mbit/s\"\n";
//! let document = whole(parse(text).expect("it is TOML"));
//! let mut report = Report::default();
//! let reader = Reader::new(&mut report, &document, String::new(), KEYS, "a pipe").expect("a table");
//! assert_eq!(reader.rate(&mut report, "rate"), None);
//! let errors = Errors::new("pipe.toml", text, report.into_problems());
//! assert!(errors.to_string().contains("a pipe has no key `raet`"));
//! ```

pub use crate::check::choice::{agrees, choice};
pub use crate::check::name_set::{NameSet, is_name};
pub use crate::check::reader::{Field, Reader, join};
pub use crate::check::report::Report;
pub use crate::check::whole;
pub use crate::document::{Entry, Item, Table, Value};
pub use crate::file::{parse, read, unreadable};
pub use crate::keys::{Key, Kind, Need, Shape, optional, required};
pub use crate::schema::{quantity, table};
