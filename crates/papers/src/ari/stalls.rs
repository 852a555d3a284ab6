//! Write-write-read: how long a question in two small writes waits, with and without Nagle's
//! algorithm, by policy of the end that acknowledges (§2.3, Fig. 1).

use super::sample::Sample;
use super::setup::{Policy, WRITE_WRITE_READ};
use crate::cells::{Cell, Cells};
use crate::plan::{Setup, set};
use crate::tables::{bars, choices, record, rows};
use ackord_report::document::Table;
use ackord_report::plot::{Plot, Scale};
use serde::Serialize;

/// What a reply counts as for a history: the file's 2 kB.
const REPLY_BYTES: u64 = 2_000;

choices! {
    /// Who asks.
    Asks {
        Phone = "phone", "client";
        Host = "host", "server";
    }
}

choices! {
    /// The asking end's Nagle.
    Nagle {
        /// Minshall's variant, as in Linux.
        On = "on", "minshall";
        /// ARI, or TCP_NODELAY.
        Off = "off", "off";
    }
}

/// Who asks, how, and how the other end acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) asks: Asks,
    pub(super) nagle: Nagle,
    /// Of the end that is asked.
    pub(super) policy: Policy,
}

pub(super) type Stalls = Cells<Question, Sample>;

impl Question {
    pub(super) fn setup(self) -> Setup {
        let Question { asks, nagle, policy } = self;
        let changes = vec![
            set("flows.questions.sends", asks.label()),
            set("flows.questions.tcp.nagle", nagle.label()),
            set("flows.questions.receiver_tcp.ack", policy.ack(REPLY_BYTES)),
            set("flows.questions.receiver_tcp.nagle", policy.nagle()),
        ];
        Setup::new(WRITE_WRITE_READ, changes)
    }
}

/// The phone asks an end that does not know ARI; the host asks a phone that may.
pub(super) fn keys() -> impl Iterator<Item = Question> {
    let stock = [Policy::QuickAck, Policy::Linux, Policy::Immediate];
    let phone = stock.map(|policy| (Asks::Phone, policy)).into_iter();
    let all = phone.chain(Policy::ALL.map(|policy| (Asks::Host, policy)));
    all.flat_map(|(asks, policy)| Nagle::ALL.map(|nagle| Question { asks, nagle, policy }))
}

pub(super) fn data(stalls: &Stalls) -> Vec<impl Serialize> {
    let data = |runs: &Cell<Question, Sample>| {
        let (question, times) = (runs.key, runs.times());
        record! {
            asks: question.asks,
            nagle: question.nagle,
            asked_end: question.policy,
            mean_s: runs.mean(Sample::mean_time_s),
            p50_s: times.p50,
            p95_s: times.p95,
            p99_s: times.p99,
            worst_s: times.max,
            acks: runs.mean(|run| run.acks),
        }
    };
    stalls.iter().map(data).collect()
}

pub(super) fn table(stalls: &Stalls) -> Table {
    rows(&**stalls)
        .words("asks", |runs| runs.key.asks.id())
        .words("its Nagle", |runs| runs.key.nagle.id())
        .words("the other end", |runs| runs.key.policy.label())
        .mean(("mean", "ms"), 2, |runs| runs.mean_ms(Sample::mean_time_s))
        .number(("median", "ms"), 2, |runs| runs.times().p50 * 1e3)
        .number(("p95", "ms"), 2, |runs| runs.times().p95 * 1e3)
        .number(("p99", "ms"), 2, |runs| runs.times().p99 * 1e3)
        .number(("worst", "ms"), 2, |runs| runs.times().max * 1e3)
        .number(("ACKs of the other end", "per exchange"), 2, |runs| {
            runs.mean(|run| run.acks as f64 / run.took_s.len() as f64)
        })
        .titled("Write-write-read: 50 B and 50 B, then the reply of 2 kB, every half second")
}

/// Mean times by policy of the end that is asked.
pub(super) fn plot(stalls: &Stalls, asks: Asks) -> Plot {
    let id = format!("write-write-read-{}", asks.id());
    let title = format!("Write-write-read, the {} asks", asks.id());
    let mut plot = Plot::new(&id, &title, "the other end acknowledges", "mean time (ms)");
    let of =
        |nagle| stalls.iter().filter(move |runs| (runs.key.asks, runs.key.nagle) == (asks, nagle));
    let labels = of(Nagle::On).map(|runs| runs.key.policy.label().to_owned());
    plot.x.scale = Scale::Categories(labels.collect());
    for nagle in Nagle::ALL {
        let means = of(nagle).map(|runs| runs.mean_ms(Sample::mean_time_s));
        plot = plot.with(bars(&format!("Nagle {}", nagle.id()), means));
    }
    plot
}
