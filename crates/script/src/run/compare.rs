//! What was expected beside what came, field by field.

use crate::model::{Fields, FlagsWanted, Len, Number, OptionsWanted, Want, Window};
use crate::notation::{
    Direction, View, blocks_text, ecn_name, flag_names, header_seq, header_stamp, relative,
    stamp_text, window_text,
};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Segment};
use serde::Serialize;

/// One field of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Which.
    pub field: &'static str,
    /// What the script says; `-` where it says nothing.
    pub expected: String,
    /// What came.
    pub happened: String,
    /// Whether that is something else.
    pub differs: bool,
}

/// A segment that left the endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) at: Time,
    pub(super) segment: Segment,
    pub(super) ecn: Ecn,
}

/// When a segment is expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) at: Time,
    pub(super) tolerance: Span,
    /// Allowed beside it, of an endpoint whose instants are not ours.
    pub(super) slack: Span,
}

const OUT: Direction = Direction::Out;

/// Every field of the segment with what is expected of it.
pub(super) fn compare(fields: &Fields, when: When, left: &Left, view: &View) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |field, expected: Option<String>, happened: String, differs| {
        let expected = expected.unwrap_or_else(|| "-".to_owned());
        rows.push(Row { field, expected, happened, differs });
    };
    let segment = &left.segment;
    let early_or_late = left.at.saturating_since(when.at).max(when.at.saturating_since(left.at));
    let mut at = seconds(when.at);
    if when.tolerance > Span::ZERO {
        at = format!("{at} +- {}", when.tolerance);
    }
    row("time", Some(at), seconds(left.at), early_or_late > when.tolerance + when.slack);

    let flags = fields.flags;
    let wrong = flags_differ(flags, fields.ack.is_some(), segment.flags);
    row("flags", Some(flags_text(flags)), flag_names(segment.flags), wrong);

    let base = view.seq_base(OUT);
    let wrong = fields.seq.is_some_and(|number| header_seq(number, base) != segment.seq);
    row(
        "seq",
        fields.seq.map(|number| number_text(number, base)),
        number_like(fields.seq, segment.seq, base),
        wrong,
    );
    let (len, wrong) = match fields.len {
        Len::Bytes(bytes) => (Some(bytes.to_string()), bytes != segment.payload_len),
        Len::Any => (None, false),
    };
    row("len", len, segment.payload_len.to_string(), wrong);

    let base = view.ack_base(OUT);
    let wrong = fields.ack.is_some_and(|number| header_seq(number, base) != segment.ack);
    row(
        "ack",
        fields.ack.map(|number| number_text(number, base)),
        number_like(fields.ack, segment.ack, base),
        wrong,
    );
    let bytes = view.window_bytes(OUT, segment);
    let (happened, wrong) = match fields.window {
        Some(Window::Field(field)) => {
            (format!("rawwin {}", segment.window), field != segment.window)
        }
        Some(Window::Bytes(wanted)) => (format!("win {bytes}"), wanted != bytes),
        None => (format!("win {bytes}"), false),
    };
    row("window", fields.window.map(window_text), happened, wrong);

    let wrong = fields.ecn.is_some_and(|ecn| ecn != left.ecn);
    let wanted = fields.ecn.map(|ecn| ecn_name(ecn).to_owned());
    row("ecn", wanted, ecn_name(left.ecn).to_owned(), wrong);

    compare_options(&fields.options, segment, view, &mut rows);
    rows
}

