//! Which Q_thresh is best on each link. The paper's Table 2 names the values with which performance
//! and fairness came out best; here every value from 1 to 12 is tried.

use super::sample::{Outcomes, Sample, Shared};
use super::setup::{FULL_PERCENT, File, LINKS, PaperLink, Plan, Variation, on_link, set};
use super::tables::interval;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Shape};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
use serde::Serialize;

/// Thresholds tried, in packets.
const THRESHOLDS: std::ops::RangeInclusive<u32> = 1..=12;

#[derive(Debug)]
pub(super) struct ThresholdPlan(Vec<(usize, u32, Variation)>);

/// One link with one threshold.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) link: &'static PaperLink,
    pub(super) packets: u32,
    pub(super) shared: Shared,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct TriedData {
    link: &'static str,
    q_thresh: u32,
    fairness_percent: Estimate,
    utilisation_percent: Estimate,
    queue_mean_ms: Estimate,
}

pub(super) fn plan(plan: &mut Plan) -> Result<ThresholdPlan, Errors> {
    let mut tried = Vec::new();
    for (index, link) in LINKS.iter().enumerate() {
        for threshold in THRESHOLDS {
            let mut changes = on_link(link);
            changes.push(set("links.bottleneck.queue.threshold", threshold.to_string()));
            let variation = plan.variation(File::SelectiveDrop, &changes, KeepSeries::No)?;
            tried.push((index, threshold, variation));
        }
    }
    Ok(ThresholdPlan(tried))
}

pub(super) fn read(plan: &ThresholdPlan, outcomes: &Outcomes) -> Vec<Tried> {
    let tried = |(link, packets, variation): &(usize, u32, Variation)| Tried {
        link: &LINKS[*link],
        packets: *packets,
        shared: outcomes.shared(variation),
    };
    plan.0.iter().map(tried).collect()
}

impl Tried {
    pub(super) fn data(&self) -> TriedData {
        TriedData {
            link: self.link.label,
            q_thresh: self.packets,
            fairness_percent: self.shared.fairness(),
            utilisation_percent: self.shared.random(|sample| sample.utilisation_percent),
            queue_mean_ms: self.shared.random(|sample| sample.queue_mean_ms),
        }
    }
}

/// The fairest threshold of those with which the link is full when both start at once, and those
/// whose 95 % interval reaches its (itself too).
pub(super) fn best<'a>(
    tried: &'a [Tried],
    link: &PaperLink,
) -> Option<(&'a Tried, Vec<&'a Tried>)> {
    let full = |tried: &&Tried| tried.shared.at_once.utilisation_percent >= FULL_PERCENT;
    let of_link = tried.iter().filter(|tried| tried.link.id == link.id).filter(full);
    let mean = |tried: &Tried| tried.shared.fairness().mean;
    let fairest = of_link.clone().max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
    let half = |tried: &Tried| tried.shared.fairness().ci95.unwrap_or(0.0);
    let reach = mean(fairest) - half(fairest);
    let as_fair = of_link.filter(|tried| mean(tried) + half(tried) >= reach);
    Some((fairest, as_fair.collect()))
}

/// Fairness, and what share of the link is used, by threshold.
pub(super) fn table(tried: &[Tried]) -> Table {
    let mut columns = vec![Column::numbers("Q_thresh", "packets")];
    for link in &LINKS {
        columns.push(Column::numbers(link.rate, "fairness, %"));
        columns.push(Column::numbers("used", "%"));
    }
    let line = |threshold: u32| {
        let mut line = vec![Cell::Count(u64::from(threshold))];
        for link in &LINKS {
            let found = tried.iter().find(|t| t.link.id == link.id && t.packets == threshold);
            match found {
                Some(found) => {
                    let used = found.shared.random(|sample: &Sample| sample.utilisation_percent);
                    line.extend([interval(found.shared.fairness(), 1), Cell::number(used.mean, 1)]);
                }
                None => line.extend([Cell::Missing, Cell::Missing]),
            }
        }
        line
    };
    Table {
        caption: "Every Q_thresh from 1 to 12, random starts".to_owned(),
        columns,
        rows: THRESHOLDS.map(line).collect(),
    }
}

pub(super) fn plot(tried: &[Tried]) -> Plot {
    let title = "Fairness against Q_thresh (crosses: the paper's choice and its fairness)";
    let mut plot = Plot::new("thresholds", title, "Q_thresh (packets)", "fairness (%)");
    let shapes = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Dot];
    for (number, (link, shape)) in LINKS.iter().zip(shapes).enumerate() {
        let of_link: Vec<&Tried> = tried.iter().filter(|t| t.link.id == link.id).collect();
        let points = of_link.iter().map(|t| (f64::from(t.packets), t.shared.fairness().mean));
        let curve = PlotSeries::new(link.label, Mark::LinePoints(shape), points);
        let errors = of_link.iter().map(|tried| tried.shared.fairness().ci95);
        plot = plot.with(curve.with_errors(errors).coloured(number));
        let chosen = [(f64::from(link.q_thresh), link.selective_drop.fairness_percent)];
        let cross = PlotSeries::new("paper", Mark::Points(Shape::Cross), chosen);
        plot = plot.with(cross.coloured(number));
    }
    plot.y.range = Range::Fixed(0.0, 100.0);
    plot
}

#[cfg(test)]
mod tests {
    use super::super::sample::sample;
    use super::*;

    fn tried(packets: u32, vegas: [f64; 2], used: f64) -> Tried {
        let runs = vegas.map(|vegas| sample(1_000.0, vegas));
        let at_once = Sample { utilisation_percent: used, ..runs[0] };
        Tried { link: &LINKS[2], packets, shared: Shared { at_once, random: runs.to_vec() } }
    }

    #[test]
    fn thresholds_whose_intervals_meet_are_not_told_apart_and_those_that_waste_the_link_are_out() {
        // With two runs the half width is 12.7 standard deviations over the root of two.
        let all = [
            tried(3, [990.0, 990.0], 98.0),
            tried(4, [700.0, 701.0], 100.0),
            tried(5, [899.0, 900.0], 100.0),
            tried(6, [900.0, 902.0], 100.0),
        ];
        let (fairest, as_fair) = best(&all, &LINKS[2]).expect("three fill the link");
        assert_eq!(fairest.packets, 6);
        assert_eq!(as_fair.iter().map(|tried| tried.packets).collect::<Vec<_>>(), [5, 6]);
        assert!(best(&all, &LINKS[0]).is_none());
    }
}
