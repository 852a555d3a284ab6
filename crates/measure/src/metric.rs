//! One declaration per metric: what it is called and counts in, what it means, how it is taken from
//! a summary, and on which sheets it stands. Tables, CSV files, comparisons and the list of metrics
//! are read off these declarations; JSON has every field of a summary by itself.
//!
//! `summary!` declares a summary with the metrics that are its fields, and behind `derived` those that
//! are worked out of them. A new one is one line there; on a sheet it stands where its place says.

use std::fmt;

/// A quantity of a `T`.
#[derive(Debug)]
pub struct Metric<T: 'static> {
    /// Its name in JSON and CSV.
    pub key: &'static str,
    /// What it means; empty where it is a group of those that follow.
    pub about: &'static str,
    /// What tables count it in.
    pub unit: Unit,
    /// Whether it is counted, and so a whole number.
    pub counted: bool,
    /// Its value; nothing where it is not known, or no number.
    pub of: fn(&T) -> Option<Value>,
    /// Where it stands.
    pub places: &'static [Place],
}

/// A number of a summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Counted.
    Count(u64),
    /// Measured or worked out.
    Number(f64),
}

/// What a table counts in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Behind the heading; empty where there is nothing to say.
    pub name: &'static str,
    /// How much of the summary's own unit is one of it.
    pub size: f64,
    /// Digits after the point; about four digits altogether where absent.
    pub decimals: Option<usize>,
}

/// A place on a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which sheet.
    pub sheet: Sheet,
    /// Places are in this order.
    pub rank: u8,
    /// Other than the metric's key.
    pub heading: Option<&'static str>,
}

/// What metrics stand on.
#[allow(missing_docs, reason = "a CSV file each")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sheet {
    FlowsCsv,
    DatagramsCsv,
    TransfersCsv,
    QueuesCsv,
    LinksCsv,
    /// Tables of a run.
    Flows,
    Senders,
    Transfers,
    Datagrams,
    Outages,
    EarlyAcks,
    Links,
    Media,
    Boxes,
    /// What a comparison's JSON estimates, with the parts of a flow's.
    Compared,
    ComparedTransfers,
    ComparedOutages,
    ComparedEarlyAcks,
    ComparedDatagrams,
    /// Tables of a comparison.
    RunsSideBySide,
    FlowsSideBySide,
    TransfersSideBySide,
    DatagramsSideBySide,
    OutagesSideBySide,
    LinksSideBySide,
    BoxesSideBySide,
}

impl Sheet {
    /// A place under the metric's key.
    pub(crate) const fn at(self, rank: u8) -> Place {
        Place { sheet: self, rank, heading: None }
    }

    /// A place under this heading.
    pub(crate) const fn named(self, rank: u8, heading: &'static str) -> Place {
        Place { sheet: self, rank, heading: Some(heading) }
    }
}

impl Unit {
    const fn new(name: &'static str, size: f64, decimals: Option<usize>) -> Unit {
        Unit { name, size, decimals }
    }

    /// Things that are counted.
    pub(crate) const fn things(name: &'static str) -> Unit {
        Unit::new(name, 1.0, None)
    }
}

pub(crate) const PLAIN: Unit = Unit::things("");
pub(crate) const PACKETS: Unit = Unit::things("packets");
pub(crate) const SEGMENTS: Unit = Unit::things("segments");
pub(crate) const S: Unit = Unit::things("s");
pub(crate) const MS: Unit = Unit::things("ms");
pub(crate) const BYTES: Unit = Unit::things("B");
pub(crate) const KB: Unit = Unit::new("kB", 1e3, None);
pub(crate) const MB: Unit = Unit::new("MB", 1e6, None);
pub(crate) const MBIT_S: Unit = Unit::new("Mbit/s", 1e6, None);
pub(crate) const PERCENT: Unit = Unit::new("%", 1.0, Some(2));
/// Of a share from 0 to 1.
pub(crate) const SHARE: Unit = Unit::new("%", 0.01, Some(1));
pub(crate) const EACH: Unit = Unit::new("", 1.0, Some(2));

impl Value {
    /// As a number.
    pub fn get(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Number(number) => number,
        }
    }

    /// As a whole number, if it was counted.
    pub fn count(self) -> Option<u64> {
        match self {
            Value::Count(count) => Some(count),
            Value::Number(_) => None,
        }
    }
}

/// With every digit, as CSV has it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Number(number) => number.fmt(f),
        }
    }
}

/// The metrics of a sheet with their headings, in order.
pub fn on_sheet<T>(
    metrics: &'static [Metric<T>],
    sheet: Sheet,
) -> Vec<(&'static Metric<T>, &'static str)> {
    let place = |metric: &'static Metric<T>| {
        let place = metric.places.iter().find(|place| place.sheet == sheet)?;
        Some((place.rank, metric, place.heading.unwrap_or(metric.key)))
    };
    let mut found: Vec<_> = metrics.iter().filter_map(place).collect();
    found.sort_by_key(|(rank, ..)| *rank);
    found.into_iter().map(|(_, metric, heading)| (metric, heading)).collect()
}

