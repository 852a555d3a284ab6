//! The meter's picture: a pure function of what is known, for any size of terminal.
//!
//! ```text
//! link, its rates, how long the run has lasted          1 line
//! throughput over time                                  the largest part
//! queueing delay over time
//! drops over time
//! how late the emulator is, and what that means         1 line
//! keys                                                  1 line
//! ```
//!
//! Where there is no room for curves the numbers remain. The two directions are told apart by the
//! form of their curves, so that colour is not needed.

use super::series::{Now, Points, Series, highest, round_top};
use super::words::{PACKETS, Unit, number, rate, time};
use ackord_events::DropReason;
use ackord_live::MeterView;
use ackord_units::Span;
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span as Text};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Paragraph, Widget};

/// What a picture is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture<'a> {
    /// What is known of the link.
    pub(crate) view: &'a MeterView,
    /// Which of how many links it is, from one.
    pub(crate) place: (usize, usize),
    /// How far back it goes.
    pub(crate) scale: Span,
    /// Whether it stands still.
    pub(crate) motion: Motion,
    /// What the terminal can show.
    pub(crate) look: Look,
}

/// Whether the picture follows the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Moving,
    Paused,
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) colours: bool,
    pub(crate) glyphs: Glyphs,
}

/// Which characters the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyphs {
    /// Any, Braille among them.
    Unicode,
    /// Those of ASCII.
    Ascii,
}

/// Rows that a chart needs to be one: its title, two rows of curve, the axis and its labels.
const LEAST_CHART: u16 = 5;
/// Columns without which there are no curves.
const LEAST_WIDTH: u16 = 30;

