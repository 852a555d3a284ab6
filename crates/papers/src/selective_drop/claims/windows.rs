//! Windows: cwnd over time (Fig. 2 and 9) and base windows (Fig. 3 and 6).

use super::sharing::cwnd_of;
use crate::claims::{Stated, at_least, at_most, below, directed, exactly, paper};
use crate::selective_drop::cwnd_figures::Windows;
use crate::selective_drop::measured::Measured;
use crate::selective_drop::setup::FAIR_PERCENT;
use crate::selective_drop::tables::Queue;
use crate::selective_drop::{fig3, fig6};
use ackord_measure::stats::Estimate;

pub(super) fn fig_2(windows: &[Windows<'_>]) -> Stated {
    let ratio = |windows: &Windows<'_>| {
        let settled = windows.settled();
        settled.reno_mean / settled.vegas_mean
    };
    let least = windows.iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b))).expect("four links");
    let settled = least.settled();
    let what = "Fig. 2: Reno's cwnd is many times Vegas's under drop-tail (least of four)";
    // Both at once: no chance enters.
    let times = Estimate::exact(ratio(least));
    paper("fig2-reno-over-vegas", what, "", times, at_least(5.0))
        .above("more than Vegas", 1.0)
        .why(format!(
            "{}: Reno swings up to {:.0} packets with a mean of {:.1}, Vegas stays at {:.1}; both at \
             once, from 5 s on. The paper gives no numbers with its figure.",
            least.link.label, settled.reno_max, settled.reno_mean, settled.vegas_mean
        ))
}

pub(super) fn fig_3(measured: &Measured) -> [Stated; 3] {
    [fig_3_full(&measured.windows), fig_3_fair(measured), fig_3_unfair(&measured.windows)]
}

fn fig_3_full(windows: &fig3::Windows) -> Stated {
    // Where none fills it, one more than were tried.
    let full_from = fig3::full_from(windows).map_or(windows.len() as f64 + 1.0, f64::from);
    // With a window of one packet each, both are always waiting for the round trip.
    let of_one = windows[0].at_once().utilisation_percent / 100.0;
    let what = "Fig. 3: the smallest base window with which both flows fill the link";
    let papers = exactly(fig3::PAPER_FULL_FROM);
    paper("fig3-full-from", what, "packets", Estimate::exact(full_from), papers)
        .claims(below("one packet each does not", &Estimate::exact(100.0 * of_one), 99.0))
        .why(format!(
            "With one packet each the link is {:.0} % used, so a round trip holds {:.1} packets and \
             {:.1} each fill it. The paper does not give its access delays; longer ones move this knee \
             up.",
            100.0 * of_one,
            2.0 / of_one,
            1.0 / of_one
        ))
}

fn fig_3_fair(measured: &Measured) -> Stated {
    let windows = &measured.windows;
    let random = fig3::fair_until(windows, |window| window.fairness().mean);
    let once = fig3::fair_until(windows, |window| window.at_once().fairness_percent());
    let fair = |window: &u32| measured.band.window_fairness(*window) >= Some(FAIR_PERCENT);
    let ns2 = fig3::WINDOWS.take_while(fair).last().unwrap_or(0);
    let first_unfair = windows.iter().find(|window| window.key == random + 1);
    let first_unfair = first_unfair.or(windows.last()).expect("thirty windows");
    let [_, held] = cwnd_of(first_unfair);
    let spread = first_unfair.fairness();
    let narrower = windows.of(&10).fairness().less(&windows.of(&30).fairness());
    let what = "Fig. 3: the largest base window up to which both flows stay fair";
    let papers = exactly(fig3::PAPER_FAIR_UNTIL);
    paper("fig3-fair-until", what, "packets", fair_until(windows), papers)
        .claims(directed("less fair with wider windows", narrower))
        .why(format!(
            "Fair is {FAIR_PERCENT} % or more of mean fairness. At {} single runs lie between {:.0} and \
             {:.0} %: nothing is lost, so where Vegas stops growing in its first round trips ({held:.1} \
             packets on average) it stays. Both at once: {once}; ns-2: {ns2}.",
            random + 1,
            spread.min,
            spread.max
        ))
}

