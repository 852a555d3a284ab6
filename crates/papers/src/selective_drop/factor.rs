//! Q_thresh by Eq. 8 and 9: in proportion to W_best, by a factor that the paper does not give. Each factor on
//! all four links. The best is chosen by random starts of their own: judged by those it was chosen from, it
//! would look better than it is.

use super::sample::{Outcomes, Shared};
use super::setup::{File, LINKS, PaperLink, Plan, Variation, on_link, set};
use super::tables::interval;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
use serde::Serialize;

/// Factors that are tried, in quarters.
const QUARTERS: [u32; 9] = [2, 4, 6, 7, 8, 9, 10, 12, 16];

#[derive(Debug)]
pub(super) struct FactorPlan(Vec<(u32, Vec<Variation>)>);

/// One factor on the links of Table 2, in their order.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    quarters: u32,
    links: Vec<Shared>,
    /// Fairness on the links in as many other random starts.
    chosen_by: Vec<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct TriedData {
    factor: f64,
    link: &'static str,
    fairness_percent: Estimate,
    utilisation_percent: Estimate,
}

pub(super) fn plan(plan: &mut Plan) -> Result<FactorPlan, Errors> {
    let mut tried = Vec::new();
    let judged = plan.random_runs;
    plan.random_runs = 2 * judged;
    for quarters in QUARTERS {
        let queue = format!(
            r#"{{ kind = "selective-drop", mode = "paper", limit = "50 packets", factor = {:?} }}"#,
            factor(quarters)
        );
        let on = |link: &PaperLink| {
            let mut changes = on_link(link);
            changes.push(set("links.bottleneck.queue", queue.clone()));
            changes
        };
        let all: Result<Vec<_>, Errors> = LINKS
            .iter()
            .map(|link| plan.variation(File::SelectiveDrop, &on(link), KeepSeries::No))
            .collect();
        tried.push((quarters, all?));
    }
    plan.random_runs = judged;
    Ok(FactorPlan(tried))
}

fn factor(quarters: u32) -> f64 {
    f64::from(quarters) / 4.0
}

pub(super) fn read(plan: &FactorPlan, outcomes: &Outcomes) -> Vec<Tried> {
    let one = |(quarters, links): &(u32, Vec<Variation>)| {
        let halves = links.iter().map(|variation| {
            let mut judged = outcomes.shared(variation);
            let random = judged.random.split_off(judged.random.len() / 2);
            let others = Shared { random, ..judged };
            (judged, others.fairness().mean)
        });
        let (links, chosen_by) = halves.unzip();
        Tried { quarters: *quarters, links, chosen_by }
    };
    plan.0.iter().map(one).collect()
}

/// The factor with which the least fair of the links is fairest, in the starts to choose by.
pub(super) fn best(tried: &[Tried]) -> Option<&Tried> {
    let least = |tried: &Tried| tried.chosen_by.iter().copied().fold(f64::INFINITY, f64::min);
    tried.iter().max_by(|a, b| least(a).total_cmp(&least(b)))
}

impl Tried {
    pub(super) fn factor(&self) -> f64 {
        factor(self.quarters)
    }

    /// The link that is shared worst, and how fairly.
    ///
    /// # Panics
    /// If there is no link: every factor is tried on all.
    pub(super) fn least_fair(&self) -> (&'static PaperLink, Estimate) {
        let each = LINKS.iter().zip(&self.links).map(|(link, shared)| (link, shared.fairness()));
        let least = each.min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
        least.expect("a factor is tried on every link")
    }

    /// Mean fairness by link, in words.
    pub(super) fn by_link(&self) -> String {
        let each: Vec<_> =
            self.links.iter().map(|shared| format!("{:.1}", shared.fairness().mean)).collect();
        each.join(", ")
    }

    pub(super) fn data(&self) -> Vec<TriedData> {
        let data = |(link, shared): (&PaperLink, &Shared)| TriedData {
            factor: self.factor(),
            link: link.label,
            fairness_percent: shared.fairness(),
            utilisation_percent: shared.random(|sample| sample.utilisation_percent),
        };
        LINKS.iter().zip(&self.links).map(data).collect()
    }
}

/// Fairness and use of every link, by factor.
pub(super) fn table(tried: &[Tried]) -> Table {
    let mut columns = vec![Column::numbers("factor", "")];
    for link in &LINKS {
        columns.push(Column::numbers(link.rate, "fairness, %"));
        columns.push(Column::numbers("used", "%"));
    }
    let line = |tried: &Tried| {
        let mut line = vec![Cell::number(tried.factor(), 2)];
        for shared in &tried.links {
            let used = shared.random(|sample| sample.utilisation_percent);
            line.extend([interval(shared.fairness(), 1), Cell::number(used.mean, 1)]);
        }
        line
    };
    Table {
        caption: "Q_thresh by Eq. 8 and 9, as a multiple of W_best, random starts".to_owned(),
        columns,
        rows: tried.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::sample;
    use super::*;

    #[test]
    fn the_best_is_chosen_by_other_runs_than_it_is_judged_by() {
        let tried = |quarters, judged: f64, chosen_by: [f64; 4]| {
            let at_once = sample(1_000.0, 10.0 * judged);
            let shared = Shared { at_once, random: vec![at_once] };
            Tried { quarters, links: vec![shared; 4], chosen_by: chosen_by.to_vec() }
        };
        let all =
            [tried(4, 99.0, [90.0, 90.0, 20.0, 90.0]), tried(8, 50.0, [60.0, 70.0, 60.0, 60.0])];
        let best = best(&all).expect("two were tried");
        assert_eq!((best.factor(), best.least_fair().1.mean), (2.0, 50.0));
    }
}
