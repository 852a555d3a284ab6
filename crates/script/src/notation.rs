//! Segments as scripts write them, and what turns a script's numbers into those of the header.

use crate::model::{Number, Window};
use ackord_units::Seq;
use ackord_wire::{Ecn, Flags, Segment};
use serde::Serialize;
use std::fmt::Write;

/// Which way a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the endpoint to the peer.
    Out,
    /// From the peer to the endpoint.
    In,
}

/// Where numbers are counted from, and how windows are scaled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) iss: Seq,
    pub(crate) irs: Seq,
    /// What the endpoint's timestamp clock says at time zero.
    pub(crate) ts_base: u32,
    /// Shifts that the SYNs carried: the endpoint's, the peer's.
    pub(crate) own_shift: Option<u8>,
    pub(crate) peer_shift: Option<u8>,
}

impl View {
    /// Where sequence numbers of a segment in this direction are counted from; the acknowledgment
    /// and the blocks of a segment in the other direction too.
    pub(crate) fn seq_base(&self, direction: Direction) -> Seq {
        match direction {
            Direction::Out => self.iss,
            Direction::In => self.irs,
        }
    }

    pub(crate) fn ack_base(&self, direction: Direction) -> Seq {
        match direction {
            Direction::Out => self.irs,
            Direction::In => self.iss,
        }
    }

    /// Where TSval and TSecr are counted from: the peer's clock is zero at time zero.
    pub(crate) fn stamp_bases(&self, direction: Direction) -> (u32, u32) {
        match direction {
            Direction::Out => (self.ts_base, 0),
            Direction::In => (0, self.ts_base),
        }
    }

    /// How far the window of a segment that is no SYN is shifted; not at all unless both SYNs said
    /// so (RFC 7323 §2.2).
    pub(crate) fn shift(&self, direction: Direction) -> u8 {
        match (self.own_shift, self.peer_shift, direction) {
            (Some(own), Some(_), Direction::Out) => own.min(14),
            (Some(_), Some(peer), Direction::In) => peer.min(14),
            _ => 0,
        }
    }

    pub(crate) fn window_bytes(&self, direction: Direction, segment: &Segment) -> u32 {
        let syn = segment.flags.contains(Flags::SYN);
        u32::from(segment.window) << if syn { 0 } else { self.shift(direction) }
    }
}

/// The number in the header.
pub(crate) fn header_seq(number: Number, base: Seq) -> Seq {
    match number {
        Number::Relative(value) => base + value as u32,
        Number::Raw(value) => Seq(value),
    }
}

/// The timestamp in the header.
pub(crate) fn header_stamp(number: Number, base: u32) -> u32 {
    match number {
        Number::Relative(value) => base.wrapping_add(value as u32),
        Number::Raw(value) => value,
    }
}

/// A header's number as scripts count.
pub(crate) fn relative(seq: Seq, base: Seq) -> i64 {
    i64::from(seq.since(base) as i32)
}

pub(crate) fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "NOT-ECT",
        Ecn::Ect0 => "ECT0",
        Ecn::Ect1 => "ECT1",
        Ecn::Ce => "CE",
    }
}

const NAMES: [(Flags, &str); 8] = [
    (Flags::SYN, "SYN"),
    (Flags::FIN, "FIN"),
    (Flags::RST, "RST"),
    (Flags::PSH, "PSH"),
    (Flags::ACK, "ACK"),
    (Flags::URG, "URG"),
    (Flags::ECE, "ECE"),
    (Flags::CWR, "CWR"),
];

/// The flags that are set, by name.
pub(crate) fn flag_names(flags: Flags) -> String {
    let names: Vec<_> =
        NAMES.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| *name).collect();
    if names.is_empty() { "NONE".to_owned() } else { names.join("+") }
}

pub(crate) fn window_text(window: Window) -> String {
    match window {
        Window::Bytes(bytes) => format!("win {bytes}"),
        Window::Field(field) => format!("rawwin {field}"),
    }
}

/// A segment as a line of a script could have it.
pub(crate) fn describe(view: &View, direction: Direction, segment: &Segment, ecn: Ecn) -> String {
    let (seq_base, ack_base) = (view.seq_base(direction), view.ack_base(direction));
    let mut text = String::new();
    let acks = segment.flags.contains(Flags::ACK);
    let shown = if acks { segment.flags.bits() & !Flags::ACK.bits() } else { segment.flags.bits() };
    if shown != 0 || !acks {
        let names = flag_names(Flags::from_bits(shown));
        write!(text, "{names} ").expect("a string takes everything");
    }
    let first = relative(segment.seq, seq_base);
    match segment.payload_len {
        0 => write!(text, "seq {first}"),
        len => write!(text, "seq {first}:{}", first + i64::from(len)),
    }
    .expect("a string takes everything");
    if acks {
        write!(text, " ack {}", relative(segment.ack, ack_base))
            .expect("a string takes everything");
    }
    write!(text, " win {}", view.window_bytes(direction, segment))
        .expect("a string takes everything");
    if ecn != Ecn::NotEct {
        write!(text, " {}", ecn_name(ecn)).expect("a string takes everything");
    }
    let options = describe_options(view, direction, segment);
    if !options.is_empty() {
        write!(text, " <{options}>").expect("a string takes everything");
    }
    text
}

fn describe_options(view: &View, direction: Direction, segment: &Segment) -> String {
    let options = &segment.options;
    let mut parts = Vec::new();
    if let Some(mss) = options.mss {
        parts.push(format!("mss {mss}"));
    }
    if options.sack_permitted {
        parts.push("sackOK".to_owned());
    }
    if let Some(stamps) = options.timestamps {
        let (value, echo) = view.stamp_bases(direction);
        parts.push(format!(
            "ts {} ecr {}",
            stamp_text(stamps.value, value),
            stamp_text(stamps.echo, echo)
        ));
    }
    if let Some(shift) = options.window_scale {
        parts.push(format!("wscale {shift}"));
    }
    if !options.sack.is_empty() {
        parts.push(format!("sack {}", blocks_text(view, direction, segment)));
    }
    parts.join(", ")
}

/// A timestamp as scripts count; zero, which says "nothing to echo", as it is.
pub(crate) fn stamp_text(stamp: u32, base: u32) -> String {
    match stamp {
        0 if base != 0 => "raw 0".to_owned(),
        stamp => i64::from(stamp.wrapping_sub(base) as i32).to_string(),
    }
}

pub(crate) fn blocks_text(view: &View, direction: Direction, segment: &Segment) -> String {
    let base = view.ack_base(direction);
    let blocks = segment.options.sack.as_slice().iter();
    let texts: Vec<_> = blocks
        .map(|block| format!("{}:{}", relative(block.start, base), relative(block.end, base)))
        .collect();
    texts.join(" ")
}