impl Picture<'_> {
    /// Draws into `area` of `buffer`.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(*buffer.area());
        if area.is_empty() {
            return;
        }
        let now = [0, 1].map(|way| Now::of(self.view, way));
        let charts = match area.height {
            _ if area.width < LEAST_WIDTH => 0,
            rows => (rows.saturating_sub(3) / LEAST_CHART).min(3),
        };
        match charts {
            0 => self.draw_numbers(&now, area, buffer),
            _ => self.draw_charts(&now, charts, area, buffer),
        }
        if self.look.glyphs == Glyphs::Ascii {
            to_ascii(area, buffer);
        }
    }

    /// The numbers alone, the most important first.
    fn draw_numbers(&self, now: &[Now; 2], area: Rect, buffer: &mut Buffer) {
        let mut lines = vec![
            self.throughput_title(now),
            self.delay_title(now),
            self.lateness_line(),
            self.drops_title(),
            self.head_line(),
            self.key_line(),
        ];
        if self.is_untrustworthy() {
            lines.swap(0, 2);
        }
        Paragraph::new(lines).render(area, buffer);
    }

    fn draw_charts(&self, now: &[Now; 2], charts: u16, area: Rect, buffer: &mut Buffer) {
        // Two dots of Braille to a column, less what the labels take.
        let points = usize::from(area.width.saturating_sub(10)) * 2;
        let series = [0, 1].map(|way| Series::of(self.view, way, points));
        let heights: &[Constraint] = match charts {
            1 => &[Constraint::Fill(1)],
            2 => &[Constraint::Fill(6), Constraint::Fill(5)],
            _ => &[Constraint::Fill(8), Constraint::Fill(7), Constraint::Fill(6)],
        };
        let mut rows = vec![Constraint::Length(1)];
        rows.extend_from_slice(heights);
        rows.extend([Constraint::Length(1), Constraint::Length(1)]);
        let rows = Layout::vertical(rows).split(area);
        self.head_line().render(rows[0], buffer);
        self.throughput_chart(&series, now, rows[1], buffer);
        if charts > 1 {
            self.delay_chart(&series, now, rows[2], buffer);
        }
        if charts > 2 {
            self.drops_chart(&series, rows[3], buffer);
        }
        let below = usize::from(charts) + 1;
        self.lateness_line().render(rows[below], buffer);
        self.key_line().render(rows[below + 1], buffer);
    }

    fn throughput_chart(
        &self,
        series: &[Series; 2],
        now: &[Now; 2],
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let drawn = series.iter().filter(|series| series.capacity_changes());
        let capacities: Vec<_> = drawn.map(|series| series.capacity.clone()).collect();
        let curves = series.iter().map(|series| &series.throughput).chain(&capacities);
        let top = round_top(highest(curves), 1_000.0);
        let unit = Unit::of_rates(top);
        let [down, up] = series.each_ref().map(|series| in_unit(&series.throughput, unit));
        let capacities: Vec<_> = capacities.iter().map(|points| in_unit(points, unit)).collect();
        // Curves drawn later cover earlier ones.
        let mut sets: Vec<_> = capacities.iter().map(|points| self.capacity_set(points)).collect();
        sets.push(self.curve(0, &down));
        sets.push(self.curve(1, &up));
        let title = self.throughput_title(now);
        self.chart(Plot { title, sets, top, unit }, area, buffer);
    }

    fn delay_chart(&self, series: &[Series; 2], now: &[Now; 2], area: Rect, buffer: &mut Buffer) {
        let top = round_top(highest(series.iter().map(|series| &series.delay)), 1e-3);
        let unit = Unit::of_times(top);
        let [down, up] = series.each_ref().map(|series| in_unit(&series.delay, unit));
        let sets = vec![self.curve(0, &down), self.curve(1, &up)];
        let title = self.delay_title(now);
        self.chart(Plot { title, sets, top, unit }, area, buffer);
    }

    fn drops_chart(&self, series: &[Series; 2], area: Rect, buffer: &mut Buffer) {
        let top = round_top(highest(series.iter().map(|series| &series.drops)), 1.0);
        // Where nothing died nothing is drawn, so that neither direction covers the other.
        let [mut down, mut up] = series.each_ref().map(|series| in_unit(&series.drops, PACKETS));
        for points in [&mut down, &mut up] {
            points.retain(|point| point.1 > 0.0);
        }
        let sets = vec![self.bars(0, &down), self.bars(1, &up)];
        let title = self.drops_title();
        self.chart(Plot { title, sets, top, unit: PACKETS }, area, buffer);
    }

    fn chart(&self, plot: Plot<'_>, area: Rect, buffer: &mut Buffer) {
        let Plot { title, sets, top, unit } = plot;
        let [above, below] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
        title.render(above, buffer);
        let mut labels = vec!["0".to_owned(), format!("{} {}", unit.number(top), unit.name)];
        if below.height > 6 {
            labels.insert(1, unit.number(top / 2.0));
        }
        // Charts stand below one another: all their axes begin in the same column.
        let labels = labels.into_iter().map(|label| format!("{label:>13}"));
        let back = self.scale.as_secs_f64();
        let ago = |seconds: f64| format!("-{} s", number(seconds));
        let x_axis = Axis::default().bounds([-back, 0.0]).labels([
            ago(back),
            ago(back / 2.0),
            "now".to_owned(),
        ]);
        let y_axis = Axis::default()
            .bounds([0.0, top / unit.of_base])
            .labels(labels)
            .labels_alignment(Alignment::Right);
        Chart::new(sets).x_axis(x_axis).y_axis(y_axis).legend_position(None).render(below, buffer);
    }

    fn curve<'a>(&self, way: usize, points: &'a Points) -> Dataset<'a> {
        let (marker, kind) = match (self.look.glyphs, way) {
            (Glyphs::Unicode, 0) => (Marker::Braille, GraphType::Line),
            (Glyphs::Unicode, _) => (Marker::Dot, GraphType::Scatter),
            (Glyphs::Ascii, 0) => (Marker::Custom('*'), GraphType::Line),
            (Glyphs::Ascii, _) => (Marker::Custom('o'), GraphType::Scatter),
        };
        Dataset::default().data(points).marker(marker).graph_type(kind).style(self.of_way(way))
    }

    fn capacity_set<'a>(&self, points: &'a Points) -> Dataset<'a> {
        let marker = match self.look.glyphs {
            Glyphs::Unicode => Marker::Custom('╌'),
            Glyphs::Ascii => Marker::Custom('-'),
        };
        let style = self.coloured(Color::DarkGray);
        Dataset::default().data(points).marker(marker).graph_type(GraphType::Line).style(style)
    }

    fn bars<'a>(&self, way: usize, points: &'a Points) -> Dataset<'a> {
        let marker = match (self.look.glyphs, way) {
            (Glyphs::Unicode, 0) => Marker::Braille,
            (Glyphs::Unicode, _) => Marker::Dot,
            (Glyphs::Ascii, 0) => Marker::Custom('*'),
            (Glyphs::Ascii, _) => Marker::Custom('o'),
        };
        let style = self.of_way(way);
        Dataset::default().data(points).marker(marker).graph_type(GraphType::Bar).style(style)
    }

    fn head_line(&self) -> Line<'static> {
        let view = self.view;
        let (which, of) = self.place;
        let [down, up] = &view.link.directions;
        let [down_rate, up_rate] =
            view.link.rates.map(|of_way| rate(of_way.as_bits_per_sec() as f64));
        let lasted = view.began_at.as_secs_f64()
            + ackord_live::METER_INTERVAL.saturating_mul(view.samples.len() as u64).as_secs_f64();
        let state = match (view.over, self.motion) {
            (_, Motion::Paused) => "  PAUSED",
            (true, _) => "  over",
            (false, _) => "",
        };
        let counted = if of > 1 { format!(" ({which} of {of})") } else { String::new() };
        Line::from(vec![
            Text::styled(view.link.name.clone(), self.strong()),
            Text::raw(format!(
                "{counted}: {down} {down_rate}, {up} {up_rate}; after {lasted:.1} s"
            )),
            Text::styled(state, self.strong()),
        ])
    }

    fn throughput_title(&self, now: &[Now; 2]) -> Line<'static> {
        // What a link can carry is said above, unless it changes.
        let numbers = [0, 1].map(|way| {
            let delivered = rate(now[way].throughput.as_bits_per_sec() as f64);
            match now[way].capacity.filter(|capacity| *capacity != self.view.link.rates[way]) {
                Some(capacity) => {
                    format!("{delivered} of {}", rate(capacity.as_bits_per_sec() as f64))
                }
                None => delivered,
            }
        });
        self.title("throughput", numbers)
    }

    fn delay_title(&self, now: &[Now; 2]) -> Line<'static> {
        let numbers = |now: &Now| format!("{}, {} packets", time(now.delay), now.waiting);
        let mut title = self.title("queued", now.each_ref().map(numbers));
        let [down, up] = now.each_ref().map(|now| time(now.peak_delay));
        title.push_span(Text::raw(format!("  (most {down}; {up})")));
        title
    }

    fn drops_title(&self) -> Line<'static> {
        let told = [0, 1].map(|way| {
            let counts = DropReason::ALL.map(|reason| {
                let of = self.view.samples.iter().map(|pair| pair[way].dropped[reason as usize]);
                (reason.name(), of.map(u64::from).sum::<u64>())
            });
            let dropped: u64 = counts.iter().map(|count| count.1).sum();
            let reasons: Vec<_> = counts
                .iter()
                .filter(|count| count.1 > 0)
                .map(|(name, packets)| match *packets == dropped {
                    true => (*name).to_owned(),
                    false => format!("{name} {packets}"),
                })
                .collect();
            match dropped {
                0 => "0".to_owned(),
                _ => format!("{dropped} ({})", reasons.join(", ")),
            }
        });
        self.title("packets dropped", told)
    }

    /// What a chart is about, and the numbers of both directions behind the signs of their curves.
    fn title(&self, what: &'static str, numbers: [String; 2]) -> Line<'static> {
        let signs = match self.look.glyphs {
            Glyphs::Unicode => ["⠒", "•"],
            Glyphs::Ascii => ["*", "o"],
        };
        let mut spans = vec![Text::styled(what, self.strong())];
        for (way, number) in numbers.into_iter().enumerate() {
            let direction = &self.view.link.directions[way];
            spans.push(Text::raw("  "));
            spans.push(Text::styled(signs[way], self.of_way(way)));
            spans.push(Text::raw(format!(" {direction} {number}")));
        }
        Line::from(spans)
    }

    fn is_untrustworthy(&self) -> bool {
        self.view.lateness.is_some_and(|lateness| !lateness.is_within_budget())
    }

    fn lateness_line(&self) -> Line<'static> {
        let Some(lateness) = self.view.lateness.filter(|lateness| lateness.packets > 0) else {
            return Line::from("emulator: no packet yet");
        };
        let (p50, p99) = (time(lateness.p50), time(lateness.p99));
        match lateness.is_within_budget() {
            true => {
                let most = time(lateness.max);
                Line::from(format!("emulator late by {p50} (half), {p99} (99 %), {most} (most)"))
            }
            false => Line::styled(
                format!(
                    "UNTRUSTWORTHY: late by {p50} (half), {p99} (99 %), more than {}",
                    time(lateness.budget)
                ),
                self.coloured(Color::Red).add_modifier(Modifier::BOLD | Modifier::REVERSED),
            ),
        }
    }

    fn key_line(&self) -> Line<'static> {
        let motion = match self.motion {
            Motion::Moving => "p pause",
            Motion::Paused => "p go on",
        };
        let links = if self.place.1 > 1 { "   Tab next link" } else { "" };
        let seconds = self.scale.as_secs_f64();
        Line::from(format!("q leave the meter   {motion}   + - last {seconds:.0} s{links}"))
    }

    fn strong(&self) -> Style {
        Style::default().add_modifier(Modifier::BOLD)
    }

    fn of_way(&self, way: usize) -> Style {
        self.coloured(if way == 0 { Color::Cyan } else { Color::Yellow })
    }

    fn coloured(&self, colour: Color) -> Style {
        let plain = Style::default();
        if self.look.colours { plain.fg(colour) } else { plain }
    }
}

/// One chart: its curves in `unit`, its top in the base unit.
struct Plot<'a> {
    title: Line<'static>,
    sets: Vec<Dataset<'a>>,
    top: f64,
    unit: Unit,
}

fn in_unit(points: &Points, unit: Unit) -> Points {
    points.iter().map(|&(at, value)| (at, value / unit.of_base)).collect()
}

/// What stands for a character on a terminal that has only ASCII.
fn to_ascii(area: Rect, buffer: &mut Buffer) {
    for position in area.positions() {
        let Some(cell) = buffer.cell_mut(position) else { continue };
        if !cell.symbol().is_ascii() {
            let symbol = match cell.symbol() {
                "│" => "|",
                "─" | "┴" => "-",
                "└" | "┤" | "┼" => "+",
                "→" => ">",
                "µ" => "u",
                _ => "?",
            };
            cell.set_symbol(symbol);
        }
    }
}
