//! Which Q_thresh is best on each link. The paper's Table 2 names the values with which performance
//! and fairness came out best; here every value from 1 to 12 is tried, and every factor by which Eq. 8 and 9 leave
//! it in proportion to W_best. The best factor is chosen by random starts of their own: judged by those it was
//! chosen from, it would look better than it is.

use super::sample::{Run, Sample};
use super::setup::{LINKS, Link, Much, SELECTIVE_DROP, on_link, threshold};
use crate::cells::{Cell, Cells, Runs, least};
use crate::plan::{Setup, set};
use crate::tables::{Rows, record, rows, series};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Shape};
use serde::Serialize;

/// Thresholds tried, in packets.
const THRESHOLDS: std::ops::RangeInclusive<u32> = 1..=12;
/// Factors tried, in quarters.
const QUARTERS: [u32; 9] = [2, 4, 6, 7, 8, 9, 10, 12, 16];

/// A link with a threshold.
pub(super) type Key = (Link, u32);
pub(super) type Tried = Cells<Key, Run>;

pub(super) fn keys() -> impl Iterator<Item = Key> {
    LINKS.iter().flat_map(|link| THRESHOLDS.map(move |packets| (link, packets)))
}

pub(super) fn setups((link, packets): Key, much: Much) -> [Setup; 2] {
    much.both(SELECTIVE_DROP, threshold(link, packets))
}

pub(super) fn data(tried: &Tried) -> Vec<impl Serialize> {
    let data = |tried: &Cell<Key, Run>| {
        record! {
            link: tried.key.0.label,
            q_thresh: tried.key.1,
            fairness_percent: tried.fairness(),
            utilisation_percent: tried.used_percent(),
            queue_mean_ms: tried.random(|sample: &Sample| sample.queue_mean_ms),
        }
    };
    tried.iter().map(data).collect()
}

/// The fairest threshold of those with which the link is full when both start at once, and those
/// whose 95 % interval reaches its (itself too).
pub(super) fn best(tried: &Tried, link: Link) -> Option<(&Cell<Key, Run>, Vec<u32>)> {
    let of_link = tried.iter().filter(|tried| tried.key.0 == link && tried.is_full());
    let mean = |tried: &Cell<Key, Run>| tried.fairness().mean;
    let fairest = of_link.clone().max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
    let half = |tried: &Cell<Key, Run>| tried.fairness().ci95.unwrap_or(0.0);
    let reach = mean(fairest) - half(fairest);
    let as_fair = of_link.filter(|tried| mean(tried) + half(tried) >= reach);
    Some((fairest, as_fair.map(|tried| tried.key.1).collect()))
}

/// Columns of fairness, and of what share of the link is used, for every link.
fn on_each_link<'a, R>(table: Rows<R>, of: impl Fn(&R, Link) -> &'a Runs<Run>) -> Rows<R> {
    table.each(&LINKS, |table, link| {
        table.mean((link.rate, "fairness, %"), 1, |row| of(row, link).fairness()).number(
            ("used", "%"),
            1,
            |row| of(row, link).used_percent(),
        )
    })
}

/// Fairness, and what share of the link is used, by threshold.
pub(super) fn table(tried: &Tried) -> Table {
    let table = rows(THRESHOLDS).count(("Q_thresh", "packets"), |packets| *packets);
    on_each_link(table, |packets, link| tried.of(&(link, *packets)))
        .titled("Every Q_thresh from 1 to 12, random starts")
}

pub(super) fn plot(tried: &Tried) -> Plot {
    let title = "Fairness against Q_thresh (crosses: the paper's choice and its fairness)";
    let mut plot = Plot::new("thresholds", title, "Q_thresh (packets)", "fairness (%)");
    let shapes = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Dot];
    for (number, (link, shape)) in LINKS.iter().zip(shapes).enumerate() {
        let of_link = tried.iter().filter(|tried| tried.key.0 == link);
        let points = of_link.map(|tried| (f64::from(tried.key.1), tried.fairness()));
        plot = plot.with(series(link.label, Mark::LinePoints(shape), points).coloured(number));
        let chosen = [(f64::from(link.q_thresh), link.selective_drop.fairness_percent)];
        let cross = PlotSeries::new("paper", Mark::Points(Shape::Cross), chosen);
        plot = plot.with(cross.coloured(number));
    }
    plot.y.range = Range::Fixed(0.0, 100.0);
    plot
}

/// A link with a factor, in quarters.
pub(super) type FactorKey = (u32, Link);

/// Every factor on the four links, in the starts by which it is judged, and in as many others by which the best is
/// chosen.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    pub(super) judged: Cells<FactorKey, Run>,
    pub(super) chosen_by: Cells<FactorKey, Run>,
}

