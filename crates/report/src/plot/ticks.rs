//! Axis ranges and round tick values.

#![expect(clippy::disallowed_methods, reason = "the place of a mark in a picture")]

use super::{Axis, Range, Scale};

/// Values beyond this are not shown: a caller scales its unit long before, and sums of larger
/// floats lose whole pixels.
const LARGEST: f64 = 1e15;
/// On a log axis nothing smaller is shown.
const SMALLEST: f64 = 1e-12;

/// An axis with its range settled: turns values into shares of its length.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    low: f64,
    high: f64,
    log: bool,
    pub(super) ticks: Vec<Tick>,
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    /// Empty for a mark without a number.
    pub(super) label: String,
}

impl Ruler {
    /// Settles the range of `axis` for these values and chooses about `wanted` ticks.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, wanted: usize) -> Ruler {
        if let Scale::Categories(words) = &axis.scale {
            return Ruler::of_categories(words);
        }
        let log = axis.scale == Scale::Log;
        let shown = values.filter(|value| is_shown(*value, log));
        let (least, most) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let nothing = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        let (least, most) = if least > most { nothing } else { (least, most) };
        if log {
            Ruler::logarithmic(axis.range, least, most)
        } else {
            Ruler::linear(axis.range, least, most, wanted)
        }
    }

    fn of_categories(words: &[String]) -> Ruler {
        let ticks = words.iter().enumerate();
        let ticks = ticks.map(|(i, word)| Tick { value: i as f64, label: word.clone() }).collect();
        Ruler { low: -0.5, high: words.len().max(1) as f64 - 0.5, log: false, ticks }
    }

    fn linear(range: Range, least: f64, most: f64, wanted: usize) -> Ruler {
        let (mut low, mut high) = match range {
            Range::Fixed(low, high) => (low, high),
            Range::FromZero => (least.min(0.0), most.max(0.0)),
            Range::Data => (least, most),
        };
        if high - low < (low.abs().max(high.abs()) * 1e-9).max(1e-9) {
            // A flat line, or a range given upside down: some room on either side of it.
            let room = if low.abs() < 1e-9 { 1.0 } else { low.abs() * 0.1 };
            (low, high) = (if low == 0.0 { low } else { low - room }, low + room);
        } else if range == Range::FromZero {
            // Some room between the data and the rim.
            let room = (high - low) * 0.05;
            (low, high) = (if low < 0.0 { low - room } else { low }, high + room);
        } else if range == Range::Data {
            let room = (high - low) * 0.02;
            (low, high) = (low - room, high + room);
        }
        let step = round_step((high - low) / wanted.max(1) as f64);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let tick = |i: i64| {
            let value = i as f64 * step;
            Tick { value, label: number(value, decimals) }
        };
        Ruler { low, high, log: false, ticks: (first..=last).map(tick).collect() }
    }

    fn logarithmic(range: Range, least: f64, most: f64) -> Ruler {
        let (low, high) = match range {
            Range::Fixed(low, high) if low > 0.0 && high > low => (low, high),
            _ => (least / 1.1, most * 1.1),
        };
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let few = decades.clone().count() <= 4;
        let mut ticks = Vec::new();
        for decade in decades {
            for digit in 1..=9 {
                let value = f64::from(digit) * 10f64.powi(decade);
                if value < low || value > high {
                    continue;
                }
                let named = digit == 1 || (few && matches!(digit, 2 | 5));
                let label = if named { log_label(digit, decade) } else { String::new() };
                ticks.push(Tick { value, label });
            }
        }
        Ruler { low, high, log: true, ticks }
    }

    /// Where `value` lies, 0 at the low end and 1 at the high end; nothing for what cannot be
    /// shown.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !is_shown(value, self.log) {
            return None;
        }
        let place = if self.log {
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // A value far outside a fixed range stays within what both writers can hold.
        Some(place.clamp(-100.0, 100.0))
    }

    /// The value nearest to zero that is shown: where bars stand.
    pub(super) fn floor(&self) -> f64 {
        if self.log { self.low } else { 0f64.clamp(self.low, self.high) }
    }
}

fn is_shown(value: f64, log: bool) -> bool {
    if log { (SMALLEST..=LARGEST).contains(&value) } else { value.abs() <= LARGEST }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let factor = steps.into_iter().find(|factor| factor * decade >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * decade
}

/// A digit times a power of ten: written out where that is short, else with an exponent.
fn log_label(digit: u8, decade: i32) -> String {
    if (-3..=4).contains(&decade) {
        let decimals = usize::try_from(-decade).unwrap_or(0);
        return number(f64::from(digit) * 10f64.powi(decade), decimals);
    }
    let exponent = decade.to_string();
    let raised = exponent.chars().map(|c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    });
    let power: String = ['1', '0'].into_iter().chain(raised).collect();
    if digit == 1 { power } else { format!("{digit}·{power}") }
}

/// A number with a true minus sign and without a negative zero.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis(scale: Scale, range: Range) -> Axis {
        Axis { label: String::new(), scale, range }
    }

    fn labels(ruler: &Ruler) -> Vec<&str> {
        let named = ruler.ticks.iter().filter(|tick| !tick.label.is_empty());
        named.map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_have_the_digits_of_their_step() {
        let from_zero = axis(Scale::Linear, Range::FromZero);
        let ruler = Ruler::new(&from_zero, [0.0, 0.93].into_iter(), 5);
        assert_eq!(labels(&ruler), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        let data = axis(Scale::Linear, Range::Data);
        let ruler = Ruler::new(&data, [-20.0, 20.0].into_iter(), 4);
        assert_eq!(labels(&ruler), ["−20", "0", "20"]);
    }

    #[test]
    fn a_log_axis_names_its_decades_and_leaves_out_what_it_cannot_show() {
        let log = axis(Scale::Log, Range::Data);
        let ruler = Ruler::new(&log, [0.0, 0.1, 1e6].into_iter(), 5);
        assert_eq!(labels(&ruler)[..2], ["0.1", "1"]);
        assert_eq!(labels(&ruler).last(), Some(&"10⁶"));
        assert_eq!(ruler.place(0.0), None);
        assert!(ruler.place(0.1).is_some_and(|place| place > 0.0 && place < 0.02));
    }

    proptest! {
        #[test]
        fn any_data_lies_on_its_axis_with_a_sane_number_of_ticks(
            values in prop::collection::vec(-1e9f64..1e9, 1..20),
            from_zero: bool,
        ) {
            let range = if from_zero { Range::FromZero } else { Range::Data };
            let ruler = Ruler::new(&axis(Scale::Linear, range), values.iter().copied(), 6);
            prop_assert!((1..=14).contains(&ruler.ticks.len()), "{:?}", ruler.ticks);
            for value in values {
                let place = ruler.place(value).expect("linear axes show every number");
                prop_assert!((-1e-9..=1.0 + 1e-9).contains(&place));
            }
        }
    }
}
