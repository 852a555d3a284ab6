//! Delivery opportunities as a list of milliseconds: mahimahi's trace files, read and written.
//!
//! A file has one whole number per line, in order: at this millisecond, from the start of the
//! trace, 1504 bytes may be delivered. Several lines with the same number are several opportunities
//! at once. The last line is also how long the trace is; it then begins anew. What a link makes of
//! it is in `link/pace/opportunities.rs`.

use ackord_units::{Bytes, Rate, Span, Time};
use std::fmt::Write;

/// Bytes of one opportunity, of which an IP packet takes its length and four more.
pub const OPPORTUNITY: Bytes = Bytes(crate::link::OPPORTUNITY_BYTES as u64);

/// Opportunities in order, the same again after [`Trace::duration`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    instants: Vec<Instant>,
}

/// A millisecond with opportunities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant {
    /// From the start of the trace: whole milliseconds.
    pub at: Span,
    /// How many opportunities; not zero.
    pub count: u32,
}

/// What is wrong with a trace file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line that is not a whole number.
    #[error("line {line}: `{given}` is not a whole number of milliseconds")]
    NotANumber {
        /// Which, from one.
        line: usize,
        /// What it says, shortened.
        given: String,
    },
    /// A line with nothing on it.
    #[error("line {line} is empty")]
    EmptyLine {
        /// Which, from one.
        line: usize,
    },
    /// A time before the one above it.
    #[error("line {line}: {given} ms comes after {before} ms, but times may not go back")]
    GoesBack {
        /// Which, from one.
        line: usize,
        /// What it says.
        given: u64,
        /// What the line above says.
        before: u64,
    },
    /// A time beyond what a trace may last.
    #[error("line {line}: {given} ms is beyond {LONGEST_MS} ms")]
    TooLate {
        /// Which, from one.
        line: usize,
        /// What it says.
        given: u64,
    },
    /// No line at all.
    #[error("the trace has no opportunity")]
    Empty,
    /// Every opportunity is at zero: the trace would repeat without end at one instant.
    #[error("the trace lasts 0 ms: its last line has to be more")]
    NoDuration,
}

/// Ten days; more than any trace lasts.
const LONGEST_MS: u64 = 864_000_000;
/// What an error repeats of a line.
const SHOWN: usize = 24;

impl Trace {
    /// Reads a trace file.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut instants: Vec<Instant> = Vec::new();
        let mut before = 0;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() {
                return Err(TraceError::EmptyLine { line });
            }
            let Ok(given) = text.parse::<u64>() else {
                let given = text.chars().take(SHOWN).collect();
                return Err(TraceError::NotANumber { line, given });
            };
            if given < before {
                return Err(TraceError::GoesBack { line, given, before });
            }
            if given > LONGEST_MS {
                return Err(TraceError::TooLate { line, given });
            }
            before = given;
            let at = Span::from_millis(given);
            match instants.last_mut().filter(|last| last.at == at) {
                Some(last) => last.count += 1,
                None => instants.push(Instant { at, count: 1 }),
            }
        }
        Trace::new(instants)
    }

    /// The trace with these opportunities, whose times are in order.
    fn new(instants: Vec<Instant>) -> Result<Trace, TraceError> {
        match instants.last() {
            None => Err(TraceError::Empty),
            Some(last) if last.at == Span::ZERO => Err(TraceError::NoDuration),
            Some(_) => Ok(Trace { instants }),
        }
    }

    /// The file that reads as this trace.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for instant in &self.instants {
            for _ in 0..instant.count {
                let _ = writeln!(text, "{}", instant.at.as_millis());
            }
        }
        text
    }

    /// The trace of a link that delivers `delivered(t)` bytes from the start to t, which never goes
    /// back: an opportunity at the first millisecond by which another 1504 bytes are through. It
    /// ends with its last opportunity, so up to 1503 bytes at the end are left out.
    pub fn of_deliveries(
        duration: Span,
        mut delivered: impl FnMut(Time) -> u64,
    ) -> Result<Trace, TraceError> {
        let mut instants = Vec::new();
        let mut opportunities = 0;
        for millis in 1..=duration.as_millis() {
            let at = Span::from_millis(millis);
            let whole = delivered(Time::ZERO + at) / OPPORTUNITY.get();
            let count = whole.saturating_sub(opportunities);
            if count > 0 {
                instants.push(Instant { at, count: u32::try_from(count).unwrap_or(u32::MAX) });
                opportunities = whole;
            }
        }
        Trace::new(instants)
    }

    /// The milliseconds with opportunities, in order.
    pub fn instants(&self) -> &[Instant] {
        &self.instants
    }

    /// From the start to the last opportunity, when it begins anew.
    pub fn duration(&self) -> Span {
        self.instants.last().map_or(Span::ZERO, |last| last.at)
    }

    /// How many opportunities it has.
    pub fn opportunities(&self) -> u64 {
        self.instants.iter().map(|instant| u64::from(instant.count)).sum()
    }

    /// What its opportunities carry over its duration, the four bytes before each packet included.
    pub fn mean_rate(&self) -> Rate {
        Bytes(self.opportunities() * OPPORTUNITY.get()).over(self.duration())
    }

    /// The longest time without an opportunity, the seam where it begins anew included.
    pub fn longest_gap(&self) -> Span {
        let first = self.instants.first().map_or(Span::ZERO, |first| first.at);
        let between = self.instants.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at));
        between.chain([first]).max().unwrap_or(Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_as_what_it_says_and_is_written_as_it_was() {
        let text = "0\n2\n2\n2\n7\n";
        let trace = Trace::parse(text).expect("a valid trace");
        assert_eq!(trace.to_text(), text);
        assert_eq!((trace.opportunities(), trace.duration()), (5, Span::from_millis(7)));
        // 5 * 1504 bytes in 7 ms.
        assert_eq!(trace.mean_rate(), Bytes(7_520).over(Span::from_millis(7)));
        assert_eq!(trace.longest_gap(), Span::from_millis(5));
        assert_eq!(Trace::parse("0\r\n2\r\n2\r\n2\r\n7").as_ref(), Ok(&trace));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let read = |text: &str| Trace::parse(text).map_err(|error| error.to_string());
        let wrong = |text, says: &str| assert_eq!(read(text), Err(says.to_owned()));
        wrong("1\n2x\n", "line 2: `2x` is not a whole number of milliseconds");
        wrong("-1\n", "line 1: `-1` is not a whole number of milliseconds");
        wrong("1\n\n2\n", "line 2 is empty");
        wrong("1\n5\n4\n", "line 3: 4 ms comes after 5 ms, but times may not go back");
        wrong("1\n864000001\n", "line 2: 864000001 ms is beyond 864000000 ms");
        wrong("", "the trace has no opportunity");
        wrong("0\n0\n", "the trace lasts 0 ms: its last line has to be more");
    }

    #[test]
    fn a_constant_rate_becomes_evenly_spaced_opportunities() {
        // 12.032 Mbit/s are 1504 bytes a millisecond.
        let rate = Rate::from_bits_per_sec(12_032_000);
        let delivered = |t: Time| rate.bytes_in(t - Time::ZERO).get();
        let trace = Trace::of_deliveries(Span::from_millis(100), delivered).expect("a trace");
        assert!(trace.instants().iter().all(|instant| instant.count == 1));
        assert_eq!((trace.opportunities(), trace.mean_rate()), (100, rate));
    }
}
