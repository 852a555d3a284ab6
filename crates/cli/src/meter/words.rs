//! Numbers of the meter with their units, short enough for a line.

use ackord_units::Span;

/// A unit for an axis and for the numbers beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Its name.
    pub(crate) name: &'static str,
    /// How much one of it is, in the base unit.
    pub(crate) of_base: f64,
}

const RATES: [Unit; 4] = [
    Unit { name: "bit/s", of_base: 1.0 },
    Unit { name: "kbit/s", of_base: 1e3 },
    Unit { name: "Mbit/s", of_base: 1e6 },
    Unit { name: "Gbit/s", of_base: 1e9 },
];
const TIMES: [Unit; 3] = [
    Unit { name: "µs", of_base: 1e-6 },
    Unit { name: "ms", of_base: 1e-3 },
    Unit { name: "s", of_base: 1.0 },
];

/// Packets per second are given as they are.
pub(crate) const PACKETS: Unit = Unit { name: "packets/s", of_base: 1.0 };

impl Unit {
    /// For rates up to `bits_per_sec`.
    pub(crate) fn of_rates(bits_per_sec: f64) -> Unit {
        largest_within(&RATES, bits_per_sec)
    }

    /// For times up to so many seconds.
    pub(crate) fn of_times(seconds: f64) -> Unit {
        largest_within(&TIMES, seconds)
    }

    /// So much of the base unit in this one, to three digits.
    pub(crate) fn number(self, of_base: f64) -> String {
        number(of_base / self.of_base)
    }
}

/// A time with a unit of its own.
pub(crate) fn time(span: Span) -> String {
    let seconds = span.as_secs_f64();
    let unit = Unit::of_times(seconds);
    format!("{} {}", unit.number(seconds), unit.name)
}

/// A rate with a unit of its own.
pub(crate) fn rate(bits_per_sec: f64) -> String {
    let unit = Unit::of_rates(bits_per_sec);
    format!("{} {}", unit.number(bits_per_sec), unit.name)
}

fn largest_within(units: &[Unit], value: f64) -> Unit {
    let fitting = units.iter().rev().find(|unit| value >= unit.of_base * 0.9995);
    *fitting.unwrap_or(&units[0])
}

/// At most three digits, unless there are more before the point; no zeros at the end.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        at_least if at_least >= 99.95 => 0,
        at_least if at_least >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_the_unit_they_need() {
        let rates = [0.0, 999.0, 1_000.0, 1_234_567.0, 9_999_999.0, 2.5e9].map(rate);
        let said = ["0 bit/s", "999 bit/s", "1 kbit/s", "1.23 Mbit/s", "10 Mbit/s", "2.5 Gbit/s"];
        assert_eq!(rates, said);
        let times = [0, 250, 12_345, 1_000_000, 99_960_000, 2_000_000_000];
        let said = ["0 µs", "0.25 µs", "12.3 µs", "1 ms", "100 ms", "2 s"];
        assert_eq!(times.map(|nanos| time(Span::from_nanos(nanos))), said);
    }
}
