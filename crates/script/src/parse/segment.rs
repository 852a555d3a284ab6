//! A segment as it is written in a script.

use super::tokens::{Cursor, clipped};
use super::wrong::Wrong;
use crate::model::{Fields, Len, Number, OptionsWanted, Stamps, Want, Window};
use crate::problem::not_among;
use ackord_units::{Bytes, Span};
use ackord_wire::{Ecn, Flags, MAX_SACK_BLOCKS};

/// Segments of one line: one, or several that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    pub(super) fields: Fields,
    pub(super) count: u32,
    pub(super) every: Span,
}

/// Longest payload that an IP packet carries beside the shortest headers.
const LONGEST: u64 = 65_495;
/// Most segments of one line.
const MOST_SEGMENTS: u64 = 10_000;

const FLAGS: &[(&str, Flags)] = &[
    ("SYN", Flags::SYN),
    ("FIN", Flags::FIN),
    ("RST", Flags::RST),
    ("PSH", Flags::PSH),
    ("ACK", Flags::ACK),
    ("URG", Flags::URG),
    ("ECE", Flags::ECE),
    ("CWR", Flags::CWR),
];

const CODEPOINTS: &[(&str, Ecn)] =
    &[("NOT-ECT", Ecn::NotEct), ("ECT0", Ecn::Ect0), ("ECT1", Ecn::Ect1), ("CE", Ecn::Ce)];

/// Everything that may stand in a segment.
const WORDS: &[&str] = &[
    "SYN", "FIN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "NONE", "noACK", "noPSH", "noURG",
    "noECE", "noCWR", "NOT-ECT", "ECT0", "ECT1", "CE", "seq", "rawseq", "len", "ack", "rawack",
    "win", "rawwin", "segments", "every", "<",
];

pub(super) fn segments(cursor: &mut Cursor<'_>) -> Result<Segments, Wrong> {
    let mut found = Segments { fields: Fields::default(), count: 1, every: Span::ZERO };
    if cursor.is_at_end() {
        return Err(cursor.wrong("a segment belongs here: `SYN`, `ack 1001`, `seq 1:1001` ..."));
    }
    while !cursor.is_at_end() {
        if cursor.at_quantity::<Bytes>() {
            found.fields.len = Len::Bytes(payload(cursor)?);
        } else if cursor.at_number() && cursor.second_is(&["segments", "segment"]) {
            several(cursor, &mut found)?;
        } else {
            item(cursor, &mut found)?;
        }
    }
    Ok(found)
}

/// `10 segments of 1000 B from 1`
fn several(cursor: &mut Cursor<'_>, found: &mut Segments) -> Result<(), Wrong> {
    let count = cursor.count("how many segments", MOST_SEGMENTS)?;
    if count == 0 {
        return Err(cursor.wrong_before("no segments at all: leave the line out"));
    }
    found.count = count as u32;
    cursor.take();
    cursor.expect("of", "belongs: `10 segments of 1000 B from 1`")?;
    found.fields.len = Len::Bytes(payload(cursor)?);
    if cursor.take_if("from") {
        found.fields.seq = Some(relative(cursor, "the first byte")?);
    }
    Ok(())
}

fn item(cursor: &mut Cursor<'_>, found: &mut Segments) -> Result<(), Wrong> {
    let fields = &mut found.fields;
    let token = cursor.word("part of a segment")?;
    match token.text {
        "seq" => seq(cursor, fields)?,
        "rawseq" => fields.seq = Some(raw(cursor, "a sequence number")?),
        "len" if cursor.take_if("any") => fields.len = Len::Any,
        "len" if cursor.at_quantity::<Bytes>() => fields.len = Len::Bytes(payload(cursor)?),
        "len" => fields.len = Len::Bytes(cursor.count("a length in bytes", LONGEST)? as u32),
        "ack" => fields.ack = Some(relative(cursor, "an acknowledgment")?),
        "rawack" => fields.ack = Some(raw(cursor, "an acknowledgment")?),
        "win" => {
            let most = u64::from(u16::MAX) << 14;
            let window = match cursor.at_quantity::<Bytes>() {
                true => cursor.bytes("a window")?.get(),
                false => cursor.count("a window in bytes", most)?,
            };
            let window = u32::try_from(window).ok().filter(|window| u64::from(*window) <= most);
            let window = window.ok_or_else(|| {
                cursor.wrong_before(format!("no window is that large; allowed: 0 to {most} bytes"))
            })?;
            fields.window = Some(Window::Bytes(window));
        }
        "rawwin" => {
            let field = cursor.count("the window field", u64::from(u16::MAX))?;
            fields.window = Some(Window::Field(field as u16));
        }
        "every" => found.every = cursor.span("the time between two segments")?,
        "<" => options(cursor, &mut fields.options)?,
        "NONE" => fields.flags.none = true,
        text => {
            if let Some((_, ecn)) = CODEPOINTS.iter().find(|(name, _)| *name == text) {
                fields.ecn = Some(*ecn);
                return Ok(());
            }
            for word in text.split('+') {
                flag(word, fields).ok_or_else(|| {
                    cursor.wrong_before(not_among(word, "part of a segment", WORDS))
                })?;
            }
        }
    }
    Ok(())
}

fn flag(word: &str, fields: &mut Fields) -> Option<()> {
    let (name, set) = match word.strip_prefix("no") {
        Some(name) => (name, false),
        None => (word, true),
    };
    let (_, flag) = FLAGS.iter().find(|(known, _)| *known == name)?;
    let flags = if set { &mut fields.flags.set } else { &mut fields.flags.clear };
    *flags = *flags | *flag;
    Some(())
}

