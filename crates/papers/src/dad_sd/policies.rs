//! Every policy that is compared, as data: its name, the endpoint it runs on, and what it changes in
//! the scenario file. One more policy is one more line.

use crate::plan::set;
use ackord_scenario::Override;

/// A policy on an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// In names of claims and files.
    pub(super) id: &'static str,
    /// For people.
    pub(super) label: &'static str,
    pub(super) endpoint: Endpoint,
    /// Changes to `[tcp]`: key and value.
    changes: &'static [(&'static str, &'static str)],
}

/// What a policy runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// The `ns2` profile: what the paper was simulated with.
    Ns2,
    /// The same with selective acknowledgments and RFC 6675's recovery: ns-2's own SACK agent
    /// forgets at every acknowledgment what a policy would learn from.
    Ns2Sack,
    /// The same with SACK and timestamps.
    Ns2Full,
    /// The `linux` profile.
    Linux,
}

impl Endpoint {
    pub(super) fn label(self) -> &'static str {
        match self {
            Endpoint::Ns2 => "ns2",
            Endpoint::Ns2Sack => "ns2 + SACK",
            Endpoint::Ns2Full => "ns2 + SACK, timestamps",
            Endpoint::Linux => "linux",
        }
    }

    fn changes(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Endpoint::Ns2 => &[("sack", "off")],
            Endpoint::Ns2Sack => {
                &[("sack", "on"), ("recovery", r#"{ kind = "sack", prr = "off" }"#)]
            }
            Endpoint::Ns2Full => &[
                ("sack", "on"),
                ("timestamps", "on"),
                ("recovery", r#"{ kind = "sack", prr = "off" }"#),
            ],
            Endpoint::Linux => &[("profile", "linux")],
        }
    }
}

const fn on(
    endpoint: Endpoint,
    id: &'static str,
    label: &'static str,
    changes: &'static [(&'static str, &'static str)],
) -> Policy {
    Policy { id, label, endpoint, changes }
}

const NEWRENO: (&str, &str) = ("recovery", "ns2-newreno");
const FIXED_10: (&str, &str) =
    ("loss", r#"{ kind = "fixed", threshold = 10, limited_transmit = "every" }"#);
const FIXED_30: (&str, &str) =
    ("loss", r#"{ kind = "fixed", threshold = 30, limited_transmit = "every" }"#);
const PAPER: (&str, &str) = ("loss", r#"{ kind = "dad-sd", mode = "paper" }"#);
const UNBOUNDED_DAD: (&str, &str) = ("loss", r#"{ kind = "dad", floor = 1 }"#);
const UNBOUNDED: (&str, &str) = ("loss", r#"{ kind = "dad-sd", mode = "paper", floor = 1 }"#);
const LITERAL: (&str, &str) =
    ("loss", r#"{ kind = "dad-sd", mode = "paper", undo = "literal-table" }"#);
const PRACTICAL: (&str, &str) = ("loss", r#"{ kind = "dad-sd", mode = "practical" }"#);

/// Not the profile's: that of the other endpoints.
const RFC_8985: (&str, &str) = ("loss", r#"{ kind = "rack", rules = "rfc", timer_slack = "0 s" }"#);

/// Every policy, in the order of the tables. The paper does not say on which recovery DAD and
/// DAD-SD stood: they are shown on NewReno, and on Reno beside it. Nor does it say how low their thresholds
/// may fall: both are shown with a floor of 3, which fast retransmit has always had, and with none.
pub(super) static POLICIES: &[Policy] = &[
    on(Endpoint::Ns2, "reno", "Reno", &[("recovery", "ns2-reno")]),
    on(Endpoint::Ns2, "newreno", "NewReno", &[NEWRENO]),
    on(Endpoint::Ns2, "sack", "SACK", &[("sack", "on"), ("recovery", "ns2-sack1")]),
    on(Endpoint::Ns2, "fixed-10", "fixed(10)", &[NEWRENO, FIXED_10]),
    on(Endpoint::Ns2, "fixed-30", "fixed(30)", &[NEWRENO, FIXED_30]),
    on(Endpoint::Ns2, "dad", "DAD", &[NEWRENO, ("loss", "dad")]),
    on(Endpoint::Ns2, "dad-sd", "DAD-SD", &[NEWRENO, PAPER]),
    on(Endpoint::Ns2, "dad-no-floor", "DAD, no floor", &[NEWRENO, UNBOUNDED_DAD]),
    on(Endpoint::Ns2, "dad-sd-no-floor", "DAD-SD, no floor", &[NEWRENO, UNBOUNDED]),
    on(Endpoint::Ns2, "dad-sd-literal", "DAD-SD, literal table", &[NEWRENO, LITERAL]),
    on(Endpoint::Ns2, "dad-on-reno", "DAD on Reno", &[("recovery", "ns2-reno"), ("loss", "dad")]),
    on(Endpoint::Ns2, "dad-sd-on-reno", "DAD-SD on Reno", &[("recovery", "ns2-reno"), PAPER]),
    on(Endpoint::Ns2, "practical", "DAD-SD, practical", &[NEWRENO, PRACTICAL]),
    on(Endpoint::Ns2, "dcr", "DCR", &[NEWRENO, ("loss", "dcr")]),
    on(Endpoint::Ns2, "pr", "PR", &[NEWRENO, ("loss", "pr")]),
    on(Endpoint::Ns2, "eifel", "Eifel", &[NEWRENO, ("timestamps", "on"), ("loss", "eifel")]),
    on(
        Endpoint::Ns2Sack,
        "ba-plus-one",
        "Blanton-Allman +1",
        &[("loss", r#"{ kind = "blanton-allman", variant = "plus-one" }"#)],
    ),
    on(
        Endpoint::Ns2Sack,
        "ba-average",
        "Blanton-Allman average",
        &[("loss", r#"{ kind = "blanton-allman", variant = "average" }"#)],
    ),
    on(
        Endpoint::Ns2Sack,
        "ba-ewma",
        "Blanton-Allman EWMA",
        &[("loss", r#"{ kind = "blanton-allman", variant = "ewma" }"#)],
    ),
    on(
        Endpoint::Ns2Sack,
        "ba-max",
        "Blanton-Allman largest",
        &[("loss", r#"{ kind = "blanton-allman", variant = "max" }"#)],
    ),
    on(Endpoint::Ns2Sack, "ncr", "NCR, careful", &[("loss", "ncr")]),
    on(
        Endpoint::Ns2Sack,
        "ncr-aggressive",
        "NCR, aggressive",
        &[("loss", r#"{ kind = "ncr", variant = "aggressive" }"#)],
    ),
    on(Endpoint::Ns2Full, "fixed-30-full", "fixed(30)", &[FIXED_30]),
    on(Endpoint::Ns2Full, "practical-full", "DAD-SD, practical", &[PRACTICAL]),
    on(Endpoint::Ns2Full, "rack", "RACK-TLP", &[("loss", "rack")]),
    on(Endpoint::Linux, "fixed-3-linux", "fixed(3)", &[("loss", "fixed")]),
    on(Endpoint::Linux, "fixed-30-linux", "fixed(30)", &[FIXED_30]),
    on(Endpoint::Linux, "practical-linux", "DAD-SD, practical", &[PRACTICAL]),
    on(Endpoint::Linux, "rack-linux", "RACK-TLP", &[RFC_8985]),
];

/// Who is compared with whom: practical DAD-SD, RACK and fixed(30) on each endpoint that has them.
pub(super) struct Contest {
    pub(super) endpoint: &'static str,
    pub(super) practical: &'static str,
    pub(super) fixed_30: &'static str,
    /// RACK needs SACK: where the endpoint has none, it is taken with it.
    pub(super) rack: &'static str,
}

pub(super) static CONTESTS: [Contest; 3] = [
    Contest { endpoint: "ns2", practical: "practical", fixed_30: "fixed-30", rack: "rack" },
    Contest {
        endpoint: "ns2 + SACK, timestamps",
        practical: "practical-full",
        fixed_30: "fixed-30-full",
        rack: "rack",
    },
    Contest {
        endpoint: "linux",
        practical: "practical-linux",
        fixed_30: "fixed-30-linux",
        rack: "rack-linux",
    },
];

impl Policy {
    /// The policy of this name.
    ///
    /// # Panics
    /// If there is none: names are written in this folder.
    pub(super) fn named(id: &str) -> &'static Policy {
        let found = POLICIES.iter().find(|policy| policy.id == id);
        found.unwrap_or_else(|| panic!("no policy is called {id}"))
    }

    /// With its endpoint, where that is not the paper's.
    pub(super) fn full_label(&self) -> String {
        match self.endpoint {
            Endpoint::Ns2 => self.label.to_owned(),
            endpoint => format!("{} ({})", self.label, endpoint.label()),
        }
    }

    /// What makes the paper's scenario file this policy's.
    pub(super) fn overrides(&self) -> Vec<Override> {
        let all = self.endpoint.changes().iter().chain(self.changes);
        all.map(|(key, value)| set(&format!("tcp.{key}"), *value)).collect()
    }
}
