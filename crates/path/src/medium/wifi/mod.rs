//! IEEE 802.11: stations that listen before they talk, acknowledge every frame and try again.
//!
//! | file | what |
//! | --- | --- |
//! | `config.rs` | [`WifiConfig`](config::WifiConfig) |
//! | `medium.rs` | the medium: idle, taken, idle again |
//! | `contender.rs` | windows and backoff counters |
//! | `airtime.rs` | how long a frame and its acknowledgment take |
//! | `frames.rs` | aggregates, retries, and order |
//!
//! Every direction of a link is a station with a queue of its own, and there may be others that
//! only take time. The medium is idle until a counter runs out, then taken until the acknowledgment
//! is over (or would be); stations whose counters run out together collide, and all their frames
//! are lost. A frame that stays damaged after the last retry is gone, and what waits behind it in
//! the same direction has waited for all of that.
//!
//! Not modelled: hidden stations, capture of the stronger frame, rate adaptation, RTS/CTS, power
//! save, beacons, QoS access categories, a vulnerable time below a slot, lost link acknowledgments
//! (a damaged one would cost airtime, but no packet).

mod airtime;
pub(crate) mod config;
mod contender;
mod frames;
pub(super) mod medium;
