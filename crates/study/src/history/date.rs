//! Times since 1970 as dates, in UTC.

use ackord_units::Time;

/// The time as `2026-11-20 12:40:05`, in UTC.
pub fn utc(at: Time) -> String {
    let secs = at.as_nanos() / 1_000_000_000;
    let (day, second) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = date(day);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of a day counted from 1 January 1970, in the Gregorian calendar. There are
/// five centuries of nanoseconds in a [`Time`], so walking the years costs little.
fn date(mut day: u64) -> (u64, u64, u64) {
    let leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_have_their_dates() {
        let shown = |secs: u64| utc(Time::from_nanos(secs * 1_000_000_000));
        assert_eq!(shown(0), "1970-01-01 00:00:00");
        assert_eq!(shown(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(shown(1_700_000_000), "2023-11-14 22:13:20");
        assert_eq!(shown(1_735_689_599), "2024-12-31 23:59:59");
        assert_eq!(shown(4_107_542_400), "2100-03-01 00:00:00");
    }
}
