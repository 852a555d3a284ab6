//! What the paper leaves open about the phones' path (§5), as readings that are judged side by side.
//!
//! It names neither the other end, nor what was lost where, nor whether the phones of Table 1 were measured at the
//! same time. Two readings take the file as it stands. Three have one free parameter, which `fit.rs` sets so that
//! the original timeout, and nothing else, gets what it got in the paper. A slower 802.11 rate is no reading: at the
//! next lower one, 48 Mbit/s, a frame of 1500 B takes 0.36 ms with no backoff at all, and Fig. 7 has 0.27 ms.

use super::paper_tables::PaperTable;
use super::setup::{PHONE, SIDE_BY_SIDE};
use crate::plan::{File, set};
use crate::tables::choices;
use ackord_scenario::Override;

choices! {
    /// A path that the paper's words allow.
    Reading {
        /// The radio that Fig. 7 shows, the server close by, one phone after the other; nothing fitted.
        Alone = "alone", "alone, server near";
        /// The same radio with the phones on it at the same time; nothing fitted.
        SideBySide = "side-by-side", "phones side by side";
        /// More frames damaged.
        Radio = "radio", "a worse radio";
        /// A server further away.
        Distance = "distance", "a distant server";
        /// A server 20 ms away, and packets lost on the way.
        Loss = "loss", "loss on the way";
    }
}

/// Something that is set so that the original timeout gets what it got in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Free {
    pub(super) label: &'static str,
    pub(super) unit: &'static str,
    /// Where it is looked for.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether more of it makes the transfer slower; otherwise it makes it faster.
    pub(super) more_is_slower: bool,
}

/// The values of what is free in Table 1, and what is besides in Table 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(super) struct Values {
    pub(super) table_1: Option<f64>,
    pub(super) table_2: Option<f64>,
}

impl Reading {
    pub(super) fn file(self) -> File {
        match self {
            Reading::SideBySide => SIDE_BY_SIDE,
            _ => PHONE,
        }
    }

    /// What the baseline of a table leaves to be set. In Table 2 the other stations of the fitted readings have
    /// frames to send for half a second on average; how long they pause is free.
    pub(super) fn free(self, table: u32) -> Option<Free> {
        let slower =
            |label, unit, low, high| Some(Free { label, unit, low, high, more_is_slower: true });
        match (self, table) {
            (Reading::Alone | Reading::SideBySide, _) => None,
            (Reading::Radio, 1) => slower("frames damaged", "%", 10.0, 80.0),
            (Reading::Distance, 1) => slower("server away", "ms", 1.0, 400.0),
            (Reading::Loss, 1) => slower("lost on the way", "%", 0.001, 5.0),
            _ => {
                let (label, unit) = ("pause of the others", "ms");
                Some(Free { label, unit, low: 20.0, high: 50_000.0, more_is_slower: false })
            }
        }
    }

    /// The changes to its file.
    pub(super) fn changes(self, table: &PaperTable, values: Values) -> Vec<Override> {
        let one = values.table_1.unwrap_or(0.0);
        let mut changes = match self {
            Reading::Alone => Vec::new(),
            Reading::SideBySide => {
                return vec![set("hosts.neighbour.count", table.others.max(1).to_string())];
            }
            Reading::Radio => vec![set("links.air.medium.frame_error", format!("{one} %"))],
            Reading::Distance => vec![set("links.lan.delay", format!("{one} ms"))],
            Reading::Loss => vec![
                set("links.lan.delay", "20 ms"),
                set("links.lan.loss", format!(r#"{{ kind = "random", per_packet = "{one} %" }}"#)),
            ],
        };
        changes.push(set("links.air.medium.stations", table.others.to_string()));
        if let Some(pause_ms) = values.table_2.filter(|_| table.others > 0) {
            changes.push(set("links.air.medium.station_on", "500 ms"));
            changes.push(set("links.air.medium.station_off", format!("{pause_ms} ms")));
        }
        changes
    }
}
