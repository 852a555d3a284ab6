//! Windows: cwnd over time (Fig. 2 and 9) and base windows (Fig. 3 and 6).

use super::sharing::windows_of;
use super::{Findings, Stated};
use crate::selective_drop::cwnd_figures::Windows;
use crate::selective_drop::fig3::{self, Window};
use crate::selective_drop::fig6::Filling;
use crate::selective_drop::setup::FAIR_PERCENT;
use crate::verdict::{Why, above, below, directed, exactly};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant};

pub(super) fn fig_2(findings: &Findings<'_>) -> Vec<Stated> {
    let ratio = |windows: &Windows| {
        let settled = windows.settled();
        settled.reno_mean / settled.vegas_mean
    };
    let least = findings.fig_2.iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let least = least.expect("four links");
    let settled = least.settled();
    // Both at once: no chance enters.
    let times = Estimate::exact(ratio(least));
    vec![Stated {
        id: "fig2-reno-over-vegas".to_owned(),
        by: Claimant::Paper,
        what: "Fig. 2: Reno's cwnd is many times Vegas's under drop-tail (least of four)"
            .to_owned(),
        unit: "",
        paper: None,
        allowed: Allowed::AtLeast { low: 5.0 },
        measured: times,
        direction: above("more than Vegas", &times, 1.0),
        why: Why::measured(format!(
            "{}: Reno swings up to {:.0} packets with a mean of {:.1}, Vegas stays at {:.1}; both at \
             once, from 5 s on. The paper gives no numbers with its figure.",
            least.row.link.label, settled.reno_max, settled.reno_mean, settled.vegas_mean
        )),
    }]
}

pub(super) fn fig_3(findings: &Findings<'_>) -> Vec<Stated> {
    vec![fig_3_full(findings.windows), fig_3_fair(findings), fig_3_unfair(findings.windows)]
}

fn fig_3_full(windows: &[Window]) -> Stated {
    // Where none fills it, one more than were tried.
    let full_from = fig3::full_from(windows).map_or(windows.len() as f64 + 1.0, f64::from);
    // With a window of one packet each, both are always waiting for the round trip.
    let of_one = windows[0].shared.at_once.utilisation_percent / 100.0;
    Stated {
        id: "fig3-full-from".to_owned(),
        by: Claimant::Paper,
        what: "Fig. 3: the smallest base window with which both flows fill the link".to_owned(),
        unit: "packets",
        paper: Some(fig3::PAPER_FULL_FROM),
        allowed: exactly(fig3::PAPER_FULL_FROM),
        measured: Estimate::exact(full_from),
        direction: below("one packet each does not", &Estimate::exact(100.0 * of_one), 99.0),
        why: Why::measured(format!(
            "With one packet each the link is {:.0} % used, so a round trip holds {:.1} packets and \
             {:.1} each fill it. The paper does not give its access delays; longer ones move this knee \
             up.",
            100.0 * of_one,
            2.0 / of_one,
            1.0 / of_one
        )),
    }
}

fn fig_3_fair(findings: &Findings<'_>) -> Stated {
    let windows = findings.windows;
    let random = fig3::fair_until(windows, |window| window.shared.fairness().mean);
    let once = fig3::fair_until(windows, |window| window.shared.at_once.fairness_percent());
    let ns2 = (1..=30).take_while(|w| findings.band.window_fairness(*w) >= Some(FAIR_PERCENT));
    let ns2 = ns2.last().unwrap_or(0);
    let first_unfair = windows.iter().find(|window| window.packets == random + 1);
    let first_unfair = first_unfair.or(windows.last()).expect("thirty windows");
    let held = windows_of(&first_unfair.shared).1;
    let spread = first_unfair.shared.fairness();
    let narrower = fairness_at(windows, 10).less(&fairness_at(windows, 30));
    Stated {
        id: "fig3-fair-until".to_owned(),
        by: Claimant::Paper,
        what: "Fig. 3: the largest base window up to which both flows stay fair".to_owned(),
        unit: "packets",
        paper: Some(fig3::PAPER_FAIR_UNTIL),
        allowed: exactly(fig3::PAPER_FAIR_UNTIL),
        measured: fair_until(windows),
        direction: directed("less fair with wider windows", narrower),
        why: Why::measured(format!(
            "Fair is {FAIR_PERCENT} % or more of mean fairness. At {} single runs lie between {:.0} and \
             {:.0} %: nothing is lost, so where Vegas stops growing in its first round trips ({held:.1} \
             packets on average) it stays. Both at once: {once}; ns-2: {ns2}.",
            random + 1,
            spread.min,
            spread.max
        )),
    }
}

