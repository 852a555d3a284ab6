//! A whole stack by the name of its profile, for those who build endpoints without a scenario: a
//! middle box that splits a connection has two. What is to differ from the profile is set by text,
//! `rto_min` to `200 ms`, in `settings.rs`.

use super::{
    ENDPOINT, Profile, build_ack, build_congestion, build_loss, build_nagle, build_recovery,
    chosen_from, find, profile,
};
use crate::config::{Config, Mechanisms};
use ackord_units::{Choice, KnobValue, Mechanism};

/// Everything an endpoint is made of, as choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The profile it began as: a mechanism that is the profile's own has the profile's knobs.
    profile: &'static str,
    /// What is none of the five choices.
    pub endpoint: Choice,
    /// Congestion control.
    pub congestion: Choice,
    /// Loss detection.
    pub loss: Choice,
    /// Recovery sending.
    pub recovery: Choice,
    /// Acknowledgment policy.
    pub ack: Choice,
    /// Nagle's algorithm.
    pub nagle: Choice,
}

impl Profile {
    /// What it says of a key.
    fn value(&self, key: &str) -> Option<&'static str> {
        self.settings.iter().find(|setting| setting.key == key).map(|setting| setting.value)
    }

    /// The choice with the knobs that it sets, whose keys begin with `prefix`.
    fn parsed(&self, choice: Choice, prefix: &str) -> Choice {
        choice.mechanism.knobs.iter().fold(choice, |choice, knob| {
            match self.value(&format!("{prefix}{}", knob.name)) {
                None => choice,
                Some(text) => {
                    let value = knob.kind.parse(text).expect("a profile's values are valid");
                    choice.with(knob.name, value)
                }
            }
        })
    }
}

impl Stack {
    /// What this profile stands for; what it does not say is as the registries have it.
    pub fn of_profile(profile: &Profile) -> Stack {
        let choice = |family: &str| {
            let chosen = chosen_from(family).expect("one of the five choices");
            let name = profile.value(family).unwrap_or(chosen.default);
            let mechanism =
                find(chosen.mechanisms, name).expect("a profile names what is registered");
            profile.parsed(Choice::of(mechanism), &format!("{family}."))
        };
        Stack {
            profile: profile.name,
            endpoint: profile.parsed(Choice::of(&ENDPOINT), ""),
            congestion: choice("congestion"),
            loss: choice("loss"),
            recovery: choice("recovery"),
            ack: choice("ack"),
            nagle: choice("nagle"),
        }
    }

    /// The name of the profile it began as.
    pub fn profile(&self) -> &'static str {
        self.profile
    }

    /// What naming this mechanism means: with the knobs that the profile sets if it is the profile's
    /// own (Linux's CUBIC is not RFC 9438's), with its defaults otherwise.
    pub fn choice_of(&self, family: &str, mechanism: &'static Mechanism) -> Choice {
        let choice = Choice::of(mechanism);
        match profile(self.profile) {
            Some(own) if own.value(family) == Some(mechanism.name) => {
                own.parsed(choice, &format!("{family}."))
            }
            _ => choice,
        }
    }

    /// The choice of this family ([`super::CHOICES`]), to be changed.
    pub(super) fn choice_mut(&mut self, family: &str) -> Option<&mut Choice> {
        Some(match family {
            "congestion" => &mut self.congestion,
            "loss" => &mut self.loss,
            "recovery" => &mut self.recovery,
            "ack" => &mut self.ack,
            "nagle" => &mut self.nagle,
            _ => return None,
        })
    }

    /// The same stack with a knob of the endpoint set.
    ///
    /// # Panics
    /// If [`ENDPOINT`] lists no such knob.
    #[must_use]
    pub fn with(self, knob: &str, value: KnobValue) -> Stack {
        Stack { endpoint: self.endpoint.with(knob, value), ..self }
    }

    /// Its sizes, options and timers.
    pub fn config(&self) -> Config {
        Config::from_choice(&self.endpoint)
    }

    /// Its five mechanisms, newly built.
    pub fn mechanisms(&self) -> Mechanisms {
        Mechanisms {
            congestion: build_congestion(&self.congestion),
            loss: build_loss(&self.loss),
            recovery: build_recovery(&self.recovery),
            ack: build_ack(&self.ack),
            nagle: build_nagle(&self.nagle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PROFILES, profile};
    use super::*;
    use ackord_units::{Bytes, Span};

    #[test]
    fn every_profile_becomes_a_stack_with_its_own_values() {
        for profile in PROFILES {
            let stack = Stack::of_profile(profile);
            drop(stack.mechanisms());
            assert!(stack.config().mss > Bytes::ZERO, "{}", profile.name);
        }
        let rto_min = |name| Stack::of_profile(profile(name).expect("registered")).config().rto.min;
        assert_eq!(
            (rto_min("rfc"), rto_min("linux")),
            (Span::from_secs(1), Span::from_millis(200))
        );
        let linux = Stack::of_profile(profile("linux").expect("registered"));
        assert_eq!((linux.loss.mechanism.name, linux.ack.mechanism.name), ("rack", "linux"));
    }

    #[test]
    fn the_rfc_profile_is_what_the_defaults_are() {
        let stack = Stack::of_profile(profile("rfc").expect("registered"));
        assert_eq!(stack.config(), Config::default());
        assert_eq!(format!("{:?}", stack.mechanisms()), format!("{:?}", Mechanisms::default()));
    }
}
