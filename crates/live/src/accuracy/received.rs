//! What was received, in numbers: delays, disorder, rates.

use super::lane::MTU;
use super::load::{Got, Received, ReceivedStream, Sent};
use ackord_units::{Bytes, Rate, Span};

/// How long a datagram took, in nanoseconds.
pub(super) fn took(sent: &Sent, got: &Got) -> i64 {
    let stamp = sent.stamps.get(got.number as usize).copied().unwrap_or_default();
    got.at_nanos as i64 - stamp as i64
}

/// Datagrams that came after one that was sent later.
pub(super) fn disordered(received: &Received) -> u64 {
    received.datagrams.windows(2).filter(|pair| pair[1].number <= pair[0].number).count() as u64
}

/// The rate at which datagrams came between the end of the first fifth of `lasts` and its end.
pub(super) fn rate_of(got: &[Got], ip_len: u32, lasts: Span) -> Rate {
    let Some(first) = got.first() else { return Rate::default() };
    let from = first.at_nanos + lasts.as_nanos() / 5;
    let until = first.at_nanos + lasts.as_nanos();
    let counted: Vec<_> =
        got.iter().map(|got| got.at_nanos).filter(|at| (from..until).contains(at)).collect();
    let (Some(first), Some(last)) = (counted.first(), counted.last()) else {
        return Rate::default();
    };
    // The first ends the interval before it.
    let bytes = (counted.len() as u64 - 1) * u64::from(ip_len);
    Bytes(bytes).over(Span::from_nanos(last.saturating_sub(*first)))
}

/// The rate of a stream's packets, headers included, over the same part of its time.
pub(super) fn rate_of_points(stream: &ReceivedStream, lasts: Span) -> Rate {
    let Some((first, _)) = stream.points.first() else { return Rate::default() };
    let from = first + lasts.as_nanos() / 5;
    let mut counted = stream.points.iter().filter(|(at, _)| *at >= from);
    let (Some((begin, before)), Some((end, after))) = (counted.next(), stream.points.last()) else {
        return Rate::default();
    };
    let payload = after.saturating_sub(*before);
    let mss = u64::from(stream.mss.max(1));
    let bytes = (u128::from(payload) * u128::from(MTU) / u128::from(mss)) as u64;
    Bytes(bytes).over(Span::from_nanos(end.saturating_sub(*begin)))
}
