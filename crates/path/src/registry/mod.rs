//! Everything a link or a host offers to choose from, listed once with its knobs, and how a choice becomes an
//! element.
//!
//! | file | what |
//! | --- | --- |
//! | `queue.rs` | [`QUEUE`]: what waits for the transmitter |
//! | `outage.rs` | [`OUTAGE`]: when the link is out |
//! | `loss.rs` | [`LOSS`]: what the wire loses |
//! | `jitter.rs` | [`JITTER`]: propagation delays that are drawn |
//! | `impairment.rs` | [`CORRUPTION`], [`DUPLICATION`]: what it damages, what arrives twice |
//! | `bucket.rs` | [`POLICER`], [`SHAPER`]: what is dropped or held back beyond a rate |
//! | `rate_changes.rs` | [`RATE_CHANGES`]: rates that change |
//! | `medium.rs`, `cellular.rs` | [`MEDIUM`]: what both directions of a link are on |
//! | `proxy/` | [`PROXY`]: middle boxes at a wireless link |
//! | `processing.rs` | [`PROCESSING`]: the time that a host takes for what it sends |

mod bucket;
mod cellular;
mod impairment;
mod jitter;
mod loss;
mod medium;
mod outage;
mod processing;
mod proxy;
mod queue;
mod rate_changes;

use ackord_units::{Choice, KnobValue};

pub use bucket::{
    BucketProblem, POLICER, SHAPER, build_policer, build_shaper, check_bucket, shaped_rate,
};
pub use cellular::{LinkWay, build_cellular};
pub use impairment::{
    CORRUPTION, DUPLICATION, build_corruption, build_duplication, check_corruption,
    check_duplication,
};
pub use jitter::{JITTER, build_jitter};
pub use loss::{LOSS, LossProblem, build_loss, check_loss};
pub use medium::{MEDIUM, MediumProblem, build_medium, check_medium, medium_is_shared};
pub use outage::{
    OUTAGE, OutageProblem, build_outage, check_outage, outage_holds, outage_is_shared,
};
pub use processing::{PROCESSING, build_processing};
pub use proxy::{PROXY, WHOLE, build_proxy};
pub use queue::{QUEUE, QueueContext, build_queue};
pub use rate_changes::{RATE_CHANGES, RateChangesProblem, build_rate_changes, check_rate_changes};

/// Why a choice cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The choice is not one of this crate's.
    #[error("there is no {family} called `{name}`")]
    UnknownMechanism {
        /// What was wanted.
        family: &'static str,
        /// The name given.
        name: String,
    },
    /// A knob names a flow that does not exist.
    #[error("`{knob}` names a flow `{flow}`, which does not exist")]
    UnknownFlow {
        /// The knob.
        knob: &'static str,
        /// The name given.
        flow: String,
    },
    /// A knob has a value of another kind than it lists, or none where it needs one.
    #[error("`{knob}` has no valid value")]
    WrongValue {
        /// The knob.
        knob: &'static str,
    },
}

fn word(choice: &Choice, knob: &'static str) -> Result<String, BuildError> {
    needed(choice, knob, KnobValue::as_choice)
}

/// What the word of a knob stands for; a word that `meanings` lacks is an error.
fn keyword<T: Copy>(
    choice: &Choice,
    knob: &'static str,
    meanings: &[(&str, T)],
) -> Result<T, BuildError> {
    choice.keyword(knob, meanings).ok_or(BuildError::WrongValue { knob })
}

fn needed<T>(
    choice: &Choice,
    knob: &'static str,
    read: impl Fn(&KnobValue) -> Option<T>,
) -> Result<T, BuildError> {
    optional(choice, knob, read)?.ok_or(BuildError::WrongValue { knob })
}

