//! The plots of a run, and of several runs laid over each other.
//!
//! Not modelled: more than seven curves in one plot (the first seven are shown, as many as there are
//! colours to tell apart, and the title says so).

use crate::plot::{Mark, Plot, PlotSeries, Range, Shape};
use crate::segments::PlotSegments;
use ackord_measure::{DETAILED_FLOWS, FlowSeries, LinkSeries, Point, SeriesSet, Trace};
use ackord_units::{Bytes, Span, Time};

/// Most curves of one kind in a plot.
const MOST_CURVES: usize = DETAILED_FLOWS;
/// With more flows than this, a plot of windows leaves out ssthresh.
const MOST_WITH_SSTHRESH: usize = 4;

/// In what congestion windows are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowUnit {
    /// kB (or the multiple that fits).
    #[default]
    Bytes,
    /// Segments of this size.
    Segments(Bytes),
}

/// Flows whose curves go into the same plots.
#[derive(Clone, Debug)]
pub struct FlowPlots<'a> {
    curves: Vec<(String, &'a FlowSeries)>,
    of: usize,
    /// What part of the run is shown.
    from: Time,
    to: Time,
    interval: Span,
}

impl<'a> FlowPlots<'a> {
    /// The flows of one run.
    pub fn of_run(series: &'a SeriesSet) -> FlowPlots<'a> {
        let curves = series.flows.iter().map(|flow| (flow.name.clone(), flow)).collect();
        FlowPlots::of_curves(curves, series.duration, series.interval)
    }

    /// The flows of several runs, each named after its run (and itself, where a run has several).
    pub fn overlaid(runs: &[(String, &'a SeriesSet)]) -> FlowPlots<'a> {
        let named = |label: &str, series: &SeriesSet, flow: &FlowSeries| match series.flows.len() {
            1 => label.to_owned(),
            _ => format!("{label}: {}", flow.name),
        };
        let curves = runs.iter().flat_map(|(label, series)| {
            series.flows.iter().map(move |flow| (named(label, series, flow), flow))
        });
        let longest = |pick: fn(&SeriesSet) -> Span| {
            runs.iter().map(|(_, series)| pick(series)).max().unwrap_or(Span::ZERO)
        };
        let (duration, interval) = (longest(|set| set.duration), longest(|set| set.interval));
        FlowPlots::of_curves(curves.collect(), duration, interval)
    }

    fn of_curves(
        mut curves: Vec<(String, &'a FlowSeries)>,
        duration: Span,
        interval: Span,
    ) -> FlowPlots<'a> {
        let of = curves.len();
        curves.truncate(MOST_CURVES);
        FlowPlots { curves, of, from: Time::ZERO, to: Time::ZERO + duration, interval }
    }

    /// Only this part of the run.
    #[must_use]
    pub fn between(mut self, from: Time, to: Time) -> FlowPlots<'a> {
        (self.from, self.to) = (from, to);
        self
    }

    /// Only the flow of this number, if there is one.
    #[must_use]
    pub fn only(mut self, number: usize) -> FlowPlots<'a> {
        self.curves = self.curves.into_iter().skip(number).take(1).collect();
        self.of = self.curves.len();
        self
    }

    /// One flow's segments around its first retransmission, from five round trips before to fifteen
    /// after it; nothing if it never retransmitted, or so late that only an outline is known.
    pub fn first_recovery(&self) -> Option<Plot> {
        let (number, at) = self.curves.iter().enumerate().find_map(|(number, (_, flow))| {
            Some((number, flow.retransmitted.points().first()?.at))
        })?;
        let (name, flow) = &self.curves[number];
        let round_trip = Span::from_secs_f64(flow.rtt.value_at(at)?);
        let before = (round_trip * 5).min(at.saturating_since(self.from));
        let known = [&flow.sent, &flow.acked, &flow.retransmitted].map(Trace::exact_until);
        let known = known.into_iter().fold(self.to, Time::min);
        let after = (round_trip * 15).min(known.saturating_since(at));
        if after < round_trip {
            return None;
        }
        // Just before the last known instant, of which not all may be known.
        let after = after.saturating_sub(Span::from_nanos(1));
        let mut plot = self.clone().only(number).between(at - before, at + after).sequence();
        plot.id = "first-repair".to_owned();
        plot.title = format!("{name} around its first retransmission");
        plot.y.range = Range::Data;
        Some(plot)
    }

    /// All of them: windows, sequence, throughput, round-trip times.
    pub fn all(&self, unit: WindowUnit) -> Vec<Plot> {
        let mut sequence = self.sequence();
        sequence.segments = self.segments();
        vec![self.window(unit), sequence, self.throughput(), self.round_trip()]
    }

    /// cwnd and ssthresh against time.
    pub fn window(&self, unit: WindowUnit) -> Plot {
        let traces = self.curves.iter().map(|(_, flow)| &flow.cwnd);
        let scale = match unit {
            WindowUnit::Segments(size) => Unit { name: "segments", size: size.get().max(1) as f64 },
            WindowUnit::Bytes => byte_unit(traces),
        };
        let mut plot = self.plot("cwnd", "Congestion window", &format!("cwnd ({})", scale.name));
        for (number, (name, flow)) in self.curves.iter().enumerate() {
            let cwnd = PlotSeries::new(
                &self.entry(name, "cwnd"),
                Mark::Steps,
                self.held(&flow.cwnd, scale.size),
            );
            plot = plot.with(cwnd.coloured(number));
            if self.curves.len() <= MOST_WITH_SSTHRESH && !flow.ssthresh.is_empty() {
                let points = self.held(&flow.ssthresh, scale.size);
                let name = self.entry(name, "ssthresh");
                let ssthresh = PlotSeries::new(&name, Mark::Steps, points);
                plot = plot.with(ssthresh.coloured(number).dashed());
            }
        }
        plot
    }

    /// Sent and acknowledged bytes against time, retransmissions marked.
    pub fn sequence(&self) -> Plot {
        let scale = self.byte_unit();
        let label = format!("offset in the stream ({})", scale.name);
        let mut plot = self.plot("sequence", "Sequence and acknowledgment", &label);
        let one = self.curves.len() == 1;
        for (number, (name, flow)) in self.curves.iter().enumerate() {
            if one {
                let points = self.points(&flow.sent, scale.size);
                let sent = PlotSeries::new("segment sent", Mark::Points(Shape::Dot), points);
                plot = plot.with(sent.coloured(0));
            }
            let points = self.held(&flow.acked, scale.size);
            let name = if one { "acknowledged" } else { name.as_str() };
            let acked = PlotSeries::new(name, Mark::Steps, points);
            plot = plot.with(acked.coloured(if one { 2 } else { number }));
        }
        // Last, so that no curve hides them.
        for (number, (_, flow)) in self.curves.iter().enumerate() {
            if !flow.retransmitted.is_empty() {
                let points = self.points(&flow.retransmitted, scale.size);
                let mark = Mark::Points(Shape::Cross);
                let again = PlotSeries::new("retransmission", mark, points);
                plot = plot.with(again.coloured(if one { 1 } else { number }));
            }
        }
        plot
    }

    /// The segments of all flows one by one, in the units of [`FlowPlots::sequence`].
    fn segments(&self) -> Option<PlotSegments> {
        let flows = self.curves.iter().map(|(name, flow)| (name.as_str(), &flow.segments));
        PlotSegments::of(flows, time_unit(self.to).size * 1e9, self.byte_unit().size)
    }

    fn byte_unit(&self) -> Unit {
        byte_unit(self.curves.iter().flat_map(|(_, flow)| [&flow.sent, &flow.acked]))
    }

    /// Payload delivered per interval against time.
    pub fn throughput(&self) -> Plot {
        let traces = self.curves.iter().map(|(_, flow)| &flow.throughput);
        let scale = rate_unit(traces);
        let label = format!("goodput per {} ({})", self.interval, scale.name);
        let mut plot = self.plot("throughput", "Throughput", &label);
        for (number, (name, flow)) in self.curves.iter().enumerate() {
            let points = self.rates(&flow.throughput, scale.size);
            plot = plot.with(PlotSeries::new(name, Mark::Steps, points).coloured(number));
        }
        plot
    }

    /// Measured round-trip times against time.
    pub fn round_trip(&self) -> Plot {
        let mut plot = self.plot("rtt", "Round-trip time", "round-trip time (ms)");
        for (number, (name, flow)) in self.curves.iter().enumerate() {
            let points = self.points(&flow.rtt, 1e-3);
            plot = plot.with(PlotSeries::new(name, Mark::Line, points).coloured(number));
        }
        plot
    }

    fn plot(&self, id: &str, title: &str, y_label: &str) -> Plot {
        let title = match self.of {
            of if of > self.curves.len() => {
                format!("{title} (the first {} of {of} flows)", self.curves.len())
            }
            _ => title.to_owned(),
        };
        over_time(Plot::new(id, &title, "", y_label), self.from, self.to)
    }

    fn entry(&self, name: &str, what: &str) -> String {
        if self.curves.len() == 1 { what.to_owned() } else { format!("{name}: {what}") }
    }

    /// The points of the part that is shown.
    fn points(&self, trace: &Trace, size: f64) -> Vec<(f64, f64)> {
        placed(trace.points_between(self.from, self.to).iter().copied(), self.to, size)
    }

    /// The points of the part that is shown, of a value that holds until it changes.
    fn held(&self, trace: &Trace, size: f64) -> Vec<(f64, f64)> {
        let before = trace.value_at(self.from).map(|value| Point { at: self.from, value });
        let within = trace.points_between(self.from, self.to).iter().copied();
        let at_the_end = trace.value_at(self.to).map(|value| Point { at: self.to, value });
        placed(before.into_iter().chain(within).chain(at_the_end), self.to, size)
    }

    fn rates(&self, trace: &Trace, size: f64) -> Vec<(f64, f64)> {
        placed(held_to_the_end(trace, self.interval, self.to), self.to, size)
    }
}

/// Packets waiting at each queue that was ever used, against time, with the drops.
pub fn queue_plot(series: &SeriesSet) -> Plot {
    let mut links: Vec<(&LinkSeries, f64)> =
        series.links.iter().map(|link| (link, most([&link.queue_packets]))).collect();
    links.retain(|(link, longest)| *longest > 1.0 || !link.drops.is_empty());
    links.sort_by(|a, b| b.1.total_cmp(&a.1));
    let of = links.len();
    links.truncate(MOST_CURVES);
    let title = match of {
        of if of > links.len() => format!("Queue length (the {} longest of {of})", links.len()),
        _ => "Queue length".to_owned(),
    };
    let plot = Plot::new("queue", &title, "", "packets waiting");
    let end = Time::ZERO + series.duration;
    let mut plot = over_time(plot, Time::ZERO, end);
    for (number, (link, _)) in links.iter().enumerate() {
        let points = placed(link.queue_packets.points().iter().copied(), end, 1.0);
        plot = plot.with(PlotSeries::new(&link.name, Mark::Steps, points).coloured(number));
    }
    for (number, (link, _)) in links.iter().enumerate() {
        if !link.drops.is_empty() {
            let points = placed(link.drops.points().iter().copied(), end, 1.0);
            let mark = Mark::Points(Shape::Cross);
            // One queue's drops stand out in a colour of their own.
            let colour = if links.len() == 1 { 1 } else { number };
            plot = plot.with(PlotSeries::new("drop", mark, points).coloured(colour));
        }
    }
    plot
}

/// IP bytes put on each link that was ever used, per interval against time.
pub fn link_plot(series: &SeriesSet) -> Plot {
    let used = series.links.iter().filter(|link| most([&link.throughput]) > 0.0);
    let links: Vec<_> = used.take(MOST_CURVES).collect();
    let scale = rate_unit(links.iter().map(|link| &link.throughput));
    let label = format!("IP rate per {} ({})", series.interval, scale.name);
    let end = Time::ZERO + series.duration;
    let plot = Plot::new("links", "Load of links", "", &label);
    let mut plot = over_time(plot, Time::ZERO, end);
    for (number, link) in links.iter().enumerate() {
        let points = held_to_the_end(&link.throughput, series.interval, end);
        let points = placed(points, end, scale.size);
        plot = plot.with(PlotSeries::new(&link.name, Mark::Steps, points).coloured(number));
    }
    plot
}

/// A unit and how much of the base unit it is.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    size: f64,
}

fn byte_unit<'a>(traces: impl IntoIterator<Item = &'a Trace>) -> Unit {
    unit_for(most(traces), [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)])
}

