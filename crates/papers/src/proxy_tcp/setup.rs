//! The paper's paths, and the boxes and senders that are compared on them.

use crate::plan::{File, Setup, file, set, set_each};
use ackord_scenario::Override;
use ackord_units::Span;

/// Fig. 5 with bit errors.
pub(super) const BIT_ERRORS: File = file!("proxy-tcp/bit-errors");
/// Fig. 5 with a fade.
pub(super) const FADING: File = file!("proxy-tcp/fading");
/// The path on which a real kernel was measured.
pub(super) const STOCK_LINUX: File = file!("proxy-tcp/stock-linux");
/// Fig. 5 with bit errors, and the mobile host sends.
pub(super) const UPLOAD: File = file!("proxy-tcp/upload");
/// Fig. 5 with bit errors, and wire between box and base station.
pub(super) const DISTANCE: File = file!("proxy-tcp/distance");
/// Fig. 5 with another base station.
pub(super) const HANDOVER: File = file!("proxy-tcp/handover");
pub(super) const FILES: [File; 6] = [BIT_ERRORS, FADING, STOCK_LINUX, UPLOAD, DISTANCE, HANDOVER];

/// Of a box, a sender, a variant: in names of claims and files.
pub(super) type Id = &'static str;
/// A box and a sender.
pub(super) type Pair = (Id, Id);

/// Payload of a data packet on the paper's path, bytes: its text gives none; 1000 is ns-2's.
pub(super) const PAYLOAD_BYTES: f64 = 1_000.0;
/// Of the wireless link, Mbit/s.
pub(super) const AIR_MBIT_S: f64 = 2.0;

/// What stands at the base station.
#[derive(Debug, PartialEq)]
pub(super) struct Middle {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    /// As in a scenario file.
    pub(super) proxy: &'static str,
}

const fn middle(id: &'static str, label: &'static str, proxy: &'static str) -> Middle {
    Middle { id, label, proxy }
}

/// Every box that is compared, and none.
pub(super) static BOXES: [Middle; 8] = [
    middle("none", "none", "none"),
    middle("snoop", "Snoop", "snoop"),
    middle("i-tcp", "I-TCP", "i-tcp"),
    middle("mtcp", "MTCP", "mtcp"),
    middle("m-tcp", "M-TCP", "m-tcp"),
    middle("paper", "Proxy, paper", "{ kind = \"proxy-tcp\", mode = \"paper\" }"),
    middle("practical", "Proxy, practical", "proxy-tcp"),
    middle("in-path", "Proxy, in path", "{ kind = \"proxy-tcp\", place = \"in-path\" }"),
];

/// The paper's box read in the way that is kindest to it.
static DUPLICATES: Middle = middle(
    "duplicates",
    "Proxy, paper, also after duplicates",
    "{ kind = \"proxy-tcp\", mode = \"paper\", proxy_ack = \"duplicates\" }",
);

/// Who sends.
#[derive(Debug, PartialEq)]
pub(super) struct Sender {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) changes: &'static [(&'static str, &'static str)],
}

/// Every sender that is compared.
pub(super) static SENDERS: [Sender; 4] = [
    Sender { id: "ns2", label: "ns-2 Reno", changes: &[] },
    Sender {
        id: "linux",
        label: "linux",
        changes: &[("tcp.profile", "linux"), ("tcp.max_window", "1000")],
    },
    Sender {
        id: "linux-no-timestamps",
        label: "no timestamps",
        changes: &[("tcp.profile", "linux"), ("tcp.max_window", "1000"), ("tcp.timestamps", "off")],
    },
    Sender {
        id: "linux-no-sack",
        label: "no SACK",
        changes: &[
            ("tcp.profile", "linux"),
            ("tcp.max_window", "1000"),
            ("tcp.sack", "off"),
            // What a stock kernel falls back to.
            ("tcp.recovery", "newreno"),
        ],
    },
];

/// The sender of this name.
///
/// # Panics
/// If there is none: for names written in this folder.
pub(super) fn sender(id: &str) -> &'static Sender {
    SENDERS.iter().find(|sender| sender.id == id).expect("one of the list")
}

/// The box of this name.
///
/// # Panics
/// If there is none: for names written in this folder.
pub(super) fn boxed(id: &str) -> &'static Middle {
    let mut known = BOXES.iter().chain([&DUPLICATES]);
    known.find(|middle| middle.id == id).expect("one of the list")
}

/// Every box with every sender.
pub(super) fn pairs() -> impl Iterator<Item = Pair> {
    BOXES.iter().flat_map(|middle| SENDERS.iter().map(|sender| (middle.id, sender.id)))
}

/// What makes a scenario file that of a box and a sender.
pub(super) fn pair((middle, of): Pair) -> Vec<Override> {
    [boxed(middle).changes(), sender(of).changes()].concat()
}

impl Middle {
    pub(super) fn changes(&self) -> Vec<Override> {
        vec![set("proxies.base.proxy", self.proxy)]
    }
}

impl Sender {
    pub(super) fn changes(&self) -> Vec<Override> {
        set_each(self.changes)
    }
}

/// Runs of a file with bit errors, so long where the changes say nothing else: the last change of a path is the one
/// that holds.
pub(super) fn lasting(lasts: Span, file: File, changes: Vec<Override>) -> Setup {
    Setup::new(file, vec![set("duration", lasts.to_string())]).with(changes)
}

/// One damaged byte in so many, in both directions of the wireless link.
pub(super) fn errors(bytes: f64) -> Vec<Override> {
    let percent = format!("{:?} %", 100.0 / bytes);
    let both = ["links.air.loss.per_byte", "links.air.reverse.loss.per_byte"];
    both.iter().map(|path| set(path, percent.clone())).collect()
}

/// The wireless link fades from then on, so long: seconds.
pub(super) fn fades(windows: &[(f64, f64)]) -> Vec<Override> {
    let list = |pick: fn(&(f64, f64)) -> f64| {
        let times: Vec<String> =
            windows.iter().map(|window| format!("\"{:.0} us\"", pick(window) * 1e6)).collect();
        format!("[{}]", times.join(", "))
    };
    let value = format!(
        "{{ kind = \"schedule\", from = {}, for = {} }}",
        list(|window| window.0),
        list(|window| window.1)
    );
    vec![set("links.air.outage", value)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Rate;

    #[test]
    fn the_files_are_the_papers_path_and_the_measured_one() {
        for file in FILES {
            let path = file.path;
            let plain = crate::testkit::sound(file);
            let air = plain.links.last().expect("a wireless link");
            let rates = [&plain.links[0], air].map(|link| link.forward.rate);
            let expected = if file == STOCK_LINUX { [10, 100] } else { [10, 2] };
            assert_eq!(rates, expected.map(Rate::from_mbits_per_sec), "{path}");
            let none = Span::from_millis(0);
            let delays = plain.links.iter().fold(none, |sum, link| sum + link.forward.delay);
            let one_way = if file == STOCK_LINUX { 20 } else { 40 };
            assert_eq!(delays, Span::from_millis(one_way), "{path}");
        }
    }

    #[test]
    fn every_box_and_sender_makes_a_sound_scenario_of_its_own() {
        let mut hashes = std::collections::BTreeSet::new();
        for one in pairs() {
            let setup = Setup::new(BIT_ERRORS, pair(one)).with(errors(131_072.0));
            let made = setup.scenario().expect(one.0);
            assert!(hashes.insert(made.hash()), "{one:?}");
        }
    }
}
