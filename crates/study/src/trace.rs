//! Delivery traces: made from rates or from a capture, and told.

use ackord_path::{OPPORTUNITY, Trace, TraceError};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries};
use ackord_units::{Bytes, Rate, Span, Time};
use ackord_wire::{CaptureReader, LinkType, ReadError};
use serde::Serialize;
use std::io::Read;

/// A rate that changes, for a trace to be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRates {
    /// From the start on.
    pub at_first: Rate,
    /// When it changes and to what, in order.
    pub changes: Vec<(Span, Rate)>,
    /// How long the trace is.
    pub duration: Span,
}

/// Why a capture gives no trace.
#[derive(Debug, thiserror::Error)]
pub enum CaptureTraceError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Where its packets begin is not known.
    #[error("frames of link type {} are not understood", .0.0)]
    UnknownLink(LinkType),
    /// What is in it makes no trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Bytes in front of the IP packet in frames of Ethernet, Linux cooked and raw captures.
const FRAME_HEADERS: [(u16, u32); 6] = [(1, 14), (12, 0), (101, 0), (113, 16), (228, 0), (229, 0)];
/// Bytes that an opportunity counts with each packet.
const PER_PACKET: u64 = 4;
/// Points that a plot has at most.
const MOST_POINTS: u64 = 600;

/// The trace of a link of these rates.
///
/// # Errors
/// [`TraceError`] where not even one opportunity comes about.
pub fn trace_of_rates(rates: &TraceRates) -> Result<Trace, TraceError> {
    Trace::of_deliveries(rates.duration, |now| {
        let now = now - Time::ZERO;
        let mut bits_nanos = 0_u128;
        let (mut from, mut rate) = (Span::ZERO, rates.at_first);
        for &(at, next) in rates.changes.iter().filter(|(at, _)| *at < now) {
            bits_nanos += u128::from(rate.as_bits_per_sec()) * u128::from((at - from).as_nanos());
            (from, rate) = (at, next);
        }
        bits_nanos += u128::from(rate.as_bits_per_sec()) * u128::from((now - from).as_nanos());
        (bits_nanos / 8_000_000_000) as u64
    })
}

/// The trace of a link that delivered the packets of one interface of a capture when the capture
/// says, and could not have delivered more: honest for a link that was never idle.
///
/// # Errors
/// [`CaptureTraceError`].
pub fn trace_of_capture(input: impl Read, interface: usize) -> Result<Trace, CaptureTraceError> {
    let mut capture = CaptureReader::new(input)?;
    let mut packets: Vec<(Time, u64)> = Vec::new();
    while let Some((link_type, packet)) = capture.next_packet()? {
        let Some(at) = packet.at.filter(|_| packet.interface == interface) else { continue };
        let header = FRAME_HEADERS.iter().find(|(known, _)| *known == link_type.0);
        let &(_, header) = header.ok_or(CaptureTraceError::UnknownLink(link_type))?;
        packets.push((at, u64::from(packet.original_len.saturating_sub(header)) + PER_PACKET));
    }
    packets.sort_by_key(|&(at, _)| at);
    let Some(&(first, _)) = packets.first() else { return Err(TraceError::Empty.into()) };
    let last = packets.last().map_or(first, |&(at, _)| at);
    let duration = last.saturating_since(first) + Span::from_millis(1);
    let (mut next, mut total) = (0, 0);
    let trace = Trace::of_deliveries(duration, |now| {
        while let Some(&(at, bytes)) = packets.get(next) {
            if at.saturating_since(first) > now - Time::ZERO {
                break;
            }
            total += bytes;
            next += 1;
        }
        total
    });
    Ok(trace?)
}

/// What a trace comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceFacts {
    /// How many opportunities it has, each of 1504 bytes.
    pub opportunities: u64,
    /// From its start to its last opportunity.
    pub duration_s: f64,
    /// What the opportunities carry.
    pub mean_mbit_s: f64,
    /// The least that any second of it carries.
    pub slowest_second_mbit_s: f64,
    /// The most.
    pub fastest_second_mbit_s: f64,
    /// The longest time without an opportunity.
    pub longest_gap_ms: u64,
}

