//! An endpoint's five choices by name, and whole stacks of them.
//!
//! | file | what |
//! | --- | --- |
//! | `stack.rs` | [`Stack`]: an endpoint as somebody chose it, built |
//! | `settings.rs` | a stack changed by text |
//! | `profiles/` | whole stacks by name, each value with its source |
//!
//! What there is to choose from stands beside the mechanisms: `congestion/mod.rs`, `loss/mod.rs`,
//! `recovery/mod.rs`, `ack/mod.rs`, `nagle/mod.rs`; the knobs of each in its own file, those of the
//! endpoint in `config.rs`.

mod profiles;
mod settings;
mod stack;

pub use profiles::{PROFILES, Profile, Setting, profile};
pub use settings::SettingError;
pub use stack::{Stack, choose_as};

pub use crate::ack::Ack;
pub use crate::congestion::Congestion;
pub use crate::loss::Loss;
pub use crate::nagle::NagleVariant;
pub use crate::recovery::LossRecovery;

use crate::config::Config;
use ackord_units::{Choice, Mechanism};

/// The endpoint itself: what is neither of the five choices.
pub static ENDPOINT: &Mechanism = Config::MECHANISM;

/// One of the five choices of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The key under which a user chooses.
    pub key: &'static str,
    /// What there is to choose from.
    pub mechanisms: &'static [Mechanism],
    /// What is taken when nothing is said.
    pub default: &'static str,
    /// What it decides.
    pub doc: &'static str,
}

/// The five choices, in the order in which they are listed to people.
pub static CHOICES: &[Chosen] = &[
    Chosen {
        key: "congestion",
        mechanisms: Congestion::MECHANISMS,
        default: "cubic",
        doc: "How much may be outstanding",
    },
    Chosen {
        key: "loss",
        mechanisms: Loss::MECHANISMS,
        default: "fixed",
        doc: "When a segment counts as lost",
    },
    Chosen {
        key: "recovery",
        mechanisms: LossRecovery::MECHANISMS,
        default: "sack",
        doc: "What is sent during recovery",
    },
    Chosen {
        key: "ack",
        mechanisms: Ack::MECHANISMS,
        default: "delayed",
        doc: "When to acknowledge",
    },
    Chosen {
        key: "nagle",
        mechanisms: NagleVariant::MECHANISMS,
        default: "on",
        doc: "When a small segment waits",
    },
];

/// The choice with this key.
pub fn chosen_from(key: &str) -> Option<&'static Chosen> {
    CHOICES.iter().find(|chosen| chosen.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nagle::{MinshallConfig, NagleConfig};
    use ackord_units::{Bytes, Knobs, confused_words};

    /// Every mechanism of a family with its defaults.
    fn all<C: Choice>() -> impl Iterator<Item = C> {
        C::MECHANISMS.iter().map(|mechanism| C::named(mechanism.name).expect(mechanism.name))
    }

    #[test]
    fn every_word_of_a_knob_builds_something_of_its_own() {
        fn confused<K: Knobs + Clone>(choice: K, built: impl Fn(&K) -> String) {
            let confused = confused_words(&choice, |choice| Some(built(choice)));
            assert_eq!(confused, [], "{}", choice.mechanism().name);
        }
        for choice in all::<Congestion>() {
            confused(choice, |choice| format!("{:?}", choice.config().build()));
        }
        for choice in all::<Loss>() {
            confused(choice, |choice| format!("{:?}", choice.config().build()));
        }
        for choice in all::<LossRecovery>() {
            confused(choice, |choice| format!("{:?}", choice.config().build()));
        }
        for choice in all::<Ack>() {
            confused(choice, |choice| format!("{:?}", choice.config().build()));
        }
        for choice in all::<NagleVariant>() {
            confused(choice, |choice| format!("{:?}", choice.config().build()));
        }
        confused(Config::default(), |config| format!("{config:?}"));
        drop(MinshallConfig::default().build());
    }

    #[test]
    fn every_default_lies_in_its_range_and_every_knob_has_a_source() {
        let families = CHOICES.iter().flat_map(|chosen| chosen.mechanisms);
        for mechanism in families.chain([ENDPOINT]) {
            assert!(!mechanism.source.is_empty(), "{}", mechanism.name);
            for knob in mechanism.knobs {
                knob.default_value();
                assert!(!knob.doc.is_empty() && !knob.source.is_empty(), "{}", knob.name);
            }
        }
        assert_eq!(Config::default().mss, Bytes(1460));
    }

    #[test]
    fn each_mechanism_says_which_family_it_is_of() {
        for chosen in CHOICES {
            assert!(chosen.mechanisms.iter().all(|mechanism| mechanism.family == chosen.key));
        }
    }
}
