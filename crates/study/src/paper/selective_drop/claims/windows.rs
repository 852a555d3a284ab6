//! Windows: cwnd over time (Fig. 2 and 9) and base windows (Fig. 3 and 6).

use super::sharing::windows_of;
use super::{Findings, Stated};
use crate::paper::selective_drop::cwnd_figures::Windows;
use crate::paper::selective_drop::fig3::{self, Window};
use crate::paper::selective_drop::fig6::Filling;
use crate::paper::selective_drop::setup::FAIR_PERCENT;
use crate::paper::verdict::{Direction, Expected};

pub(super) fn fig_2(findings: &Findings<'_>) -> Vec<Stated> {
    let ratio = |windows: &Windows| {
        let settled = windows.settled();
        settled.reno_mean / settled.vegas_mean
    };
    let least = findings.fig_2.iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let least = least.expect("four links");
    let settled = least.settled();
    vec![Stated {
        id: "fig2-reno-over-vegas".to_owned(),
        what: "Fig. 2: Reno's cwnd is many times Vegas's under drop-tail (least of four)"
            .to_owned(),
        unit: "",
        paper: None,
        expected: Expected::AtLeast(5.0),
        measured: ratio(least),
        ci95: None,
        runs: 1,
        direction: Direction::agrees_if(ratio(least) > 1.0),
        why: format!(
            "{}: Reno swings up to {:.0} packets with a mean of {:.1}, Vegas stays at {:.1}; both at \
             once, from 5 s on. The paper gives no numbers with its figure.",
            least.row.link.label, settled.reno_max, settled.reno_mean, settled.vegas_mean
        ),
    }]
}

pub(super) fn fig_3(findings: &Findings<'_>) -> Vec<Stated> {
    let windows = findings.windows;
    let full_from = fig3::full_from(windows).map_or(f64::INFINITY, f64::from);
    // With a window of one packet each, both are always waiting for the round trip.
    let of_one = windows[0].shared.at_once.utilisation_percent / 100.0;
    let random = fig3::fair_until(windows, |window| window.shared.fairness().mean);
    let once = fig3::fair_until(windows, |window| window.shared.at_once.fairness_percent());
    let last = windows.last().expect("thirty windows");
    let first_unfair = windows.iter().find(|window| window.packets == random + 1);
    let ns2 = (1..=30).take_while(|w| findings.band.window_fairness(*w) >= Some(FAIR_PERCENT));
    let ns2 = ns2.last().unwrap_or(0);
    let first_unfair = first_unfair.unwrap_or(last);
    let held = windows_of(&first_unfair.shared).1;
    let spread = first_unfair.shared.fairness();
    let last = last.shared.fairness();
    let (at_ten, falls) = falling(windows);
    vec![
        Stated {
            id: "fig3-full-from".to_owned(),
            what: "Fig. 3: the smallest base window with which both flows fill the link".to_owned(),
            unit: "packets",
            paper: Some(fig3::PAPER_FULL_FROM),
            expected: Expected::Value { value: fig3::PAPER_FULL_FROM, tolerance: 0.0 },
            measured: full_from,
            ci95: None,
            runs: 1,
            direction: Direction::agrees_if(of_one < 0.99 && full_from.is_finite()),
            why: format!(
                "With one packet each the link is {:.0} % used, so a round trip holds {:.1} packets \
                 and {:.1} each fill it. The paper does not give its access delays; longer ones move \
                 this knee up.",
                100.0 * of_one,
                2.0 / of_one,
                1.0 / of_one
            ),
        },
        Stated {
            id: "fig3-fair-until".to_owned(),
            what: "Fig. 3: the largest base window up to which both flows stay fair".to_owned(),
            unit: "packets",
            paper: Some(fig3::PAPER_FAIR_UNTIL),
            expected: Expected::Value { value: fig3::PAPER_FAIR_UNTIL, tolerance: 0.0 },
            measured: f64::from(random),
            ci95: None,
            runs: last.runs,
            direction: Direction::agrees_if(falls && f64::from(random) >= full_from),
            why: format!(
                "Fair is {FAIR_PERCENT} % or more of mean fairness. At {} single runs lie between {:.0} \
                 and {:.0} %: nothing is lost, so where Vegas stops growing in its first round trips \
                 ({held:.1} packets on average) it stays. Both at once: {once}; ns-2: {ns2}.",
                random + 1,
                spread.min,
                spread.max
            ),
        },
        Stated {
            id: "fig3-unfair-beyond".to_owned(),
            what: "Fig. 3: from a window of 10 on, the wider the window the less fair (at 30)"
                .to_owned(),
            unit: "%",
            paper: None,
            expected: Expected::AtMost(at_ten),
            measured: last.mean,
            ci95: last.ci95,
            runs: last.runs,
            direction: Direction::agrees_if(falls),
            why: format!("Fairness is {at_ten:.1} % at 10 and {:.1} % at 30.", last.mean),
        },
    ]
}

/// Fairness at a window of 10, and whether it is lower still at 20 and 30.
fn falling(windows: &[Window]) -> (f64, bool) {
    let at = |packets: u32| {
        let found = windows.iter().find(|window| window.packets == packets);
        found.map_or(f64::NAN, |window| window.shared.fairness().mean)
    };
    (at(10), at(10) > at(20) && at(20) > at(30))
}

pub(super) fn fig_6(findings: &Findings<'_>) -> Vec<Stated> {
    let stated = findings.fillings.iter().map(|filling| {
        let smallest = filling.smallest();
        let paper = f64::from(filling.delay.paper_packets);
        let of_access = findings.fillings.iter().filter(|f| f.access == filling.access);
        let all: Vec<_> = of_access.map(Filling::smallest).collect();
        let ns2 = findings.band.smallest_window(filling.access, filling.delay.millis);
        Stated {
            id: format!("fig6-{}ms-{}", filling.delay.millis, filling.access.id),
            what: format!(
                "Fig. 6: smallest window that fills 2 Mbit/s at {} ms (access {})",
                filling.delay.millis, filling.access.label
            ),
            unit: "packets",
            paper: Some(paper),
            expected: Expected::Value { value: paper, tolerance: 0.0 },
            measured: smallest.map_or(f64::INFINITY, f64::from),
            ci95: None,
            runs: 1,
            direction: Direction::agrees_if(all.is_sorted() && all.first() != all.last()),
            why: format!(
                "ns-2 has {}. Eq. 7, which knows only the bottleneck's delay, says {}: the round trip \
                 also holds the access delays and the packet's time on every link.",
                ns2.map_or("none".to_owned(), |packets| packets.to_string()),
                filling.by_equation_7()
            ),
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
            what: format!("Fig. 9, {}: Reno's cwnd stays at 9 or below", with.row.link.label),
            unit: "packets",
            paper: Some(9.0),
            expected: Expected::AtMost(9.0),
            measured: settled.reno_max,
            ci95: None,
            runs: 1,
            direction: Direction::agrees_if(settled.reno_max < before.reno_max),
            why: format!(
                "Greatest from 5 s on, both at once; mean {:.1}, Vegas's {:.1}. Without selective drop \
                 it reaches {:.0}. A packet is dropped when {} of Reno's wait already, while {:.1} of \
                 its window are on the way.",
                settled.reno_mean,
                settled.vegas_mean,
                before.reno_max,
                with.row.link.q_thresh,
                settled.reno_max - f64::from(with.row.link.q_thresh),
            ),
        });
    }
    stated
}
