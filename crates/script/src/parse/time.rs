//! The time at which a line begins, and how far off it may be.

use super::tokens::{Cursor, Variables};
use super::wrong::Wrong;
use ackord_units::{Quantity, Span, Time};

/// Longest that a script lasts.
pub(super) const LONGEST: Span = Span::from_secs(1000 * 24 * 3600);

/// The time at which a line begins: `0.1`, `100 ms`, `+20 ms`; the one before if it gives none.
pub(super) fn time(cursor: &mut Cursor<'_>, before: Time) -> Result<Time, Wrong> {
    let text = cursor.peek_text();
    let relative = text.starts_with('+') && !text.starts_with("+-");
    if !relative && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(before);
    }
    let token = cursor.word("a time")?;
    let written = token.text.trim_start_matches('+');
    let has_unit = written.ends_with(|c: char| c.is_alphabetic());
    let mut text = written.to_owned();
    if !has_unit {
        let unit = cursor.peek_text();
        if Span::UNITS.iter().any(|(name, _)| *name == unit) {
            text = format!("{written} {unit}");
            cursor.take();
        } else {
            text.push_str(" s");
        }
    }
    let span = Span::parse(&text).map_err(|error| {
        cursor.wrong_before(format!("{error}; a time is `0.1` (seconds), `100 ms` or `+20 ms`"))
    })?;
    if relative {
        return later(cursor, before, span);
    }
    let at = later(cursor, Time::ZERO, span)?;
    if at < before {
        return Err(cursor.wrong_before(format!(
            "time goes back: {} s is before {} s, where the line above is",
            at.as_secs_f64(),
            before.as_secs_f64()
        )));
    }
    Ok(at)
}

pub(super) fn later(cursor: &Cursor<'_>, time: Time, span: Span) -> Result<Time, Wrong> {
    let room = LONGEST.saturating_sub(time.saturating_since(Time::ZERO));
    if span > room {
        return Err(cursor.wrong_before(format!("a script lasts {LONGEST} at most")));
    }
    Ok(time + span)
}

/// `+-5 ms` or `+- 5 ms`
pub(super) fn tolerance(cursor: &mut Cursor<'_>, variables: &Variables) -> Result<Span, Wrong> {
    let token = cursor.word("a tolerance")?;
    match token.text.strip_prefix("+-") {
        Some("") | None => cursor.span("a tolerance"),
        Some(number) => {
            let unit = cursor.peek_text();
            let is_unit = Span::UNITS.iter().any(|(name, _)| *name == unit);
            let text = if is_unit { format!("{number} {unit}") } else { number.to_owned() };
            if is_unit {
                cursor.take();
            }
            let mut whole = Cursor::new(&text, variables);
            let span = whole.span("a tolerance").map_err(|wrong| cursor.wrong_before(wrong.what));
            span.and_then(|span| {
                whole.finish("a tolerance").map_err(|wrong| cursor.wrong_before(wrong.what))?;
                Ok(span)
            })
        }
    }
}
