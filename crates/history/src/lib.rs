//! What each application has transferred so far, and what that says about its next transfer: the
//! history that ARI (Lee et al. 2016, the `ari` ACK policy) takes its quick-ACK count from.
//!
//! ```text
//! captures ─► TransferFinder ─┐
//! simulated and live runs ────┼─► Transfer ─► History ─► Advice (most frequent size, verdict, why)
//! sizes from elsewhere ───────┘               │    ▲
//!                                             Store: a file that survives a crash
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `bucket.rs` | quarter-octave size classes |
//! | `histogram.rs` | [`Histogram`]: decayed counts per class, the most frequent size |
//! | `record.rs` | [`History`]: the histogram, how often, when last, the verdict |
//! | `verdict.rs` | [`Verdict`]: what kind of application it is |
//! | `advice.rs` | [`Advice`]: what follows for ACKs and Nagle, and the reason |
//! | `encoding.rs` | a [`History`] as bytes |
//! | `store.rs` | [`Store`]: histories by application, on disk |
//! | `transfers.rs` | [`TransferFinder`]: transfers out of captured packets |
//!
//! Everything but [`Store`] does no input or output; time comes in as an argument, as nanoseconds
//! since 1970 ([`Time`](ackord_units::Time)).
//!
//! Not modelled: what a transfer is for (a photograph and a page of that length are alike), hours
//! of the day, one application's share of another's traffic.

mod advice;
mod bucket;
mod encoding;
mod histogram;
mod record;
mod store;
mod transfers;
mod verdict;

pub use advice::{Advice, NagleAdvice, Segments, quick_ack_count};
pub use bucket::Bucket;
pub use encoding::Damaged;
pub use histogram::{Class, Histogram, Shares};
pub use record::{History, Transfer};
pub use store::{Store, StoreError};
pub use transfers::{Captured, Counted, FoundTransfer, TransferFinder, server_of};
pub use verdict::Verdict;
