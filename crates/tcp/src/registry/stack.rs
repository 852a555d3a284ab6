//! Everything an endpoint is made of, as somebody chose it: the typed values from which a scenario's
//! endpoints, a script's, and those of a middlebox that splits connections are built.

use super::{CHOICES, Profile, Setting, profile};
use crate::ack::Ack;
use crate::config::{Config, Mechanisms};
use crate::congestion::Congestion;
use crate::loss::Loss;
use crate::nagle::NagleVariant;
use crate::recovery::LossRecovery;
use ackord_units::{AnyChoice, Choice, Knob, Knobs};

/// Everything an endpoint is made of, as choices. Two are equal if they build the same, whatever the
/// profiles they began as.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The profile it began as: a mechanism that is the profile's own has the profile's knobs.
    profile: &'static str,
    /// What is none of the five choices.
    pub endpoint: Config,
    /// Congestion control.
    pub congestion: Congestion,
    /// Loss detection.
    pub loss: Loss,
    /// Recovery sending.
    pub recovery: LossRecovery,
    /// ACK policy.
    pub ack: Ack,
    /// Nagle's algorithm.
    pub nagle: NagleVariant,
}

impl PartialEq for Stack {
    fn eq(&self, other: &Stack) -> bool {
        self.endpoint == other.endpoint
            && self.congestion == other.congestion
            && self.loss == other.loss
            && self.recovery == other.recovery
            && self.ack == other.ack
            && self.nagle == other.nagle
    }
}

impl Default for Stack {
    /// What an endpoint is when nobody says anything: the profile `rfc`.
    fn default() -> Stack {
        fn first<C: Choice>(key: &str) -> C {
            let chosen = super::chosen_from(key).expect("each choice is listed");
            C::named(chosen.default).expect("the default of a family is one of its mechanisms")
        }
        Stack {
            profile: "rfc",
            endpoint: Config::default(),
            congestion: first("congestion"),
            loss: first("loss"),
            recovery: first("recovery"),
            ack: first("ack"),
            nagle: first("nagle"),
        }
    }
}

impl Default for Mechanisms {
    /// CUBIC, three duplicates, SACK with PRR, delayed acknowledgments, Nagle: what a scenario
    /// gets that says nothing.
    fn default() -> Mechanisms {
        Stack::default().mechanisms()
    }
}

/// Takes the mechanism of this name for the choice `key`, as [`Stack::choose`] does in a stack that began as
/// this profile.
#[must_use]
pub fn choose_as(own: &str, key: &str, name: &str, place: &mut dyn AnyChoice) -> bool {
    let Some(own) = profile(own) else { return place.choose(name) };
    let is_own = |setting: &Setting| setting.key == key && setting.value == name;
    if own.settings.iter().any(is_own) {
        own.choose(place, key);
        return true;
    }
    let known = place.choose(name);
    if known {
        let knobs = place.mechanism().knobs;
        set_knobs(own.of_others, place, knobs, &format!("{key}.{name}."));
    }
    known
}

/// Sets the knobs whose keys in `settings` begin with `prefix`.
fn set_knobs<K: Knobs + ?Sized>(settings: &[Setting], of: &mut K, knobs: &[Knob], prefix: &str) {
    for setting in settings {
        let name = setting.key.strip_prefix(prefix);
        let Some(knob) = name.and_then(|name| knobs.iter().find(|knob| knob.name == name)) else {
            continue;
        };
        let value = knob.kind.parse(setting.value).expect("a profile's values are valid");
        assert!(of.set(knob.name, value), "a knob takes values of its kind");
    }
}

impl Profile {
    /// Takes the mechanism that this profile says of a choice, if it does, with its knobs.
    fn choose(&self, place: &mut dyn AnyChoice, family: &str) {
        if let Some(setting) = self.settings.iter().find(|setting| setting.key == family) {
            assert!(place.choose(setting.value), "a profile names what is registered");
        }
        let mechanism = place.mechanism();
        set_knobs(self.settings, place, mechanism.knobs, &format!("{family}."));
    }
}

impl Stack {
    /// What this profile stands for; what it does not say is as the mechanisms have it.
    pub fn of_profile(profile: &Profile) -> Stack {
        let mut stack = Stack { profile: profile.name, ..Stack::default() };
        for chosen in CHOICES {
            let place = stack.choice_mut(chosen.key).expect("one of the five choices");
            profile.choose(place, chosen.key);
        }
        set_knobs(profile.settings, &mut stack.endpoint, Config::KNOBS, "");
        stack
    }

