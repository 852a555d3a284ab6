//! Fig. 6, 7 and 8 with both windows and both readings of when the box acknowledges.

use super::super::fading::FADES;
use super::super::measured::Measured;
use super::super::sample::Sample;
use super::super::setup::Id;
use super::super::windows::{Beside, WINDOWS};
use crate::cells::over;
use crate::claims::{Stated, at_least, at_most, paper, tenth};
use ackord_measure::stats::ratio;

/// How a reading of the box is called.
const READINGS: [(Id, &str); 2] =
    [("paper", "Proxy TCP"), ("duplicates", "Proxy TCP that acknowledges after duplicates, too,")];

pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let mut stated = Vec::new();
    for window in WINDOWS {
        for (middle, label) in READINGS {
            let beside = Beside { all: &measured.windows, window, middle };
            stated.push(ahead(beside, label));
            for fade in FADES {
                stated.push(through(beside, label, fade));
                stated.push(old_rate(beside, label, fade));
            }
        }
    }
    stated
}

fn ahead(beside: Beside<'_>, label: &str) -> Stated {
    let Beside { window, middle, .. } = beside;
    let [with, without] = beside.short().map(|runs| runs.goodput().mean);
    let ahead = beside.packets_ahead();
    let what = format!("{label} ahead of Reno after 5 s with two short fades, window {window}");
    let id = format!("fig6.ahead.{middle}.window-{window}");
    paper(id, what, "packets", ahead, tenth(90.0)).above("ahead", 0.0).why(format!(
        "{with:.3} and {without:.3} Mbit/s; over seeds from {:.0} to {:.0} packets",
        ahead.min, ahead.max
    ))
}

fn through(beside: Beside<'_>, label: &str, (lasts_s, figure): (f64, u32)) -> Stated {
    let Beside { window, middle, .. } = beside;
    let [with, without] = beside.fade(lasts_s);
    let what = format!("{label} over Reno through a fade of {lasts_s} s, window {window}: more");
    let id = format!("fig{figure}.goodput.{middle}.window-{window}");
    paper(id, what, "times", with.over(without, Sample::goodput_mbit_s), at_least(1.0))
        .above("more than Reno", 1.0)
        .why(format!(
            "{:.3} and {:.3} Mbit/s, {:.1} and {:.1} timeouts, {:.0} and {:.0} retransmissions a run",
            with.goodput().mean,
            without.goodput().mean,
            with.mean(|run| run.timeouts).mean,
            without.mean(|run| run.timeouts).mean,
            with.mean(|run| run.retransmitted).mean,
            without.mean(|run| run.retransmitted).mean,
        ))
}

/// The old rate is that of the sender without a box, in the same phase: a crawl is soon back at a crawl.
fn old_rate(beside: Beside<'_>, label: &str, (lasts_s, figure): (f64, u32)) -> Stated {
    let Beside { window, middle, .. } = beside;
    let waits = beside.old_rate_s(lasts_s);
    let share = ratio(&waits[0], &waits[1]).expect("every phase is run with and without");
    let [with, without] = waits.map(|each| over(&each).mean);
    let runs = beside.fade(lasts_s);
    let before = runs.map(|runs| runs.mean(Sample::rate_before).mean * 8.0 / 1e6);
    let first = runs.map(|runs| runs.first_data().mean);
    let what = format!(
        "{label}: time to Reno's rate of before a fade of {lasts_s} s, of Reno's, window {window}: at most half"
    );
    let id = format!("fig{figure}.old-rate.{middle}.window-{window}");
    paper(id, what, "%", share.times(100.0), at_most(50.0))
        .below("sooner than Reno", 100.0)
        .why(format!(
            "{with:.2} s and {without:.2} s; before the fade {:.3} and {:.3} Mbit/s; first new data after \
             {:.2} s and {:.2} s",
            before[0], before[1], first[0], first[1]
        ))
}
