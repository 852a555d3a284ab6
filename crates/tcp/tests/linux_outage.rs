//! The sender of `profile = "linux"` through an outage, beside what a stock kernel did on the same
//! path with the same help.
//!
//! `scripts/linux-outage.py` is the other half: the numbers here are the means of its runs, of
//! Linux 6.18 with HZ=250. docs/linux-outage.md has the whole comparison.

mod kit;

use ackord_units::Span;
use kit::outage::{Help, Setup, run};

/// Octets of payload that the bottleneck carries in ten seconds: 1448 of every 1500.
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

/// The order that matters to whoever builds a middle box.
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