/// What a field of a summary is as a metric.
pub(crate) trait Measured {
    const COUNTED: bool;
    fn value(&self) -> Option<Value>;
}

impl Measured for u64 {
    const COUNTED: bool = true;
    fn value(&self) -> Option<Value> {
        Some(Value::Count(*self))
    }
}

impl Measured for usize {
    const COUNTED: bool = true;
    fn value(&self) -> Option<Value> {
        Some(Value::Count(*self as u64))
    }
}

impl Measured for f64 {
    const COUNTED: bool = false;
    fn value(&self) -> Option<Value> {
        Some(Value::Number(*self))
    }
}

impl<M: Measured> Measured for Option<M> {
    const COUNTED: bool = M::COUNTED;
    fn value(&self) -> Option<Value> {
        self.as_ref()?.value()
    }
}

/// Whether what this takes from a `T` is counted.
pub(crate) const fn counted<T, M: Measured>(_: fn(&T) -> M) -> bool {
    M::COUNTED
}

/// Declares a summary and its metrics; see the head of this file.
macro_rules! summary {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident, metrics $METRICS:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($($serde:tt)*)])?
                $field:ident: $type:ty $(=> $unit:expr, [$($place:expr),* $(,)?])?
                $(= $Group:ident {
                    $(
                        $(#[doc = $part_doc:literal])*
                        $part:ident: $part_type:ty => $part_unit:expr, [$($part_place:expr),* $(,)?];
                    )*
                })?;
            )*
        }
        derived {
            $(
                $(#[doc = $derived_doc:literal])*
                $key:ident = $of:expr => $derived_unit:expr, [$($derived_place:expr),* $(,)?];
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $Name {
            $(
                $(#[doc = $doc])*
                $(#[serde($($serde)*)])?
                $(#[doc = concat!("Its [`", stringify!($Group), "`].")])?
                pub $field: $type,
            )*
        }

        $($(
            #[doc = concat!("A part of [`", stringify!($Name), "`], beside the others in JSON.")]
            #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
            pub struct $Group {
                $(
                    $(#[doc = $part_doc])*
                    pub $part: $part_type,
                )*
            }
        )?)*

        #[doc = concat!("The metrics of [`", stringify!($Name), "`].")]
        pub static $METRICS: &[crate::metric::Metric<$Name>] = &[
            $(
                crate::metric::metric!(
                    $field, [$($doc)*],
                    $($Name, |summary: &$Name| summary.$field, $unit, [$($place),*])?
                ),
                $($(
                    crate::metric::metric!(
                        $part, [$($part_doc)*],
                        $Name, |summary: &$Name| summary.$field.$part,
                        $part_unit, [$($part_place),*]
                    ),
                )*)?
            )*
            $(
                crate::metric::metric!(
                    $key, [$($derived_doc)*],
                    $Name, $of,
                    $derived_unit, [$($derived_place),*]
                ),
            )*
        ];
    };
}

/// A metric; without a value what only JSON has.
macro_rules! metric {
    ($key:ident, [$($doc:literal)*], $Of:ty, $of:expr, $unit:expr, [$($place:expr),*]) => {
        crate::metric::Metric {
            key: stringify!($key),
            about: concat!($($doc),*),
            unit: $unit,
            counted: crate::metric::counted::<$Of, _>($of),
            of: |summary| {
                let of: fn(&$Of) -> _ = $of;
                crate::metric::Measured::value(&of(summary))
            },
            places: &[$($place),*],
        }
    };
    ($key:ident, [$($doc:literal)*],) => {
        crate::metric::Metric {
            key: stringify!($key),
            about: concat!($($doc),*),
            unit: crate::metric::PLAIN,
            counted: false,
            of: |_| None,
            places: &[],
        }
    };
}

pub(crate) use {metric, summary};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FLOW_METRICS, LINK_METRICS, PROXY_METRICS, QUEUE_METRICS, RUN_METRICS, TRANSFER_METRICS,
    };

    fn places<T>(metrics: &'static [Metric<T>]) -> Vec<(&'static str, &'static str, Place)> {
        let of = |metric: &'static Metric<T>| {
            metric.places.iter().map(|place| (metric.key, metric.about, *place))
        };
        metrics.iter().flat_map(of).collect()
    }

    #[test]
    fn every_metric_is_explained_and_no_two_share_a_place() {
        for metrics in [
            places(RUN_METRICS),
            places(FLOW_METRICS),
            places(LINK_METRICS),
            places(QUEUE_METRICS),
            places(PROXY_METRICS),
            places(TRANSFER_METRICS),
        ] {
            for (index, (key, about, place)) in metrics.iter().enumerate() {
                assert!(about.trim().ends_with(['.', ')']), "{key}: {about}");
                let shares = |(other, _, at): &&(&str, &str, Place)| {
                    at.sheet == place.sheet && (at.rank == place.rank || other == key)
                };
                let other = metrics[index + 1..].iter().find(shares);
                assert_eq!(other, None, "beside {key}");
            }
        }
    }
}
