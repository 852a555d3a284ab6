//! Heat maps, curves with intervals, the Pareto front.

use super::super::plan::Plan;
use super::super::study::place_of;
use super::measured::Measured;
use super::pivot::{Layout, Places, label};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};

/// More curves than these cannot be told apart.
const MOST_CURVES: usize = 7;
/// An axis whose ends are further apart than this is drawn by its logarithm.
const WIDE: f64 = 15.0;
/// The grey of the palette.
const GREY: usize = 6;

/// The plots of one table.
pub(super) fn of(plan: &Plan, layout: &Layout, metric: &Measured, page: &[usize]) -> Vec<Plot> {
    let mut plots = Vec::new();
    let (down, across) = (layout.down(plan), layout.across(plan));
    if down.len() + across.len() > 2 {
        plots.push(curves(plan, layout, metric, page));
    }
    if down.len() > 1 && across.len() > 1 {
        plots.push(heat_map(plan, layout, metric, page));
    }
    plots
}

fn id(metric: &Measured, what: &str) -> String {
    format!("{}-{what}", metric.name.replace(['*', '.', '_'], "-"))
}

fn title(plan: &Plan, layout: &Layout, metric: &Measured, page: &[usize]) -> String {
    match page.is_empty() {
        true => metric.about.clone(),
        false => format!("{}, {}", metric.about, layout.page_label(plan, page)),
    }
}

/// What goes along the horizontal axis: an axis of numbers, or places in words.
struct Along {
    label: String,
    scale: Scale,
    values: Vec<f64>,
}

impl Along {
    fn of(plan: &Plan, which: &[usize], places: &[Places]) -> Along {
        let names: Vec<_> = which.iter().map(|&axis| plan.axes[axis].name()).collect();
        let name = names.join(", ");
        if let [one] = which
            && let Some((values, unit)) = plan.axes[*one].numbers()
            && values.len() > 1
        {
            let label = if unit.is_empty() { name } else { format!("{name} ({unit})") };
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let scale =
                if least > 0.0 && most >= WIDE * least { Scale::Log } else { Scale::Linear };
            return Along { label, scale, values };
        }
        let words = places.iter().map(|at| label(&plan.axes, which, at)).collect();
        let values = (0..places.len()).map(|place| place as f64).collect();
        Along { label: name, scale: Scale::Categories(words), values }
    }
}

/// A curve per place on the other axes, with the intervals.
fn curves(plan: &Plan, layout: &Layout, metric: &Measured, page: &[usize]) -> Plot {
    let (down, across) = (layout.down(plan), layout.across(plan));
    let of_rows = Along::of(plan, &layout.rows, &down);
    let of_columns = Along::of(plan, &layout.columns, &across);
    // What has numbers goes along, rather than what has names.
    let is_words = |along: &Along| matches!(along.scale, Scale::Categories(_));
    let turned = is_words(&of_rows) && !is_words(&of_columns) || down.len() == 1;
    let (along, places, others, names) = match turned {
        true => (of_columns, &across, &down, &layout.rows),
        false => (of_rows, &down, &across, &layout.columns),
    };
    let mut plot = Plot::new(
        &id(metric, "curves"),
        &title(plan, layout, metric, page),
        &along.label,
        &metric.label(),
    );
    if others.len() > MOST_CURVES {
        plot.title = format!("{} (the first {MOST_CURVES} of {} curves)", plot.title, others.len());
    }
    let words = is_words(&along);
    plot.x.scale = along.scale;
    for other in others.iter().take(MOST_CURVES) {
        let point = |place: &Places| match turned {
            true => layout.point(plan, other, place, page),
            false => layout.point(plan, place, other, page),
        };
        let known = || {
            let points = along.values.iter().zip(places).map(|(x, place)| (*x, point(place)));
            points.filter(|(_, point)| metric.mean(*point).is_some())
        };
        let values = known().map(|(x, point)| (x, metric.mean(point).unwrap_or(f64::NAN)));
        let mark = if words { Mark::Points(Shape::Disc) } else { Mark::LinePoints(Shape::Disc) };
        let series = PlotSeries::new(&label(&plan.axes, names, other), mark, values);
        plot = plot.with(series.with_amount_errors(known().map(|(_, point)| metric.half(point))));
    }
    plot
}

fn heat_map(plan: &Plan, layout: &Layout, metric: &Measured, page: &[usize]) -> Plot {
    let (down, across) = (layout.down(plan), layout.across(plan));
    let words = |which: &[usize], places: &[Places]| {
        Scale::Categories(places.iter().map(|at| label(&plan.axes, which, at)).collect())
    };
    let names = |which: &[usize]| {
        which.iter().map(|&axis| plan.axes[axis].name()).collect::<Vec<_>>().join(", ")
    };
    let title = match metric.unit {
        "" => title(plan, layout, metric, page),
        unit => format!("{} ({unit})", title(plan, layout, metric, page)),
    };
    let mut plot =
        Plot::new(&id(metric, "map"), &title, &names(&layout.columns), &names(&layout.rows));
    plot.x.scale = words(&layout.columns, &across);
    // The first row on top, as in the table.
    let upwards: Vec<Places> = down.iter().rev().cloned().collect();
    plot.y.scale = words(&layout.rows, &upwards);
    plot.y.range = Range::Data;
    let tiles = upwards.iter().enumerate().flat_map(|(y, row)| {
        across.iter().enumerate().filter_map(move |(x, column)| {
            let value = metric.mean(layout.point(plan, row, column, page))?;
            Some(((x, y), value))
        })
    });
    plot.with(PlotSeries::tiles(tiles))
}

/// Every point by two metrics, and the front.
pub(super) fn pareto(plan: &Plan, one: &Measured, two: &Measured, front: &[usize]) -> Plot {
    let place = |point: usize| Some((one.mean(point)?, two.mean(point)?));
    let title = format!("{} and {}: what no other point beats", one.about, two.about);
    let mut plot = Plot::new(
        &format!("{}-front", id(one, &two.name.replace(['*', '.', '_'], "-"))),
        &title,
        &one.label(),
        &two.label(),
    );
    plot.y.range = Range::Data;
    let others = (0..plan.points()).filter(|point| !front.contains(point)).filter_map(place);
    let others = PlotSeries::new("beaten", Mark::Points(Shape::Disc), others).coloured(GREY);
    let line = PlotSeries::new("front", Mark::Line, front.iter().filter_map(|&point| place(point)));
    plot = plot.with(others).with(line.coloured(0));
    // Few points on the front get their names.
    for (number, &point) in front.iter().take(MOST_CURVES).enumerate() {
        let at = place_of(&plan.axes, point);
        let all: Vec<usize> = (0..plan.axes.len()).collect();
        let series = PlotSeries::new(
            &label(&plan.axes, &all, &at),
            Mark::Points(Shape::Square),
            place(point),
        );
        plot = plot.with(series.with_amount_errors([two.half(point)]).coloured(number));
    }
    plot
}
