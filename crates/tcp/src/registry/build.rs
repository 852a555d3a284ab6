//! What every builder needs: the values of a checked choice.

use ackord_units::{Bytes, Choice, KnobValue, Span};

pub(super) fn unregistered(family: &str, name: &str) -> ! {
    panic!("no {family} is registered as `{name}`")
}

pub(super) fn is_on(choice: &Choice, knob: &str) -> bool {
    keyword(choice, knob, &[("on", true), ("off", false)])
}

/// Whether a mechanism with both modes is to be as its paper has it.
pub(super) fn is_paper(choice: &Choice) -> bool {
    keyword(choice, "mode", &[("practical", false), ("paper", true)])
}

/// What the word of a knob stands for.
///
/// # Panics
/// If the table lacks a word of the knob, which a test asserts it does not.
pub(super) fn keyword<T: Copy>(choice: &Choice, knob: &str, meanings: &[(&str, T)]) -> T {
    choice.keyword(knob, meanings).expect("every word of a knob stands for something")
}

const HAS_DEFAULT: &str = "the knob has a default of its kind, which a test asserts";

pub(crate) fn span(choice: &Choice, knob: &str) -> Span {
    choice.value(knob).and_then(|value| value.as_span()).expect(HAS_DEFAULT)
}

pub(crate) fn bytes(choice: &Choice, knob: &str) -> Bytes {
    choice.value(knob).and_then(|value| value.as_bytes()).expect(HAS_DEFAULT)
}

pub(crate) fn count(choice: &Choice, knob: &str) -> u64 {
    choice.value(knob).and_then(|value| value.as_count()).expect(HAS_DEFAULT)
}

pub(crate) fn number(choice: &Choice, knob: &str) -> f64 {
    let value = choice.value(knob);
    value.as_ref().and_then(KnobValue::as_number).expect(HAS_DEFAULT)
}

pub(crate) fn word(choice: &Choice, knob: &str) -> String {
    choice.value(knob).and_then(|value| value.as_choice()).expect(HAS_DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::super::{
        ACK, CONGESTION, ENDPOINT, LOSS, NAGLE, RECOVERY, build_ack, build_congestion, build_loss,
        build_nagle, build_recovery, families,
    };
    use super::*;
    use crate::Config;
    use ackord_units::Mechanism;

    #[test]
    fn every_registered_choice_builds_from_its_defaults() {
        let [congestion, loss, recovery, ack, nagle] = families();
        congestion.iter().for_each(|m| drop(build_congestion(&Choice::of(m))));
        loss.iter().for_each(|m| drop(build_loss(&Choice::of(m))));
        recovery.iter().for_each(|m| drop(build_recovery(&Choice::of(m))));
        ack.iter().for_each(|m| drop(build_ack(&Choice::of(m))));
        nagle.iter().for_each(|m| drop(build_nagle(&Choice::of(m))));
        let config = Config::from_choice(&Choice::of(&ENDPOINT));
        assert_eq!(config.mss, Bytes(1460));
    }

    #[test]
    fn every_word_of_a_knob_builds_something_of_its_own() {
        let confused = |table: &'static [Mechanism], built: &dyn Fn(&Choice) -> String| {
            for mechanism in table {
                let confused = mechanism.confused_words(|choice| Some(built(choice)));
                assert_eq!(confused, [], "{} {}", mechanism.family, mechanism.name);
            }
        };
        confused(CONGESTION, &|choice| format!("{:?}", build_congestion(choice)));
        confused(LOSS, &|choice| format!("{:?}", build_loss(choice)));
        confused(RECOVERY, &|choice| format!("{:?}", build_recovery(choice)));
        confused(ACK, &|choice| format!("{:?}", build_ack(choice)));
        confused(NAGLE, &|choice| format!("{:?}", build_nagle(choice)));
        let endpoint = std::slice::from_ref(&ENDPOINT);
        confused(endpoint, &|choice| format!("{:?}", Config::from_choice(choice)));
    }

    #[test]
    fn every_default_lies_in_its_range_and_every_knob_has_a_source() {
        let tables = families();
        for mechanism in tables.iter().flat_map(|table| table.iter()).chain([&ENDPOINT]) {
            assert!(!mechanism.source.is_empty(), "{}", mechanism.name);
            for knob in mechanism.knobs {
                knob.default_value();
                assert!(!knob.doc.is_empty() && !knob.source.is_empty(), "{}", knob.name);
            }
        }
    }
}
