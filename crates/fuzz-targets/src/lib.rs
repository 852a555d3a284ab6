//! What the fuzzing targets ask of the readers and of the endpoint: functions of any bytes that panic
//! where something is wrong. libFuzzer calls them (`fuzz/`), and the tests here replay its corpora.
//!
//! | file | target |
//! | --- | --- |
//! | `packet.rs`, `options.rs` | bytes of a packet, and of the options of a TCP header |
//! | `observer.rs` | what a gateway observes |
//! | `agent.rs` | what an agent reads: its files, and reports of its programs |
//! | `capture.rs`, `trace.rs` | capture files, mahimahi traces |
//! | `captures.rs` | capture files of strangers, packed or not, that are to be explained |
//! | `scenario.rs`, `script.rs` | texts of scenarios and of scripts |
//! | `crates/tcp/tests/ordeal` | two endpoints over a bad path, and one endpoint against an attacker |
//! | `checksums.rs` | packets whose checksums are right whatever else they say |
//!
//! The targets `gateway` and `foreign` are in `crates/live/src/trials.rs`, which replays them too.

mod agent;
mod capture;
mod captures;
mod checksums;
mod observer;
mod options;
mod packet;
mod scenario;
mod script;
mod trace;

#[path = "../../tcp/tests/ordeal/mod.rs"]
mod ordeal;

pub use agent::{agent, reports};
pub use capture::capture;
pub use captures::captures;
pub use observer::observer;
pub use options::options;
pub use packet::packet;
pub use scenario::scenario;
pub use script::script;
pub use trace::trace;

/// A target: panics on bytes that show something wrong.
pub type Target = fn(&[u8]);

/// Every target of this crate by its name in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 12] = [
    ("agent", agent),
    ("capture", capture),
    ("captures", captures),
    ("endpoint", endpoint),
    ("observer", observer),
    ("options", options),
    ("packet", packet),
    ("pair", pair),
    ("reports", reports),
    ("scenario", scenario),
    ("script", script),
    ("trace", trace),
];

/// One endpoint of any registered kind against an attacker.
pub fn endpoint(data: &[u8]) {
    if let Err(broken) = ordeal::siege::run(data) {
        panic!("{broken}");
    }
}

/// Two endpoints of any registered kinds over a path that does its worst, against a ledger.
pub fn pair(data: &[u8]) {
    let case = ordeal::Case::of(data);
    if let Err(broken) = ordeal::run(&case) {
        panic!("{broken}\nCase::of_hex({:?})\n{}", case.hex(), case.describe());
    }
}

/// The bytes as far as they are UTF-8.
fn text(data: &[u8]) -> &str {
    let end = std::str::from_utf8(data).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&data[..end]).expect("valid up to there")
}
