//! What is tried: scenarios, and the ways, senders and remedies that each is tried with.

use ackord_live::Direction;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};

/// A scenario with a router at which a gateway may stand.
#[derive(Debug)]
pub struct Trial {
    /// Its name, and that of its file in `scenarios/gateway`.
    pub name: &'static str,
    /// What is asked of it.
    pub asks: Question,
    text: &'static str,
}

/// What a trial asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What a remedy does for one flow over a troubled wireless link.
    Transfer,
    /// How two flows share a link before which the gateway has a queue.
    Sharing,
}

/// Embeds `scenarios/gateway/NAME.toml` of the repository for each name.
macro_rules! embedded {
    ($($name:literal $asks:ident),* $(,)?) => {
        &[$(Trial {
            name: $name,
            asks: Question::$asks,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../scenarios/gateway/", $name, ".toml"
            )),
        }),*]
    };
}

/// Every trial, in the order in which they are told.
pub static TRIALS: &[Trial] = embedded![
    "outage-1500" Transfer,
    "outage-2500" Transfer,
    "loss-05" Transfer,
    "loss-1" Transfer,
    "loss-3" Transfer,
    "bursts" Transfer,
    "short-queue" Transfer,
    "delay-jumps" Transfer,
    "cubic-beside-bbr" Sharing,
    "unequal-round-trips" Sharing,
];

/// Declares an enum of words that users write.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$each])* $variant),* }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// As a user writes it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    };
}

words! {
    /// Which Internet Protocol.
    Family {
        /// IPv4.
        V4 = "ipv4",
        /// IPv6.
        V6 = "ipv6",
    }
}

words! {
    /// The congestion control of whoever sends.
    Sender {
        /// RFC 9438.
        Cubic = "cubic",
        /// RFC 5681.
        Reno = "reno",
        /// BBR.
        Bbr = "bbr",
    }
}

words! {
    /// What the gateway does.
    Remedy {
        /// Nothing: there is none. Before a bottleneck stands a queue that drops at its end.
        None = "none",
        /// Proxy TCP as its authors describe it.
        ProxyTcpPaper = "proxy-tcp-paper",
        /// Proxy TCP with its gaps filled.
        ProxyTcp = "proxy-tcp",
        /// Snoop.
        Snoop = "snoop",
        /// A queue in the path that drops selectively.
        SelectiveDrop = "selective-drop",
    }
}

impl Sender {
    /// What a scenario says of it. Reno has the RFC's count there unless a kernel's is asked for, whose
    /// controls all count segments; CUBIC is the profile's own.
    fn congestion(self) -> &'static str {
        match self {
            Sender::Reno => "{ kind = \"reno\", growth = \"per-segment\" }",
            other => other.name(),
        }
    }
}

impl Remedy {
    /// Whether a trial that asks this is tried with it.
    pub fn is_for(self, question: Question) -> bool {
        match question {
            Question::Transfer => self != Remedy::SelectiveDrop,
            Question::Sharing => matches!(self, Remedy::None | Remedy::SelectiveDrop),
        }
    }

    fn overrides(self) -> Vec<Override> {
        let proxy = |knob: &str, value| Override::new(format!("proxies.base.proxy{knob}"), value);
        match self {
            Remedy::None => Vec::new(),
            Remedy::ProxyTcp => vec![proxy("", "proxy-tcp")],
            Remedy::ProxyTcpPaper => vec![proxy("", "proxy-tcp"), proxy(".mode", "paper")],
            // Beside the path nothing goes ahead of what waits in the link's queue, either.
            Remedy::Snoop => {
                vec![proxy("", "snoop"), proxy(".stands", "beside"), proxy(".priority", "none")]
            }
            Remedy::SelectiveDrop => vec![Override::new("links.air.queue", "selective-drop")],
        }
    }
}

/// A scenario in one of the ways in which it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Which scenario.
    pub trial: &'static Trial,
    /// Which way.
    pub direction: Direction,
    /// Over which protocol.
    pub family: Family,
    /// The senders; of flows that share a link each has its own.
    pub sender: Option<Sender>,
    /// What the gateway does.
    pub remedy: Remedy,
}

/// What is wanted. Where lists of ways, protocols and senders are empty, each of theirs is wanted, but not every
/// combination: a CUBIC download over IPv4, and what differs from it in one of them.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Which scenarios.
    pub trials: Vec<&'static Trial>,
    /// Which ways.
    pub directions: Vec<Direction>,
    /// Which protocols.
    pub families: Vec<Family>,
    /// Which senders.
    pub senders: Vec<Sender>,
    /// Which remedies.
    pub remedies: Vec<Remedy>,
}

impl Wanted {
    /// What is to be tried, those that differ in the remedy alone one after the other.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        let wants = |list: &[Remedy], one| list.is_empty() || list.contains(one);
        for trial in TRIALS.iter().filter(|trial| self.wants(trial)) {
            for (direction, family, sender) in self.circumstances(trial.asks) {
                let remedies = Remedy::ALL.iter().filter(|one| one.is_for(trial.asks));
                let remedies = remedies.filter(|one| wants(&self.remedies, one));
                cells.extend(remedies.map(|&remedy| Cell {
                    trial,
                    direction,
                    family,
                    sender,
                    remedy,
                }));
            }
        }
        cells
    }

    fn wants(&self, trial: &Trial) -> bool {
        self.trials.is_empty() || self.trials.iter().any(|one| one.name == trial.name)
    }

    fn circumstances(&self, question: Question) -> Vec<(Direction, Family, Option<Sender>)> {
        fn or_all<T: Copy>(list: &[T], all: &[T]) -> Vec<T> {
            if list.is_empty() { all.to_vec() } else { list.to_vec() }
        }
        if question == Question::Sharing {
            return vec![(Direction::Download, Family::V4, None)];
        }
        let mut all = Vec::new();
        for direction in or_all(&self.directions, Direction::ALL) {
            for family in or_all(&self.families, Family::ALL) {
                for sender in or_all(&self.senders, Sender::ALL) {
                    // Where nothing is said, at most one thing is not as in a CUBIC download over IPv4.
                    let unusual = [
                        self.directions.is_empty() && direction != Direction::Download,
                        self.families.is_empty() && family != Family::V4,
                        self.senders.is_empty() && sender != Sender::Cubic,
                    ];
                    if unusual.into_iter().filter(|one| *one).count() <= 1 {
                        all.push((direction, family, Some(sender)));
                    }
                }
            }
        }
        all
    }
}

