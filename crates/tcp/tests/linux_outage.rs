//! The sender of `profile = "linux"` through an outage, or losses recovered on the way, beside what a stock kernel did on the same
//! path with the same help.
//!
//! `scripts/linux-outage.py` is the other half: the numbers here are the means of its runs, of
//! Linux 6.18 with HZ=250. docs/linux-outage.md has the whole comparison.

use crate::kit::outage::{Help, Setup, run};
use ackord_units::Span;

/// Bytes of payload that the bottleneck carries in ten seconds: 1448 of every 1500.
const MOST_MBYTES: f64 = 12.5 * 1448.0 / 1500.0;

/// What the kernel delivered, in MB: help, then Reno and CUBIC, each with 1.5 and 2.5 s of outage.
const KERNEL: [(Help, [f64; 2], [f64; 2]); 6] = [
    (Help::None, [8.79, 5.67], [8.64, 8.66]),
    (Help::Freeze, [6.24, 3.54], [5.49, 3.52]),
    (Help::FreezeTest, [7.90, 5.67], [7.30, 5.09]),
    (Help::Replay, [10.17, 8.97], [10.17, 8.99]),
    (Help::ReplayFreeze, [10.17, 8.58], [10.18, 8.72]),
    (Help::Shrink, [8.81, 5.72], [8.66, 8.67]),
];

fn mean_mbytes(setup: Setup) -> f64 {
    let runs = (0..3).map(|number| run(Setup { run: number, ..setup }).mbytes);
    runs.sum::<f64>() / 3.0
}

#[test]
fn through_an_outage_it_delivers_what_a_kernel_does() {
    for (help, reno, cubic) in KERNEL {
        for (congestion, kernel) in [("reno", reno), ("cubic", cubic)] {
            for (millis, kernel) in [(1_500, kernel[0]), (2_500, kernel[1])] {
                let outage = Span::from_millis(millis);
                let ours = mean_mbytes(Setup { congestion, help, outage, ..Setup::default() });
                let what = format!("{congestion}, {help:?}, {outage}: {ours}, kernel {kernel}");
                let ideal = MOST_MBYTES * (10.0 - outage.as_secs_f64()) / 10.0;
                assert!(ours < ideal, "{what}");
                assert!((ours / kernel - 1.0).abs() < 0.10, "{what}");
            }
        }
    }
}

/// The order that matters to whoever builds a middlebox.
#[test]
fn the_literal_freeze_hurts_and_replay_helps() {
    for congestion in ["reno", "cubic"] {
        let with = |help| {
            let outage = Span::from_millis(1_500);
            mean_mbytes(Setup { congestion, help, outage, ..Setup::default() })
        };
        let (none, freeze, replay) = (with(Help::None), with(Help::Freeze), with(Help::Replay));
        assert!(freeze < 0.8 * none && none < 0.9 * replay, "{none} {freeze} {replay}");
    }
}

/// What the kernel delivered in the least and the most of its runs, in MB, where a box recovers the
/// losses and removes nothing: control, timestamps, losses per mille.
const LOCAL: [(&str, &str, u32, [f64; 2]); 4] = [
    ("reno", "on", 50, [10.77, 11.84]),
    ("cubic", "on", 50, [11.83, 11.88]),
    ("reno", "off", 50, [1.77, 6.34]),
    ("cubic", "off", 50, [1.48, 7.49]),
];

/// The losses are drawn differently on both sides, and one early report of a duplicate can decide
/// over the rest of a run: our median run is to lie among the kernel's, give or take the tenth
/// that the outages are given.
#[test]
fn behind_a_box_that_repairs_losses_it_delivers_what_a_kernel_does() {
    for (congestion, timestamps, loss_per_mille, [least, most]) in LOCAL {
        let mut runs: Vec<f64> = (0..7)
            .map(|number| {
                let setup = Setup { congestion, timestamps, help: Help::Local, ..Setup::default() };
                run(Setup { loss_per_mille, run: number, ..setup }).mbytes
            })
            .collect();
        runs.sort_by(f64::total_cmp);
        let what = format!("{congestion}, timestamps {timestamps}: {runs:?}");
        assert!(runs[6] < MOST_MBYTES, "{what}");
        assert!(runs[3] > 0.9 * least && runs[3] < 1.1 * most, "{what}");
    }
}

/// Why it does: with timestamps the recoveries in vain are undone, and few once reordering has been
/// seen. Without them most recoveries stand, because the box's copies make it report more duplicates
/// than the sender ever sent.
#[test]
fn timestamps_show_what_the_box_repaired() {
    for congestion in ["reno", "cubic"] {
        let with = |timestamps| {
            let loss_per_mille = 50;
            let setup = Setup { congestion, timestamps, help: Help::Local, ..Setup::default() };
            let tallies = (0..7).map(|number| {
                let tally = run(Setup { loss_per_mille, run: number, ..setup }).tally;
                (tally.recoveries, tally.undone_by_timestamps, tally.undone_by_dsack)
            });
            tallies.fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2))
        };
        let (repairs, undone, _) = with("on");
        assert!(2 * undone > repairs, "{congestion}: {undone} of {repairs}");
        let (repairs, by_timestamps, by_dsack) = with("off");
        assert!(4 * by_dsack < repairs && by_timestamps == 0, "{by_dsack} of {repairs}");
    }
}
