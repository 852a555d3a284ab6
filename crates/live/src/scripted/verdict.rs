//! What has come of a script that was played against a kernel.

use crate::guest::Prepared;
use crate::settings::SettingTold;
use ackord_script::{Failure, FailureRecord, Outcome, Row, Script, Went, seconds};
use serde::Serialize;

/// What has come of a script.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ScriptVerdict {
    /// It was played.
    Played {
        /// What the kernel did otherwise, in order of time; nothing if it did all as the script says.
        differences: Vec<Difference>,
        /// Assertions that a kernel cannot be asked.
        not_asked: usize,
        /// What the script's header asks for and the kernel does not do.
        instead: Vec<String>,
        /// What the kernel refused of the settings.
        refused: Vec<String>,
        /// Everything that was exchanged.
        #[serde(skip)]
        outcome: Box<Outcome>,
    },
    /// Its header asks for what a kernel cannot be told.
    NotPlayable {
        /// The knobs, each with what the kernel does instead.
        knobs: Vec<String>,
    },
    /// The kernel did not go on.
    Broken {
        /// Why.
        why: String,
    },
}

/// What a kernel did otherwise than a script says.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The line, its number and what went wrong, for programs.
    #[serde(flatten)]
    pub record: FailureRecord,
    /// The line's text.
    pub text: String,
    /// In words.
    pub said: String,
}

/// How many of each there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScriptsTally {
    /// Played.
    pub played: usize,
    /// Of those, without a difference.
    pub alike: usize,
    /// With one.
    pub different: usize,
    /// Not playable on a kernel.
    pub not_playable: usize,
    /// Not played to their end since the kernel did not go on.
    pub broken: usize,
    /// Assertions that were not asked.
    pub not_asked: usize,
}

impl ScriptVerdict {
    pub(super) fn broken(why: String) -> ScriptVerdict {
        ScriptVerdict::Broken { why }
    }

    pub(super) fn not_playable(instead: &[SettingTold]) -> ScriptVerdict {
        ScriptVerdict::NotPlayable { knobs: instead.iter().map(SettingTold::to_string).collect() }
    }

    pub(super) fn played(script: &Script, outcome: Outcome, prepared: &Prepared) -> ScriptVerdict {
        let failures = outcome.failure.iter().chain(&outcome.further);
        let unplayable = failures.clone().find_map(|failure| match &failure.what {
            Went::Unplayable(why) => Some(format!("line {}: {why}", failure.line)),
            _ => None,
        });
        if let Some(why) = unplayable {
            return ScriptVerdict::NotPlayable { knobs: vec![why] };
        }
        let differences = failures.map(|failure| Difference::of(script, failure)).collect();
        ScriptVerdict::Played {
            differences,
            not_asked: outcome.not_asked,
            instead: prepared.instead.iter().map(SettingTold::to_string).collect(),
            refused: prepared.refused.clone(),
            outcome: Box::new(outcome),
        }
    }

    /// What the kernel did otherwise; nothing of a script that was not played.
    pub fn differences(&self) -> &[Difference] {
        match self {
            ScriptVerdict::Played { differences, .. } => differences,
            _ => &[],
        }
    }

    /// One word: `alike`, `different`, `not playable`, `broken`.
    pub fn word(&self) -> &'static str {
        match self {
            ScriptVerdict::Played { differences, .. } if differences.is_empty() => "alike",
            ScriptVerdict::Played { .. } => "different",
            ScriptVerdict::NotPlayable { .. } => "not playable",
            ScriptVerdict::Broken { .. } => "broken",
        }
    }
}

impl ScriptsTally {
    /// Of all verdicts.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a ScriptVerdict>) -> ScriptsTally {
        let mut tally = ScriptsTally::default();
        for verdict in verdicts {
            match verdict {
                ScriptVerdict::Played { differences, not_asked, .. } => {
                    tally.played += 1;
                    tally.not_asked += not_asked;
                    match differences.is_empty() {
                        true => tally.alike += 1,
                        false => tally.different += 1,
                    }
                }
                ScriptVerdict::NotPlayable { .. } => tally.not_playable += 1,
                ScriptVerdict::Broken { .. } => tally.broken += 1,
            }
        }
        tally
    }
}

impl Difference {
    fn of(script: &Script, failure: &Failure) -> Difference {
        let text = failure.line.checked_sub(1).and_then(|at| script.lines.get(at));
        Difference {
            record: failure.into(),
            text: text.map(|text| text.trim().to_owned()).unwrap_or_default(),
            said: said(failure),
        }
    }
}

/// A difference in words: what the kernel did instead, with its time to the microsecond.
fn said(failure: &Failure) -> String {
    let at = micros(&seconds(failure.at));
    match &failure.what {
        Went::Otherwise(rows) => {
            let time = rows.iter().find(|row| row.field == "time");
            let left = time.map_or_else(|| at.clone(), |row| micros(&row.happened));
            let differing = rows.iter().filter(|row| row.differs);
            let field = |row: &Row| match row.field {
                "time" => format!("expected at {}", row.expected),
                field => format!("{field} {}, not {}", row.happened, row.expected),
            };
            format!("at {left} s: {}", differing.map(field).collect::<Vec<_>>().join("; "))
        }
        Went::Missing(rows) => {
            let expected = rows.iter().filter(|row| row.field != "time");
            let fields: Vec<String> =
                expected.map(|row| format!("{} {}", row.field, row.expected)).collect();
            format!("at {at} s nothing leaves, nor soon after; expected {}", fields.join(", "))
        }
        Went::Unexpected { at, segment } => {
            format!("at {} s it sends {segment}", micros(&seconds(*at)))
        }
        Went::Refuted(refuted) => {
            let each = |(wanted, is): &(String, String)| format!("{wanted}: it is {is}");
            format!("at {at} s: {}", refuted.iter().map(each).collect::<Vec<_>>().join("; "))
        }
        Went::Call(why)
        | Went::Codec(why)
        | Went::Unplayable(why)
        | Went::Restless(why)
        | Went::Broken(why) => format!("at {at} s: {why}"),
    }
}

/// Seconds to the microsecond: how the kernel's clock is rounded below that depends on what it did before.
fn micros(seconds: &str) -> String {
    seconds.parse::<f64>().map_or_else(|_| seconds.to_owned(), |value| format!("{value:.6}"))
}
