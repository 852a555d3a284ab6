//! What Table 2 hangs on that the paper does not say: how "more than Q_thresh" is read, and details
//! of the Reno sender.

use super::ns2::{limited_transmit, rounding};
use super::sample::Run;
use super::setup::{LINKS, Link, Much, SELECTIVE_DROP, threshold};
use super::tables::{self, Queue};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set, set_each};
use crate::tables::{choices, interval, record, rows};
use ackord_report::document::{self, Table};
use ackord_scenario::Override;
use serde::Serialize;

choices! {
    /// Something that could be otherwise.
    Detail {
        /// The newcomer does not count when it is compared with Q_thresh.
        ArrivalNotCounted = "arrival-not-counted", "the arriving packet does not count";
        /// Vegas rounds diff as ns-2 does.
        Rounding = "rounding", "Vegas rounds diff, as in ns-2";
        /// Two segments may leave on the first two duplicates (RFC 3042).
        LimitedTransmit = "limited-transmit", "limited transmit";
        /// One fast retransmit per window (RFC 6582 §3.2 step 2), the rest left to the timer.
        OncePerWindow = "once-per-window", "one fast retransmit per window";
        /// Partial acknowledgments retransmit the rest of the window (RFC 6582).
        NewReno = "new-reno", "NewReno";
        /// SACK, delayed acknowledgments, a window of ten packets to begin with.
        Present = "present", "SACK, delayed ACK, initial window 10";
    }
}

/// A detail changed on a link.
pub(super) type Key = (Detail, Link);
pub(super) type Changed = Cells<Key, Run>;

impl Detail {
    fn changes(self) -> Vec<Override> {
        match self {
            Detail::ArrivalNotCounted => {
                vec![set("links.bottleneck.queue.arrival", "does-not-count")]
            }
            Detail::Rounding => vec![rounding()],
            Detail::LimitedTransmit => vec![limited_transmit()],
            Detail::OncePerWindow => {
                vec![set("tcp.recovery", r#"{ kind = "reno", once_per_window = "on" }"#)]
            }
            Detail::NewReno => vec![set("tcp.recovery", "newreno")],
            Detail::Present => {
                let present = [
                    ("tcp.sack", "on"),
                    ("tcp.recovery", "sack"),
                    ("tcp.ack", "delayed"),
                    ("tcp.initial_window", "10"),
                ];
                [set_each(&present), vec![limited_transmit()]].concat()
            }
        }
    }
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    Detail::ALL.into_iter().flat_map(|detail| LINKS.iter().map(move |link| (detail, link)))
}

pub(super) fn setups((detail, link): Key, much: Much) -> [Setup; 2] {
    let changes = [threshold(link, link.q_thresh), detail.changes()].concat();
    much.both(SELECTIVE_DROP, changes)
}

pub(super) fn data(changed: &Changed) -> Vec<impl Serialize> {
    let data = |changed: &Cell<Key, Run>| {
        let (detail, link) = changed.key;
        record! {
            detail: detail,
            link: link.label,
            q_thresh: link.q_thresh,
            fairness_percent: changed.fairness(),
            reno_timeouts: changed.random(|sample| sample.reno.timeouts),
        }
    };
    changed.iter().map(data).collect()
}

/// Fairness on each link, as filed and with one detail changed.
pub(super) fn table(filed: &tables::Rows, changed: &Changed) -> Table {
    use document::Cell;
    let of = |detail: Option<Detail>, link: Link| match detail {
        Some(detail) => changed.of(&(detail, link)),
        None => filed.of(&(Queue::PaperThreshold, link)),
    };
    let timeouts = |runs: &Runs<Run>| runs.random(|sample| sample.reno.timeouts).mean;
    let ours = [("nothing: as in the scenario file", None)].into_iter();
    let ours = ours.chain(Detail::ALL.map(|detail| (detail.label(), Some(detail))));
    let lines = [("paper", None)].into_iter().chain(ours.map(|(label, of)| (label, Some(of))));
    rows(lines)
        .words("what is different", |(label, _)| *label)
        .each(&LINKS, |table, link| {
            table.cell((link.rate, "fairness, %"), |(_, ours)| match ours {
                Some(detail) => interval(of(*detail, link).fairness(), 1),
                None => Cell::number(link.selective_drop.fairness_percent, 1),
            })
        })
        .number(("Reno's timeouts", "per run"), 1, |(_, ours)| {
            let sum = |detail| LINKS.iter().map(|link| timeouts(of(detail, link))).sum::<f64>();
            ours.map(|detail| sum(detail) / LINKS.len() as f64)
        })
        .titled("What Table 2 hangs on: the paper's Q_thresh, random starts")
}