fn compare_options(wanted: &OptionsWanted, segment: &Segment, view: &View, rows: &mut Vec<Row>) {
    let options = &segment.options;
    let only = wanted.only;
    let text = |value: Option<String>| value.unwrap_or_else(|| "absent".to_owned());
    option_row(
        rows,
        "mss",
        only,
        wanted.mss.as_ref().map(u16::to_string),
        text(options.mss.map(|mss| mss.to_string())),
    );
    option_row(
        rows,
        "wscale",
        only,
        wanted.window_scale.as_ref().map(u8::to_string),
        text(options.window_scale.map(|shift| shift.to_string())),
    );
    let permitted = options.sack_permitted.then(|| "there".to_owned());
    let wanted_permitted = wanted.sack_permitted.as_ref().map(|()| "there".to_owned());
    option_row(rows, "sackOK", only, wanted_permitted, text(permitted));

    let (value_base, echo_base) = view.stamp_bases(OUT);
    let stamps = options.timestamps;
    let value = stamps.map(|stamps| stamp_text(stamps.value, value_base));
    let echo = stamps.map(|stamps| stamp_text(stamps.echo, echo_base));
    let part = |number: Option<Number>, base, there: &Option<String>| match number {
        // Anything will do, but something has to be there.
        None => there.clone().unwrap_or_else(|| "there".to_owned()),
        Some(number) => stamp_text(header_stamp(number, base), base),
    };
    let wanted_value = wanted.timestamps.as_ref().map(|w| part(w.value, value_base, &value));
    let wanted_echo = wanted.timestamps.as_ref().map(|w| part(w.echo, echo_base, &echo));
    option_row(rows, "ts", only, wanted_value, text(value));
    option_row(rows, "ecr", only, wanted_echo, text(echo));

    let base = view.ack_base(OUT);
    let wanted_blocks = wanted.sack.as_ref().map(|blocks| {
        let each = |number| relative(header_seq(number, base), base);
        let texts: Vec<_> =
            blocks.iter().map(|(start, end)| format!("{}:{}", each(*start), each(*end))).collect();
        texts.join(" ")
    });
    let blocks = (!options.sack.is_empty()).then(|| blocks_text(view, OUT, segment));
    option_row(rows, "sack", only, wanted_blocks, text(blocks));
}

/// A row for an option that is written or there.
fn option_row(
    rows: &mut Vec<Row>,
    field: &'static str,
    only: bool,
    wanted: Want<String>,
    happened: String,
) {
    let expected = match wanted {
        Want::Is(value) => Some(value),
        Want::Absent => Some("absent".to_owned()),
        Want::Unsaid => only.then(|| "absent".to_owned()),
    };
    let differs = expected.as_ref().is_some_and(|expected| *expected != happened);
    if expected.is_none() && happened == "absent" {
        return;
    }
    let expected = expected.unwrap_or_else(|| "-".to_owned());
    if expected == "absent" && happened == "absent" {
        return;
    }
    rows.push(Row { field, expected, happened, differs });
}

impl<T> Want<T> {
    fn as_ref(&self) -> Want<&T> {
        match self {
            Want::Unsaid => Want::Unsaid,
            Want::Absent => Want::Absent,
            Want::Is(value) => Want::Is(value),
        }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Want<U> {
        match self {
            Want::Unsaid => Want::Unsaid,
            Want::Absent => Want::Absent,
            Want::Is(value) => Want::Is(change(value)),
        }
    }
}

/// What a segment is, is always compared: SYN, FIN and RST.
const ALWAYS: Flags = Flags::from_bits(Flags::SYN.bits() | Flags::FIN.bits() | Flags::RST.bits());

fn flags_differ(wanted: FlagsWanted, acks: bool, flags: Flags) -> bool {
    if wanted.none {
        return flags != Flags::NONE;
    }
    let ack = if acks { Flags::ACK.bits() } else { 0 };
    let compared = ALWAYS.bits() | wanted.set.bits() | wanted.clear.bits() | ack;
    (flags.bits() & compared) != ((wanted.set.bits() | ack) & !wanted.clear.bits())
}

fn flags_text(wanted: FlagsWanted) -> String {
    let mut texts = Vec::new();
    if wanted.none || wanted.set != Flags::NONE {
        texts.push(flag_names(wanted.set));
    }
    if wanted.clear != Flags::NONE {
        texts.push(format!("no {}", flag_names(wanted.clear)));
    }
    if texts.is_empty() { "no SYN, FIN, RST".to_owned() } else { texts.join(" ") }
}

fn number_text(number: Number, base: Seq) -> String {
    match number {
        Number::Relative(_) => relative(header_seq(number, base), base).to_string(),
        Number::Raw(value) => format!("raw {value}"),
    }
}

/// The number as the script counts it.
fn number_like(wanted: Option<Number>, seq: Seq, base: Seq) -> String {
    match wanted {
        Some(Number::Raw(_)) => format!("raw {seq}"),
        _ => relative(seq, base).to_string(),
    }
}

/// A time as a script would write it.
pub fn seconds(time: Time) -> String {
    let nanos = time.as_nanos();
    let (whole, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let digits = format!("{part:09}");
    let (micros, rest) = digits.split_at(6);
    let rest = rest.trim_end_matches('0');
    format!("{whole}.{micros}{rest}")
}
