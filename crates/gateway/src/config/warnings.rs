//! What is sound and may still not be what somebody wants: a remedy that cannot help on this machine.

use super::{ConfigFile, GatewayConfig, QueueRate};
use crate::machine::{InterfaceFacts, Machine};
use ackord_path::registry::ProxyChoice;
use ackord_scenario::{Errors, Problem, Wrong};
use ackord_units::Knobs as _;

/// Warnings so far, each with the keys that it is about.
struct Warnings<'a> {
    config: &'a GatewayConfig,
    machine: &'a Machine,
    found: Vec<(String, String, String)>,
}

/// What is to be said of a configuration on a machine; nothing where there is nothing to say.
pub fn warnings(file: &ConfigFile, config: &GatewayConfig, machine: &Machine) -> Option<Errors> {
    let mut warnings = Warnings { config, machine, found: Vec::new() };
    warnings.interfaces();
    warnings.forwarding();
    warnings.rates();
    warnings.control();
    warnings.remedies();
    let problem = |(path, what, help): (String, String, String)| Problem {
        place: file.place_of(&path),
        path,
        wrong: Wrong::Other { what, help, first: None },
    };
    let problems: Vec<Problem> = warnings.found.into_iter().map(problem).collect();
    (!problems.is_empty()).then(|| file.told(problems))
}

impl<'a> Warnings<'a> {
    fn add(&mut self, path: impl Into<String>, what: impl Into<String>, help: impl Into<String>) {
        self.found.push((path.into(), what.into(), help.into()));
    }

    /// The interfaces with the keys that name them.
    fn named(&self) -> impl Iterator<Item = (String, &'a str)> + use<'a> {
        let config = self.config;
        let only = config.lan.len() == 1;
        let lan = config.lan.iter().enumerate().map(move |(index, name)| {
            let path = if only { "lan".to_owned() } else { format!("lan.{index}") };
            (path, name.as_str())
        });
        [("wan".to_owned(), config.wan.as_str())].into_iter().chain(lan)
    }

    fn interfaces(&mut self) {
        for (path, name) in self.named() {
            match self.machine.interface(name) {
                None => self.add(
                    path,
                    format!("this machine has no interface `{name}`"),
                    "`ip link` lists those there are; the gateway waits for one that comes later",
                ),
                Some(InterfaceFacts { is_up: false, .. }) => self.add(
                    path,
                    format!("`{name}` is down: nothing passes there"),
                    format!("`ip link set dev {name} up`"),
                ),
                Some(InterfaceFacts { lro: true, .. }) => self.add(
                    path,
                    format!(
                        "`{name}` joins packets that nobody can take apart again (large receive \
                         offload): what is joined is neither kept nor retransmitted"
                    ),
                    format!("`ethtool -K {name} lro off`; GRO may stay on"),
                ),
                Some(_) => {}
            }
        }
        let bridge = self.machine.interface(&self.config.wan).and_then(|wan| wan.bridge.clone());
        if let Some(bridge) = bridge.filter(|bridge| self.config.lan.contains(bridge)) {
            self.add(
                "lan",
                format!(
                    "`{bridge}` is the bridge of which `{}` is a port: packets that it forwards between its \
                     ports do not pass `{bridge}` itself, and are not observed",
                    self.config.wan
                ),
                format!("the port towards the mobile hosts; `ip link show master {bridge}` lists them"),
            );
        }
    }

    /// A pair of interfaces between which the kernel carries nothing.
    fn forwarding(&mut self) {
        let bridge = |name: &str| self.machine.interface(name)?.bridge.as_deref();
        let wan = bridge(&self.config.wan);
        let routed = self.config.lan.iter().any(|lan| wan.is_none() || bridge(lan) != wan);
        if !routed {
            return;
        }
        let off = match (self.machine.forwards_v4, self.machine.forwards_v6) {
            (true, _) => return,
            (false, true) => "IPv4",
            (false, false) => "IP",
        };
        self.add(
            "lan",
            format!(
                "this machine does not forward {off}, and there is no bridge over both sides: \
                 nothing passes that could be helped"
            ),
            "`sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1`",
        );
    }

    /// A queue that is emptied faster than the interface sends never has anything waiting in it.
    fn rates(&mut self) {
        let (config, machine) = (self.config, self.machine);
        for (interface, queue) in config.queues() {
            let speed = machine.interface(interface).and_then(|facts| facts.speed);
            // One that follows the link finds out how fast that is.
            let Some(speed) =
                speed.filter(|speed| matches!(queue.rate, QueueRate::Fixed(rate) if rate > *speed))
            else {
                continue;
            };
            let side = if interface == config.wan { "wan" } else { "lan" };
            self.add(
                format!("queue.{side}.rate"),
                format!(
                    "`{interface}` sends at {speed}, so that packets wait there and not in this \
                     queue, which is emptied at {}",
                    queue.rate
                ),
                "a little less than what the link behind it can do: 90 % to 95 %",
            );
        }
    }

    /// A remedy fills the queue of the link behind it, and a literal freeze costs more than it saves.
    fn remedies(&mut self) {
        let config = self.config;
        if config.has_remedies() && config.queues.lan.is_none() {
            self.add(
                "lan",
                "a remedy without a queue: the treated connections fill the queue of the link, where all \
                 others wait longer and lose more (docs/gateway.md has the measurement)",
                "a queue at a little less than the link's rate: `[queue.lan]` with `discipline = \
                 \"fq-codel\"` and `rate`, or `--queue fq-codel --rate 18mbit`",
            );
        }
        let is_paper = |remedy: &ProxyChoice| {
            let mode = remedy.value("mode").map(|mode| mode.to_string());
            remedy.mechanism().name == "proxy-tcp" && mode.as_deref() == Some("paper")
        };
        for (index, _, remedy) in config.rules.iter() {
            if !remedy.is_some_and(is_paper) {
                continue;
            }
            let path = match config.rules.rules().get(index.0) {
                Some(_) => format!("rule.{}.remedy", index.0),
                None => "remedy".to_owned(),
            };
            self.add(
                path,
                "`mode = \"paper\"` freezes senders at the start of a fade, to which Linux senders answer by \
                 backing off: 0.46 of the goodput without a remedy was measured on a link with fades",
                "without `mode`, which means `practical`",
            );
        }
    }

    fn control(&mut self) {
        if !self.config.has_remedies() {
            return;
        }
        if self.config.control_per_mille() == 0 {
            self.add(
                "control",
                "no connection is left alone: nobody can tell what a remedy is worth, and one that \
                 harms is not found out",
                "`control = \"5 %\"`",
            );
        } else if self.config.control_per_mille() == 1_000 {
            self.add(
                "control",
                "every connection is left alone: no remedy is ever at work",
                "`control = \"5 %\"`",
            );
        }
    }
}
