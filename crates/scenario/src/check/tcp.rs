//! `tcp` tables, layer over layer: the registries' defaults, `[tcp]`, a flow's `tcp`, its
//! `receiver_tcp`. A layer says only what differs.
//!
//! A mechanism that is named is that of the profile, with the profile's knobs, where it is the profile's
//! own: under `profile = "linux"` `congestion = "cubic"` is Linux's CUBIC, as without the word.

use super::Report;
use super::choice::{Family, choice, registered, setting, with_defaults};
use super::names::NameSet;
use super::profile;
use super::reader::{Field, Reader, join};
use crate::document::Value;
use crate::error::Wrong;
use crate::keys;
use crate::model::TcpChoices;
use ackord_tcp::registry::{CHOICES, Chosen, ENDPOINT, OutOfOrder, chosen_from, out_of_order};
use ackord_units::Choice;
use ackord_wire::IpVersion;

/// What an endpoint is when nobody says anything.
pub(super) fn defaults() -> TcpChoices {
    let default = |key: &str| {
        let chosen = chosen_from(key).expect("each choice is listed");
        registered(chosen.mechanisms, chosen.default)
    };
    TcpChoices {
        profile: "rfc",
        congestion: default("congestion"),
        loss: default("loss"),
        recovery: default("recovery"),
        ack: default("ack"),
        nagle: default("nagle"),
        endpoint: with_defaults(&ENDPOINT),
        ip: IpVersion::V4,
    }
}

/// The scenario's own defaults: `[tcp]` over those of the registries.
pub(super) fn base(report: &mut Report, root: &Reader<'_>) -> TcpChoices {
    layer(report, root.get("tcp"), &defaults())
}

/// The choices of `base`, changed as the table in `field` says.
pub(super) fn layer(
    report: &mut Report,
    field: Option<Field<'_>>,
    base: &TcpChoices,
) -> TcpChoices {
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
    let own = TcpChoices::of_profile(tcp.profile);
    let no_flows = NameSet::default();
    for (name, entry) in table.iter().filter(|(name, _)| *name != keys::PROFILE) {
        let inner = Field { item: &entry.item, path: join(&field.path, name) };
        if let Some(knob) = ENDPOINT.knob(name) {
            if let Some(value) = setting(report, &inner, knob, &no_flows) {
                tcp.endpoint.settings.0.insert(name.clone(), value);
            }
            continue;
        }
        let Some(&Chosen { key, mechanisms, .. }) = chosen_from(name) else {
            let wrong = Wrong::unknown_key(name, "a `tcp` table", known_keys());
            report.add(&entry.key, &inner.path, wrong);
            continue;
        };
        let own = own.as_ref().and_then(|own| own.by_name().into_iter().find(|(of, _)| *of == key));
        let own = own.map(|(_, choice)| choice);
        let slot = slot(&mut tcp, key);
        let family = Family { key, mechanisms, inherited: Some(slot), own, flows: &no_flows };
        if let Some(chosen) = choice(report, &inner, family) {
            *slot = chosen;
        }
    }
    contradictions(report, &field, base, &tcp);
    tcp
}

/// The keys of a `tcp` table.
pub(super) fn known_keys() -> impl Iterator<Item = &'static str> {
    let choices = CHOICES.iter().map(|chosen| chosen.key);
    let knobs = ENDPOINT.knobs.iter().map(|knob| knob.name);
    [keys::PROFILE].into_iter().chain(choices).chain(knobs)
}

pub(super) fn slot<'a>(tcp: &'a mut TcpChoices, key: &str) -> &'a mut Choice {
    match key {
        "congestion" => &mut tcp.congestion,
        "loss" => &mut tcp.loss,
        "recovery" => &mut tcp.recovery,
        "ack" => &mut tcp.ack,
        "nagle" => &mut tcp.nagle,
        _ => unreachable!("{key} is not one of the five choices"),
    }
}

/// Values that are each in range but not together. Said only of the layer that brings them in.
fn contradictions(report: &mut Report, field: &Field<'_>, base: &TcpChoices, tcp: &TcpChoices) {
    let found = |tcp: &TcpChoices| -> Vec<(&'static str, OutOfOrder)> {
        let of = |(name, choice)| out_of_order(name, choice).map(move |pair| (name, pair));
        tcp.by_name().into_iter().flat_map(of).collect()
    };
    let inherited = found(base);
    for (of, pair) in found(tcp) {
        let knobs = (of, pair.smaller.0, pair.larger.0);
        if inherited.iter().any(|(of, pair)| (*of, pair.smaller.0, pair.larger.0) == knobs) {
            continue;
        }
        let OutOfOrder { smaller, larger } = pair;
        let why = format!("`{}` ({}) is above `{}` ({})", smaller.0, smaller.1, larger.0, larger.1);
        let allowed = format!("`{}` up to the value of `{}`", smaller.0, larger.0);
        field.report(report, Wrong::BadValue { why, allowed });
    }
}
