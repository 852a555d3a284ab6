//! Fig. 6, 7 and 8 with both windows and both readings of when the box acknowledges.

use super::super::fading::FADES;
use super::super::sample::Sample;
use super::super::windows::{WINDOWS, of, packets_ahead};
use super::{A_TENTH, Findings, TOLERANCE};
use crate::paper::verdict::{Stated, Why, above, below, directed, value};
use ackord_measure::{Allowed, Claimant};

/// How a reading of the box is called.
const READINGS: [(&str, &str); 2] =
    [("paper", "Proxy TCP"), ("duplicates", "Proxy TCP that acknowledges after duplicates, too,")];

pub(super) fn claims(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for window in WINDOWS {
        for reading in READINGS {
            stated.push(ahead(findings, window, reading));
            for fade in FADES {
                stated.push(through(findings, window, reading, fade));
                stated.push(old_rate(findings, window, reading, fade));
            }
        }
    }
    stated
}

fn ahead(findings: &Findings<'_>, window: u32, (reading, label): (&str, &str)) -> Stated {
    let [with, without] = [reading, "none"].map(|middle| of(findings.windows, window, middle));
    let ahead = packets_ahead(with, without);
    Stated {
        id: format!("fig6.ahead.{reading}.window-{window}"),
        by: Claimant::Paper,
        what: format!("{label} ahead of Reno after 5 s with two short fades, window {window}"),
        unit: "packets",
        paper: Some(90.0),
        allowed: value(90.0, TOLERANCE, A_TENTH),
        measured: ahead,
        direction: directed("ahead", ahead),
        why: Why::measured(format!(
            "{:.3} and {:.3} Mbit/s; over seeds from {:.0} to {:.0} packets",
            with.short.goodput().mean,
            without.short.goodput().mean,
            ahead.min,
            ahead.max
        )),
    }
}

fn through(
    findings: &Findings<'_>,
    window: u32,
    (reading, label): (&str, &str),
    (lasts_s, figure): (f64, u32),
) -> Stated {
    let [with, without] =
        [reading, "none"].map(|middle| of(findings.windows, window, middle).fade(lasts_s));
    let times = with.over(without, Sample::goodput_mbit_s);
    Stated {
        id: format!("fig{figure}.goodput.{reading}.window-{window}"),
        by: Claimant::Paper,
        what: format!("{label} over Reno through a fade of {lasts_s} s, window {window}: more"),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: times,
        direction: above("more than Reno", &times, 1.0),
        why: Why::measured(format!(
            "{:.3} and {:.3} Mbit/s, {:.1} and {:.1} timeouts, {:.0} and {:.0} retransmissions a run",
            with.goodput().mean,
            without.goodput().mean,
            with.mean(|run| run.timeouts as f64).mean,
            without.mean(|run| run.timeouts as f64).mean,
            with.mean(|run| run.retransmitted as f64).mean,
            without.mean(|run| run.retransmitted as f64).mean,
        )),
    }
}

fn old_rate(
    findings: &Findings<'_>,
    window: u32,
    (reading, label): (&str, &str),
    (lasts_s, figure): (f64, u32),
) -> Stated {
    let [with, without] =
        [reading, "none"].map(|middle| of(findings.windows, window, middle).fade(lasts_s));
    let share = with.over(without, Sample::rate_back_s).times(100.0);
    Stated {
        id: format!("fig{figure}.old-rate.{reading}.window-{window}"),
        by: Claimant::Paper,
        what: format!(
            "{label}: time back to its old rate after {lasts_s} s, of Reno's, window {window}: at most half"
        ),
        unit: "%",
        paper: None,
        allowed: Allowed::AtMost { high: 50.0 },
        measured: share,
        direction: below("sooner than Reno", &share, 100.0),
        why: Why::measured(format!(
            "{:.2} s and {:.2} s; first new data after {:.2} s and {:.2} s",
            with.mean(Sample::rate_back_s).mean,
            without.mean(Sample::rate_back_s).mean,
            with.mean(Sample::recovery_s).mean,
            without.mean(Sample::recovery_s).mean,
        )),
    }
}
