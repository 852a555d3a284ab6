//! The paper's numbers, its scenario files, and how a run is derived from them.

use crate::plan::{File, file, set};
use crate::tables::choices;
use ackord_scenario::Override;

/// Transfers of a size in the paper (§4.1).
pub(super) const RUNS_OF_PAPER: u32 = 30;

/// Numbers of one size for CUBIC and Reno, without and with ARI.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct PaperCells {
    pub(super) cubic: f64,
    pub(super) ari_cubic: f64,
    pub(super) reno: f64,
    pub(super) ari_reno: f64,
}

/// A transfer size, with the paper's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaperSize {
    /// In names of claims and files.
    pub(super) id: &'static str,
    /// For people.
    pub(super) label: &'static str,
    pub(super) bytes: u64,
    /// Tables 1 and 2, seconds.
    pub(super) time_s: PaperCells,
    /// Tables 3 and 4, Mbit/s.
    pub(super) rate_mbit_s: PaperCells,
}

const fn cells(cubic: f64, ari_cubic: f64, reno: f64, ari_reno: f64) -> PaperCells {
    PaperCells { cubic, ari_cubic, reno, ari_reno }
}

/// Lee et al. 2016 Tables 1 to 4.
pub(super) static SIZES: [PaperSize; 4] = [
    PaperSize {
        id: "0.1mb",
        label: "0.1 MB",
        bytes: 100_000,
        time_s: cells(0.107, 0.100, 0.103, 0.100),
        rate_mbit_s: cells(12.043, 14.153, 10.330, 14.193),
    },
    PaperSize {
        id: "0.3mb",
        label: "0.3 MB",
        bytes: 300_000,
        time_s: cells(0.267, 0.207, 0.337, 0.217),
        rate_mbit_s: cells(12.438, 14.133, 10.022, 13.496),
    },
    PaperSize {
        id: "0.5mb",
        label: "0.5 MB",
        bytes: 500_000,
        time_s: cells(0.367, 0.300, 0.500, 0.330),
        rate_mbit_s: cells(12.474, 14.903, 9.692, 12.536),
    },
    PaperSize {
        id: "1mb",
        label: "1 MB",
        bytes: 1_000_000,
        time_s: cells(0.840, 0.583, 1.133, 0.630),
        rate_mbit_s: cells(12.756, 14.350, 10.541, 13.477),
    },
];

pub(super) const TRANSFERS: File = file!("ari/transfers");
pub(super) const WRITE_WRITE_READ: File = file!("ari/write-write-read");
pub(super) const SMALL_WRITES: File = file!("ari/small-writes");
pub(super) const FILES: [File; 3] = [TRANSFERS, WRITE_WRITE_READ, SMALL_WRITES];

choices! {
    /// The host's congestion control.
    Control {
        Cubic = "cubic", "CUBIC";
        Reno = "reno", "Reno";
    }
}

choices! {
    /// What makes the host's congestion window grow.
    Growth {
        /// Every acknowledgment (RFC 5681 §3.1): what the paper describes (§2.1).
        PerAck = "per-ack";
        /// The bytes it acknowledges (RFC 3465): what Linux does since 2013.
        PerByte = "per-byte";
    }
}

choices! {
    /// The phone's ACK policy.
    Policy {
        /// Linux as the paper describes it: its baseline.
        QuickAck = "quickack", "Linux (paper)";
        /// ARI as on the paper's phone.
        Ari = "ari", "ARI (paper)";
        /// ARI with the size that is being transferred as the history's most frequent.
        AriHistory = "ari-history", "ARI (practical)";
        /// A stock Linux kernel as measured.
        Linux = "linux", "Linux (measured)";
        /// Every segment: the most that quick acknowledgments could do.
        Immediate = "immediate", "every segment";
        /// ARI as on the paper's phone with the count's division rounded down, of which exchanges of the file are
        /// asked only.
        AriRoundedDown = "ari-rounded-down", "ARI (paper), rounded down";
    }
}

choices! {
    /// Who else is on the air, and how far away the host is.
    Air {
        Quiet = "quiet", "quiet air";
        /// Two other stations, now and then.
        Busy = "busy", "busy air";
        /// A quiet air, and a host across the Internet: 20 ms away.
        Distant = "distant", "host 20 ms away";
    }
}

impl Control {
    /// The paper's numbers without and with ARI.
    pub(super) fn of(self, cells: &PaperCells) -> [f64; 2] {
        match self {
            Control::Cubic => [cells.cubic, cells.ari_cubic],
            Control::Reno => [cells.reno, cells.ari_reno],
        }
    }
}

impl Air {
    /// With the host beside the access point, as in the paper.
    pub(super) const NEAR: [Air; 2] = {
        let [quiet, busy, _] = Air::ALL;
        [quiet, busy]
    };

    /// Two stations with full queues of 1500 B packets for half a second on average, then silent
    /// for two: the neighbours of a laboratory, not a model of one.
    fn changes(self) -> Vec<Override> {
        match self {
            Air::Quiet => Vec::new(),
            Air::Distant => vec![set("links.wire.delay", "20 ms")],
            Air::Busy => vec![
                set("links.air.medium.stations", "2"),
                set("links.air.medium.station_on", "500 ms"),
                set("links.air.medium.station_off", "2 s"),
                // They are silent at first: by then it is as good as random whether they are.
                set("flows.transfer.start", "{ from = '5 s', to = '15 s' }"),
            ],
        }
    }
}

