//! Profiles: named sets of choices and knob values that stand for a whole stack.
//!
//! A profile replaces everything an endpoint has been given so far; what a scenario says beside it
//! overrides it. Each value has its source, which `ackord list profiles` shows.

mod linux;
mod ns2;
mod rfc;

use ackord_units::{Keyword, KnobType, KnobValue};

/// A stack by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What a user writes.
    pub name: &'static str,
    /// What it stands for, in a line.
    pub summary: &'static str,
    /// Its values; what is not here is as the registries have it.
    pub settings: &'static [Setting],
    /// Knobs of mechanisms that it does not choose, for when a user names one beside it: the key is
    /// `congestion.reno.growth`.
    pub of_others: &'static [Setting],
}

/// One value of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// A choice (`congestion`), a knob of that choice (`congestion.growth`), a knob of the
    /// endpoint (`rto_min`), or a knob of a mechanism that the profile does not choose
    /// (`congestion.reno.growth`).
    pub key: &'static str,
    /// As a user would write it.
    pub value: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

const fn set(key: &'static str, value: &'static str, source: &'static str) -> Setting {
    Setting { key, value, source }
}

/// Every profile.
pub const PROFILES: &[Profile] = &[rfc::RFC, linux::LINUX, ns2::NS2];

/// The profile of this name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Setting {
    /// The choice whose mechanism or knob it sets, and the knob's name if it is a knob's; nothing
    /// for a knob of the endpoint.
    pub fn of_choice(&self) -> Option<(&'static str, Option<&'static str>)> {
        match self.key.split_once('.') {
            Some((choice, knob)) => Some((choice, Some(knob))),
            None if super::ENDPOINT.knob(self.key).is_some() => None,
            None => Some((self.key, None)),
        }
    }
}

/// A knob may take the name of a profile.
impl Keyword for Profile {
    const WORDS: &'static [&'static str] = {
        const NAMES: [&str; PROFILES.len()] = {
            let (mut names, mut at) = ([""; PROFILES.len()], 0);
            while at < names.len() {
                names[at] = PROFILES[at].name;
                at += 1;
            }
            names
        };
        &NAMES
    };

    fn word(&self) -> &'static str {
        self.name
    }

    fn from_word(word: &str) -> Option<Profile> {
        profile(word).copied()
    }
}

impl KnobType for Profile {
    fn to_value(&self) -> Option<KnobValue> {
        Some(KnobValue::Choice(self.name))
    }

    fn from_value(value: Option<KnobValue>) -> Option<Profile> {
        match value? {
            KnobValue::Choice(name) => profile(name).copied(),
            _ => None,
        }
    }
}
