//! Fig. 6, 7 and 8 with both windows and both readings of when the box acknowledges.

use super::super::fading::FADES;
use super::super::sample::Sample;
use super::super::windows::{WINDOWS, Windowed, of, old_rate_s, packets_ahead};
use super::{A_TENTH, Findings, TOLERANCE};
use crate::verdict::{Stated, Why, above, below, directed, value};
use ackord_measure::stats::{Estimate, estimate, ratio};
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

/// One reading of the box and no box, with one window, through the same fades.
struct Through<'a> {
    id: String,
    with: &'a Windowed,
    without: &'a Windowed,
}

impl<'a> Through<'a> {
    fn of(
        findings: &Findings<'a>,
        window: u32,
        reading: &str,
        (name, figure): (&str, u32),
    ) -> Through<'a> {
        Through {
            id: format!("fig{figure}.{name}.{reading}.window-{window}"),
            with: of(findings.windows, window, reading),
            without: of(findings.windows, window, "none"),
        }
    }

    fn stated(
        self,
        what: String,
        unit: &'static str,
        allowed: Allowed,
        measured: Estimate,
    ) -> Stated {
        let direction = match allowed {
            Allowed::AtMost { .. } => below("sooner than Reno", &measured, 100.0),
            _ => above("more than Reno", &measured, 1.0),
        };
        Stated {
            id: self.id,
            by: Claimant::Paper,
            what,
            unit,
            paper: None,
            allowed,
            measured,
            direction,
            why: Why::default(),
        }
    }
}

fn through(
    findings: &Findings<'_>,
    window: u32,
    reading: (&str, &str),
    fade: (f64, u32),
) -> Stated {
    let one = Through::of(findings, window, reading.0, ("goodput", fade.1));
    let [with, without] = [one.with, one.without].map(|one| one.fade(fade.0));
    let times = with.over(without, Sample::goodput_mbit_s);
    Stated {
        why: Why::measured(format!(
            "{:.3} and {:.3} Mbit/s, {:.1} and {:.1} timeouts, {:.0} and {:.0} retransmissions a run",
            with.goodput().mean,
            without.goodput().mean,
            with.mean(|run| run.timeouts as f64).mean,
            without.mean(|run| run.timeouts as f64).mean,
            with.mean(|run| run.retransmitted as f64).mean,
            without.mean(|run| run.retransmitted as f64).mean,
        )),
        ..one.stated(
            format!(
                "{} over Reno through a fade of {} s, window {window}: more",
                reading.1, fade.0
            ),
            "times",
            Allowed::AtLeast { low: 1.0 },
            times,
        )
    }
}

/// The old rate is that of the sender without a box, in the same phase: a crawl is soon back at a crawl.
fn old_rate(
    findings: &Findings<'_>,
    window: u32,
    reading: (&str, &str),
    fade: (f64, u32),
) -> Stated {
    let one = Through::of(findings, window, reading.0, ("old-rate", fade.1));
    let waits = old_rate_s(one.with, one.without, fade.0);
    let share = ratio(&waits[0], &waits[1]).expect("every phase is run with and without");
    let [with, without] = waits.map(|each| estimate(&each).map_or(f64::NAN, |found| found.mean));
    let before = |runs: &Windowed| runs.fade(fade.0).mean(Sample::rate_before).mean * 8.0 / 1e6;
    Stated {
        why: Why::measured(format!(
            "{with:.2} s and {without:.2} s; before the fade {:.3} and {:.3} Mbit/s; first new data after \
             {:.2} s and {:.2} s",
            before(one.with),
            before(one.without),
            one.with.fade(fade.0).mean(Sample::recovery_s).mean,
            one.without.fade(fade.0).mean(Sample::recovery_s).mean,
        )),
        ..one.stated(
            format!(
                "{}: time to Reno's rate of before a fade of {} s, of Reno's, window {window}: at most half",
                reading.1, fade.0
            ),
            "%",
            Allowed::AtMost { high: 50.0 },
            share.times(100.0),
        )
    }
}