pub(super) fn factor_keys() -> impl Iterator<Item = FactorKey> {
    QUARTERS.into_iter().flat_map(|quarters| LINKS.iter().map(move |link| (quarters, link)))
}

pub(super) fn judged((quarters, link): FactorKey, much: Much) -> [Setup; 2] {
    much.both(SELECTIVE_DROP, with_factor(quarters, link))
}

pub(super) fn chosen_by((quarters, link): FactorKey, much: Much) -> Setup {
    much.random(SELECTIVE_DROP, with_factor(quarters, link), much.random + 1)
}

fn with_factor(quarters: u32, link: Link) -> Vec<ackord_scenario::Override> {
    let queue = format!(
        r#"{{ kind = "selective-drop", mode = "paper", limit = "50 packets", factor = {:?} }}"#,
        factor(quarters)
    );
    [on_link(link), vec![set("links.bottleneck.queue", queue)]].concat()
}

pub(super) fn factor(quarters: u32) -> f64 {
    f64::from(quarters) / 4.0
}

impl Factors {
    /// The factor with which the least fair of the links is fairest, in the starts to choose by.
    pub(super) fn best(&self) -> u32 {
        let fairness = |run: &Run| run.sample.fairness_percent();
        let least = |quarters: u32| {
            let of_factor = self.chosen_by.iter().filter(|cell| cell.key.0 == quarters);
            of_factor.map(|cell| cell.mean(fairness).mean).fold(f64::INFINITY, f64::min)
        };
        let tried = self.chosen_by.iter().map(|cell| cell.key.0);
        tried.max_by(|a, b| least(*a).total_cmp(&least(*b))).expect("factors are tried")
    }

    /// Fairness on every link with a factor.
    pub(super) fn by_link(&self, quarters: u32) -> Vec<(Link, Estimate)> {
        let of_factor = self.judged.iter().filter(|cell| cell.key.0 == quarters);
        of_factor.map(|cell| (cell.key.1, cell.fairness())).collect()
    }

    /// The link that is shared worst, and how fairly.
    pub(super) fn least_fair(&self, quarters: u32) -> (Link, Estimate) {
        least(self.by_link(quarters)).expect("a factor is tried on every link")
    }

    pub(super) fn data(&self) -> Vec<impl Serialize> {
        let data = |tried: &Cell<FactorKey, Run>| {
            record! {
                factor: factor(tried.key.0),
                link: tried.key.1.label,
                fairness_percent: tried.fairness(),
                utilisation_percent: tried.used_percent(),
            }
        };
        self.judged.iter().map(data).collect()
    }

    /// Fairness and use of every link, by factor.
    pub(super) fn table(&self) -> Table {
        let table = rows(QUARTERS).number(("factor", ""), 2, |quarters| factor(*quarters));
        on_each_link(table, |quarters, link| self.judged.of(&(*quarters, link)))
            .titled("Q_thresh by Eq. 8 and 9, as a multiple of W_best, random starts")
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{runs, sample};
    use super::*;

    #[test]
    fn thresholds_whose_intervals_meet_are_not_told_apart_and_those_that_waste_the_link_are_out() {
        let tried = |(packets, vegas, used): (u32, [f64; 2], f64)| {
            let random = vegas.map(|vegas| sample(1_000.0, vegas));
            let at_once = Sample { utilisation_percent: used, ..random[0] };
            Cell { key: (&LINKS[2], packets), runs: runs(at_once, &random) }
        };
        // With two runs the half width is 12.7 standard deviations over the root of two.
        let all = [
            (3, [990.0, 990.0], 98.0),
            (4, [700.0, 701.0], 100.0),
            (5, [899.0, 900.0], 100.0),
            (6, [900.0, 902.0], 100.0),
        ];
        let all = Cells(all.map(tried).to_vec());
        let (fairest, as_fair) = best(&all, &LINKS[2]).expect("three fill the link");
        assert_eq!((fairest.key.1, as_fair), (6, vec![5, 6]));
        assert!(best(&all, &LINKS[0]).is_none());
    }

    #[test]
    fn the_best_is_chosen_by_other_runs_than_it_is_judged_by() {
        let of = |quarters, percents: [f64; 4]| {
            let each = LINKS.iter().zip(percents);
            each.map(move |(link, percent)| {
                let one = sample(1_000.0, 10.0 * percent);
                Cell { key: (quarters, link), runs: runs(one, &[one]) }
            })
        };
        let factors = Factors {
            judged: Cells(of(4, [99.0; 4]).chain(of(8, [50.0; 4])).collect()),
            chosen_by: Cells(
                of(4, [90.0, 90.0, 20.0, 90.0]).chain(of(8, [60.0, 70.0, 60.0, 60.0])).collect(),
            ),
        };
        let best = factors.best();
        assert_eq!((factor(best), factors.least_fair(best).1.mean), (2.0, 50.0));
    }
}
