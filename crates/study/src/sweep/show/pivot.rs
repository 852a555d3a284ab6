//! Which axes go down, which across, and of which each place has a table of its own.

use super::super::axes::Axis;
use super::super::folder::SweepError;
use super::super::plan::Plan;
use super::measured::Measured;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{NameOf, Wrong};

/// More columns than these do not fit on a screen.
const MOST_COLUMNS: usize = 8;

/// Axes by their number.
pub(super) struct Layout {
    pub(super) rows: Vec<usize>,
    pub(super) columns: Vec<usize>,
    pages: Vec<usize>,
}

/// Places on some of the axes.
pub(super) type Places = Vec<usize>;

impl Layout {
    /// Those asked for. Where nothing is said of either the last axis goes across, if there are two, or the
    /// shortest, if the last is too long.
    pub(super) fn of(
        plan: &Plan,
        rows: &[String],
        columns: &[String],
    ) -> Result<Layout, SweepError> {
        let axes = &plan.axes;
        let find = |names: &[String]| {
            names.iter().map(|name| find(axes, name)).collect::<Result<Vec<_>, _>>()
        };
        let (mut down, mut across) = (find(rows)?, find(columns)?);
        let all = 0..axes.len();
        if down.is_empty() && across.is_empty() && axes.len() > 1 {
            let last = axes.len() - 1;
            let shortest = all.clone().rev().min_by_key(|&axis| axes[axis].len()).unwrap_or(last);
            across = vec![if axes[last].len() > MOST_COLUMNS { shortest } else { last }];
        }
        if rows.is_empty() {
            down = all.clone().filter(|axis| !across.contains(axis)).collect();
        }
        across.retain(|axis| !down.contains(axis));
        let pages = all.filter(|axis| !down.contains(axis) && !across.contains(axis)).collect();
        Ok(Layout { rows: down, columns: across, pages })
    }

    /// The places of each table.
    pub(super) fn pages(&self, plan: &Plan) -> Vec<Places> {
        combinations(&plan.axes, &self.pages)
    }

    pub(super) fn down(&self, plan: &Plan) -> Vec<Places> {
        combinations(&plan.axes, &self.rows)
    }

    pub(super) fn across(&self, plan: &Plan) -> Vec<Places> {
        combinations(&plan.axes, &self.columns)
    }

    pub(super) fn page_label(&self, plan: &Plan, page: &[usize]) -> String {
        labelled(&plan.axes, &self.pages, page)
    }

    /// The number of the point at these places.
    pub(super) fn point(
        &self,
        plan: &Plan,
        row: &[usize],
        column: &[usize],
        page: &[usize],
    ) -> usize {
        let mut at = vec![0; plan.axes.len()];
        let axes = self.rows.iter().chain(&self.columns).chain(&self.pages);
        for (axis, place) in axes.zip(row.iter().chain(column).chain(page)) {
            at[*axis] = *place;
        }
        at.iter().zip(&plan.axes).fold(0, |number, (place, axis)| number * axis.len() + place)
    }

    /// A row per place on the axes that go down, a column per place on those that go across.
    pub(super) fn table(&self, plan: &Plan, metric: &Measured, page: &[usize]) -> Table {
        let across = self.across(plan);
        let mut columns: Vec<Column> =
            self.rows.iter().map(|&axis| Column::words(&plan.axes[axis].name())).collect();
        if self.columns.is_empty() {
            columns.push(Column::numbers("runs", ""));
        }
        for column in &across {
            let heading = match column.is_empty() {
                true => metric.about.clone(),
                false => label(&plan.axes, &self.columns, column),
            };
            columns.push(Column::numbers(&heading, metric.unit));
        }
        let row = |row: &Places| {
            let words =
                self.rows.iter().zip(row).map(|(&axis, &at)| Cell::text(plan.axes[axis].label(at)));
            let mut cells: Vec<Cell> = words.collect();
            if self.columns.is_empty() {
                let point = self.point(plan, row, &[], page);
                let runs = metric.points[point].as_ref().map_or(0, |found| found.runs);
                cells.push(Cell::Count(u64::from(runs)));
            }
            let point = |column: &Places| self.point(plan, row, column, page);
            cells.extend(across.iter().map(|column| metric.cell(point(column))));
            cells
        };
        let caption = match self.columns.is_empty() {
            true => String::new(),
            false => {
                let names: Vec<_> =
                    self.columns.iter().map(|&axis| plan.axes[axis].name()).collect();
                format!("Across: {}", names.join(", "))
            }
        };
        Table { caption, columns, rows: self.down(plan).iter().map(row).collect() }
    }
}

/// Returns the axis of a name or a path, or the one whose name or path has these words in it.
fn find(axes: &[Axis], name: &str) -> Result<usize, SweepError> {
    let is_named = |axis: &Axis| axis.name.as_deref() == Some(name);
    let has_path = |axis: &Axis| axis.keys.iter().any(|key| key.path == name);
    let exactly = axes.iter().position(is_named).or_else(|| axes.iter().position(has_path));
    let within = || {
        let paths = |axis: &Axis| axis.keys.iter().any(|key| key.path.contains(name));
        let within = |axis: &Axis| axis.name().contains(name) || paths(axis);
        let found: Vec<_> = (0..axes.len()).filter(|&axis| within(&axes[axis])).collect();
        match found[..] {
            [one] => Some(one),
            _ => None,
        }
    };
    exactly.or_else(within).ok_or_else(|| {
        let paths = axes.iter().flat_map(|axis| &axis.keys).map(|key| key.path.as_str());
        let names = axes.iter().filter_map(|axis| axis.name.as_deref());
        super::unknown(Wrong::unknown_name(NameOf::Other("axis"), name, names.chain(paths)), name)
    })
}

/// Every combination of places on these axes, the last fastest.
fn combinations(axes: &[Axis], which: &[usize]) -> Vec<Places> {
    which.iter().fold(vec![Vec::new()], |before, &axis| {
        let longer = |places: Places| {
            (0..axes[axis].len()).map(move |at| places.iter().copied().chain([at]).collect())
        };
        before.into_iter().flat_map(longer).collect()
    })
}

/// Places in words, by value alone.
pub(super) fn label(axes: &[Axis], which: &[usize], at: &[usize]) -> String {
    let labels: Vec<_> = which.iter().zip(at).map(|(&axis, &at)| axes[axis].label(at)).collect();
    labels.join(", ")
}

/// Places in words, with the paths.
fn labelled(axes: &[Axis], which: &[usize], at: &[usize]) -> String {
    let of = |(&axis, &at): (&usize, &usize)| {
        format!("{} = {}", axes[axis].name(), axes[axis].label(at))
    };
    which.iter().zip(at).map(of).collect::<Vec<_>>().join(", ")
}
