//! ACKs in another order than they were sent in.

use super::captures::{Captures, Run};
use super::record::Record;
use ackord_units::{RandomStream, mix64};
use ackord_wire::Side;

/// Of so many pairs of ACKs one is swapped.
const ONE_OF: u64 = 5;
/// ACKs that far apart are not swapped, ns; or a tenth of a round trip.
const NEIGHBOURS: u64 = 2_000_000;
/// An ACK follows its data within this at the receiver, ns.
const ANSWERED: u64 = 300_000;
/// It is captured before its data by less than this, ns.
const EARLY: u32 = 300_000;

/// Lets ACKs of the receiver overtake the ones before them on `air`, or on `access` for uploads: at
/// every place but the receiver's.
pub(super) fn swap_acks(captures: &mut Captures, run: &Run) {
    let receiver = run.sends.other();
    let apart = NEIGHBOURS.max(run.rtt / 10);
    let own = if receiver == Side::Client { 2 } else { 0 };
    for (place, capture) in captures.0.iter_mut().enumerate().filter(|(place, _)| *place != own) {
        debug_assert!(place < 3);
        let of_receiver = |record: &Record| run.side_of(record) == Some(receiver);
        let acks: Vec<usize> = (0..capture.records.len())
            .filter(|index| of_receiver(&capture.records[*index]))
            .collect();
        let mut number = 0;
        while let [first, second] = acks.get(number..number + 2).unwrap_or_default()[..] {
            let records = &mut capture.records;
            let both = records[first].is_pure_ack() && records[second].is_pure_ack();
            let near = records[second].at - records[first].at <= apart;
            let advances = records[second].ack().wrapping_sub(records[first].ack()) as i32 > 0;
            let chosen = mix64(run.seed ^ u64::from(records[first].ack())).is_multiple_of(ONE_OF);
            if both && near && advances && chosen {
                let times = (records[first].at, records[second].at);
                records.swap(first, second);
                (records[first].at, records[second].at) = times;
                number += 1;
            }
            number += 1;
        }
    }
}

/// Captures ACKs before the data that they acknowledge, at the receiver.
pub(super) fn early_acks(captures: &mut Captures, run: &Run) {
    let receiver = run.sends.other();
    let place = if receiver == Side::Client { 2 } else { 0 };
    let mut random = RandomStream::for_element(run.seed, "peers/early");
    let records = &mut captures.0[place].records;
    for index in 1..records.len() {
        let (before, rest) = records.split_at_mut(index);
        let (data, ack) = (&before[index - 1], &mut rest[0]);
        let is_data = data.payload_len() > 0 && run.side_of(data) == Some(run.sends);
        let answers = ack.is_pure_ack() && ack.ack() == data.end_seq();
        let soon = ack.at.saturating_sub(data.at) <= ANSWERED;
        if is_data && answers && soon && run.side_of(ack) == Some(receiver) {
            let early = u64::from(1000 + random.below(EARLY - 1000));
            let earliest = index.checked_sub(2).map_or(0, |last| before[last].at);
            ack.at = data.at.saturating_sub(early).max(earliest);
            records.swap(index - 1, index);
        }
    }
}