    /// The name of the profile it began as.
    pub fn profile(&self) -> &'static str {
        self.profile
    }

    /// The same stack over this version of IP.
    #[must_use]
    pub fn over(mut self, ip: ackord_wire::IpVersion) -> Stack {
        self.endpoint.ip = ip;
        self
    }

    /// The choice under this key ([`super::CHOICES`]).
    pub fn choice(&self, key: &str) -> Option<&dyn AnyChoice> {
        Some(match key {
            "congestion" => &self.congestion,
            "loss" => &self.loss,
            "recovery" => &self.recovery,
            "ack" => &self.ack,
            "nagle" => &self.nagle,
            _ => return None,
        })
    }

    /// The same, to be changed.
    pub fn choice_mut(&mut self, key: &str) -> Option<&mut dyn AnyChoice> {
        Some(match key {
            "congestion" => &mut self.congestion,
            "loss" => &mut self.loss,
            "recovery" => &mut self.recovery,
            "ack" => &mut self.ack,
            "nagle" => &mut self.nagle,
            _ => return None,
        })
    }

    /// Takes the mechanism of this name for the choice `key`, with the knobs that the profile sets for
    /// it: Linux's CUBIC is not RFC 9438's, and Linux's Reno counts segments. Returns whether there is
    /// such a choice and such a mechanism.
    #[must_use]
    pub fn choose(&mut self, key: &str, name: &str) -> bool {
        let own = self.profile;
        self.choice_mut(key).is_some_and(|place| choose_as(own, key, name, place))
    }

    /// Takes the default of the family in place of each mechanism that was registered while the program
    /// runs: another process does not know those.
    pub fn forget_plug_ins(&mut self) {
        for chosen in CHOICES {
            let choice = self.choice_mut(chosen.key).expect("one of the five choices");
            if !choice.is_listed() {
                assert!(choice.choose(chosen.default), "a default is listed");
            }
        }
    }

    /// Takes the choice `key` of another stack, with its knobs.
    pub fn take(&mut self, key: &str, from: &Stack) {
        match key {
            "congestion" => self.congestion = from.congestion.clone(),
            "loss" => self.loss = from.loss.clone(),
            "recovery" => self.recovery = from.recovery.clone(),
            "ack" => self.ack = from.ack.clone(),
            "nagle" => self.nagle = from.nagle.clone(),
            _ => {}
        }
    }

    /// The six parts under the names they have in a file; `endpoint` is written as single keys.
    pub fn by_name(&self) -> [(&'static str, &dyn Knobs); 6] {
        [
            ("congestion", &self.congestion),
            ("loss", &self.loss),
            ("recovery", &self.recovery),
            ("ack", &self.ack),
            ("nagle", &self.nagle),
            ("endpoint", &self.endpoint),
        ]
    }

    /// Its sizes, options and timers.
    pub fn config(&self) -> Config {
        self.endpoint.clone()
    }

    /// Its five mechanisms, newly built.
    pub fn mechanisms(&self) -> Mechanisms {
        Mechanisms {
            congestion: self.congestion.config().build(),
            loss: self.loss.config().build(),
            recovery: self.recovery.config().build(),
            ack: self.ack.config().build(),
            nagle: self.nagle.config().build(),
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
            for setting in profile.settings {
                assert!(!setting.source.is_empty(), "{}", setting.key);
                let (of, knob) = match setting.of_choice() {
                    None => (&stack.endpoint as &dyn Knobs, setting.key),
                    Some((choice, knob)) => {
                        let place = stack.choice(choice).expect("one of the five choices");
                        let Some(knob) = knob else {
                            assert_eq!(place.mechanism().name, setting.value);
                            continue;
                        };
                        (place as &dyn Knobs, knob)
                    }
                };
                let known = of.mechanism().knob(knob).expect("a knob of what it is set of");
                let value = known.kind.parse(setting.value).ok();
                assert_eq!(of.value(knob), value, "{} {}", profile.name, setting.key);
            }
        }
        let rto_min = |name| Stack::of_profile(profile(name).expect("registered")).config().rto.min;
        assert_eq!(
            (rto_min("rfc"), rto_min("linux")),
            (Span::from_secs(1), Span::from_millis(200))
        );
        let linux = Stack::of_profile(profile("linux").expect("registered"));
        assert_eq!((linux.loss.mechanism().name, linux.ack.mechanism().name), ("rack", "linux"));
    }

    #[test]
    fn the_rfc_profile_is_what_the_defaults_are() {
        let stack = Stack::of_profile(profile("rfc").expect("registered"));
        assert_eq!((stack.profile(), &stack), (Stack::default().profile(), &Stack::default()));
        assert_eq!(stack.config(), Config::default());
        assert_eq!(format!("{:?}", stack.mechanisms()), format!("{:?}", Mechanisms::default()));
    }
}
