//! Text to quantities: a number, a space if one likes, and a unit that is never left out.

use crate::{Bytes, Rate, Ratio, Span};
use std::str::FromStr;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseUnitError {
    /// There is no number at the start.
    #[error("`{given}` does not start with a number; write {kind} like `{example}`")]
    NoNumber {
        /// The text.
        given: String,
        /// What was expected.
        kind: &'static str,
        /// A valid text.
        example: &'static str,
    },
    /// The number stands alone.
    #[error("`{given}` has no unit; write {kind} like `{example}` (units: {units})")]
    NoUnit {
        /// The text.
        given: String,
        /// What was expected.
        kind: &'static str,
        /// A valid text.
        example: &'static str,
        /// The units that would do.
        units: String,
    },
    /// The unit is not one of this quantity.
    #[error("`{unit}` in `{given}` is not a unit of {kind}; units: {units}")]
    WrongUnit {
        /// The text.
        given: String,
        /// The unit found.
        unit: String,
        /// What was expected.
        kind: &'static str,
        /// The units that would do.
        units: String,
    },
    /// The value does not fit.
    #[error("`{given}` is out of range for {kind}: {range}")]
    OutOfRange {
        /// The text.
        given: String,
        /// What was expected.
        kind: &'static str,
        /// What is allowed.
        range: &'static str,
    },
}

/// A quantity with a table of units, the first of which is its base.
pub trait Quantity: Sized {
    /// What to call it in an error: "a time span".
    const KIND: &'static str;
    /// A valid text, for errors and schemas.
    const EXAMPLE: &'static str;
    /// What is allowed, for errors.
    const RANGE: &'static str;
    /// Each unit's name and its size in base units.
    const UNITS: &'static [(&'static str, f64)];

    /// The quantity of `base` base units, if it is in range.
    fn from_base(base: f64) -> Option<Self>;

    /// Parses "2 Mbit/s" and the like.
    fn parse(given: &str) -> Result<Self, ParseUnitError> {
        let text = given.trim();
        let split = text
            .char_indices()
            .find(|&(at, c)| {
                !(c.is_ascii_digit() || c == '.' || c == '_' || (at == 0 && (c == '-' || c == '+')))
            })
            .map_or(text.len(), |(at, _)| at);
        let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
        let value: f64 = number.parse().map_err(|_| ParseUnitError::NoNumber {
            given: given.to_owned(),
            kind: Self::KIND,
            example: Self::EXAMPLE,
        })?;
        let units = || Self::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        if unit.is_empty() {
            return Err(ParseUnitError::NoUnit {
                given: given.to_owned(),
                kind: Self::KIND,
                example: Self::EXAMPLE,
                units: units(),
            });
        }
        let &(_, size) = Self::UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(|| {
            ParseUnitError::WrongUnit {
                given: given.to_owned(),
                unit: unit.to_owned(),
                kind: Self::KIND,
                units: units(),
            }
        })?;
        Self::from_base(value * size).ok_or_else(|| ParseUnitError::OutOfRange {
            given: given.to_owned(),
            kind: Self::KIND,
            range: Self::RANGE,
        })
    }
}

/// A whole number of base units below 2^53, where floats are still exact.
fn whole(base: f64) -> Option<u64> {
    (0.0..9_007_199_254_740_992.0).contains(&base).then(|| base.round() as u64)
}

impl Quantity for Span {
    const KIND: &'static str = "a time span";
    const EXAMPLE: &'static str = "50 ms";
    const RANGE: &'static str = "0 s to 9000000 s";
    const UNITS: &'static [(&'static str, f64)] = &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("h", 3600e9),
    ];

    fn from_base(base: f64) -> Option<Span> {
        whole(base).map(Span::from_nanos)
    }
}

impl Quantity for Bytes {
    const KIND: &'static str = "an amount of data";
    const EXAMPLE: &'static str = "1000 B";
    const RANGE: &'static str = "0 B to 9000000 GB";
    const UNITS: &'static [(&'static str, f64)] = &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ];

    fn from_base(base: f64) -> Option<Bytes> {
        whole(base).map(Bytes)
    }
}

impl Quantity for Rate {
    const KIND: &'static str = "a rate";
    const EXAMPLE: &'static str = "2 Mbit/s";
    const RANGE: &'static str = "0 bit/s to 9000000 Gbit/s";
    const UNITS: &'static [(&'static str, f64)] = &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("bps", 1.0),
        ("kbps", 1e3),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
        ("B/s", 8.0),
        ("kB/s", 8e3),
        ("MB/s", 8e6),
    ];

    fn from_base(base: f64) -> Option<Rate> {
        whole(base).map(Rate::from_bits_per_sec)
    }
}

impl Quantity for Ratio {
    const KIND: &'static str = "a ratio";
    const EXAMPLE: &'static str = "1 %";
    const RANGE: &'static str = "0 % to 100 %";
    const UNITS: &'static [(&'static str, f64)] =
        &[("of 1", 1.0), ("%", 0.01), ("permille", 1e-3), ("ppm", 1e-6)];

    fn from_base(base: f64) -> Option<Ratio> {
        Ratio::new(base)
    }
}

macro_rules! text_forms {
    ($($quantity:ty),*) => {$(
        impl FromStr for $quantity {
            type Err = ParseUnitError;
            fn from_str(text: &str) -> Result<Self, ParseUnitError> {
                Quantity::parse(text)
            }
        }

        impl serde::Serialize for $quantity {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $quantity {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Quantity::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $quantity {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($quantity).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let units: Vec<_> = <$quantity>::UNITS.iter().map(|(name, _)| *name).collect();
                schemars::json_schema!({
                    "type": "string",
                    "description": format!("{}: a number and one of the units {}", <$quantity>::KIND, units.join(", ")),
                    "pattern": format!("^[0-9][0-9_.]* ?({})$", units.join("|")),
                    "examples": [<$quantity>::EXAMPLE],
                })
            }
        }
    )*};
}

text_forms!(Span, Bytes, Rate, Ratio);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_parse_with_and_without_a_space() {
        assert_eq!("50 ms".parse(), Ok(Span::from_millis(50)));
        assert_eq!("1.5Mbit/s".parse(), Ok(Rate::from_bits_per_sec(1_500_000)));
        assert_eq!("1 KiB".parse(), Ok(Bytes(1024)));
        assert_eq!("1 %".parse(), Ok(Ratio::new(0.01).expect("in range")));
    }

    #[test]
    fn a_bare_number_is_refused_with_an_example() {
        let error = "50".parse::<Span>().unwrap_err().to_string();
        assert!(error.contains("has no unit") && error.contains("`50 ms`"), "{error}");
    }

    #[test]
    fn the_wrong_unit_is_named_with_the_right_ones() {
        let error = "5 MB".parse::<Span>().unwrap_err().to_string();
        assert!(error.contains("`MB`") && error.contains("ms"), "{error}");
    }

    #[test]
    fn negative_and_oversized_values_are_out_of_range() {
        assert!(matches!("-5 ms".parse::<Span>(), Err(ParseUnitError::OutOfRange { .. })));
        assert!(matches!("101 %".parse::<Ratio>(), Err(ParseUnitError::OutOfRange { .. })));
    }

    #[test]
    fn what_is_printed_parses_back() {
        for nanos in [0, 1, 999, 1_000, 1_500_000, 61_000_000_000] {
            let span = Span::from_nanos(nanos);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
    }
}
