//! What is asked of the two phone papers on a real kernel: paths, workloads, receivers.
//!
//! The papers' own scenario files, with today's Linux at both ends in place of the senders of
//! their years: that is what a user would have now. Nothing else of a path is changed but what a
//! question's title says.

use crate::plan::{File, Setup, file, set, set_each};
use ackord_scenario::{Errors, Scenario};
use std::sync::Arc;

/// A paper whose experiment can be repeated on a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivePaper {
    /// Lee, Lee and Kim 2015: the adaptive delayed ACK.
    AdaptiveDelack,
    /// Lee et al. 2016: ARI.
    Ari,
}

impl LivePaper {
    /// Both.
    pub const ALL: [LivePaper; 2] = [LivePaper::AdaptiveDelack, LivePaper::Ari];

    /// As a user writes it, and as the folder below `papers/` is called.
    pub const fn name(self) -> &'static str {
        match self {
            LivePaper::AdaptiveDelack => "adaptive-delack",
            LivePaper::Ari => "ari",
        }
    }

    /// The paper of this name.
    pub fn find(name: &str) -> Option<LivePaper> {
        LivePaper::ALL.into_iter().find(|paper| paper.name() == name)
    }
}

/// Something to be found out: one workload on one path, with several receivers.
#[derive(Clone, Debug)]
pub(super) struct Question {
    /// In file names and JSON.
    pub(super) id: &'static str,
    pub(super) paper: LivePaper,
    /// For people.
    pub(super) title: &'static str,
    file: File,
    /// Changes to the file.
    changes: Vec<(&'static str, String)>,
    /// The host that is ours where a receiver is.
    pub(super) host: &'static str,
    pub(super) measure: Measure,
    /// The first is a stock kernel.
    pub(super) receivers: Vec<Receiver>,
    /// Runs of each receiver, quickly and fully.
    pub(super) runs: [u32; 2],
    /// Whether a quick look asks it, too.
    pub(super) asked_quickly: bool,
}

/// What a receiver is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// More in the same time, Mbit/s.
    Goodput,
    /// The last byte sooner, milliseconds.
    Completion,
    /// Each exchange sooner, milliseconds.
    Exchange,
}

/// Who is at the end that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receiver {
    pub(super) id: &'static str,
    /// For people.
    pub(super) label: &'static str,
    /// Whether it is our TCP, or the kernel's.
    pub(super) ours: bool,
    /// Changes to the scenario: path and value.
    changes: &'static [(&'static str, &'static str)],
}

impl Question {
    /// The scenario of one of its receivers.
    pub(super) fn scenario(&self, receiver: &Receiver) -> Result<Arc<Scenario>, Errors> {
        let own = self.changes.iter().map(|(path, value)| set(path, value.as_str()));
        Setup::new(self.file, own.collect()).with(set_each(receiver.changes)).scenario()
    }
}

impl Measure {
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Measure::Goodput => "Mbit/s",
            Measure::Completion | Measure::Exchange => "ms",
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Measure::Goodput => "goodput",
            Measure::Completion => "time",
            Measure::Exchange => "time of an exchange",
        }
    }
}

const ACK: &str = "flows.*.receiver_tcp.ack";
const NAGLE: &str = "flows.*.receiver_tcp.nagle";
const SENDER_NAGLE: &str = "flows.*.tcp.nagle";

const fn ours(
    id: &'static str,
    label: &'static str,
    changes: &'static [(&'static str, &'static str)],
) -> Receiver {
    Receiver { id, label, ours: true, changes }
}

const STOCK: Receiver = Receiver {
    id: "kernel",
    label: "stock Linux",
    ours: false,
    changes: &[(ACK, "linux"), (NAGLE, "minshall")],
};
const LINUX: Receiver = ours("linux", "ours, as Linux", &[(ACK, "linux")]);
const DELAYED: Receiver =
    ours("delayed", "ours, 200 ms", &[(ACK, "{ kind = 'delayed', timeout = '200 ms' }")]);
const STATIC_400: Receiver = ours(
    "static-0.4",
    "ours, 0.4 ms",
    &[(ACK, "{ kind = 'adaptive-static', timeout = '0.4 ms' }")],
);
const STATIC_600: Receiver = ours(
    "static-0.6",
    "ours, 0.6 ms",
    &[(ACK, "{ kind = 'adaptive-static', timeout = '0.6 ms' }")],
);
const PAPER: Receiver = ours(
    "adaptive-paper",
    "ours, adaptive (paper)",
    &[(ACK, "{ kind = 'adaptive', mode = 'paper' }")],
);
const PRACTICAL: Receiver = ours(
    "adaptive",
    "ours, adaptive (practical)",
    &[(ACK, "{ kind = 'adaptive', mode = 'practical' }")],
);
const IMMEDIATE: Receiver = ours("immediate", "ours, every segment", &[(ACK, "immediate")]);

