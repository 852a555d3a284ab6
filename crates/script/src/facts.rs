//! What a script may assert of an endpoint: quantities, their values, and how these compare.

use ackord_tcp::Connection;
use ackord_units::{Seq, Span, Time};
use std::fmt;

/// Something an endpoint can be asked.
pub struct Quantity {
    /// Its name in scripts.
    pub name: &'static str,
    /// What its values look like.
    pub kind: Kind,
    /// What it is.
    pub doc: &'static str,
    pub(crate) value: fn(&Asked<'_>) -> Fact,
}

impl Quantity {
    /// Its value.
    pub(crate) fn of(&self, asked: &Asked<'_>) -> Fact {
        (self.value)(asked)
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a quantity's values look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An amount of data: `1000 B`, or `10 segments` of SMSS bytes.
    Bytes,
    /// A time span.
    Span,
    /// A plain number.
    Count,
    /// A sequence number, counted from the initial one.
    Relative,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A value that an endpoint has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// An amount of data.
    Bytes(u64),
    /// A time span.
    Span(Span),
    /// A plain number.
    Count(u64),
    /// A word.
    Word(&'static str),
    /// There is none (yet).
    None,
}

/// A value that a script wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// An amount of data.
    Bytes(u64),
    /// So many segments of SMSS bytes.
    Segments(f64),
    /// A time span.
    Span(Span),
    /// A plain number.
    Count(u64),
    /// A word.
    Word(&'static str),
    /// There is to be none.
    None,
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// One comparison.
#[derive(Clone, Copy, Debug)]
pub struct Assertion {
    /// Of what.
    pub quantity: &'static Quantity,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub wanted: Wanted,
    /// How far off an equal value may be.
    pub tolerance: Wanted,
}

/// Who is asked, and when.
pub(crate) struct Asked<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) now: Time,
    pub(crate) iss: Seq,
    pub(crate) irs: Seq,
}

impl Assertion {
    /// Whether it is so, if the value is this and a full-sized segment has so many bytes.
    pub(crate) fn holds(&self, fact: Fact, smss: u64) -> bool {
        let same = match (fact, self.wanted) {
            (Fact::None, Wanted::None) => Some(true),
            (Fact::None, _) | (_, Wanted::None) => Some(false),
            (Fact::Word(is), Wanted::Word(wanted)) => Some(is == wanted),
            _ => None,
        };
        if let Some(same) = same {
            return match self.comparison {
                Comparison::Equal => same,
                Comparison::Unequal => !same,
                _ => false,
            };
        }
        let is = match fact {
            Fact::Bytes(value) | Fact::Count(value) => value,
            Fact::Span(span) => span.as_nanos(),
            Fact::Word(_) | Fact::None => return false,
        };
        let (wanted, tolerance) = (self.wanted.number(smss), self.tolerance.number(smss));
        match self.comparison {
            Comparison::Equal => is.abs_diff(wanted) <= tolerance,
            Comparison::Unequal => is.abs_diff(wanted) > tolerance,
            Comparison::Less => is < wanted,
            Comparison::AtMost => is <= wanted,
            Comparison::More => is > wanted,
            Comparison::AtLeast => is >= wanted,
        }
    }
}

impl Wanted {
    fn number(self, smss: u64) -> u64 {
        match self {
            Wanted::Bytes(value) | Wanted::Count(value) => value,
            Wanted::Segments(segments) => (segments * smss as f64).round() as u64,
            Wanted::Span(span) => span.as_nanos(),
            Wanted::Word(_) | Wanted::None => 0,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Bytes(value) => write!(f, "{value} B"),
            Fact::Span(span) => write!(f, "{span}"),
            Fact::Count(value) => write!(f, "{value}"),
            Fact::Word(word) => f.write_str(word),
            Fact::None => f.write_str("none"),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Bytes(value) => write!(f, "{value} B"),
            Wanted::Segments(segments) => write!(f, "{segments} segments"),
            Wanted::Span(span) => write!(f, "{span}"),
            Wanted::Count(value) => write!(f, "{value}"),
            Wanted::Word(word) => f.write_str(word),
            Wanted::None => f.write_str("none"),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::Unequal => "!=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::More => ">",
            Comparison::AtLeast => ">=",
        })
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.quantity.name, self.comparison, self.wanted)?;
        match self.tolerance {
            Wanted::Count(0) => Ok(()),
            tolerance => write!(f, " +- {tolerance}"),
        }
    }
}