impl Cell {
    /// Its name without the remedy.
    pub fn circumstances(&self) -> String {
        let words = [Some(self.trial.name), Some(self.direction.name()), Some(self.family.name())];
        let sender = self.sender.map(Sender::name);
        words.into_iter().chain([sender]).flatten().collect::<Vec<_>>().join(", ")
    }

    /// Its name, as progress and results tell it.
    pub fn name(&self) -> String {
        format!("{}, {}", self.circumstances(), self.remedy.name())
    }

    /// The scenario; `duration` in place of the file's, if any.
    ///
    /// # Errors
    /// When the file is not sound, which its test excludes.
    pub fn scenario(&self, duration: Option<&str>) -> Result<Scenario, Errors> {
        let mut changes = self.remedy.overrides();
        if self.direction == Direction::Upload {
            changes.push(Override::new("flows.transfer.sends", "client"));
        }
        if let Some(sender) = self.sender {
            changes.push(Override::new("tcp.congestion", sender.congestion()));
        }
        if self.family == Family::V6 {
            changes.push(Override::new("flows.transfer.ip", "v6"));
            changes.push(Override::new("tcp.mss", "1440 B"));
        }
        changes.extend(duration.map(|duration| Override::new("duration", duration)));
        let file = format!("scenarios/gateway/{}.toml", self.trial.name);
        ScenarioFile::new(file, self.trial.text).with_overrides(changes).check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_path::registry::{ProxyChoice, QueueChoice};
    use ackord_scenario::Stack;
    use ackord_units::Knobs as _;
    use ackord_units::{Choice as _, KnobValue};
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_cell_is_sound_and_has_a_name_of_its_own() {
        let cells = Wanted::default().cells();
        let names: BTreeSet<String> = cells.iter().map(Cell::name).collect();
        assert_eq!(names.len(), cells.len());
        for cell in &cells {
            let scenario = cell.scenario(None).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(scenario.proxies.len(), 1, "{}", cell.name());
            let treated = matches!(cell.remedy, Remedy::None | Remedy::SelectiveDrop);
            assert_eq!(scenario.proxies[0].choice.is_none(), treated, "{}", cell.name());
            for flow in &scenario.flows {
                assert_eq!(flow.sender_tcp().loss.mechanism().name, "rack", "{}", cell.name());
            }
        }
    }

    /// Live stands the kernel's sender: the simulated one is that too, not the RFC's of the same name.
    #[test]
    fn a_simulated_sender_counts_as_the_kernels_does() {
        let linux = Stack::named("linux").expect("a profile").congestion;
        for cell in Wanted::default().cells() {
            for flow in &cell.scenario(None).expect("sound").flows {
                let congestion = &flow.sender_tcp().congestion;
                match congestion.mechanism().name {
                    "cubic" => assert_eq!(*congestion, linux, "{}", cell.name()),
                    "reno" => assert_eq!(
                        congestion.value("growth"),
                        Some(KnobValue::Choice("per-segment")),
                        "{}",
                        cell.name()
                    ),
                    other => assert_eq!(other, "bbr", "{}", cell.name()),
                }
            }
        }
    }

    #[test]
    fn unasked_nothing_differs_from_a_cubic_download_over_ipv4_in_two_respects() {
        let wanted = Wanted { remedies: vec![Remedy::None], ..Wanted::default() };
        let of = |wanted: &Wanted| {
            let cells = wanted.cells().into_iter().filter(|cell| cell.trial.name == "bursts");
            cells.map(|cell| cell.circumstances()).collect::<Vec<_>>()
        };
        let usual = ["download, ipv4, cubic", "download, ipv4, reno", "download, ipv4, bbr"];
        let others = ["download, ipv6, cubic", "upload, ipv4, cubic"];
        let all: Vec<_> =
            usual.into_iter().chain(others).map(|one| format!("bursts, {one}")).collect();
        assert_eq!(of(&wanted), all);
        let asked = Wanted {
            directions: vec![Direction::Upload],
            families: vec![Family::V6],
            senders: vec![Sender::Bbr],
            ..wanted
        };
        assert_eq!(of(&asked), ["bursts, upload, ipv6, bbr"]);
    }

    #[test]
    fn the_remedies_are_registered() {
        for remedy in ["proxy-tcp", "snoop"] {
            assert!(ProxyChoice::named(remedy).is_some());
        }
        assert!(QueueChoice::named(Remedy::SelectiveDrop.name()).is_some());
    }

    #[test]
    fn the_folder_holds_these_and_no_others() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/gateway");
        let files = std::fs::read_dir(folder).expect("the folder is in the repository");
        let files: BTreeSet<String> = files
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        let known: BTreeSet<String> =
            TRIALS.iter().map(|trial| format!("{}.toml", trial.name)).collect();
        assert_eq!(files, known);
    }
}
