//! `tcp` tables, layer over layer: the mechanisms' defaults, `[tcp]`, a flow's `tcp`, its
//! `receiver_tcp`. A layer says only what differs.
//!
//! A mechanism that is named is that of the profile, with the profile's knobs, where it is the profile's
//! own: under `profile = "linux"` `congestion = "cubic"` is Linux's CUBIC, as without the word.

use super::choice::{Family, agrees, fill, setting};
use super::name_set::NameSet;
use super::profile;
use super::reader::{Field, Reader, join};
use super::report::Report;
use super::written::fits;
use crate::document::Value;
use crate::error::Wrong;
use crate::keys;
use ackord_tcp::registry::{CHOICES, Chosen, ENDPOINT, Stack, choose_as, chosen_from};
use ackord_units::Knobs;

/// The scenario's own defaults: `[tcp]` over those of the registries.
pub(super) fn base(report: &mut Report, root: &Reader<'_>) -> Stack {
    layer(report, root.get("tcp"), &Stack::default())
}

/// The choices of `base`, changed as the table in `field` says.
pub(super) fn layer(report: &mut Report, field: Option<Field<'_>>, base: &Stack) -> Stack {
    let Some(field) = field else { return base.clone() };
    let Value::Table(table) = &field.item.value else {
        field.wrong_type(report, "a table of TCP choices and knobs");
        return base.clone();
    };
    let mut tcp = table
        .get(keys::PROFILE)
        .and_then(|entry| {
            let path = join(&field.path, keys::PROFILE);
            profile::named(report, &Field { item: &entry.item, path })
        })
        .unwrap_or_else(|| base.clone());
    let own = tcp.profile();
    let no_flows = NameSet::default();
    for (name, entry) in table.iter().filter(|(name, _)| *name != keys::PROFILE) {
        let inner = Field { item: &entry.item, path: join(&field.path, name) };
        if let Some(knob) = ENDPOINT.knob(name) {
            if let Some(value) = setting(report, &inner, knob, &no_flows) {
                assert!(tcp.endpoint.set(knob.name, value), "a knob takes values of its kind");
            }
            continue;
        }
        let Some(&Chosen { key, .. }) = chosen_from(name) else {
            let wrong = Wrong::unknown_key(name, "a `tcp` table", known_keys());
            report.add(&entry.key, &inner.path, wrong);
            continue;
        };
        if !fits(&inner, tcp.choice(key).map(|chosen| chosen as &dyn Knobs))
            && let Some(written) = written_base(report, &field.path)
            && fits(&inner, written.choice(key).map(|chosen| chosen as &dyn Knobs))
        {
            tcp.take(key, &written);
        }
        let choice = tcp.choice_mut(key).expect("one of the five choices");
        let family = Family { key, flows: &no_flows, inherits: true };
        fill(report, &inner, family, choice, &|choice, name| choose_as(own, key, name, choice));
    }
    contradictions(report, &field, base, &tcp);
    tcp
}

/// Returns the choices that the table at `path` changes, as the file has them without overrides.
fn written_base(report: &Report, path: &str) -> Option<Stack> {
    let mut quiet = report.quiet();
    let written =
        |path: String| report.written(&path).map(|item| Field { item, path: path.clone() });
    let base = layer(&mut quiet, written("tcp".to_owned()), &Stack::default());
    let flow = path.strip_suffix(".tcp").or_else(|| path.strip_suffix(".receiver_tcp"))?;
    match path.ends_with(".receiver_tcp") {
        true => Some(layer(&mut quiet, written(join(flow, "tcp")), &base)),
        false => Some(base),
    }
}

/// The keys of a `tcp` table.
pub(super) fn known_keys() -> impl Iterator<Item = &'static str> {
    let choices = CHOICES.iter().map(|chosen| chosen.key);
    let knobs = ENDPOINT.knobs.iter().map(|knob| knob.name);
    [keys::PROFILE].into_iter().chain(choices).chain(knobs)
}

/// Values that are each in range but not together. Said only of the layer that brings them in.
fn contradictions(report: &mut Report, field: &Field<'_>, base: &Stack, tcp: &Stack) {
    for ((_, part), (_, before)) in tcp.by_name().into_iter().zip(base.by_name()) {
        if before.check().is_ok() {
            agrees(report, field, part);
        }
    }
}
