//! The best points by a metric, and those that no other beats in two metrics.

use super::super::plan::Plan;
use super::super::study::place_of;
use super::measured::Measured;
use super::plots;
use ackord_report::document::{Block, Cell, Column, Section, Table};

/// So many of the best are listed.
const MOST_LISTED: usize = 10;

/// Points that have a value, the best first.
pub(super) fn ranking(metric: &Measured) -> Vec<usize> {
    let mut points: Vec<usize> =
        (0..metric.points.len()).filter(|&point| metric.mean(point).is_some()).collect();
    let mean = |point: usize| metric.mean(point).unwrap_or(f64::NAN);
    points.sort_by(|&one, &two| {
        let (one, two) = (mean(one), mean(two));
        if metric.is_better(one, two) {
            std::cmp::Ordering::Less
        } else if metric.is_better(two, one) {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
    points
}

/// Whether its interval reaches that of the best: these runs do not tell the two apart.
pub(super) fn may_be_best(metric: &Measured, best: usize, point: usize) -> bool {
    let (Some(best_mean), Some(mean)) = (metric.mean(best), metric.mean(point)) else {
        return false;
    };
    let reach = metric.half(best).unwrap_or(0.0) + metric.half(point).unwrap_or(0.0);
    (best_mean - mean).abs() <= reach
}

pub(super) fn best_section(plan: &Plan, metric: &Measured) -> Section {
    let points = ranking(metric);
    let mut columns = axis_columns(plan);
    columns.extend([
        Column::numbers("runs", ""),
        Column::numbers(&metric.about, metric.unit),
        Column::words("may be the best"),
    ]);
    let row = |&point: &usize| {
        let runs = metric.points[point].as_ref().map_or(0, |found| found.runs);
        let may = if may_be_best(metric, points[0], point) { "yes" } else { "no" };
        let mut cells = axis_cells(plan, point);
        cells.extend([Cell::Count(u64::from(runs)), metric.cell(point), Cell::text(may)]);
        cells
    };
    let rows = points.iter().take(MOST_LISTED).map(row).collect();
    let may = points.iter().filter(|point| may_be_best(metric, points[0], **point)).count();
    let said = format!(
        "{} The {} is best. {may} of {} points may be the best: their intervals reach that of the first.",
        metric.said(),
        metric.better_word(),
        points.len()
    );
    Section::new(&format!("Best by {}", metric.about))
        .with(Block::Table(Table { caption: String::new(), columns, rows }))
        .with(Block::Text(said))
}

/// The points that no other beats in both, in the order of the first metric.
pub(super) fn front(one: &Measured, two: &Measured) -> Vec<usize> {
    let known = |point: &usize| one.mean(*point).is_some() && two.mean(*point).is_some();
    let points: Vec<usize> = (0..one.points.len()).filter(known).collect();
    let mean = |metric: &Measured, point: usize| metric.mean(point).unwrap_or(f64::NAN);
    let beats = |other: usize, point: usize| {
        let (a, b) = (mean(one, other), mean(one, point));
        let (c, d) = (mean(two, other), mean(two, point));
        let worse = one.is_better(b, a) || two.is_better(d, c);
        !worse && (one.is_better(a, b) || two.is_better(c, d))
    };
    let on_front = |point: &usize| !points.iter().any(|&other| beats(other, *point));
    let mut front: Vec<usize> = points.iter().copied().filter(on_front).collect();
    front.sort_by(|&a, &b| mean(one, a).total_cmp(&mean(one, b)));
    front
}

pub(super) fn pareto_section(plan: &Plan, one: &Measured, two: &Measured) -> Section {
    let front = front(one, two);
    let mut columns = axis_columns(plan);
    columns.extend([one, two].map(|metric| Column::numbers(&metric.about, metric.unit)));
    let row = |&point: &usize| {
        let mut cells = axis_cells(plan, point);
        cells.extend([one.cell(point), two.cell(point)]);
        cells
    };
    let rows = front.iter().map(row).collect();
    let said = format!(
        "No point has both {} {} and {} {} than one of these, by the means. {}",
        more(one),
        one.about,
        more(two),
        two.about,
        one.said()
    );
    Section::new(&format!("Pareto front of {} and {}", one.about, two.about))
        .with(Block::Table(Table { caption: String::new(), columns, rows }))
        .with(Block::Plot(plots::pareto(plan, one, two, &front)))
        .with(Block::Text(said))
}

fn more(metric: &Measured) -> &'static str {
    match metric.better_word() {
        "most" => "more",
        _ => "less",
    }
}

fn axis_columns(plan: &Plan) -> Vec<Column> {
    plan.axes.iter().map(|axis| Column::words(&axis.name())).collect()
}

fn axis_cells(plan: &Plan, point: usize) -> Vec<Cell> {
    let at = place_of(&plan.axes, point);
    plan.axes.iter().zip(at).map(|(axis, at)| Cell::text(axis.label(at))).collect()
}
