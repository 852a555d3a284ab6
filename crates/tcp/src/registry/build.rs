//! From a checked choice to the running thing.

use crate::congestion::{
    CongestionControl, Cubic, CubicKnobs, FastConvergence, Growth, Reno, Vegas, VegasKnobs,
};
use crate::loss::{Fixed, LimitedTransmit, LossDetector, VegasLoss};
use crate::recovery::{NewReno, OncePerWindow, Prr, Recovery, RenoRecovery, SackRecovery, Tahoe};
use ackord_units::{Bytes, Choice, KnobValue, Span};

/// The congestion control of a choice from [`super::CONGESTION`].
///
/// # Panics
/// If the choice is of another family; the scenario checker never lets that through. The same
/// holds for the other builders.
pub fn build_congestion(choice: &Choice) -> Box<dyn CongestionControl> {
    match choice.mechanism.name {
        "reno" => Box::new(Reno::new(growth(choice))),
        "vegas" => Box::new(Vegas::new(VegasKnobs {
            alpha_segments: number(choice, "alpha"),
            beta_segments: number(choice, "beta"),
            gamma_segments: number(choice, "gamma"),
            loss_factor: number(choice, "loss_factor"),
        })),
        "cubic" => Box::new(Cubic::new(CubicKnobs {
            c: number(choice, "c"),
            beta: number(choice, "beta"),
            fast_convergence: if is_on(choice, "fast_convergence") {
                FastConvergence::On
            } else {
                FastConvergence::Off
            },
        })),
        other => unregistered("congestion control", other),
    }
}

/// The loss detector of a choice from [`super::LOSS`].
pub fn build_loss(choice: &Choice) -> Box<dyn LossDetector> {
    let threshold = count(choice, "threshold") as u32;
    match choice.mechanism.name {
        "fixed" if is_on(choice, "limited_transmit") => {
            Box::new(Fixed::new(threshold, LimitedTransmit::On))
        }
        "fixed" => Box::new(Fixed::new(threshold, LimitedTransmit::Off)),
        "vegas" => Box::new(VegasLoss::new(threshold)),
        other => unregistered("loss detector", other),
    }
}

/// The recovery sender of a choice from [`super::RECOVERY`].
pub fn build_recovery(choice: &Choice) -> Box<dyn Recovery> {
    match choice.mechanism.name {
        "tahoe" => Box::new(Tahoe),
        "reno" if is_on(choice, "once_per_window") => {
            Box::new(RenoRecovery::new(OncePerWindow::On))
        }
        "reno" => Box::new(RenoRecovery::new(OncePerWindow::Off)),
        "newreno" => Box::new(NewReno::default()),
        "sack" if is_on(choice, "prr") => Box::new(SackRecovery::new(Prr::On)),
        "sack" => Box::new(SackRecovery::new(Prr::Off)),
        other => unregistered("recovery sender", other),
    }
}

pub(super) fn unregistered(family: &str, name: &str) -> ! {
    panic!("no {family} is registered as `{name}`")
}

fn growth(choice: &Choice) -> Growth {
    match word(choice, "growth").as_str() {
        "per-byte" => Growth::PerByte,
        _ => Growth::PerAck,
    }
}

fn is_on(choice: &Choice, knob: &str) -> bool {
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
    use super::super::{ENDPOINT, build_ack, build_nagle, families};
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
