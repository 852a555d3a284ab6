//! Every scenario and every queue.

use crate::plan::{Setup, Source, set, set_each};
use crate::selective_drop::setup::{LINKS, SELECTIVE_DROP, on_link};
use ackord_units::Span;

/// Every queue: its name here, and how a scenario asks for it, but for its capacity.
pub(super) const QUEUES: [(&str, &str); 9] = [
    ("drop-tail", "kind = 'drop-tail'"),
    ("selective-drop, paper", "kind = 'selective-drop', mode = 'paper'"),
    ("selective-drop", "kind = 'selective-drop'"),
    ("DRR", "kind = 'drr'"),
    ("SFQ", "kind = 'sfq'"),
    ("RED", "kind = 'red'"),
    ("CoDel", "kind = 'codel'"),
    ("PIE", "kind = 'pie'"),
    ("FQ-CoDel", "kind = 'fq-codel'"),
];

/// A question to all queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::selective_drop) struct Question {
    /// In names of tables and claims.
    pub(in crate::selective_drop) id: &'static str,
    pub(in crate::selective_drop) title: &'static str,
    asked_of: AskedOf,
    /// Capacity of every queue, packets.
    limit: u32,
    /// What a flow of this name is to get as a multiple of the others'; empty where all are to get the
    /// same.
    pub(super) weights: &'static [(&'static str, f64)],
}

/// Reno twice what Vegas gets, and the other way round.
const RENO_TWICE: &[(&str, f64)] = &[("reno", 2.0), ("vegas", 1.0)];
const VEGAS_TWICE: &[(&str, f64)] = &[("reno", 1.0), ("vegas", 2.0)];
/// Three Reno flows, each twice what the next gets.
const DOUBLING: &[(&str, f64)] = &[("gold", 4.0), ("silver-1", 2.0), ("silver-2", 1.0)];

/// Where a question's scenario comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AskedOf {
    /// The paper's set-up on the link of this number.
    Link(usize),
    /// A library scenario, with these changes.
    Library(&'static str, &'static [(&'static str, &'static str)]),
    /// A library scenario with so many flows of each of its four kinds.
    Senders(u32),
}

/// The links of Tables 1 and 2, the paper's future work, RFC 7928.
pub(super) fn questions() -> impl Iterator<Item = Question> {
    let titles = [
        ("link-512k", "512 kbit/s, 5 ms: Reno and Vegas"),
        ("link-1.5m", "1.5 Mbit/s, 2 ms: Reno and Vegas"),
        ("link-2m", "2 Mbit/s, 2 ms: Reno and Vegas"),
        ("link-5m", "5 Mbit/s, 2 ms: Reno and Vegas"),
    ];
    let links = titles.into_iter().enumerate().map(|(number, (id, title))| Question {
        id,
        title,
        asked_of: AskedOf::Link(number),
        limit: 50,
        weights: &[],
    });
    links.chain(beyond()).chain(weighted())
}

/// The paper's future work and RFC 7928.
fn beyond() -> Vec<Question> {
    let asked = |id, title, asked_of| Question { id, title, asked_of, limit: 100, weights: &[] };
    let library = |id, title, name| asked(id, title, AskedOf::Library(name, &[]));
    let senders = |id, title, of_each| asked(id, title, AskedOf::Senders(of_each));
    let mixed = &[("flows.0.tcp.congestion", "cubic"), ("flows.1.tcp.congestion", "vegas")];
    vec![
        library("telnet-and-web", "Telnet and the Web among four bulk flows", "telnet-and-web"),
        senders("senders-4", "Reno, Vegas, CUBIC and BBR: one of each", 1),
        senders("senders-20", "Reno, Vegas, CUBIC and BBR: five of each", 5),
        senders("senders-100", "Reno, Vegas, CUBIC and BBR: twenty-five of each", 25),
        library("round-trips", "Round trips of 20, 80 and 160 ms, Reno", "rtt-unequal"),
        asked(
            "round-trips-mixed",
            "Round trips of 20 ms with CUBIC, 80 ms with Vegas, 160 ms with Reno",
            AskedOf::Library("rtt-unequal", mixed),
        ),
        library(
            "rfc7928-rtt",
            "RFC 7928 §6.2: round trips of 24 and 200 ms, Reno",
            "aqm-rtt-fairness",
        ),
        library(
            "rfc7928-aggressive",
            "RFC 7928 §5.2: an aggressive sender beside two Reno",
            "aqm-aggressive",
        ),
        library(
            "rfc7928-unresponsive",
            "RFC 7928 §5.3: an unresponsive sender beside two Reno",
            "aqm-unresponsive",
        ),
        library("rfc7928-short", "RFC 7928 §9.1: short flows among long", "aqm-short-flows"),
        library("rfc7928-capacity", "RFC 7928 §8.2.6: capacity that changes", "aqm-capacity"),
    ]
}