fn fig_3_unfair(windows: &fig3::Windows) -> Stated {
    let [ten, twenty, thirty] = [10, 20, 30].map(|packets| windows.of(&packets).fairness());
    let what = "Fig. 3: from a window of 10 on, the wider the window the less fair (10 above 30)";
    paper("fig3-unfair-beyond", what, "points", ten.less(&thirty), at_least(0.0))
        .above("less fair", 0.0)
        .why(format!(
            "Fairness is {:.1} % at 10, {:.1} % at 20 and {:.1} % at 30.",
            ten.mean, twenty.mean, thirty.mean
        ))
}

/// The largest window that is fair, between where the whole interval of its fairness is and where some of it
/// is.
fn fair_until(windows: &fig3::Windows) -> Estimate {
    let with = |times: f64| {
        f64::from(fig3::fair_until(windows, |window| {
            let fairness = window.fairness();
            fairness.mean + times * fairness.ci95.unwrap_or(f64::INFINITY)
        }))
    };
    let (low, high) = (with(-1.0), with(1.0));
    let runs = windows.first().map_or(0, |window| window.fairness().runs);
    let (mean, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    Estimate { runs, mean, std_dev: None, ci95: Some(half), min: low, max: high }
}

pub(super) fn fig_6(measured: &Measured) -> Vec<Stated> {
    let stated = measured.fillings.iter().map(|filling| {
        let (access, delay) = filling.key;
        let of_access = measured.fillings.iter().filter(|other| other.key.0 == access);
        let all: Vec<_> = of_access.filter_map(fig6::smallest).map(f64::from).collect();
        // The least that it grows by from one delay to the next longer one.
        let growth = all.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
        let ns2 = measured.band.smallest_window(access.label, delay.millis);
        let what = format!(
            "Fig. 6: smallest window that fills 2 Mbit/s at {} ms (access {})",
            delay.millis, access.label
        );
        // Where none fills it, none of those tried: beyond the largest.
        let smallest = Estimate::exact(fig6::smallest(filling).map_or(f64::NAN, f64::from));
        let papers = exactly(f64::from(delay.paper_packets));
        let id = format!("fig6-{}ms-{}", delay.millis, access.id);
        paper(id, what, "packets", smallest, papers)
            .claims(directed("grows with the delay", Estimate::exact(growth)))
            .why(format!(
                "ns-2 has {}. Eq. 7, which knows only the bottleneck's delay, says {}: the round trip \
                 also holds the access delays and the packet's time on every link.",
                ns2.map_or("none".to_owned(), |packets| packets.to_string()),
                fig6::by_equation_7(delay)
            ))
    });
    stated.collect()
}

pub(super) fn fig_9(measured: &Measured) -> Vec<Stated> {
    let [without, with] =
        [Queue::DropTail, Queue::PaperThreshold].map(|queue| measured.windows_behind(queue));
    let stated = with.iter().zip(&without).map(|(with, without)| {
        let (link, settled, before) = (with.link, with.settled(), without.settled());
        let what = format!("Fig. 9, {}: Reno's cwnd stays at 9 or below", link.label);
        let most = Estimate::exact(settled.reno_max);
        let lower = Estimate::exact(before.reno_max - settled.reno_max);
        paper(format!("fig9-{}-reno-cwnd", link.id), what, "packets", most, at_most(9.0))
            .published(9.0)
            .claims(directed("lower than with drop-tail", lower))
            .why(format!(
                "Greatest from 5 s on, both at once; mean {:.1}, Vegas's {:.1}. Without selective drop \
                 it reaches {:.0}. A packet is dropped when {} of Reno's wait already, while {:.1} of \
                 its window are on the way.",
                settled.reno_mean,
                settled.vegas_mean,
                before.reno_max,
                link.q_thresh,
                settled.reno_max - f64::from(link.q_thresh),
            ))
    });
    stated.collect()
}
