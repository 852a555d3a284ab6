//! The diagnosis of captures, held against what really happened.
//!
//! ```text
//! Plan ─► stock kernels in simulated time ─► three captures ─► diagnosis ─┐
//!                        └► events, tcp_info ─► truth ────────────────────┴► score ─► report
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `plan.rs` | [`Plan`]: a case as a scenario |
//! | `families.rs` | how the cases of a family are made |
//! | `cases.rs`, `troubles.rs`, `pairs.rs`, `limits.rs` | all cases: none, one cause, two; token buckets |
//! | `peers/` | cases of other peers and captures: rewritten after the run |
//! | `run.rs` | a run between kernels, captured at server, router and client |
//! | `facts.rs` | every packet by its tag, the bottleneck, outages, samples |
//! | `view.rs`, `bottleneck.rs` | the facts at an instant |
//! | `episodes.rs` | recoveries and what was truly lost |
//! | `truth.rs` | the cause of each instant |
//! | `write.rs` | [`make_case`]: captures and `truth.json` |
//! | `kept.rs` | [`kept_cases`]: the same, read again from a folder |
//! | `score.rs`, `trial.rs` | [`self_test`](fn@self_test), [`rescore`]: diagnosis against truth |
//! | `report.rs` | matrix, shares, page |
//!
//! # The truth
//!
//! Each millisecond of the connection, on the clock of the simulation, from the client's first SYN to
//! the last packet. Nothing of it is taken from a capture: packets are followed by tags that no wire
//! carries, each with its end (arrived, dropped, by what); the kernels are asked every 2 ms for their
//! `tcp_info`. The first row that holds is the cause; *also* is the other view that counts as right.
//!
//! | cause | when | also |
//! | --- | --- | --- |
//! | syn-loss | before the SYN, or SYN-ACK, was sent that made the connection | |
//! | syn-loss | the client has its SYN-ACK, and its ACK was dropped, for which the server waits | ack-path |
//! | set-up | from there to the client's SYN-ACK; for a server that speaks first until it may | path-limited |
//! | client-idle, server-idle | nothing wanted is unsent, and all that was sent has arrived; who speaks next | path-limited while an ACK is under way |
//! | outage | a link is out and something waits for it | spurious-delay, if a timer ran out meanwhile for nothing |
//! | outage | a timeout in or after an outage that took packets, until the kernel left Loss | path-limited for the first round trip |
//! | timeout-lost-retransmission | timeout: the first outstanding segment had been retransmitted, others had arrived | path-limited for the first round trip, then what took the packets |
//! | timeout-tail | timeout: nothing more to send, and under four segments out or none arrived | likewise |
//! | timeout-small-window | timeout: under four segments out, or one or two of them arrived | likewise |
//! | timeout-window | timeout: none of four or more arrived | likewise |
//! | ack-path | timeout: what is retransmitted had arrived, its ACKs had been dropped | |
//! | spurious-delay | timeout: neither data nor ACKs had been dropped | outage, if one held packets back |
//! | policer | a timeout after losses at a policer | the timeout's kind |
//! | fast-recovery, random-loss, outage, policer | the kernel is in Recovery: by what dropped most of what is recovered | the next most; or path-limited where the bottleneck never rests |
//! | spurious-reordering, spurious-delay | Recovery, and nothing had been dropped: packets had overtaken others, or not | |
//! | random-loss, fast-recovery, ... | the last segments are dropped, and their probe is not out yet | timeout-tail |
//! | zero-window | the window is zero and something is unsent | receiver-window |
//! | queueing-own, queueing-others | the bottleneck never rests (95 % of a round trip), nothing waits less than max(100 ms, base round trip): by whose packets are more | receiver-window, send-buffer if the kernel counts so; shaper |
//! | shaper | it never rests, held by a token bucket or at a rate that came down from a higher one | path-limited |
//! | unfair-share | it never rests, and of n flows in a second this one has less than 1/2n, with more to send | window-growth; path-limited where the capture shows no other connection |
//! | path-limited | it never rests | receiver-window, send-buffer if the kernel counts so |
//! | receiver-window | the kernel counts `rwnd_limited` for most of the time around | delayed-ack while one is held back; zero-window in the cases of `peers/` whose application reads slowly |
//! | send-buffer | the kernel counts `sndbuf_limited`, or all that was written is sent and the application has more | window-growth in the first slow start |
//! | ack-path | ACKs of what the sender waits for were sent, dropped, and no later one has come | |
//! | path-limited | nothing is unsent: what is under way takes its time | the application's idleness, if it says more later |
//! | nagle-delayed-ack | a segment that is not full waits though both windows would let it go | path-limited while nobody holds an ACK back |
//! | delayed-ack | the window is full, the peer has all of it and has not said so | what the last recovery was of |
//! | random-loss, policer | the window is not what fills the path, and the last recovery was of losses by chance, or at a policer | |
//! | window-growth | likewise: none, or by congestion | what else the last recovery was of |
//!
//! Beside the strict figure one with a tolerance of a base round trip is given.
//!
//! Where no byte was lost or sent twice, time that is attributed to an outage, a timeout or random loss is
//! invented, at whatever instant. The report lists these captures.
//!
//! Not modelled: rates that change otherwise than once (a
//! shaper is a token bucket or a link whose rate comes down), queues in the direction of acknowledgments, ECN,
//! applications that read slowly at the server.

mod bottleneck;
mod cases;
mod episodes;
mod facts;
mod families;
mod kept;
mod limits;
mod pairs;
mod peers;
mod plan;
mod report;
mod run;
mod score;
#[cfg(test)]
mod tests;
mod trial;
mod troubles;
mod truth;
mod view;
mod write;

pub use kept::{KeptCase, kept_cases};
pub use peers::{AnyInterface, CapturedDirection, Change, IdKind, KeepAlives, TimestampClock};
pub use plan::{Bucket, Client, Path, Plan, Reader, Suite};
pub use report::{GroupShare, Invented, SelfTestReport, report, self_test_document};
pub use run::{Place, SelfTestError};
pub use score::{Matrix, Named, Score};
pub use trial::{CaseScore, Diagnoser, Progress, SelfTestOptions, rescore, self_test};
pub use truth::TrueInterval;
pub use write::{KernelTotals, TruthFile, make_case};

use ackord_diagnose::{Diagnosis, Options, diagnose};
use ackord_study::Effort;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The cases of a test: those of series 0, on which the diagnosis was made, or others of the same families
/// on other paths and with other seeds.
pub fn cases(effort: Effort, series: u64) -> Vec<Plan> {
    // New families come last: the paths and seeds of a case depend on its family's place in this list.
    let families = cases::singles().into_iter().chain(pairs::pairs()).chain(limits::limits());
    let families = families.chain(peers::peers());
    let of = |(at, family): (usize, families::Family)| {
        let number = effort.of(1, family.cases);
        (0..number)
            .map(move |number| families::case(&family, number, at, series))
            .collect::<Vec<_>>()
    };
    families.enumerate().flat_map(of).collect()
}

/// The diagnosis that is under test.
///
/// # Errors
/// Why there is none.
pub fn diagnoser(captures: &[PathBuf]) -> Result<Diagnosis, String> {
    let readers = captures.iter().zip(0..).map(|(path, number)| {
        ackord_diagnose::Reader::open(path, number).map_err(|error| error.to_string())
    });
    let readers = readers.collect::<Result<Vec<_>, _>>()?;
    let said = diagnose(readers, &Options::default(), &mut |_| ControlFlow::Continue(()));
    said.map(|(diagnosis, _)| diagnosis).map_err(|error| error.to_string())
}