/// Weights (§4.1): each of the two twice the other's on the paper's links, and three Reno flows.
fn weighted() -> Vec<Question> {
    let ids = [
        ["weights-reno-512k", "weights-reno-1.5m", "weights-reno-2m", "weights-reno-5m"],
        ["weights-vegas-512k", "weights-vegas-1.5m", "weights-vegas-2m", "weights-vegas-5m"],
    ];
    let favours =
        [(RENO_TWICE, "Reno weighs twice Vegas"), (VEGAS_TWICE, "Vegas weighs twice Reno")];
    let of_two = ids.into_iter().zip(favours).flat_map(|(ids, (weights, title))| {
        let numbered = ids.into_iter().enumerate();
        numbered.map(move |(number, id)| {
            let asked_of = AskedOf::Link(number);
            Question { id, title, asked_of, limit: 50, weights }
        })
    });
    let three = Question {
        id: "weights-doubling",
        title: "2 Mbit/s, 2 ms: three Reno flows that weigh 4, 2 and 1",
        asked_of: AskedOf::Library("selective-drop-weights", &[]),
        limit: 50,
        weights: DOUBLING,
    };
    of_two.chain([three]).collect()
}

impl Question {
    /// Whether it is one of the paper's links.
    pub(in crate::selective_drop) fn is_of_the_paper(&self) -> bool {
        matches!(self.asked_of, AskedOf::Link(_)) && !self.is_weighted()
    }

    /// Whether the flows are to get unequal shares.
    pub(in crate::selective_drop) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Whether round trips are what is asked about.
    pub(in crate::selective_drop) fn has_unequal_round_trips(&self) -> bool {
        matches!(self.asked_of, AskedOf::Library("rtt-unequal" | "aqm-rtt-fairness", _))
    }

    /// What its table is called; with weights, shares are taken for their weights.
    pub(in crate::selective_drop) fn caption(&self) -> String {
        match (self.is_weighted(), self.place()) {
            (true, "") => format!("{} (fairness of rates over weights)", self.title),
            (true, place) => format!("{place}: {} (fairness of rates over weights)", self.title),
            _ => self.title.to_owned(),
        }
    }

    /// What a flow of this name is to get as a multiple of the others'.
    pub(super) fn weight(&self, flow: &str) -> f64 {
        let found = self.weights.iter().find(|(name, _)| *name == flow);
        found.map_or(1.0, |(_, weight)| *weight)
    }

    /// The link, for people; empty where it is another question.
    pub(in crate::selective_drop) fn place(&self) -> &'static str {
        match self.asked_of {
            AskedOf::Link(number) => LINKS[number].label,
            AskedOf::Library(..) | AskedOf::Senders(_) => "",
        }
    }

    pub(super) fn setup(&self, queue: &str, duration: Span) -> Setup {
        let library = |name, changes| Setup::new(Source::Library(name), changes);
        let setup = match self.asked_of {
            AskedOf::Link(number) => Setup::new(SELECTIVE_DROP, on_link(&LINKS[number]))
                .with([set("flows.*.start", "{ from = '0 s', to = '1 s' }")]),
            AskedOf::Library(name, changed) => library(name, set_each(changed)),
            AskedOf::Senders(of_each) => {
                let kinds = ["reno", "vegas", "cubic", "bbr"];
                let count = |kind| set(&format!("hosts.{kind}.count"), of_each.to_string());
                library("many-senders", kinds.map(count).to_vec())
            }
        };
        setup.with([
            set("links.bottleneck.queue", self.queue(queue)),
            set("duration", duration.to_string()),
        ])
    }

    /// This queue with the question's capacity, and its weights where it knows any. The paper's form
    /// with weights has the threshold of Table 2.
    fn queue(&self, queue: &str) -> String {
        let limit = format!("limit = '{} packets'", self.limit);
        if !self.is_weighted() || !(queue.contains("selective-drop") || queue.contains("drr")) {
            return format!("{{ {queue}, {limit} }}");
        }
        let each: Vec<String> =
            self.weights.iter().map(|(name, weight)| format!("{name} = {weight}")).collect();
        let weights = format!("weights = {{ {} }}", each.join(", "));
        let threshold = match (queue.contains("paper"), self.asked_of) {
            (true, AskedOf::Link(number)) => format!(", threshold = {}", LINKS[number].q_thresh),
            _ => String::new(),
        };
        format!("{{ {queue}, {limit}, {weights}{threshold} }}")
    }
}