/// The value of a knob that may have none.
fn optional<T>(
    choice: &Choice,
    knob: &'static str,
    read: impl Fn(&KnobValue) -> Option<T>,
) -> Result<Option<T>, BuildError> {
    match choice.value(knob) {
        None => Ok(None),
        Some(value) => read(&value).map(Some).ok_or(BuildError::WrongValue { knob }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Queue;
    use crate::random::Stream;
    use ackord_units::{Mechanism, Rate, Ratio, Span};
    use ackord_wire::FlowId;
    use std::collections::BTreeMap;

    fn mechanism(name: &str) -> &'static Mechanism {
        QUEUE.iter().chain(LOSS).find(|mechanism| mechanism.name == name).expect("registered")
    }

    fn build(choice: &Choice) -> Result<Queue, BuildError> {
        let flow_named = |name: &str| (name == "voice").then_some(FlowId(3));
        let (rate, delay) = (Rate::from_mbits_per_sec(2), Span::from_millis(5));
        let stream = Stream::for_element(1, "queue");
        build_queue(choice, &QueueContext { rate, delay, flow_named: &flow_named, stream })
    }

    #[test]
    fn everything_registered_can_be_built_with_its_defaults() {
        for mechanism in QUEUE {
            for knob in mechanism.knobs {
                knob.default_value();
            }
            build(&Choice::of(mechanism)).expect(mechanism.name);
        }
        for mechanism in JITTER {
            build_jitter(&Choice::of(mechanism), Span::ZERO, Stream::for_element(1, "jitter"))
                .expect(mechanism.name);
        }
    }

    #[test]
    fn every_word_of_a_knob_builds_something_of_its_own() {
        let stream = || Stream::for_element(1, "element");
        let (rate, delay) = (Rate::from_mbits_per_sec(2), Span::from_millis(5));
        let confused = |table: &'static [Mechanism], built: &dyn Fn(&Choice) -> Option<String>| {
            for mechanism in table {
                // What has no default and has to be said.
                let given = |choice: &Choice| {
                    let millis = |n| KnobValue::SpanList(vec![Span::from_millis(n)]);
                    let said = [
                        ("from", millis(1)),
                        ("for", millis(2)),
                        ("per_packet", KnobValue::Ratio(Ratio::ONE)),
                    ];
                    let said = said.into_iter().filter(|(knob, _)| mechanism.knob(knob).is_some());
                    built(
                        &said
                            .fold(choice.clone(), |choice, (knob, value)| choice.with(knob, value)),
                    )
                };
                let confused = mechanism.confused_words(given);
                assert_eq!(confused, [], "{} {}", mechanism.family, mechanism.name);
            }
        };
        fn shown<T: std::fmt::Debug>(built: Result<T, BuildError>) -> Option<String> {
            built.ok().map(|built| format!("{built:?}"))
        }
        confused(QUEUE, &|choice| shown(build(choice)));
        confused(OUTAGE, &|choice| {
            Some(format!("{} {}", shown(build_outage(choice, stream()))?, outage_is_shared(choice)))
        });
        confused(JITTER, &|choice| shown(build_jitter(choice, delay, stream())));
        confused(LOSS, &|choice| shown(build_loss(choice, stream())));
        confused(CORRUPTION, &|choice| shown(build_corruption(choice, stream())));
        confused(DUPLICATION, &|choice| shown(build_duplication(choice, stream())));
        confused(RATE_CHANGES, &|choice| shown(build_rate_changes(choice, rate)));
        confused(PROXY, &|choice| shown(build_proxy(choice)));
        confused(MEDIUM, &|choice| {
            let ways = [LinkWay::Forward, LinkWay::Reverse];
            Some(format!(
                "{:?}",
                ways.map(|way| shown(build_cellular(choice, way, rate, stream())))
            ))
        });
    }

    #[test]
    fn the_mode_decides_which_selective_drop_it_is() {
        let choice = Choice::of(mechanism("selective-drop"));
        assert!(matches!(build(&choice), Ok(Queue::PracticalDrop(_))));
        let paper = choice.with("mode", KnobValue::Choice("paper".to_owned()));
        assert!(matches!(build(&paper), Ok(Queue::PaperDrop(_))));
    }

    #[test]
    fn a_weight_for_an_unknown_flow_is_refused_by_name() {
        let weigh = |flow: &str| {
            let table = BTreeMap::from([(flow.to_owned(), 2.0)]);
            build(
                &Choice::of(mechanism("selective-drop")).with("weights", KnobValue::PerFlow(table)),
            )
        };
        assert!(weigh("voice").is_ok());
        let refused = weigh("vioce").map(drop);
        assert_eq!(
            refused,
            Err(BuildError::UnknownFlow { knob: "weights", flow: "vioce".to_owned() })
        );
    }

    #[test]
    fn a_mechanism_of_another_family_is_refused() {
        let refused = build(&Choice::of(mechanism("random"))).map(drop);
        assert!(matches!(refused, Err(BuildError::UnknownMechanism { family: "queue", .. })));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_refused() {
        let choice = Choice::of(mechanism("drop-tail")).with("limit", KnobValue::Ratio(Ratio::ONE));
        assert_eq!(build(&choice).map(drop), Err(BuildError::WrongValue { knob: "limit" }));
    }
}
