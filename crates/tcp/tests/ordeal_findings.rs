//! What ordeals have found in endpoints, each by its name: the shortest list of operations that
//! shows it, by the names of mechanisms, so that it keeps its meaning when others are registered.

use crate::ordeal::case::Make;
use crate::ordeal::op::kind::{BLACKOUT, FORGE, LATE, READS, WAIT, WRITE};
use crate::ordeal::{Case, Outcome, run, run_told};
use ackord_tcp::registry;

/// Of the second byte of an operation.
const TO_CLIENT: u8 = 0;

/// A connection between two such ends, over ten microseconds each way, endures this.
fn endures(make: Make, ops: &[[u8; 4]]) -> Outcome {
    endure([0; 6], &[make, make], ops)
}

/// The same with such delays, initial sequence numbers and ends.
fn endure(path: [u8; 6], ends: &[Make; 2], ops: &[[u8; 4]]) -> Outcome {
    let case = Case::of(&Case::bytes_of(0, path, ends, ops));
    run(&case)
        .unwrap_or_else(|broken| panic!("{broken}\n{}\n{}", case.describe(), run_told(&case).1))
}

/// The place of a knob of the endpoint.
fn knob(name: &str) -> u8 {
    let place = registry::ENDPOINT.knobs.iter().position(|knob| knob.name == name);
    place.expect("listed") as u8
}

/// A segment that reaches back before the SYN was reported as received twice, bytes before the
/// stream included (RFC 2883 §4 reports what has been received).
#[test]
fn a_duplicate_from_before_the_stream_is_reported_from_its_first_byte() {
    let old_data = 7 << 1;
    endures(Make::plain(0), &[[WAIT, 0, 20, 0], [FORGE, old_data | TO_CLIENT, 2, 0]]);
    let by_300 = [FORGE, old_data | TO_CLIENT, 44, 1];
    let write = [WRITE, 1, 100, 0];
    endures(Make::plain(0), &[[WAIT, 0, 20, 0], write, [WAIT, 3, 50, 0], by_300]);
}

/// After a round trip of no time at all TCP-PR took every segment for lost as it left, and sent it
/// again at the same instant, without end.
#[test]
fn a_round_trip_of_no_time_does_not_make_tcp_pr_send_without_end() {
    let acknowledges_all = 11 << 1;
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let make = Make::named("rfc", &[("loss", "pr"), ("recovery", recovery)]);
        let write = [WRITE, 0, 1, 0];
        let forged = [FORGE, acknowledges_all | TO_CLIENT, 0xff, 0xff];
        endures(make, &[[WAIT, 0, 20, 0], write, forged, [WAIT, 0, 0, 0], write, [WAIT, 3, 9, 0]]);
    }
}

/// On a path that had gone dark after short round trips TCP-PR sent the oldest segment again every
/// millisecond for as long as that lasted: it waits twice as long each time now.
#[test]
fn tcp_pr_does_not_flood_a_path_that_is_dark() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let make =
            Make::named("rfc", &[("loss", "pr"), ("recovery", recovery), ("ack", "immediate")]);
        let write = [WRITE, 0, 100, 0];
        let dark = [BLACKOUT, 2, 0x10, 0x27];
        let outcome = endures(
            make,
            &[[WAIT, 0, 100, 0], write, [WAIT, 2, 9, 0], dark, write, [WAIT, 3, 0xe8, 3]],
        );
        // Ten seconds of darkness; a timer that doubles expires fourteen times, beside what a
        // connection takes without it and the retransmission timer.
        assert!(outcome.packets < 50, "{recovery}: {} packets", outcome.packets);
    }
}

/// A retransmission that acknowledges new data has an older sequence number than the latest window
/// came with; with that window left out, what was acknowledged moved the right edge beyond what had
/// been offered.
#[test]
fn new_acknowledgments_on_retransmissions_bring_their_window() {
    let settings =
        [("congestion", "reno"), ("recovery", "tahoe"), ("ack", "immediate"), ("nagle", "off")];
    let mut client = Make::named("rfc", &settings);
    // 5674 bytes.
    client.knobs[0] = (knob("receive_buffer"), 1);
    let server = Make::named("rfc", &[]);
    let reads = [[READS, 1, 0, 0], [READS, 0, 0, 0]];
    let writes = [[WRITE, 1, 0x74, 0x72], [WRITE, 0, 0x84, 0x6e]];
    let late = [LATE, 57 << 1, 0x65, 0x74];
    let ops = [reads[0], reads[1], writes[0], writes[1], late, [WAIT, 2, 0x19, 0x0c]];
    endure([97, 120, 95, 142, 102, 26], &[client, server], &ops);
}

/// A receive buffer that began smaller than the unit of its scaled window was never announced, and
/// one of a single unit not again after the first byte: the peer probed a window of zero for ever.
#[test]
fn a_buffer_that_tunes_itself_begins_with_a_window_that_can_be_announced() {
    // 1000 bytes at first, 2^30 - 2^14 at most, which takes a unit of 16 KiB.
    let knobs = [
        (knob("receive_buffer"), 8),
        (knob("receive_buffer_tuning"), 0),
        (knob("receive_buffer_initial"), 0),
    ];
    let mut client = Make::named("rfc", &[]);
    for ack in ["delayed", "immediate"] {
        let server = Make { knobs, ..Make::named("rfc", &[("ack", ack)]) };
        endure([0; 6], &[client, server], &[[WRITE, 0, 0x74, 0x72]]);
        // The smallest.
        client.knobs[0] = (knob("mss"), 0);
    }
}
