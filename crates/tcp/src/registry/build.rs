//! What every builder needs: the values of a checked choice.

use ackord_units::{Bytes, Choice, KnobValue, Span};

pub(super) fn unregistered(family: &str, name: &str) -> ! {
    panic!("no {family} is registered as `{name}`")
}

pub(super) fn is_on(choice: &Choice, knob: &str) -> bool {
    word(choice, knob) == "on"
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
        ENDPOINT, build_ack, build_congestion, build_loss, build_nagle, build_recovery, families,
    };
    use super::*;
    use crate::Config;

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
