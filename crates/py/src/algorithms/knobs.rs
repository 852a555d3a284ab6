//! Knobs of classes in Python: how `ackord.knob` declares them, and their values as Python has them.

use crate::errors::bad_input;
use ackord_units::{Bytes, Knob, KnobKind, KnobValue, Rate, Ratio, Span};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// A knob as Python declares it. Numbers and quantities are texts, as a scenario file has them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OwnKnob {
    name: String,
    /// One of "switch", "choice", "count", "number" and "quantity".
    kind: String,
    default: String,
    /// The bounds; those of the kind where absent.
    low: Option<String>,
    high: Option<String>,
    /// What is counted.
    unit: String,
    choices: Vec<String>,
    doc: String,
    source: String,
}

/// Bounds of a number that declares none.
const FARTHEST: f64 = 1e12;

/// Text that lives as long as the mechanism that is registered with it.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl OwnKnob {
    /// Returns the knob as every mechanism declares it.
    pub(super) fn declared(self) -> PyResult<Knob> {
        let kind = self.kind().map_err(|why| bad_input(format!("knob `{}`: {why}", self.name)))?;
        let OwnKnob { name, default, doc, source, .. } = self;
        let [name, default, doc, source] = [name, default, doc, source].map(leaked);
        Ok(Knob { name, kind, default, doc, source })
    }

    fn kind(&self) -> Result<KnobKind, String> {
        match self.kind.as_str() {
            "switch" => Ok(KnobKind::ON_OFF),
            "choice" => {
                let words: Vec<_> = self.choices.iter().cloned().map(leaked).collect();
                Ok(KnobKind::Choice(Vec::leak(words)))
            }
            "count" => {
                let number = |bound: &Option<String>, other: u64| match bound {
                    None => Ok(other),
                    Some(text) => text
                        .parse()
                        .map_err(|_| format!("`{text}` is out of range: 0 to {}", u64::MAX)),
                };
                let (min, max) = (number(&self.low, 0)?, number(&self.high, u64::MAX)?);
                Ok(KnobKind::Count { unit: leaked(self.unit.clone()), min, max })
            }
            "number" => {
                let number = |bound: &Option<String>, other: f64| match bound {
                    None => Ok(other),
                    Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number")),
                };
                let (min, max) = (number(&self.low, -FARTHEST)?, number(&self.high, FARTHEST)?);
                Ok(KnobKind::Number { min, max })
            }
            _ => self.quantity(),
        }
    }

    /// Returns the kind of quantity that the default is, and bounds of that kind.
    fn quantity(&self) -> Result<KnobKind, String> {
        const LONGEST: Span = Span::from_secs(1_000_000);
        let OwnKnob { default, low, high, .. } = self;
        let text = default.as_str();
        if text.parse::<Span>().is_ok() {
            let (min, max) = bounds(low, high, Span::ZERO, LONGEST)?;
            return Ok(KnobKind::Span { min, max });
        }
        if text.parse::<Rate>().is_ok() {
            let fastest = Rate::from_bits_per_sec(1_000_000_000_000);
            let (min, max) = bounds(low, high, Rate::from_bits_per_sec(0), fastest)?;
            return Ok(KnobKind::Rate { min, max });
        }
        if text.parse::<Bytes>().is_ok() {
            let (min, max) = bounds(low, high, Bytes::ZERO, Bytes(1 << 40))?;
            return Ok(KnobKind::Bytes { min, max });
        }
        if text.parse::<Ratio>().is_ok() {
            return match (low, high) {
                (None, None) => Ok(KnobKind::Ratio),
                _ => Err("a share is 0 % to 100 % and has no other bounds".to_owned()),
            };
        }
        Err(format!(
            "`{text}` is no quantity with its unit (\"20 ms\", \"10 Mbit/s\", \"64 kB\", \"5 %\"); for words, `choices` \
             lists what is allowed"
        ))
    }
}

fn bounds<Q: std::str::FromStr>(
    low: &Option<String>,
    high: &Option<String>,
    min: Q,
    max: Q,
) -> Result<(Q, Q), String>
where
    Q::Err: std::fmt::Display,
{
    let bound = |text: &Option<String>, other: Q| match text {
        None => Ok(other),
        Some(text) => text.parse().map_err(|error: Q::Err| error.to_string()),
    };
    Ok((bound(low, min)?, bound(high, max)?))
}

/// Returns a knob's value as Python has it: times in seconds, sizes in bytes, rates in bit/s, shares from 0 to 1, and
/// switches as booleans.
pub(super) fn in_python<'py>(
    py: Python<'py>,
    kind: &KnobKind,
    value: &KnobValue,
) -> PyResult<Bound<'py, PyAny>> {
    match value {
        KnobValue::Count(count) => count.into_bound_py_any(py),
        KnobValue::Number(number) => number.into_bound_py_any(py),
        KnobValue::Span(span) => span.as_secs_f64().into_bound_py_any(py),
        KnobValue::Bytes(bytes) => bytes.get().into_bound_py_any(py),
        KnobValue::Rate(rate) => rate.as_bits_per_sec().into_bound_py_any(py),
        KnobValue::Ratio(ratio) => ratio.get().into_bound_py_any(py),
        KnobValue::Choice(word) if is_switch(kind) => (*word == "on").into_bound_py_any(py),
        // No knob of Python's is of another kind.
        value => value.to_string().into_bound_py_any(py),
    }
}

/// Returns the default of a knob.
#[pyfunction]
pub(crate) fn knob_default(py: Python<'_>, knob: OwnKnob) -> PyResult<Bound<'_, PyAny>> {
    let Knob { kind, default, .. } = knob.declared()?;
    in_python(py, &kind, &kind.parse(default).map_err(bad_input)?)
}

fn is_switch(kind: &KnobKind) -> bool {
    matches!(kind, KnobKind::Choice(words) if *words == ["on", "off"])
}
