//! `assert cwnd = 10 segments, state = ESTABLISHED`

use super::tokens::{Cursor, clipped};
use super::wrong::Wrong;
use crate::facts::{Assertion, Comparison, Kind, Wanted};
use crate::problem::not_among;
use crate::quantities::{QUANTITIES, quantity_of};

const COMPARISONS: &[(&str, Comparison)] = &[
    ("=", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<", Comparison::Less),
    ("<=", Comparison::AtMost),
    (">", Comparison::More),
    (">=", Comparison::AtLeast),
];

pub(super) fn assertions(cursor: &mut Cursor<'_>) -> Result<Vec<Assertion>, Wrong> {
    let mut found = vec![assertion(cursor)?];
    while cursor.take_if(",") {
        found.push(assertion(cursor)?);
    }
    cursor.finish("an assertion (two are separated by a comma)")?;
    Ok(found)
}

fn assertion(cursor: &mut Cursor<'_>) -> Result<Assertion, Wrong> {
    let name = cursor.word("a quantity")?;
    let quantity = quantity_of(name.text).ok_or_else(|| {
        let names: Vec<_> = QUANTITIES.iter().map(|quantity| quantity.name).collect();
        cursor.wrong_before(not_among(name.text, "a quantity that can be asserted", &names))
    })?;
    let comparison = comparison(cursor, quantity.kind)?;
    let wanted = wanted(cursor, quantity.kind)?;
    let mut tolerance = Wanted::Count(0);
    if cursor.take_if("+-") {
        let exact = matches!(quantity.kind, Kind::Word(_)) || wanted == Wanted::None;
        if exact || !matches!(comparison, Comparison::Equal | Comparison::Unequal) {
            return Err(cursor.wrong_before("only `=` and `!=` of a number have a tolerance"));
        }
        tolerance = self::wanted(cursor, quantity.kind)?;
    }
    Ok(Assertion { quantity, comparison, wanted, tolerance })
}

fn comparison(cursor: &mut Cursor<'_>, kind: Kind) -> Result<Comparison, Wrong> {
    let token = cursor.word("a comparison")?;
    // `!=` falls apart because `=` stands for itself.
    let text = if token.text == "!" && cursor.take_if("=") { "!=" } else { token.text };
    let signs: Vec<_> = COMPARISONS.iter().map(|(sign, _)| *sign).collect();
    let found = COMPARISONS.iter().find(|(sign, _)| *sign == text);
    let &(_, comparison) =
        found.ok_or_else(|| cursor.wrong_before(not_among(text, "a comparison", &signs)))?;
    let ordered = !matches!(comparison, Comparison::Equal | Comparison::Unequal);
    if ordered && matches!(kind, Kind::Word(_)) {
        return Err(cursor.wrong_before(not_among(text, "a comparison of words", &["=", "!="])));
    }
    Ok(comparison)
}

fn wanted(cursor: &mut Cursor<'_>, kind: Kind) -> Result<Wanted, Wrong> {
    let none_is_a_word = matches!(kind, Kind::Word(words) if words.contains(&"none"));
    if !none_is_a_word && cursor.take_if("none") {
        return Ok(Wanted::None);
    }
    match kind {
        Kind::Bytes if cursor.second_is(&["segments", "segment"]) => segments(cursor),
        Kind::Bytes => cursor.bytes("the value").map(|bytes| Wanted::Bytes(bytes.get())).map_err(
            |mut wrong| {
                wrong.what.push_str("; or write it as `10 segments`");
                wrong
            },
        ),
        Kind::Span => cursor.span("the value").map(Wanted::Span),
        Kind::Count | Kind::Relative => {
            cursor.count("the value", i64::MAX as u64).map(Wanted::Count)
        }
        Kind::Word(words) => {
            let token = cursor.word("a word")?;
            let found = words.iter().find(|word| **word == token.text);
            let word = found
                .ok_or_else(|| cursor.wrong_before(not_among(token.text, "allowed here", words)))?;
            Ok(Wanted::Word(word))
        }
    }
}

/// `10 segments`, `2.5 segments`, `n+1 segments`
fn segments(cursor: &mut Cursor<'_>) -> Result<Wanted, Wrong> {
    let token = cursor.word("how many segments")?;
    let segments = match token.text.parse::<f64>() {
        Ok(segments) => segments,
        Err(_) => cursor.value_of(token.text)? as f64,
    };
    cursor.take();
    if !(0.0..=1e9).contains(&segments) {
        let given = clipped(token.text);
        return Err(cursor.wrong_before(format!("`{given}` segments; allowed: 0 to 1000000000")));
    }
    Ok(Wanted::Segments(segments))
}