/// `seq 1:1001`, or `seq 1` and perhaps `len 1000` after it.
fn seq(cursor: &mut Cursor<'_>, fields: &mut Fields) -> Result<(), Wrong> {
    let token = cursor.word("a sequence number")?;
    let Some((first, last)) = token.text.split_once(':') else {
        fields.seq = Some(bounded(cursor, cursor.value_of(token.text)?)?);
        return Ok(());
    };
    let (first, last) = (cursor.value_of(first)?, cursor.value_of(last)?);
    let len = last.checked_sub(first).and_then(|len| u64::try_from(len).ok());
    let len = len.filter(|len| *len <= LONGEST).ok_or_else(|| {
        cursor.wrong_before(format!(
            "`{}` is no range of at most {LONGEST} bytes: first byte, and the one after the last",
            clipped(token.text)
        ))
    })?;
    fields.seq = Some(bounded(cursor, first)?);
    fields.len = Len::Bytes(len as u32);
    Ok(())
}

fn payload(cursor: &mut Cursor<'_>) -> Result<u32, Wrong> {
    let bytes = cursor.bytes("a length")?.get();
    if bytes > LONGEST {
        let wrong = format!("{bytes} bytes do not fit into a packet; allowed: 0 to {LONGEST}");
        return Err(cursor.wrong_before(wrong));
    }
    Ok(bytes as u32)
}

/// A number relative to an initial sequence number.
fn relative(cursor: &mut Cursor<'_>, what: &str) -> Result<Number, Wrong> {
    let value = cursor.integer(what)?;
    bounded(cursor, value)
}

fn bounded(cursor: &Cursor<'_>, value: i64) -> Result<Number, Wrong> {
    if value.unsigned_abs() > 1 << 32 {
        return Err(cursor.wrong_before(format!("{value} lies outside the space of 2^32 bytes")));
    }
    Ok(Number::Relative(value))
}

fn raw(cursor: &mut Cursor<'_>, what: &str) -> Result<Number, Wrong> {
    cursor.count(what, u64::from(u32::MAX)).map(|value| Number::Raw(value as u32))
}

const OPTIONS: &[&str] = &["mss", "wscale", "sackOK", "ts", "ecr", "sack", "no", "only"];
const REMOVABLE: &[&str] = &["mss", "wscale", "sackOK", "ts", "sack"];

/// What stands between `<` and `>`.
fn options(cursor: &mut Cursor<'_>, options: &mut OptionsWanted) -> Result<(), Wrong> {
    if cursor.take_if(">") {
        options.only = true;
        return Ok(());
    }
    loop {
        let token = cursor.word("an option or `>`")?;
        match token.text {
            "," => {}
            ">" => return Ok(()),
            "only" => options.only = true,
            "no" => absent(cursor, options)?,
            "mss" => options.mss = Want::Is(cursor.count("the MSS", 65_535)? as u16),
            "wscale" => options.window_scale = Want::Is(cursor.count("the shift", 255)? as u8),
            "sackOK" => options.sack_permitted = Want::Is(()),
            "ts" => {
                let value = stamp(cursor)?;
                stamps(options).value = value;
            }
            "ecr" => {
                let echo = stamp(cursor)?;
                stamps(options).echo = echo;
            }
            "sack" => options.sack = Want::Is(blocks(cursor)?),
            other => {
                return Err(cursor.wrong_before(not_among(other, "an option", OPTIONS)));
            }
        }
    }
}

fn absent(cursor: &mut Cursor<'_>, options: &mut OptionsWanted) -> Result<(), Wrong> {
    let token = cursor.word("an option")?;
    match token.text {
        "mss" => options.mss = Want::Absent,
        "wscale" => options.window_scale = Want::Absent,
        "sackOK" => options.sack_permitted = Want::Absent,
        "ts" => options.timestamps = Want::Absent,
        "sack" => options.sack = Want::Absent,
        other => return Err(cursor.wrong_before(not_among(other, "an option", REMOVABLE))),
    }
    Ok(())
}

fn stamps(options: &mut OptionsWanted) -> &mut Stamps {
    if !matches!(options.timestamps, Want::Is(_)) {
        options.timestamps = Want::Is(Stamps::default());
    }
    match &mut options.timestamps {
        Want::Is(stamps) => stamps,
        Want::Unsaid | Want::Absent => unreachable!("it has just been set"),
    }
}

/// A timestamp: a number, `raw` and a number, or nothing for any.
fn stamp(cursor: &mut Cursor<'_>) -> Result<Option<Number>, Wrong> {
    if cursor.take_if("raw") {
        return raw(cursor, "a timestamp").map(Some);
    }
    if cursor.at_number() {
        return relative(cursor, "a timestamp").map(Some);
    }
    Ok(None)
}

fn blocks(cursor: &mut Cursor<'_>) -> Result<Vec<(Number, Number)>, Wrong> {
    let mut blocks = Vec::new();
    while cursor.peek_text().contains(':') {
        let token = cursor.word("a block")?;
        let (first, last) = token.text.split_once(':').unwrap_or((token.text, ""));
        let (first, last) = (cursor.value_of(first)?, cursor.value_of(last)?);
        blocks.push((bounded(cursor, first)?, bounded(cursor, last)?));
    }
    match blocks.len() {
        1..=MAX_SACK_BLOCKS => Ok(blocks),
        0 => Err(cursor.wrong("a block like `2001:3001` belongs here")),
        more => Err(cursor.wrong_before(format!(
            "{more} blocks do not fit into an option; allowed: 1 to {MAX_SACK_BLOCKS}"
        ))),
    }
}