fn rate_unit<'a>(traces: impl IntoIterator<Item = &'a Trace>) -> Unit {
    unit_for(most(traces), [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)])
}

/// The largest unit of which the largest value has at least one and a half.
fn unit_for(most: f64, units: [(&'static str, f64); 4]) -> Unit {
    let fitting = units.into_iter().rev().find(|(_, size)| most >= 1.5 * size);
    let (name, size) = fitting.unwrap_or(units[0]);
    Unit { name, size }
}

fn most<'a>(traces: impl IntoIterator<Item = &'a Trace>) -> f64 {
    traces.into_iter().flat_map(Trace::points).map(|point| point.value).fold(0.0, f64::max)
}

fn over_time(mut plot: Plot, from: Time, to: Time) -> Plot {
    let unit = time_unit(to);
    plot.x.label = format!("time ({})", unit.name);
    if to > from {
        plot.x.range = Range::Fixed(from.as_secs_f64() / unit.size, to.as_secs_f64() / unit.size);
    }
    plot
}

/// Seconds, or milliseconds where all happens within the first second.
fn time_unit(to: Time) -> Unit {
    if to < Time::ZERO + Span::from_secs(1) {
        Unit { name: "ms", size: 1e-3 }
    } else {
        Unit { name: "s", size: 1.0 }
    }
}

/// Points in the units of their axes.
fn placed(points: impl Iterator<Item = Point>, to: Time, size: f64) -> Vec<(f64, f64)> {
    let time = time_unit(to).size;
    points.map(|point| (point.at.as_secs_f64() / time, point.value / size)).collect()
}

/// Values per interval, the last one held to the end of its interval.
fn held_to_the_end(
    trace: &Trace,
    interval: Span,
    end: Time,
) -> impl Iterator<Item = Point> + use<'_> {
    let last = trace.points().last();
    let last = last.map(|last| Point { at: (last.at + interval).min(end), value: last.value });
    trace.points().iter().copied().chain(last)
}
