//! The scenario file: a question about TCP in one strict, versioned, human-written TOML format,
//! checked into a [`Scenario`]. Builds nothing that runs.
//!
//! ```text
//! file ─► ScenarioFile ─(overrides)─► document ─(check)─► Scenario ─► canonical form, hash
//!                                                     └─► Errors ─► rendered with file:line:column
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `model.rs` | [`Scenario`] and what it is made of |
//! | `file.rs` | [`ScenarioFile`]: reading, overriding, checking |
//! | `document.rs` | the TOML tree with the place of every key and value |
//! | `overrides.rs` | [`Override`], `--set path.to.key=VALUE` |
//! | `keys.rs` | every key of the format, for the checker and the schema |
//! | `check/` | the document into a [`Scenario`], with every error there is |
//! | `error.rs`, `render.rs`, `listed.rs` | [`Errors`] as data, as text for people, as a list for programs |
//! | `canonical.rs` | one text for one meaning, and its hash |
//! | `route.rs` | [`Scenario::route`], the way between two nodes |
//! | `schema.rs` | the JSON Schema of the format |
//! | `library.rs` | the built-in scenarios |
//! | `format.rs` | [`mod@format`]: what another format of this manner is read with |
//! | `spelling.rs` | [`spelling`]: quantities as people type them |
//!
//! ```
//! use ackord_scenario::{Override, ScenarioFile};
//! use ackord_units::Knobs;
//!
//! let file = ScenarioFile::from_library("reno-against-vegas")?
//!     .with_overrides([Override::new("links.bottleneck.queue.limit", "25 packets")]);
//! let scenario = file.check()?;
//! assert_eq!(scenario.flows[1].client_tcp.congestion.mechanism().name, "vegas");
//!
//! let broken = file.with_overrides([Override::new("links.bottleneck.rat", "1 Mbit/s")]);
//! let errors = broken.check().expect_err("there is no such key");
//! assert!(errors.to_string().contains("did you mean `rate`?"));
//! # Ok::<(), ackord_scenario::Errors>(())
//! ```
//!
//! Not modelled: includes, variables, conditions. A scenario says all it says in one file; what
//! varies is said on the command line.

mod canonical;
mod check;
mod document;
mod error;
mod exec;
mod file;
pub mod format;
mod keys;
mod library;
mod listed;
mod model;
mod overrides;
mod render;
mod route;
mod schema;
pub mod spelling;

pub use ackord_tcp::registry::Stack;
pub use ackord_traffic::Transport;
pub use canonical::choice_text;
pub use document::Place;
pub use error::{Errors, NameOf, Problem, Unreadable, Wrong};
pub use exec::{Exec, ExecCommand, ExecError};
pub use file::ScenarioFile;
pub use library::library;
pub use listed::ListedProblem;
pub use model::{
    Capture, Direction, Flow, KernelChoice, Link, Node, NodeKind, Proxy, Record, Scenario, Start,
    TraceFile, Way,
};
pub use overrides::{Override, ParseOverrideError, Replaced};
pub use render::Style;
pub use route::Hop;
pub use schema::json_schema;