/// Lee et al. 2015 §4: ns-3's rules, which count segments of any size.
const DELAYED_ANY: Receiver = ours(
    "delayed",
    "ours, 200 ms",
    &[(ACK, "{ kind = 'quickack', count = 1, timeout = '200 ms', counts = 'any' }")],
);
const STATIC_800_ANY: Receiver = ours(
    "static-0.8",
    "ours, 0.8 ms",
    &[(ACK, "{ kind = 'adaptive-static', timeout = '0.8 ms', counts = 'any' }")],
);

/// Lee et al. 2016: Linux as it is described there, and the paper's phone.
const QUICKACK: Receiver = ours(
    "quickack",
    "ours, two at once",
    &[(ACK, "{ kind = 'quickack', count = 2, timeout = '40 ms' }"), (NAGLE, "minshall")],
);
const ARI_ACK: &str = "{ kind = 'ari', mode = 'paper', most_sent = '2 kB', segment = '536 B', \
                       timeout = '40 ms' }";
const ARI: Receiver = ours("ari", "ours, ARI (paper)", &[(ACK, ARI_ACK), (NAGLE, "ari")]);
const ARI_1MB: Receiver = ours(
    "ari-history",
    "ours, ARI (1 MB)",
    &[
        (ACK, "{ kind = 'ari', most_sent = '1 MB', segment = '536 B', timeout = '40 ms' }"),
        (NAGLE, "ari"),
    ],
);

/// The same for an end that asks in two small writes.
const STOCK_ASKS: Receiver = Receiver {
    id: "kernel",
    label: "stock Linux",
    ours: false,
    changes: &[(SENDER_NAGLE, "minshall"), (NAGLE, "minshall"), (ACK, "linux")],
};
const NODELAY_ASKS: Receiver = Receiver {
    id: "kernel-nodelay",
    label: "stock Linux, TCP_NODELAY",
    ours: false,
    changes: &[(SENDER_NAGLE, "off"), (NAGLE, "minshall"), (ACK, "linux")],
};
const LINUX_ASKS: Receiver = ours(
    "linux",
    "ours, as Linux",
    &[(SENDER_NAGLE, "minshall"), (NAGLE, "minshall"), (ACK, "linux")],
);
const ARI_ASKS: Receiver = ours(
    "ari",
    "ours, ARI (no Nagle)",
    &[(SENDER_NAGLE, "ari"), (NAGLE, "minshall"), (ACK, "linux")],
);

/// Both ends are a Linux of today; the paths, segments and workloads are the files'.
const LINUX_OF_TODAY: &str = "{ profile = 'linux' }";
const LINUX_536: &str = "{ profile = 'linux', mss = '536 B' }";

/// The host's congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Cubic,
    Reno,
}

impl Control {
    /// With segments of 536 bytes. CUBIC is the profile's own, with its HyStart and its counting.
    const fn of_today(self) -> &'static str {
        match self {
            Control::Cubic => LINUX_536,
            Control::Reno => {
                "{ profile = 'linux', mss = '536 B', congestion = { kind = 'reno', \
                 growth = 'per-segment' } }"
            }
        }
    }
}

/// How long a bulk transfer is watched.
const BULK_FOR: &str = "6 s";

/// Every question of a paper.
pub(super) fn questions(paper: LivePaper) -> Vec<Question> {
    match paper {
        LivePaper::AdaptiveDelack => adaptive_delack(),
        LivePaper::Ari => ari(),
    }
}

