//! What a description of any daemon has: its process, treated beside left alone, and whether a remedy is at work.
//!
//! Plain data. What the reader of another version does not know is ignored, and what the writer did not know is
//! empty.

use crate::process::{resident_bytes, unix_s};
use ackord_measure::stats;
use ackord_measure::welch::Difference;
use ackord_units::portable;
use serde::{Deserialize, Serialize};

/// Version of this build, with its commit if `scripts/package.sh` built it.
pub const VERSION: &str = match option_env!("ACKORD_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// What every daemon tells of its process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// When this was filled in, seconds since 1970.
    pub at_unix_s: f64,
    /// How long it has run, s.
    pub uptime_s: f64,
    /// The configuration it follows; empty where the command line said it all.
    pub config: String,
    /// How often the configuration was read anew and taken.
    pub reloads: u64,
    /// The age of its last heartbeat, ms: how long ago its loop last came round. Filled in as the question is
    /// answered.
    pub heartbeat_ms: f64,
    /// The largest age that a heartbeat had since the start, ms.
    pub heartbeat_worst_ms: f64,
    /// Memory it occupies, bytes.
    #[serde(rename = "resident_octets")]
    pub resident_bytes: u64,
}

impl Process {
    /// This process now, which has run for so long by a configuration that it has read anew so often.
    pub fn now(uptime_s: f64, config: String, reloads: u64) -> Process {
        Process {
            version: VERSION.to_owned(),
            pid: std::process::id(),
            at_unix_s: unix_s(),
            uptime_s,
            config,
            reloads,
            resident_bytes: resident_bytes(),
            ..Process::default()
        }
    }
}

/// A change with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Change {
    /// Returns the change in percent whose logarithm is `log_ratio`.
    pub fn of(log_ratio: Difference) -> Change {
        let percent = |log| 100.0 * (portable::exp(log) - 1.0);
        let Difference { mean, low, high } = log_ratio;
        Change { mean: percent(mean), low: percent(low), high: percent(high) }
    }
}

/// Whether a remedy is at work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Standing {
    /// It is.
    #[default]
    AtWork,
    /// It has stood down.
    StoodDown {
        /// When, seconds since 1970.
        since_unix_s: f64,
        /// Why.
        why: String,
    },
}

impl Standing {
    /// As a trial stands whose clock began at this time, in seconds since 1970.
    pub fn of(standing: crate::Standing, began_unix_s: f64) -> Standing {
        match standing {
            crate::Standing::StoodDown { since, harm } => Standing::StoodDown {
                since_unix_s: began_unix_s + since.as_secs_f64(),
                why: harm.words().to_owned(),
            },
            crate::Standing::AtWork | crate::Standing::LeftAlone => Standing::AtWork,
        }
    }
}

/// Treated connections beside those left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// With the remedy.
    pub treated: Estimate,
    /// Without.
    pub control: Estimate,
    /// The first less the second; `None` until both are known.
    pub difference: Option<Estimate>,
}

impl Compared {
    /// As two means compare, each times a factor: 100 where a share is to be told in percent.
    pub fn of(
        treated: Option<stats::Estimate>,
        control: Option<stats::Estimate>,
        factor: f64,
    ) -> Compared {
        let told = |one: Option<stats::Estimate>| {
            one.map_or_else(Estimate::default, |one| Estimate::of(&one.times(factor)))
        };
        let less = |(treated, control): (stats::Estimate, _)| treated.less(&control).times(factor);
        let difference = treated.zip(control).map(less).map(|one| Estimate::of(&one));
        Compared { treated: told(treated), control: told(control), difference }
    }
}

/// A mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Estimate {
    /// Over so many connections.
    pub samples: u64,
    /// The mean; 0 without samples.
    pub mean: f64,
    /// Half the width of its 95 % interval; `None` with fewer than two samples.
    pub ci95: Option<f64>,
}

impl Estimate {
    fn of(estimate: &stats::Estimate) -> Estimate {
        let stats::Estimate { runs, mean, ci95, .. } = *estimate;
        Estimate { samples: u64::from(runs), mean, ci95 }
    }
}

/// What is done for a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// A remedy is at work.
    Treated,
    /// It is left alone, to be compared with.
    Control,
    /// Nothing is asked for, its remedy has stood down, or it would have no use for one.
    #[default]
    Untreated,
}

impl Group {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Group::Treated => "treated",
            Group::Control => "control",
            Group::Untreated => "untreated",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Figure;
    use ackord_measure::stats::estimate;
    use ackord_units::{Span, Time};
    use serde_json::json;

    #[test]
    fn means_are_told_in_another_unit_with_their_difference_once_both_are_known() {
        let (treated, control) = (estimate(&[0.1, 0.3]), estimate(&[0.5, 0.5]));
        let found = Compared::of(treated, control, 100.0);
        assert_eq!((found.treated.samples, found.control.samples), (2, 2));
        assert!((found.treated.mean - 20.0).abs() < 1e-9, "{found:?}");
        assert_eq!((found.control.mean, found.control.ci95), (50.0, Some(0.0)));
        let difference = found.difference.expect("both are known");
        assert!((difference.mean + 30.0).abs() < 1e-9, "{found:?}");
        let alone = Compared::of(estimate(&[4.0]), None, 1.0);
        let known = Estimate { samples: 1, mean: 4.0, ci95: None };
        let expected = Compared { treated: known, control: Estimate::default(), difference: None };
        assert_eq!(alone, expected);
    }

    #[test]
    fn a_group_is_in_json_what_it_is_called() {
        for one in [Group::Treated, Group::Control, Group::Untreated] {
            assert_eq!(serde_json::to_value(one).expect("plain"), one.name());
        }
    }

    #[test]
    fn a_standing_names_its_state_and_what_is_missing_is_empty() {
        let stood = crate::Standing::StoodDown {
            since: Time::ZERO + Span::from_millis(500),
            harm: crate::Harm::ToConnections(Figure::Stalls),
        };
        let text = serde_json::to_value(Standing::of(stood, 1.0)).expect("plain");
        let why = "its connections stall more than those left alone";
        assert_eq!(text, json!({ "state": "stood-down", "since_unix_s": 1.5, "why": why }));
        assert_eq!(Standing::of(crate::Standing::LeftAlone, 1.0), Standing::AtWork);
        let read: Compared = serde_json::from_str(r#"{"later": 1}"#).expect("tolerant");
        assert_eq!(read, Compared::default());
    }
}
