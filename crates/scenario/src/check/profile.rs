//! `profile = "..."`: every choice and knob of a stack at once.

use super::Report;
use super::choice::with_defaults;
use super::reader::Field;
use super::tcp::{defaults, slot};
use crate::error::{NameOf, Wrong};
use crate::model::TcpChoices;
use ackord_tcp::registry::{ENDPOINT, PROFILES, Profile, chosen_from, find, profile};
use ackord_units::Knob;

/// The endpoint that the profile named in `field` stands for.
pub(super) fn named(report: &mut Report, field: &Field<'_>) -> Option<TcpChoices> {
    let name = field.text(report, "the name of a profile")?;
    let found = profile(name);
    if found.is_none() {
        let known = PROFILES.iter().map(|profile| profile.name);
        field.report(report, Wrong::unknown_name(NameOf::Profile, name, known));
    }
    found.map(of)
}

/// The registries' defaults with the profile's values over them.
///
/// # Panics
/// If the profile says something that no registry knows: a defect, which a test would have found.
pub(crate) fn of(profile: &Profile) -> TcpChoices {
    let mut tcp = TcpChoices { profile: profile.name, ..defaults() };
    for setting in profile.settings {
        match setting.of_choice() {
            None => {
                let knob = ENDPOINT.knob(setting.key).expect("a knob of the endpoint");
                tcp.endpoint.settings.0.insert(knob.name.to_owned(), value(knob, setting.value));
            }
            Some((choice, None)) => {
                let chosen = chosen_from(choice).expect("one of the five choices");
                let mechanism =
                    find(chosen.mechanisms, setting.value).expect("a registered mechanism");
                *slot(&mut tcp, choice) = with_defaults(mechanism);
            }
            Some((choice, Some(name))) => {
                let chosen = slot(&mut tcp, choice);
                let knob = chosen.mechanism.knob(name).expect("a knob of the mechanism");
                chosen.settings.0.insert(name.to_owned(), value(knob, setting.value));
            }
        }
    }
    tcp
}

fn value(knob: &Knob, text: &str) -> ackord_units::KnobValue {
    knob.kind.parse(text).expect("a value in the knob's range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_speaks_of_registered_things_and_says_where_from() {
        for profile in PROFILES {
            of(profile);
            assert!(profile.settings.iter().all(|setting| !setting.source.is_empty()));
        }
    }

    #[test]
    fn the_rfc_profile_is_what_an_endpoint_gets_that_says_nothing() {
        let rfc = profile("rfc").expect("it is listed");
        assert_eq!(of(rfc), defaults());
        assert_eq!(of(rfc).profile, defaults().profile);
    }
}
