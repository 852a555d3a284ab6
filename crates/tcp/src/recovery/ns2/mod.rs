//! Fast recovery as ns-2.35's one-way agents do it, for papers that were simulated with them.
//!
//! | file | agent |
//! | --- | --- |
//! | `reno.rs` | Agent/TCP/Reno |
//! | `newreno.rs` | Agent/TCP/Newreno |
//! | `sack1.rs` | Agent/TCP/Sack1 |
//!
//! All of them answer one loss per window of data (`bugFix_`), and hold to it one segment longer
//! than RFC 6582: what was outstanding must be acknowledged and something more.

mod newreno;
mod reno;
mod sack1;

pub use newreno::Ns2NewReno;
pub use reno::Ns2Reno;
pub use sack1::Ns2Sack1;
