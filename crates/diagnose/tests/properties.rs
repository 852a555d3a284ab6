//! The laws for random connections, unusual in one dimension at a time, and in all.

use crate::laws::{Law, check};
use crate::synthetic::{Dimension, captures};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

macro_rules! law_holds {
    ($module:ident, $law:ident: $($name:ident $dimension:ident,)*) => {
        mod $module {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig {
                    cases: 384,
                    failure_persistence: None,
                    // The same cases in every run, so that a change is not blamed for another's.
                    rng_seed: RngSeed::Fixed(1),
                    ..ProptestConfig::default()
                })]
                $(
                    #[test]
                    fn $name(synthetic in captures(Dimension::$dimension)) {
                        prop_assert_eq!(check(Law::$law, &synthetic), Ok(()));
                    }
                )*
            }
        }
    };
}

macro_rules! laws_hold {
    ($($module:ident $law:ident,)*) => {
        $(law_holds! {
            $module, $law:
            on_linux_captured_whole Nothing,
            with_windows_smaller_than_responses Windows,
            however_packets_are_numbered Ids,
            with_any_clock_of_timestamps Clocks,
            with_copies_by_a_second_capture_point Copies,
            when_acks_overtake_one_another OvertakenAcks,
            when_acks_are_captured_before_their_data EarlyAcks,
            with_one_direction_only Directions,
            with_keep_alives KeepAlives,
            on_a_loopback_interface Loopback,
            without_the_handshake Middle,
            when_a_close_is_repeated_without_an_answer Fins,
            when_the_capture_clock_is_set Jumps,
            with_everything_at_once All,
        })*
    };
}

laws_hold! {
    the_account_adds_up AddsUp,
    no_loss_is_invented NoInventedLoss,
    every_byte_is_counted_once Bytes,
    idle_time_is_that_of_the_applications IdleTime,
    no_number_exceeds_the_connection NothingBeyond,
}
