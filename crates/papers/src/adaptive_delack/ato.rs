//! What the gain `a` of Eq. 1 does to the ATO on the phone's path. It starts from the paper's 0.4 ms
//! here: from 200 ms a small `a` would still be on its way down when the first segments are gone.

use super::sample::Sample;
use super::setup::PHONE;
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{record, rows};
use ackord_measure::SpreadSummary;
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale, Shape};
use ackord_units::Span;
use serde::Serialize;

const GAINS: [&str; 7] = ["0.02", "0.05", "0.1", "0.2", "0.5", "0.9", "1.0"];
/// The paper's own, and one that it warns of.
pub(super) const SMALL: &str = "0.1";
pub(super) const LARGE: &str = "0.9";

/// So many other stations on the phone's path, and a gain.
pub(super) type Key = (u32, &'static str);
pub(super) type Atos = Cells<Key, Sample>;

pub(super) fn keys() -> impl Iterator<Item = Key> {
    [0, 2].into_iter().flat_map(|stations| GAINS.map(|a| (stations, a)))
}

pub(super) fn setup((stations, a): Key, length: Span) -> Setup {
    let ack =
        format!(r#"{{ kind = "adaptive", mode = "paper", a = {a}, initial_ato = "0.4 ms" }}"#);
    let changes = vec![
        set("flows.*.receiver_tcp.ack", ack),
        set("links.air.medium.stations", stations.to_string()),
        set("duration", length.to_string()),
    ];
    Setup::new(PHONE, changes)
}

impl Runs<Sample> {
    /// Mean over the runs of something about the ATO's values, in milliseconds.
    pub(super) fn ato(&self, pick: fn(&SpreadSummary) -> f64) -> Estimate {
        self.mean(|run| run.ato.as_ref().map(pick))
    }
}

pub(super) fn data(atos: &Atos) -> Vec<impl Serialize> {
    let data = |row: &Cell<Key, Sample>| {
        let max = row.ato(|ato| ato.max_ms);
        record! {
            a: row.key.1,
            stations: row.key.0,
            runs: max.runs,
            ato_min_ms: row.ato(|ato| ato.min_ms).mean,
            ato_p50_ms: row.ato(|ato| ato.p50_ms).mean,
            ato_p99_ms: row.ato(|ato| ato.p99_ms).mean,
            ato_max_ms: max.mean,
            goodput_mbit_s: row.goodput().mean,
        }
    };
    atos.iter().map(data).collect()
}

pub(super) fn table(atos: &Atos) -> Table {
    rows(&**atos)
        .words("path", |row| if row.key.0 == 0 { "Wi-Fi" } else { "busy Wi-Fi" })
        .cell(("a", ""), |row| ackord_report::document::Cell::text(row.key.1))
        .mean(("smallest", "ms"), 3, |row| row.ato(|ato| ato.min_ms))
        .mean(("median", "ms"), 3, |row| row.ato(|ato| ato.p50_ms))
        .mean(("99 %", "ms"), 2, |row| row.ato(|ato| ato.p99_ms))
        .mean(("largest", "ms"), 1, |row| row.ato(|ato| ato.max_ms))
        .mean(("goodput", "Mbit/s"), 2, |row| row.goodput())
        .titled(
            "The ATO as published, after each data segment, from 0.4 ms on; a = 1 shows the gaps themselves",
        )
}

pub(super) fn plot(atos: &Atos) -> Plot {
    let mut plot = Plot::new("ato-by-a", "The ATO by its gain, on Wi-Fi", "a", "ATO (ms)");
    plot.y.scale = Scale::Log;
    plot.x.scale = Scale::Log;
    type Pick = fn(&SpreadSummary) -> f64;
    let quantiles: [(&str, Pick); 4] = [
        ("largest", |ato| ato.max_ms),
        ("99 %", |ato| ato.p99_ms),
        ("median", |ato| ato.p50_ms),
        ("smallest", |ato| ato.min_ms),
    ];
    for (name, pick) in quantiles {
        let alone = atos.iter().filter(|row| row.key.0 == 0);
        let points =
            alone.map(|row| (row.key.1.parse().expect("gains are numbers"), row.ato(pick).mean));
        plot = plot.with(PlotSeries::new(name, Mark::LinePoints(Shape::Disc), points));
    }
    plot
}
