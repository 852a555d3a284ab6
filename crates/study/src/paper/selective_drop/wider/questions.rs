//! Every scenario and every queue.

use crate::paper::selective_drop::setup::{File, LINKS};
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
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
#[derive(Clone, Copy, Debug)]
pub(in crate::paper::selective_drop) struct Question {
    /// In names of tables and claims.
    pub(in crate::paper::selective_drop) id: &'static str,
    pub(in crate::paper::selective_drop) title: &'static str,
    asked_of: AskedOf,
    /// Capacity of every queue, packets.
    limit: u32,
}

/// Where a question's scenario comes from.
#[derive(Clone, Copy, Debug)]
enum AskedOf {
    /// The paper's set-up on the link of this number.
    Link(usize),
    /// A library scenario.
    Library(&'static str),
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
    });
    let library =
        |id, title, name| Question { id, title, asked_of: AskedOf::Library(name), limit: 100 };
    let senders = |id, title, of_each| Question {
        id,
        title,
        asked_of: AskedOf::Senders(of_each),
        limit: 100,
    };
    links.chain([
        library("telnet-and-web", "Telnet and the Web among four bulk flows", "telnet-and-web"),
        senders("senders-4", "Reno, Vegas, CUBIC and BBR: one of each", 1),
        senders("senders-20", "Reno, Vegas, CUBIC and BBR: five of each", 5),
        senders("senders-100", "Reno, Vegas, CUBIC and BBR: twenty-five of each", 25),
        library("round-trips", "Round trips of 20, 80 and 160 ms, Reno", "rtt-unequal"),
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
    ])
}

impl Question {
    /// Whether it is one of the paper's links.
    pub(in crate::paper::selective_drop) fn is_of_the_paper(&self) -> bool {
        matches!(self.asked_of, AskedOf::Link(_))
    }

    /// The link, for people; empty where it is another question.
    pub(in crate::paper::selective_drop) fn place(&self) -> &'static str {
        match self.asked_of {
            AskedOf::Link(number) => LINKS[number].label,
            AskedOf::Library(_) | AskedOf::Senders(_) => "",
        }
    }

    pub(super) fn scenario(&self, queue: &str, duration: Span) -> Result<Scenario, Errors> {
        let set = |path: &str, value: String| Override::new(path, value);
        let (file, mut changes) = match self.asked_of {
            AskedOf::Link(number) => {
                let (path, text) = File::SelectiveDrop.embedded();
                let changes = vec![
                    set("links.bottleneck.rate", LINKS[number].rate.to_owned()),
                    set("links.bottleneck.delay", LINKS[number].delay.to_owned()),
                    set("flows.*.start", "{ from = '0 s', to = '1 s' }".to_owned()),
                ];
                (ScenarioFile::new(path, text), changes)
            }
            AskedOf::Library(name) => (ScenarioFile::from_library(name)?, Vec::new()),
            AskedOf::Senders(of_each) => {
                let kinds = ["reno", "vegas", "cubic", "bbr"];
                let count = |kind| set(&format!("hosts.{kind}.count"), of_each.to_string());
                (ScenarioFile::from_library("many-senders")?, kinds.map(count).to_vec())
            }
        };
        let queue = format!("{{ {queue}, limit = '{} packets' }}", self.limit);
        changes.push(set("links.bottleneck.queue", queue));
        changes.push(set("duration", duration.to_string()));
        file.with_overrides(changes).check()
    }
}