/// What `trace` comes to. Of a trace shorter than a second the seconds are its own length.
pub fn trace_facts(trace: &Trace) -> TraceFacts {
    let duration = trace.duration();
    let step = duration.min(Span::from_secs(1));
    let whole = (duration.as_nanos() / step.as_nanos()) as usize;
    let rates: Vec<f64> = binned(trace, step).into_iter().take(whole).map(|(_, r)| r).collect();
    TraceFacts {
        opportunities: trace.opportunities(),
        duration_s: duration.as_secs_f64(),
        mean_mbit_s: trace.mean_rate().as_bits_per_sec() as f64 / 1e6,
        slowest_second_mbit_s: rates.iter().copied().fold(f64::INFINITY, f64::min),
        fastest_second_mbit_s: rates.iter().copied().fold(0.0, f64::max),
        longest_gap_ms: trace.longest_gap().as_millis(),
    }
}

/// The trace called `name` as tables and a plot.
pub fn trace_document(name: &str, trace: &Trace) -> Document {
    let facts = trace_facts(trace);
    let row = |what: &str, cell: Cell, unit: &str| vec![Cell::text(what), cell, Cell::text(unit)];
    let rows = vec![
        row("opportunities", Cell::Count(facts.opportunities), "of 1504 bytes"),
        row("duration", Cell::number(facts.duration_s, 3), "s"),
        row("mean rate", Cell::about(facts.mean_mbit_s), "Mbit/s"),
        row("slowest second", Cell::about(facts.slowest_second_mbit_s), "Mbit/s"),
        row("fastest second", Cell::about(facts.fastest_second_mbit_s), "Mbit/s"),
        row("longest gap", Cell::Count(facts.longest_gap_ms), "ms"),
    ];
    let columns = vec![Column::words(""), Column::numbers("", ""), Column::words("")];
    let table = Table { caption: String::new(), columns, rows };
    let section = Section::new("What it carries")
        .with(Block::Table(table))
        .with(Block::Plot(trace_plot(trace)));
    Document {
        title: format!("Delivery trace {name}"),
        sections: vec![section],
        ..Document::default()
    }
}

/// Rate against time, in steps of at least 100 ms.
fn trace_plot(trace: &Trace) -> Plot {
    let shortest = Span::from_millis(100);
    let step = Span::from_nanos(trace.duration().as_nanos() / MOST_POINTS).max(shortest);
    let steps = PlotSeries::new("deliverable", Mark::Steps, binned(trace, step));
    Plot::new("trace-rate", "Rate of the trace", "time (s)", "rate (Mbit/s)").with(steps)
}

/// Time in seconds and rate in Mbit/s for every `step`; an opportunity at a border is of the step
/// that it ends.
fn binned(trace: &Trace, step: Span) -> Vec<(f64, f64)> {
    let count = trace.duration().as_nanos().div_ceil(step.as_nanos()).max(1);
    let mut bytes = vec![0_u64; count as usize];
    for instant in trace.instants() {
        let bin = instant.at.as_nanos().saturating_sub(1) / step.as_nanos();
        bytes[bin as usize] += u64::from(instant.count) * OPPORTUNITY.get();
    }
    let rate = |bytes| Bytes(bytes).over(step).as_bits_per_sec() as f64 / 1e6;
    let at = |bin: usize| bin as f64 * step.as_secs_f64();
    bytes.into_iter().enumerate().map(|(bin, bytes)| (at(bin), rate(bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(changes: &[(u64, u64)]) -> TraceRates {
        let change = |&(at, to)| (Span::from_millis(at), Rate::from_bits_per_sec(to));
        TraceRates {
            at_first: Rate::from_bits_per_sec(12_032_000),
            changes: changes.iter().map(change).collect(),
            duration: Span::from_secs(3),
        }
    }

    #[test]
    fn rates_become_as_many_opportunities_as_they_carry() {
        // One a millisecond, then none for a second, then two a millisecond.
        let trace = trace_of_rates(&rates(&[(1_000, 0), (2_000, 24_064_000)])).expect("a trace");
        assert_eq!(trace.opportunities(), 1_000 + 2_000);
        assert_eq!(trace.longest_gap(), Span::from_millis(1_001));
        let facts = trace_facts(&trace);
        assert_eq!((facts.slowest_second_mbit_s, facts.fastest_second_mbit_s), (0.0, 24.064));
        assert_eq!((facts.mean_mbit_s, facts.duration_s), (12.032, 3.0));
    }

    #[test]
    fn nothing_makes_no_trace() {
        let none = TraceRates { at_first: Rate::from_bits_per_sec(0), ..rates(&[]) };
        assert_eq!(trace_of_rates(&none), Err(TraceError::Empty));
        assert!(trace_of_capture(&b"no capture"[..], 0).is_err());
    }
}