fn adaptive_delack() -> Vec<Question> {
    let phone = |id, title, changes: &[(&'static str, &str)], adjusted: Receiver| Question {
        id,
        paper: LivePaper::AdaptiveDelack,
        title,
        file: file!("adaptive-delack/phone"),
        changes: with(LINUX_OF_TODAY, changes, &[("duration", BULK_FOR)]),
        host: "phone",
        measure: Measure::Goodput,
        receivers: vec![STOCK, LINUX, DELAYED, adjusted, PAPER, PRACTICAL, IMMEDIATE],
        runs: [2, 4],
        asked_quickly: true,
    };
    let distant = [
        ("links.lan.delay", "20 ms"),
        ("links.lan.loss", "{ kind = 'random', per_packet = '0.3 %' }"),
    ];
    let mut lossy = phone("phone-lossy", "Its server 20 ms away, 0.3 % lost", &distant, STATIC_400);
    lossy.runs = [3, 6];
    let mut busy = phone(
        "phone-busy",
        "Table 2: with two busy phones beside it",
        &[("links.air.medium.stations", "2")],
        STATIC_600,
    );
    busy.asked_quickly = false;
    vec![
        phone("phone", "Table 1: a phone's download", &[], STATIC_400),
        busy,
        lossy,
        Question {
            id: "messages",
            paper: LivePaper::AdaptiveDelack,
            title: "§4: 1000 messages of 1040 B at 1 Mbit/s",
            file: file!("adaptive-delack/simulation"),
            changes: with("{ profile = 'linux', mss = '548 B', nagle = 'off' }", &[], &[]),
            host: "host",
            measure: Measure::Completion,
            receivers: vec![STOCK, DELAYED_ANY, STATIC_800_ANY],
            runs: [1, 3],
            asked_quickly: false,
        },
        Question {
            id: "stalls",
            paper: LivePaper::AdaptiveDelack,
            title: "Questions in two small writes over a round trip of 22 ms",
            file: file!("adaptive-delack/wired"),
            changes: with(
                LINUX_OF_TODAY,
                &[("flows.*.traffic", "{ kind = 'write-write-read', gap = '30 ms', count = 60 }")],
                &[],
            ),
            host: "server",
            measure: Measure::Exchange,
            receivers: vec![STOCK, LINUX, DELAYED, PAPER, PRACTICAL, IMMEDIATE],
            runs: [1, 3],
            asked_quickly: true,
        },
    ]
}

/// Tables 1 and 2: what each is called, how much is transferred, by which control.
const TRANSFERS: [(&str, &str, &str, Control); 8] = [
    ("transfer-0.1mb-cubic", "Table 1: 0.1 MB, CUBIC", "100 kB", Control::Cubic),
    ("transfer-0.3mb-cubic", "Table 1: 0.3 MB, CUBIC", "300 kB", Control::Cubic),
    ("transfer-0.5mb-cubic", "Table 1: 0.5 MB, CUBIC", "500 kB", Control::Cubic),
    ("transfer-1mb-cubic", "Table 1: 1 MB, CUBIC", "1 MB", Control::Cubic),
    ("transfer-0.1mb-reno", "Table 2: 0.1 MB, Reno", "100 kB", Control::Reno),
    ("transfer-0.3mb-reno", "Table 2: 0.3 MB, Reno", "300 kB", Control::Reno),
    ("transfer-0.5mb-reno", "Table 2: 0.5 MB, Reno", "500 kB", Control::Reno),
    ("transfer-1mb-reno", "Table 2: 1 MB, Reno", "1 MB", Control::Reno),
];

fn ari() -> Vec<Question> {
    let transfer = |(id, title, size, control): (_, _, &str, Control)| Question {
        id,
        paper: LivePaper::Ari,
        title,
        file: file!("ari/transfers"),
        changes: with(control.of_today(), &[("flows.*.traffic.size", size)], &[]),
        host: "phone",
        measure: Measure::Completion,
        receivers: vec![STOCK, QUICKACK, ARI, ARI_1MB, IMMEDIATE],
        runs: [5, 12],
        asked_quickly: matches!(id, "transfer-0.3mb-cubic" | "transfer-0.1mb-cubic"),
    };
    let title = "0.3 MB from a host 20 ms away, CUBIC";
    let mut distant = transfer(("distant-0.3mb-cubic", title, "300 kB", Control::Cubic));
    distant.changes.push(("links.wire.delay", "20 ms".to_owned()));
    let asks = |id, title, sends: &str, receivers| Question {
        id,
        paper: LivePaper::Ari,
        title,
        file: file!("ari/write-write-read"),
        changes: with(
            LINUX_536,
            &[("flows.*.sends", sends), ("flows.*.traffic.gap", "100 ms")],
            &[],
        ),
        host: "phone",
        measure: Measure::Exchange,
        receivers,
        runs: [1, 3],
        asked_quickly: true,
    };
    let phone = vec![STOCK_ASKS, NODELAY_ASKS, LINUX_ASKS, ARI_ASKS];
    let host = vec![STOCK, LINUX, QUICKACK, ARI, PRACTICAL, IMMEDIATE];
    let others = [
        distant,
        asks("phone-asks", "Write-write-read: the phone asks", "client", phone),
        asks("host-asks", "Write-write-read: the host asks", "server", host),
    ];
    TRANSFERS.map(transfer).into_iter().chain(others).collect()
}

fn with(
    tcp: &str,
    changes: &[(&'static str, &str)],
    more: &[(&'static str, &str)],
) -> Vec<(&'static str, String)> {
    let tcp = [("tcp", tcp)];
    let all = tcp.iter().chain(changes).chain(more);
    all.map(|(path, value)| (*path, (*value).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Knobs as _;
    use std::collections::BTreeSet;

    #[test]
    fn every_question_is_sound_with_every_receiver_and_begins_with_a_stock_kernel() {
        let mut ids = BTreeSet::new();
        for question in LivePaper::ALL.into_iter().flat_map(questions) {
            assert!(ids.insert(question.id), "{} twice", question.id);
            assert!(!question.receivers[0].ours);
            let mut hashes = BTreeSet::new();
            for receiver in &question.receivers {
                let scenario = question.scenario(receiver);
                let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
                let flow = &scenario.flows[0];
                let ours = scenario.nodes.iter().filter(|node| node.name == question.host);
                assert_eq!(ours.count(), 1, "{}", question.id);
                // The other end is as Linux is, whoever stands at this one.
                let other = if scenario.node(flow.client).name == question.host {
                    &flow.server_tcp
                } else {
                    &flow.client_tcp
                };
                assert_eq!(other.ack.mechanism().name, "linux", "{}", question.id);
                assert_eq!(other.loss.mechanism().name, "rack", "{}", question.id);
                let same = receiver.ours && receiver.id == "linux";
                assert!(hashes.insert(scenario.hash()) || same, "{}", receiver.label);
            }
        }
    }
}