fn fig_3_unfair(windows: &[Window]) -> Stated {
    let [at_ten, at_twenty, at_thirty] = [10, 20, 30].map(|packets| fairness_at(windows, packets));
    let narrower = at_ten.less(&at_thirty);
    Stated {
        id: "fig3-unfair-beyond".to_owned(),
        by: Claimant::Paper,
        what: "Fig. 3: from a window of 10 on, the wider the window the less fair (10 above 30)"
            .to_owned(),
        unit: "points",
        paper: None,
        allowed: Allowed::AtLeast { low: 0.0 },
        measured: narrower,
        direction: directed("less fair", narrower),
        why: Why::measured(format!(
            "Fairness is {:.1} % at 10, {:.1} % at 20 and {:.1} % at 30.",
            at_ten.mean, at_twenty.mean, at_thirty.mean
        )),
    }
}

fn fairness_at(windows: &[Window], packets: u32) -> Estimate {
    let found = windows.iter().find(|window| window.packets == packets);
    found.expect("every window up to thirty").shared.fairness()
}

/// The largest window that is fair, between where the whole interval of its fairness is and where some of it
/// is.
fn fair_until(windows: &[Window]) -> Estimate {
    let with = |times: f64| {
        let bound = move |window: &Window| {
            let fairness = window.shared.fairness();
            fairness.mean + times * fairness.ci95.unwrap_or(f64::INFINITY)
        };
        f64::from(fig3::fair_until(windows, bound))
    };
    let (low, high) = (with(-1.0), with(1.0));
    let runs = windows.first().map_or(0, |window| window.shared.fairness().runs);
    let (mean, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    Estimate { runs, mean, std_dev: None, ci95: Some(half), min: low, max: high }
}

pub(super) fn fig_6(findings: &Findings<'_>) -> Vec<Stated> {
    let stated = findings.fillings.iter().map(|filling| {
        // Where none fills it, none of those tried: beyond the largest.
        let smallest = filling.smallest();
        let paper = f64::from(filling.delay.paper_packets);
        let of_access = findings.fillings.iter().filter(|f| f.access == filling.access);
        let all: Vec<_> = of_access.filter_map(Filling::smallest).map(f64::from).collect();
        // The least that it grows by from one delay to the next longer one.
        let growth = all.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
        let ns2 = findings.band.smallest_window(filling.access, filling.delay.millis);
        Stated {
            id: format!("fig6-{}ms-{}", filling.delay.millis, filling.access.id),
            by: Claimant::Paper,
            what: format!(
                "Fig. 6: smallest window that fills 2 Mbit/s at {} ms (access {})",
                filling.delay.millis, filling.access.label
            ),
            unit: "packets",
            paper: Some(paper),
            allowed: exactly(paper),
            measured: Estimate::exact(smallest.map_or(f64::NAN, f64::from)),
            direction: directed("grows with the delay", Estimate::exact(growth)),
            why: Why::measured(format!(
                "ns-2 has {}. Eq. 7, which knows only the bottleneck's delay, says {}: the round trip \
                 also holds the access delays and the packet's time on every link.",
                ns2.map_or("none".to_owned(), |packets| packets.to_string()),
                filling.by_equation_7()
            )),
        }
    });
    stated.collect()
}

pub(super) fn fig_9(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (with, without) in findings.fig_9.iter().zip(findings.fig_2) {
        let (settled, before) = (with.settled(), without.settled());
        stated.push(Stated {
            id: format!("fig9-{}-reno-cwnd", with.row.link.id),
            by: Claimant::Paper,
            what: format!("Fig. 9, {}: Reno's cwnd stays at 9 or below", with.row.link.label),
            unit: "packets",
            paper: Some(9.0),
            allowed: Allowed::AtMost { high: 9.0 },
            measured: Estimate::exact(settled.reno_max),
            direction: directed(
                "lower than with drop-tail",
                Estimate::exact(before.reno_max - settled.reno_max),
            ),
            why: Why::measured(format!(
                "Greatest from 5 s on, both at once; mean {:.1}, Vegas's {:.1}. Without selective drop \
                 it reaches {:.0}. A packet is dropped when {} of Reno's wait already, while {:.1} of \
                 its window are on the way.",
                settled.reno_mean,
                settled.vegas_mean,
                before.reno_max,
                with.row.link.q_thresh,
                settled.reno_max - f64::from(with.row.link.q_thresh),
            )),
        });
    }
    stated
}