impl Policy {
    /// Every policy but the other reading of ARI's count.
    pub(super) fn of_transfers() -> impl Iterator<Item = Policy> {
        Policy::ALL.into_iter().filter(|policy| *policy != Policy::AriRoundedDown)
    }

    /// The phone's `ack` for transfers of this size.
    pub(super) fn ack(self, bytes: u64) -> String {
        match self {
            Policy::QuickAck => "{ kind = 'quickack', count = 2, timeout = '40 ms' }".to_owned(),
            Policy::Ari => "{ kind = 'ari', mode = 'paper', most_sent = '2 kB', \
                            segment = '536 B', timeout = '40 ms' }"
                .to_owned(),
            Policy::AriRoundedDown => "{ kind = 'ari', mode = 'paper', most_sent = '2 kB', \
                                       segment = '536 B', division = 'down', timeout = '40 ms' }"
                .to_owned(),
            Policy::AriHistory => format!(
                "{{ kind = 'ari', most_sent = '{bytes} B', segment = '536 B', timeout = '40 ms' }}"
            ),
            Policy::Linux | Policy::Immediate => self.id().to_owned(),
        }
    }

    /// The phone's Nagle: ARI turns it off.
    pub(super) fn nagle(self) -> &'static str {
        match self {
            Policy::Ari | Policy::AriRoundedDown | Policy::AriHistory => "ari",
            Policy::QuickAck | Policy::Linux | Policy::Immediate => "minshall",
        }
    }
}

/// One set-up of `transfers.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    /// Index into [`SIZES`].
    pub(super) size: usize,
    pub(super) control: Control,
    pub(super) growth: Growth,
    pub(super) policy: Policy,
    pub(super) air: Air,
}

impl Transfer {
    /// What the paper describes, for a size and control: a sender that grows per acknowledgment on an air of its
    /// own.
    pub(super) fn as_described(size: usize, control: Control, policy: Policy) -> Transfer {
        Transfer { size, control, growth: Growth::PerAck, policy, air: Air::Quiet }
    }

    pub(super) fn with(self, policy: Policy) -> Transfer {
        Transfer { policy, ..self }
    }

    pub(super) fn size(self) -> &'static PaperSize {
        &SIZES[self.size]
    }

    /// Its sender, for people.
    pub(super) fn host(self) -> String {
        format!("{}, {}", self.control.label(), self.growth.id())
    }

    pub(super) fn changes(self) -> Vec<Override> {
        let (bytes, growth) = (self.size().bytes, self.growth.id());
        let mut changes = self.air.changes();
        changes.extend([
            set("flows.transfer.traffic.size", format!("{bytes} B")),
            set(
                "flows.transfer.tcp.congestion",
                match self.control {
                    // With the profile's HyStart, which Linux's CUBIC has had since 2008.
                    Control::Cubic => format!("{{ growth = '{growth}' }}"),
                    Control::Reno => format!("{{ kind = 'reno', growth = '{growth}' }}"),
                },
            ),
            set("flows.transfer.receiver_tcp.ack", self.policy.ack(bytes)),
            set("flows.transfer.receiver_tcp.nagle", self.policy.nagle()),
        ]);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Setup;
    use crate::testkit::sound;
    use ackord_units::Knobs as _;

    #[test]
    fn every_file_and_every_set_up_is_sound() {
        for file in FILES {
            assert!(sound(file).source.starts_with("Lee et al. 2016"), "{}", file.path);
        }
        for (policy, air) in Policy::of_transfers().flat_map(|p| Air::NEAR.map(|air| (p, air))) {
            for (control, growth) in
                Control::ALL.iter().flat_map(|c| Growth::ALL.map(|growth| (*c, growth)))
            {
                let transfer = Transfer { size: 1, control, growth, policy, air };
                let setup = Setup::new(TRANSFERS, transfer.changes());
                let scenario = setup.scenario().expect("a sound set-up");
                let flow = &scenario.flows[0];
                assert_eq!(scenario.node(flow.client).name, "phone");
                assert_eq!(flow.sender_tcp().congestion.mechanism().name, control.id());
                assert_eq!(flow.sender_tcp().nagle.mechanism().name, "minshall");
                assert_eq!(flow.receiver_tcp().nagle.mechanism().name, policy.nagle());
            }
        }
    }

    /// Each mean of thirty times is a whole number of thirtieths of 0.1 s: the times were read from
    /// a clock that shows tenths of a second.
    #[test]
    fn the_papers_times_are_those_of_a_clock_of_a_tenth_of_a_second() {
        for size in &SIZES {
            let PaperCells { cubic, ari_cubic, reno, ari_reno } = size.time_s;
            for time in [cubic, ari_cubic, reno, ari_reno] {
                let sum = (time * 300.0).round() / 300.0;
                assert_eq!(format!("{sum:.3}"), format!("{time:.3}"), "{}", size.label);
            }
        }
    }
}
