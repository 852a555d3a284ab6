//! The laws for random connections, unusual in one dimension at a time, and in all.

use crate::laws::check;
use crate::synthetic::{Dimension, captures};
use proptest::prelude::*;

macro_rules! laws_hold {
    ($($name:ident: $dimension:ident,)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(synthetic in captures(Dimension::$dimension)) {
                    prop_assert_eq!(check(&synthetic), Ok(()));
                }
            )*
        }
    };
}

laws_hold! {
    holds_for_linux_captured_whole: Nothing,
    holds_however_packets_are_numbered: Ids,
    holds_with_any_clock_of_timestamps: Clocks,
    holds_with_copies_by_a_second_capture_point: Copies,
    holds_when_acks_overtake_one_another: OvertakenAcks,
    holds_when_acks_are_captured_before_their_data: EarlyAcks,
    holds_with_one_direction_only: Directions,
    holds_with_keep_alives: KeepAlives,
    holds_on_a_loopback_interface: Loopback,
    holds_without_the_handshake: Middle,
    holds_when_a_close_is_repeated_without_an_answer: Fins,
    holds_when_the_capture_clock_is_set: Jumps,
    holds_with_everything_at_once: All,
}
