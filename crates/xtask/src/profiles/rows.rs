//! Every knob of the endpoint and of the mechanisms that a profile chooses.

use ackord_tcp::registry::{CHOICES, Chosen, ENDPOINT, Profile, Setting};
use ackord_units::Knob;

/// Who says a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The profile.
    ByProfile,
    /// Nobody: the registry's default holds.
    ByDefault,
}

/// A choice or a knob of a profile.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// As in a profile: `congestion`, `congestion.growth`, `rto_min`.
    pub(super) key: String,
    /// As a user would write it; empty where the mechanism works it out itself.
    pub(super) value: &'static str,
    /// The registry's; for a choice, what a scenario gets that says nothing.
    pub(super) default: &'static str,
    /// Where the value comes from.
    pub(super) source: &'static str,
    pub(super) said: Said,
}

impl Row {
    /// Whether the value is the registry's default, whoever says it.
    pub(super) fn is_default(&self) -> bool {
        self.value == self.default
    }

    /// The value, or a word for none.
    pub(super) fn shown(&self) -> &'static str {
        if self.value.is_empty() { "none" } else { self.value }
    }
}

/// Every row of a profile: the choices with their knobs, then the endpoint.
pub(super) fn rows(profile: &Profile) -> Vec<Row> {
    let mut rows = Vec::new();
    for &Chosen { key: family, default, mechanisms, .. } in CHOICES {
        let said = setting(profile, family);
        let value = said.map_or(default, |setting| setting.value);
        let mechanism = mechanisms
            .iter()
            .find(|one| one.name == value)
            .expect("a profile names what is registered");
        let source = said.map_or(mechanism.source, |setting| setting.source);
        let said = if said.is_some() { Said::ByProfile } else { Said::ByDefault };
        rows.push(Row { key: family.to_owned(), value, default, source, said });
        let knobs = mechanism.knobs.iter();
        rows.extend(knobs.map(|knob| row(profile, format!("{family}.{}", knob.name), knob)));
    }
    rows.extend(ENDPOINT.knobs.iter().map(|knob| row(profile, knob.name.to_owned(), knob)));
    rows.extend(profile.of_others.iter().map(of_another));
    rows
}

/// A knob of a mechanism that the profile does not choose, `congestion.reno.growth`.
fn of_another(setting: &Setting) -> Row {
    let Setting { key, value, source } = *setting;
    let default = key.split_once('.').and_then(|(family, rest)| {
        let (name, knob) = rest.split_once('.')?;
        let chosen = CHOICES.iter().find(|chosen| chosen.key == family)?;
        let mechanism = chosen.mechanisms.iter().find(|mechanism| mechanism.name == name)?;
        mechanism.knob(knob)
    });
    let default = default.expect("a profile names what is registered").default;
    Row { key: key.to_owned(), value, default, source, said: Said::ByProfile }
}

fn row(profile: &Profile, key: String, knob: &Knob) -> Row {
    let default = knob.default;
    match setting(profile, &key) {
        Some(Setting { value, source, .. }) => {
            Row { key, value, default, source, said: Said::ByProfile }
        }
        None => Row { key, value: default, default, source: knob.source, said: Said::ByDefault },
    }
}

fn setting(profile: &Profile, key: &str) -> Option<&'static Setting> {
    profile.settings.iter().find(|setting| setting.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_tcp::registry;

    #[test]
    fn every_knob_of_what_a_profile_chooses_has_a_row_and_no_other() {
        let linux = rows(registry::profile("linux").expect("listed"));
        let value = |key: &str| linux.iter().find(|row| row.key == key).map(|row| row.value);
        assert_eq!(value("loss"), Some("rack"));
        assert_eq!(value("loss.tlp"), Some("on"));
        assert_eq!(value("loss.threshold"), None, "a knob of `fixed`");
        assert_eq!(value("rto_min"), Some("200 ms"));
        assert!(ENDPOINT.knobs.iter().all(|knob| value(knob.name).is_some()));
    }
}
