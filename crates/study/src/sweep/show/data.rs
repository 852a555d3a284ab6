//! What is shown as JSON and CSV: a row per point, every metric in its base unit.

use super::super::plan::Plan;
use super::super::study::place_of;
use super::best::{front, may_be_best, ranking};
use super::measured::Measured;
use ackord_report::data;
use ackord_report::data_set::{Column, to_csv};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    scenario: &'a str,
    version: &'a str,
    finished_runs: usize,
    planned_runs: usize,
    metrics: Vec<MetricShown<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Best<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pareto: Option<Vec<Map<String, Value>>>,
}

#[derive(Serialize)]
struct MetricShown<'a> {
    name: &'a str,
    unit: &'a str,
    points: Vec<PointShown>,
}

#[derive(Serialize)]
struct PointShown {
    at: Map<String, Value>,
    runs: u32,
    mean: Option<f64>,
    std_dev: Option<f64>,
    ci95: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
}

#[derive(Serialize)]
struct Best<'a> {
    metric: &'a str,
    /// `most` or `least`.
    is: &'static str,
    at: Option<Map<String, Value>>,
    /// Points that these runs do not tell from it.
    may_be: Vec<Map<String, Value>>,
}

pub(super) fn to_json(
    plan: &Plan,
    (finished_runs, planned_runs): (usize, usize),
    metrics: &[&Measured],
    best: Option<&Measured>,
    pareto: Option<&(Measured, Measured)>,
) -> String {
    data::to_json(&Shown {
        name: &plan.name,
        scenario: &plan.scenario,
        version: plan.version(),
        finished_runs,
        planned_runs,
        metrics: metrics.iter().map(|metric| shown(plan, metric)).collect(),
        best: best.map(|metric| best_of(plan, metric)),
        pareto: pareto
            .map(|(one, two)| front(one, two).into_iter().map(|point| at(plan, point)).collect()),
    })
}

fn shown<'a>(plan: &Plan, metric: &'a Measured) -> MetricShown<'a> {
    let point = |point: usize| {
        let found = metric.points[point].as_ref();
        PointShown {
            at: at(plan, point),
            runs: found.map_or(0, |found| found.runs),
            mean: found.map(|found| found.mean),
            std_dev: found.and_then(|found| found.std_dev),
            ci95: found.and_then(|found| found.ci95),
            min: found.map(|found| found.min),
            max: found.map(|found| found.max),
        }
    };
    let points = (0..plan.points()).map(point).collect();
    MetricShown { name: &metric.name, unit: metric.base_unit, points }
}

fn best_of<'a>(plan: &Plan, metric: &'a Measured) -> Best<'a> {
    let points = ranking(metric);
    let first = points.first().copied();
    let may = |point: &&usize| first.is_some_and(|first| may_be_best(metric, first, **point));
    Best {
        metric: &metric.name,
        is: metric.better_word(),
        at: first.map(|point| at(plan, point)),
        may_be: points.iter().skip(1).filter(may).map(|&point| at(plan, point)).collect(),
    }
}

/// Returns a point: its value on each axis, by the axis' name or its paths.
fn at(plan: &Plan, point: usize) -> Map<String, Value> {
    let places = place_of(&plan.axes, point);
    let columns = plan.axes.iter().zip(places).flat_map(|(axis, at)| {
        axis.identifying().into_iter().map(move |column| (column.name.clone(), column.json(at)))
    });
    columns.collect()
}

/// A row per point.
pub(super) fn points_csv(plan: &Plan, metrics: &[&Measured]) -> Vec<u8> {
    let points = 0..plan.points();
    let mut columns = Vec::new();
    for (number, axis) in plan.axes.iter().enumerate() {
        let places: Vec<usize> =
            points.clone().map(|point| place_of(&plan.axes, point)[number]).collect();
        columns.extend(axis.identifying().iter().map(|column| {
            let words: Vec<_> = places.iter().map(|&at| column.text(at)).collect();
            Column::words(&column.name, words.iter().map(String::as_str))
        }));
    }
    for metric in metrics {
        let name = |what: &str| format!("{}{what}", metric.name);
        let found = || metric.points.iter();
        let runs =
            found().map(|found| Some(found.as_ref().map_or(0, |found| u64::from(found.runs))));
        let means = found().map(|found| Some(found.as_ref()?.mean));
        let halves = found().map(|found| found.as_ref()?.ci95);
        columns.push(Column::counts(&name(" runs"), "", runs));
        columns.push(Column::numbers(&name(""), metric.base_unit, means));
        columns.push(Column::numbers(&name(" ci95"), metric.base_unit, halves));
    }
    to_csv(&columns)
}
