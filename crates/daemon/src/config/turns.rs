//! The table `[turns]`: how turns with remedies or settings and turns without are taken.

use super::{quantity_or, table_or_empty};
use crate::switchback::Turns;
use ackord_scenario::Wrong;
use ackord_scenario::format::{Key, Reader, Report, join};
use ackord_units::{Ratio, Span};

/// Turns of a whole link or host with remedies or settings, and without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnsConfig {
    /// The share of turns without, 0 to 0.5.
    pub untreated: Ratio,
    /// The length of a turn.
    pub length: Span,
    /// The beginning of each that is left out.
    pub settle: Span,
}

impl TurnsConfig {
    /// The share of turns without remedies of a gateway where its file names none.
    pub const UNTREATED: &str = "10 %";
    /// The length of a turn where the file names none.
    pub const LENGTH: &str = "2 min";
    /// The beginning that is left out where the file names none.
    pub const SETTLE: &str = "30 s";

    /// Returns the turns; `None` where no turn is without.
    pub fn turns(&self) -> Option<Turns> {
        let share = self.untreated.get();
        let in_block = (1.0 / share).round().clamp(2.0, 1e6) as u32;
        (share > 0.0).then_some(Turns { length: self.length, settle: self.settle, in_block })
    }
}

/// Reads the table `[turns]`, whose `untreated` is this share if the file names none.
pub fn turns(
    report: &mut Report,
    root: &Reader<'_>,
    keys: &'static [Key],
    untreated: &'static str,
) -> Option<TurnsConfig> {
    let reader = table_or_empty(report, root, "turns", keys)?;
    let untreated = quantity_or::<Ratio>(report, &reader, "untreated", untreated);
    let length = quantity_or::<Span>(report, &reader, "length", TurnsConfig::LENGTH);
    let settle = quantity_or::<Span>(report, &reader, "settle", TurnsConfig::SETTLE);
    let turns = TurnsConfig { untreated: untreated?, length: length?, settle: settle? };
    let wrong = if turns.untreated.get() > 0.5 {
        let why = "it is more than half of the turns".to_owned();
        Some(("untreated", why, "0 % to 50 %".to_owned()))
    } else if turns.settle >= turns.length {
        let why = "nothing is left of a turn".to_owned();
        Some(("settle", why, format!("less than `length`, which is {}", turns.length)))
    } else {
        None
    };
    if let Some((key, why, allowed)) = wrong {
        let wrong = Wrong::BadValue { why, allowed };
        report.add(reader.place_of(key), &join(&reader.path, key), wrong);
        return None;
    }
    Some(turns)
}
