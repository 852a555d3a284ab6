//! Mechanisms with their knobs, as they are listed: those of the program, and those that were registered while it runs.

use ackord_path::registry::{
    CorruptionChoice, DuplicationChoice, JitterChoice, LossChoice, MediumChoice, OutageChoice,
    PolicerChoice, ProcessingChoice, ProxyChoice, QueueChoice, RateChangesChoice, ShaperChoice,
};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_tcp::registry::{CHOICES, ENDPOINT, PROFILES, Setting, Stack};
use ackord_traffic::WorkloadChoice;
use ackord_units::{Choice, Knob, KnobKind, Mechanism};
use serde::Serialize;

/// Returns every mechanism, family by family, in the order in which a scenario file names them.
pub fn mechanisms() -> Vec<&'static Mechanism> {
    let stack = Stack::default();
    let of_tcp = CHOICES.iter().flat_map(|chosen| {
        let registered = stack.choice(chosen.key).map(|choice| choice.registered());
        chosen.mechanisms.iter().chain(registered.unwrap_or_default())
    });
    let others: [fn() -> Vec<&'static Mechanism>; 13] = [
        family::<QueueChoice>,
        family::<JitterChoice>,
        family::<OutageChoice>,
        family::<LossChoice>,
        family::<CorruptionChoice>,
        family::<DuplicationChoice>,
        family::<RateChangesChoice>,
        family::<ShaperChoice>,
        family::<PolicerChoice>,
        family::<MediumChoice>,
        family::<ProxyChoice>,
        family::<ProcessingChoice>,
        family::<WorkloadChoice>,
    ];
    of_tcp.chain([ENDPOINT]).chain(others.into_iter().flat_map(|family| family())).collect()
}

fn family<C: Choice>() -> Vec<&'static Mechanism> {
    C::MECHANISMS.iter().chain(C::registered()).collect()
}

/// Returns the profiles that choose a mechanism, by name, with all their settings; every profile for the endpoint.
pub fn choosing(mechanism: &Mechanism) -> impl Iterator<Item = (&'static str, &'static [Setting])> {
    let (family, name) = (mechanism.family, mechanism.name);
    let chooses = move |settings: &[Setting]| {
        family == ENDPOINT.family
            || settings.iter().any(|setting| setting.key == family && setting.value == name)
    };
    PROFILES
        .iter()
        .filter(move |profile| chooses(profile.settings))
        .map(|profile| (profile.name, profile.settings))
}

/// Returns what profiles set a knob to, by the profile's name: those that choose the mechanism, and those that have values
/// for it if it is named beside them.
pub fn settings(
    mechanism: &Mechanism,
    knob: &Knob,
) -> impl Iterator<Item = (&'static str, &'static Setting)> {
    let Mechanism { family, name, .. } = *mechanism;
    let own = match family == ENDPOINT.family {
        true => knob.name.to_owned(),
        false => format!("{family}.{}", knob.name),
    };
    let beside = format!("{family}.{name}.{}", knob.name);
    let chosen = choosing(mechanism).filter_map(move |(profile, settings)| {
        settings.iter().find(|setting| setting.key == own).map(|setting| (profile, setting))
    });
    let named = PROFILES.iter().filter_map(move |profile| {
        let setting = profile.of_others.iter().find(|setting| setting.key == beside)?;
        Some((profile.name, setting))
    });
    chosen.chain(named)
}

/// A mechanism as JSON lists it.
#[derive(Debug, Serialize)]
pub struct MechanismEntry {
    family: &'static str,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    /// Names of the profiles that choose it.
    profiles: Vec<&'static str>,
    knobs: Vec<KnobEntry>,
}

#[derive(Debug, Serialize)]
struct KnobEntry {
    name: &'static str,
    kind: &'static str,
    /// Values that are allowed, with their unit.
    range: String,
    /// As a user would write it; null where the mechanism works it out itself.
    default: Option<&'static str>,
    doc: &'static str,
    source: &'static str,
    /// What the profiles that choose the mechanism set it to.
    profiles: Vec<SettingEntry>,
}

#[derive(Debug, Serialize)]
struct SettingEntry {
    profile: &'static str,
    value: &'static str,
    source: &'static str,
}

impl MechanismEntry {
    /// Returns the entry of a mechanism.
    pub fn of(mechanism: &'static Mechanism) -> MechanismEntry {
        let knob = |knob: &'static Knob| {
            let profiles = settings(mechanism, knob).map(|(profile, setting)| SettingEntry {
                profile,
                value: setting.value,
                source: setting.source,
            });
            KnobEntry {
                name: knob.name,
                kind: kind_name(&knob.kind),
                range: knob.kind.range(),
                default: Some(knob.default).filter(|default| !default.is_empty()),
                doc: knob.doc,
                source: knob.source,
                profiles: profiles.collect(),
            }
        };
        let Mechanism { family, name, summary, source, knobs } = *mechanism;
        let profiles = choosing(mechanism).map(|(profile, _)| profile).collect();
        let knobs = knobs.iter().map(knob).collect();
        MechanismEntry { family, name, summary, source, profiles, knobs }
    }
}

fn kind_name(kind: &KnobKind) -> &'static str {
    match kind {
        KnobKind::Count { .. } => "count",
        KnobKind::Number { .. } => "number",
        KnobKind::Span { .. } => "span",
        KnobKind::Bytes { .. } => "bytes",
        KnobKind::BytesList { .. } => "bytes-list",
        KnobKind::SpanList { .. } => "span-list",
        KnobKind::RateList { .. } => "rate-list",
        KnobKind::Rate { .. } => "rate",
        KnobKind::Ratio => "ratio",
        KnobKind::Choice(_) => "choice",
        KnobKind::PerFlow { .. } => "per-flow",
        KnobKind::PacketsOrBytes => "packets-or-bytes",
    }
}

/// Returns mechanisms with their knobs as a document, with a section per family.
pub fn mechanism_document(mechanisms: &[&Mechanism]) -> Document {
    let mut sections: Vec<Section> = Vec::new();
    for mechanism in mechanisms {
        if sections.last().is_none_or(|section| section.heading != mechanism.family) {
            sections.push(Section::new(mechanism.family));
        }
        let section = sections.last_mut().expect("one was put there if there was none");
        let words = match mechanism.source {
            "" => format!("{}: {}.", mechanism.name, mechanism.summary),
            source => format!("{}: {}. ({source})", mechanism.name, mechanism.summary),
        };
        section.blocks.push(Block::Text(words));
        if !mechanism.knobs.is_empty() {
            section.blocks.push(Block::Table(knob_table(mechanism.knobs)));
        }
    }
    Document { title: "Mechanisms".to_owned(), sections, ..Document::default() }
}

fn knob_table(knobs: &[Knob]) -> Table {
    let columns = ["  knob", "default", "allowed", "what it does", "source"];
    let rows = knobs.iter().map(|knob| {
        let default =
            if knob.default.is_empty() { Cell::Missing } else { Cell::text(knob.default) };
        vec![
            Cell::text(format!("  {}", knob.name)),
            default,
            Cell::text(knob.kind.range()),
            Cell::text(knob.doc),
            Cell::text(knob.source),
        ]
    });
    Table {
        caption: String::new(),
        columns: columns.into_iter().map(Column::words).collect(),
        rows: rows.collect(),
    }
}
