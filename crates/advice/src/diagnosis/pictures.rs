//! Pictures of a diagnosis: seconds per cause over all connections, and the time-sequence plot of a connection.

use super::summary::totals;
use ackord_diagnose::{Connection, Diagnosis, Point, PointKind, Trace};
use ackord_report::OutputFile;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};

/// Causes with a bar of their own at most.
const MOST_BARS: usize = 9;
/// Below this share of the time a cause has no bar of its own.
const LEAST_SHARE: f64 = 0.005;
const MEGA: f64 = 1e6;

/// Returns the pictures of a report as SVG and PNG: the causes, and the time-sequence plot of the connection `one`
/// if its packets are known.
pub fn pictures_of(diagnosis: &Diagnosis, traces: &[Trace], one: Option<u32>) -> Vec<OutputFile> {
    let mut plots = Vec::new();
    if !diagnosis.connections.is_empty() {
        plots.push(causes(diagnosis));
    }
    let connection = diagnosis.connections.iter().find(|connection| Some(connection.id) == one);
    let trace = traces.iter().find(|trace| Some(trace.connection) == one);
    plots.extend(connection.zip(trace).map(|(connection, trace)| sequence(connection, trace)));
    let both = |plot: Plot| {
        let file = |kind: &str, bytes| OutputFile::new(format!("plots/{}.{kind}", plot.id), bytes);
        [file("svg", plot.to_svg().into_bytes()), file("png", plot.to_png())]
    };
    plots.into_iter().flat_map(both).collect()
}

/// A bar per cause, in two colours: time that was lost, and other time.
fn causes(diagnosis: &Diagnosis) -> Plot {
    let totals = totals(diagnosis);
    let all: f64 = totals.iter().map(|(_, seconds, _)| seconds).sum();
    let large = totals.iter().take_while(|(_, seconds, _)| *seconds >= LEAST_SHARE * all);
    let shown = large.count().min(MOST_BARS);
    let mut names: Vec<String> =
        totals.iter().take(shown).map(|(cause, ..)| cause.title().to_owned()).collect();
    let bars = |is_loss: bool| {
        let places = totals.iter().take(shown).enumerate();
        let of_kind = places.filter(move |(_, (cause, ..))| cause.is_loss() == is_loss);
        of_kind.map(|(place, (_, seconds, _))| (place as f64, *seconds))
    };
    let title = match diagnosis.connections.len() {
        1 => "Where the time of 1 connection went".to_owned(),
        count => format!("Where the time of {count} connections went"),
    };
    let mut plot = Plot::new("causes", &title, "cause", "time (s)")
        .with(PlotSeries::new("lost", Mark::Bars, bars(true)).coloured(1))
        .with(PlotSeries::new("other time", Mark::Bars, bars(false)).coloured(0));
    let rest: f64 = totals.iter().skip(shown).map(|(_, seconds, _)| seconds).sum();
    if rest > 0.0 {
        let count = totals.len() - shown;
        let plural = if count == 1 { "cause" } else { "causes" };
        let bar = [(names.len() as f64, rest)];
        plot = plot.with(PlotSeries::new("others together", Mark::Bars, bar).coloured(2));
        names.push(format!("{count} other {plural}"));
    }
    plot.series.retain(|series| !series.points.is_empty());
    plot.x.scale = Scale::Categories(names);
    plot
}

/// Segments, ACKs and the window against time, in the direction of most data.
fn sequence(connection: &Connection, trace: &Trace) -> Plot {
    let points = |kind: PointKind, at: fn(&Point) -> u64| {
        let of_kind = trace.points.iter().filter(move |point| point.kind == kind);
        of_kind.map(move |point| (point.t, at(point) as f64 / MEGA))
    };
    let series = |name: &str, kind, mark, at: fn(&Point) -> u64, colour| {
        PlotSeries::new(name, mark, points(kind, at)).coloured(colour)
    };
    let end: fn(&Point) -> u64 = |point| point.to;
    let start: fn(&Point) -> u64 = |point| point.from;
    let all = [
        series("window edge", PointKind::Ack, Mark::Steps, end, 2).dashed(),
        series("acknowledged", PointKind::Ack, Mark::Steps, start, 5),
        series("segment", PointKind::Data, Mark::Points(Shape::Dot), end, 0),
        series("out of order", PointKind::OutOfOrder, Mark::Points(Shape::Triangle), end, 3),
        series("retransmission", PointKind::Retransmission, Mark::Points(Shape::Cross), end, 1),
    ];
    let id = format!("connection-{}", connection.id);
    let title =
        format!("Connection {}: {} to {}", connection.id, connection.client, connection.server);
    let mut plot = Plot::new(
        &id,
        &title,
        "time since the connection's first packet (s)",
        "sequence offset (MB)",
    );
    plot.series = all.into_iter().filter(|series| !series.points.is_empty()).collect();
    plot.x.range = Range::Fixed(0.0, connection.duration_s.max(1e-6));
    plot
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_diagnose::{Cause, CauseShare, Diagnosis};

    fn diagnosis(causes: &[(Cause, f64)]) -> Diagnosis {
        let connection = serde_json::json!({
            "id": 0, "client": "192.0.2.1:1", "server": "192.0.2.2:2", "began_ns": 0, "duration_s": 60.0,
            "packets": [1, 1], "bytes": 0, "bytes_by": [0, 0], "retransmitted_bytes": 0, "vantage": "unknown",
            "vantage_confidence": 0.0, "rtt_to_s": [null, null], "causes": [], "intervals": [],
            "limits": {"rwin_s": 0.0, "cwnd_s": 0.0, "snd_s": 0.0}, "artefacts": [],
            "path": {"lost": 0, "segments": 0, "loss_events": 0, "reordered": 0, "mss": 0},
        });
        let mut connection: Connection = serde_json::from_value(connection).expect("a connection");
        let share = |(cause, seconds): &(Cause, f64)| CauseShare {
            cause: *cause,
            seconds: *seconds,
            confidence: 1.0,
            frames: Vec::new(),
        };
        connection.causes = causes.iter().map(share).collect();
        Diagnosis { captures: Vec::new(), artefacts: Vec::new(), connections: vec![connection] }
    }

    #[test]
    fn bars_stand_for_all_seconds_whatever_the_number_of_causes() {
        for count in [1, 3, 9, 10, 28] {
            let causes: Vec<(Cause, f64)> = Cause::ALL[..count]
                .iter()
                .map(|cause| (*cause, 1.0 + cause.index() as f64))
                .collect();
            let plot = super::causes(&diagnosis(&causes));
            let bars: Vec<_> = plot.series.iter().flat_map(|series| &series.points).collect();
            let sum: f64 = bars.iter().map(|bar| bar.y).sum();
            assert!((sum - causes.iter().map(|(_, seconds)| seconds).sum::<f64>()).abs() < 1e-9);
            let Scale::Categories(names) = &plot.x.scale else { panic!("causes are categories") };
            assert_eq!(names.len(), bars.len());
        }
    }
}
