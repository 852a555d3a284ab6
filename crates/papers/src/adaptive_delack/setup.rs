//! The paper's scenario files, the ACK policies compared, and the senders.

use crate::plan::{File, file, set};
use crate::tables::choices;
use ackord_scenario::Override;

pub(super) const SIMULATION: File = file!("adaptive-delack/simulation");
pub(super) const PHONE: File = file!("adaptive-delack/phone");
pub(super) const SIDE_BY_SIDE: File = file!("adaptive-delack/side-by-side");
pub(super) const WIRED: File = file!("adaptive-delack/wired");
pub(super) const FILES: [File; 4] = [SIMULATION, PHONE, SIDE_BY_SIDE, WIRED];

/// A receiver's ACK policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// In names of claims and files.
    pub(super) id: &'static str,
    /// For people.
    pub(super) label: &'static str,
    /// As a scenario has it.
    ack: &'static str,
    /// The flows whose receivers have it; others keep that of the file.
    flows: &'static str,
}

impl Policy {
    /// The change to a scenario's receivers.
    pub(super) fn set(self) -> Override {
        set(&format!("flows.{}.receiver_tcp.ack", self.flows), self.ack)
    }
}

const fn policy(id: &'static str, label: &'static str, ack: &'static str) -> Policy {
    Policy { id, label, ack, flows: "flow" }
}

/// §4: what the paper starts from. ns-3 counts segments of any size and acknowledges the first one at
/// once, whatever the timeout.
pub(super) const DELAYED_NS3: Policy = policy(
    "delayed",
    "delayed",
    r#"{ kind = "quickack", count = 1, timeout = "200 ms", counts = "any" }"#,
);
pub(super) const STATIC_900: Policy = policy(
    "static-0.9",
    "0.9 ms",
    r#"{ kind = "adaptive-static", timeout = "0.9 ms", counts = "any" }"#,
);
pub(super) const STATIC_800: Policy = policy(
    "static-0.8",
    "0.8 ms",
    r#"{ kind = "adaptive-static", timeout = "0.8 ms", counts = "any" }"#,
);
pub(super) const PAPER_NS3: Policy = policy(
    "adaptive-paper",
    "adaptive paper",
    r#"{ kind = "adaptive", mode = "paper", counts = "any" }"#,
);

/// The same by RFC 5681, which counts full-sized segments: for everything but §4.
pub(super) const DELAYED: Policy =
    policy("delayed", "delayed", r#"{ kind = "delayed", timeout = "200 ms" }"#);
pub(super) const STATIC_400: Policy =
    policy("static-0.4", "0.4 ms", r#"{ kind = "adaptive-static", timeout = "0.4 ms" }"#);
/// The same at every phone of the scenario.
pub(super) const STATIC_400_ALL: Policy =
    Policy { id: "static-0.4-all", label: "0.4 ms, all phones", flows: "*", ..STATIC_400 };
pub(super) const STATIC_600: Policy =
    policy("static-0.6", "0.6 ms", r#"{ kind = "adaptive-static", timeout = "0.6 ms" }"#);
pub(super) const STATIC: Policy =
    policy("static-0.8", "0.8 ms", r#"{ kind = "adaptive-static", timeout = "0.8 ms" }"#);
pub(super) const PAPER: Policy =
    policy("adaptive-paper", "adaptive paper", r#"{ kind = "adaptive", mode = "paper" }"#);
pub(super) const PRACTICAL: Policy =
    policy("adaptive", "adaptive practical", r#"{ kind = "adaptive", mode = "practical" }"#);
pub(super) const LINUX: Policy = policy("linux", "linux", r#"{ kind = "linux" }"#);
pub(super) const IMMEDIATE: Policy = policy("immediate", "immediate", r#"{ kind = "immediate" }"#);

choices! {
    /// How a sender's cwnd grows.
    Growth {
        PerAck = "per-ack", "per ACK";
        PerByte = "per-byte", "per byte";
    }
}

impl Growth {
    pub(super) fn set(self) -> Override {
        set("tcp.congestion.growth", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Setup;
    use crate::testkit::sound;
    use ackord_units::Knobs as _;

    #[test]
    fn every_file_is_sound_and_says_where_it_comes_from() {
        for file in FILES {
            assert!(sound(file).source.contains("Lee et al. 2015"), "{}", file.path);
        }
    }

    #[test]
    fn every_policy_and_growth_fits_every_file() {
        let policies = [
            DELAYED_NS3,
            STATIC_900,
            STATIC_800,
            PAPER_NS3,
            DELAYED,
            STATIC_400,
            STATIC_400_ALL,
            STATIC_600,
            STATIC,
            PAPER,
            PRACTICAL,
            LINUX,
            IMMEDIATE,
        ];
        for (file, policy) in FILES.into_iter().flat_map(|f| policies.map(|p| (f, p))) {
            for growth in Growth::ALL {
                let scenario = Setup::new(file, vec![policy.set(), growth.set()]).scenario();
                let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
                let flow = &scenario.flows[0];
                let kind = flow.receiver_tcp().ack.mechanism().name;
                assert!(policy.ack.contains(&format!("\"{kind}\"")), "{}: {kind}", policy.ack);
            }
        }
    }
}
