//! Classes under their names, as mechanisms of their families, and all mechanisms as lists.

use super::knobs::OwnKnob;
use super::object::Class;
use crate::errors::{bad_input, unknown_name};
use ackord_path::registry::{LossChoice, ProxyChoice, QueueChoice};
use ackord_report::{Screen, data, to_terminal};
use ackord_study::mechanisms::{MechanismEntry, mechanism_document, mechanisms as listed};
use ackord_tcp::ack::Ack;
use ackord_tcp::congestion::Congestion;
use ackord_tcp::loss::Loss;
use ackord_tcp::recovery::LossRecovery;
use ackord_traffic::WorkloadChoice;
use ackord_units::{Choice, Declared, KnobValue};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Registers a class in the family of a type of choices.
macro_rules! plug_in {
    ($choice:ty, $declared:expr, $class:expr) => {{
        let class = $class;
        let build = move |values: &[Option<KnobValue>]| Arc::new(class.with(values)) as Arc<_>;
        <$choice>::plug_ins().register(<$choice>::MECHANISMS, $declared, build)
    }};
}

/// Registers a class of a family by a name, for every scenario that is checked from now on.
#[pyfunction]
pub(crate) fn register(
    family: &str,
    name: String,
    class: Py<PyAny>,
    summary: String,
    knobs: Vec<OwnKnob>,
) -> PyResult<()> {
    let knobs = knobs.into_iter().map(OwnKnob::declared).collect::<PyResult<Vec<_>>>()?;
    let class = |family: &'static str| Class::new(family, &name, class, &knobs);
    let declared = Declared { name: name.clone(), summary, knobs: knobs.clone() };
    let registered = match family {
        "congestion" => plug_in!(Congestion, declared, class("congestion")),
        "ack" => plug_in!(Ack, declared, class("ack")),
        "loss" => plug_in!(Loss, declared, class("loss")),
        "recovery" => plug_in!(LossRecovery, declared, class("recovery")),
        "queue" => plug_in!(QueueChoice, declared, class("queue")),
        "loss-model" => plug_in!(LossChoice, declared, class("loss-model")),
        "middlebox" => plug_in!(ProxyChoice, declared, class("middlebox")),
        "traffic" => plug_in!(WorkloadChoice, declared, class("traffic")),
        other => return Err(bad_input(format!("no family of mechanisms is called `{other}`"))),
    };
    registered.map_err(bad_input)
}

/// Returns mechanisms, each as JSON and as text, as `ackord list mechanisms` prints them, with those that were
/// registered: all, or those of this name or family.
#[pyfunction]
#[pyo3(signature = (name=None))]
pub(crate) fn mechanisms(name: Option<&str>) -> PyResult<Vec<(String, String)>> {
    let all = listed();
    let named = |mechanism: &&&'static ackord_units::Mechanism| {
        name.is_none_or(|name| mechanism.name == name || mechanism.family == name)
    };
    let found: Vec<_> = all.iter().filter(named).copied().collect();
    if let (Some(name), true) = (name, found.is_empty()) {
        let known: BTreeSet<_> = all.iter().flat_map(|one| [one.family, one.name]).collect();
        return Err(unknown_name("mechanism or family", name, known.iter().copied()));
    }
    let shown = found.iter().map(|mechanism| {
        let text = to_terminal(&mechanism_document(&[*mechanism]), Screen::NONE);
        (data::to_json(&MechanismEntry::of(mechanism)), text)
    });
    Ok(shown.collect())
}
