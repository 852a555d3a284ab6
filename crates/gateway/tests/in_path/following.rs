//! A queue whose rate follows the link behind it, between stock kernels.

use super::state;
use crate::hosts::traffic::Stream;
use crate::hosts::world::{MOBILE, World, is_possible};
use std::time::Duration;

/// Starts a queue at this rate, and a stream through it for so long.
fn after_a_stream(rate: &str, change: Option<&str>) -> (u64, u64, u64) {
    let (world, state) = (World::new(), state());
    let words = format!("lan fq-codel {rate} tcx {}", state.path().display());
    let mut gateway = world.gateway(&words);
    let stream = Stream::start(&world, MOBILE, 5_006, 30_000_000);
    std::thread::sleep(Duration::from_millis(1_500));
    if let Some(change) = change {
        assert_eq!(gateway.tell(&format!("change {change}")), "changed");
        std::thread::sleep(Duration::from_secs(1));
    }
    let found = ["rate", "raised", "baseline_us"].map(|what| gateway.number(what));
    gateway.tell("change drop-tail:1000 1000");
    let (bytes, are_right, _) = stream.finish();
    assert_eq!((bytes, are_right), (30_000_000, true));
    assert_eq!(gateway.number("rate"), 1_000_000_000, "the constant rate is restored");
    gateway.tell("stop");
    assert_eq!(world.left_behind(), "");
    (found[0], found[1], found[2])
}

#[test]
fn the_rate_rises_while_acknowledgments_show_no_queue() {
    if !is_possible() {
        return;
    }
    // The link of the namespaces is far faster than this.
    let (rate, raised, baseline_us) = after_a_stream("auto:1:5:60", None);
    assert!(rate > 8_000_000 && raised > 5, "{rate} bit/s after {raised} raises");
    assert!((1..50_000).contains(&baseline_us), "{baseline_us} us");
}

#[test]
fn a_dry_run_decides_and_leaves_the_rate() {
    if !is_possible() {
        return;
    }
    let (rate, raised, baseline_us) = after_a_stream("report:1:5:60", None);
    assert_eq!(rate, 5_000_000);
    assert!(raised > 5 && baseline_us > 0, "{raised}, {baseline_us} us");
}

#[test]
fn a_constant_rate_begins_to_follow_and_the_other_way_round() {
    if !is_possible() {
        return;
    }
    let (rate, ..) = after_a_stream("5", Some("fq-codel auto:1:7:60"));
    assert!(rate >= 7_000_000, "{rate}");
    let (rate, raised, _) = after_a_stream("auto:1:5:60", Some("fq-codel 9"));
    assert_eq!((rate, raised), (9_000_000, 0));
}
