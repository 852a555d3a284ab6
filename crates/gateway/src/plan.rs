//! Everything that a gateway changes on its machine, in order, each with what undoes it and a word why.
//!
//! Of commands only those are there that anybody can paste; a program in the kernel is attached by a system
//! call that no command of tc(8) makes, so it is told by what shows it.

use crate::config::{GatewayConfig, build_remedy};
use crate::machine::{KernelVersion, Machine};
use ackord_path::Proxy;
use ackord_units::Knobs;
use serde_json::{Value, json};
use std::fmt;

/// What is changed, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The kernel for which this is true.
    pub kernel: KernelVersion,
    /// What is changed; undone from the last to the first.
    pub steps: Vec<Step>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is changed, in words.
    pub what: String,
    /// What for.
    pub why: String,
    /// The command that does the same, where there is one.
    pub does: Option<String>,
    /// The command that undoes it, where one is needed.
    pub undoes: Option<String>,
    /// The command that shows it.
    pub shown_by: Option<String>,
    /// What becomes of it when the gateway is killed.
    pub after_crash: &'static str,
}

const NOTHING: &str = "gone with the process";
const JOURNAL: &str =
    "lets everything pass within 50 ms; undone at the next start, from the journal";

/// The name of the device of a queue, where no other is called so.
pub fn queue_device(index: usize) -> String {
    format!("ackord{index}")
}

impl Plan {
    /// What this configuration changes on this machine.
    pub fn of(config: &GatewayConfig, machine: &Machine) -> Plan {
        let mut plan = Plan { kernel: machine.kernel, steps: Vec::new() };
        plan.observe(config);
        if removes(config) {
            for lan in &config.lan {
                plan.attach(
                    (lan, "ingress"),
                    "ackord_suppress",
                    "removes duplicate acknowledgments of losses that are recovered from here, from mobile \
                     hosts whose senders use no timestamps; only those named in a map whose entries \
                     expire within 50 ms",
                );
            }
        }
        for (index, (interface, queue)) in config.queues().enumerate() {
            let device = queue_device(index);
            let is_bare = machine.interface(interface).is_some_and(|facts| facts.is_bare);
            plan.device(&device, interface, is_bare);
            let why = format!(
                "hands what leaves to {device}, where {} holds it, while the heartbeat is fresh; else \
                 the kernel sends it as if nothing were there",
                queue.discipline.mechanism().name
            );
            plan.attach((interface, "egress"), "ackord_steer", &why);
        }
        plan
    }

    fn observe(&mut self, config: &GatewayConfig) {
        let names: Vec<&str> =
            [&config.wan].into_iter().chain(&config.lan).map(String::as_str).collect();
        let (last, first) = names.split_last().expect("there is a WAN interface");
        self.steps.push(Step {
            what: format!("packet sockets on {} and {last}", first.join(", ")),
            why: "to see copies of what passes and to send beside it: no setting of any interface \
                  changes, not even to promiscuous"
                .to_owned(),
            does: None,
            undoes: None,
            shown_by: Some("ss --packet --processes".to_owned()),
            after_crash: NOTHING,
        });
    }

    /// A device through which packets reach this process.
    fn device(&mut self, device: &str, interface: &str, is_bare: bool) {
        let mode = if is_bare { "tun" } else { "tap" };
        let mut step = |what: String, why: &str, does: String, undoes: Option<String>| {
            self.steps.push(Step {
                what,
                why: why.to_owned(),
                does: Some(does),
                undoes,
                shown_by: Some(format!("ip -details link show dev {device}")),
                after_crash: NOTHING,
            });
        };
        step(
            format!("a {} device {device} (or the next number that is free)", mode.to_uppercase()),
            &format!("through which the gateway gets what is to leave by {interface}"),
            format!("ip tuntap add dev {device} mode {mode} vnet_hdr"),
            Some(format!("ip tuntap del dev {device} mode {mode}")),
        );
        step(
            format!("{device} up, without ARP and too narrow for IPv6 (RFC 8200 section 5)"),
            "so that it gets no address and sends nothing of its own",
            format!("ip link set dev {device} mtu 1000 txqueuelen 4096 arp off up"),
            None,
        );
    }

    /// A program at an interface.
    fn attach(&mut self, (interface, side): (&str, &str), program: &str, why: &str) {
        let name = format!("the program {program} at {interface} ({side})");
        if self.kernel >= KernelVersion::TCX {
            self.steps.push(Step {
                what: format!("{name}, by TCX"),
                why: why.to_owned(),
                does: None,
                undoes: None,
                shown_by: Some(format!("bpftool net show dev {interface}")),
                after_crash: NOTHING,
            });
            return;
        }
        let qdisc = format!("tc qdisc add dev {interface} clsact");
        if !self.steps.iter().any(|step| step.does.as_ref() == Some(&qdisc)) {
            self.steps.push(Step {
                what: format!("a clsact qdisc at {interface}, if it has none"),
                why: "where programs are attached in kernels before 6.6; it queues nothing"
                    .to_owned(),
                does: Some(qdisc),
                undoes: Some(format!("tc qdisc del dev {interface} clsact")),
                shown_by: Some(format!("tc qdisc show dev {interface} clsact")),
                after_crash: JOURNAL,
            });
        }
        self.steps.push(Step {
            what: format!("{name}, as a filter of that qdisc"),
            why: why.to_owned(),
            does: None,
            undoes: None,
            shown_by: Some(format!("tc filter show dev {interface} {side}")),
            after_crash: JOURNAL,
        });
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let step = |step: &Step| {
            json!({
                "what": step.what,
                "why": step.why,
                "command": step.does,
                "undo": step.undoes,
                "shown_by": step.shown_by,
                "after_crash": step.after_crash,
            })
        };
        let steps: Vec<Value> = self.steps.iter().map(step).collect();
        json!({ "kernel": format!("{}.{}", self.kernel.0, self.kernel.1), "steps": steps })
    }
}

/// Whether a remedy wants anything removed: its box stands in the path.
fn removes(config: &GatewayConfig) -> bool {
    let in_path = |choice| matches!(build_remedy(choice), Some(Proxy::InPath(_)));
    config.rules.iter().filter_map(|(_, _, remedy)| remedy).any(in_path)
}

impl fmt::Display for Plan {
    /// A script for a shell: comments, and the commands that undo behind those that do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# What the gateway changes, in order, as commands; on Linux {}.{}.",
            self.kernel.0, self.kernel.1
        )?;
        for step in &self.steps {
            writeln!(f, "\n# {}: {}", step.what, step.why)?;
            match (&step.does, &step.shown_by) {
                (Some(does), _) => writeln!(f, "{does}")?,
                (None, Some(shows)) => {
                    writeln!(f, "# no command does this; it is shown by: {shows}")?
                }
                (None, None) => {}
            }
            if step.after_crash != NOTHING {
                writeln!(f, "# after a crash: {}", step.after_crash)?;
            }
        }
        let undoes: Vec<&String> =
            self.steps.iter().rev().filter_map(|step| step.undoes.as_ref()).collect();
        if undoes.is_empty() {
            return writeln!(f, "\n# Nothing has to be undone: all of it goes with the process.");
        }
        writeln!(f, "\n# Undone when it ends, as commands:")?;
        undoes.iter().try_for_each(|undo| writeln!(f, "{undo}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InterfaceFacts;
    use crate::config::ConfigFile;

    fn plan(text: &str, kernel: KernelVersion) -> Plan {
        let config = ConfigFile::new("gateway.toml", text).check();
        let modem = InterfaceFacts {
            name: "wwan0".to_owned(),
            is_up: true,
            is_bare: true,
            speed: None,
            bridge: None,
            lro: false,
        };
        let machine =
            Machine { kernel, forwards_v4: true, forwards_v6: true, interfaces: vec![modem] };
        Plan::of(&config.unwrap_or_else(|errors| panic!("{errors}")), &machine)
    }

    fn commands(plan: &Plan) -> Vec<&str> {
        plan.steps.iter().filter_map(|step| step.does.as_deref()).collect()
    }

    const BOTH: &str = "wan = \"eth0\"\nlan = [\"wlan0\", \"wlan1\"]\nremedy = \"snoop\"\n\
                        [queue.lan]\ndiscipline = \"drr\"\nrate = \"20 Mbit/s\"\n";

    #[test]
    fn beside_the_path_nothing_is_changed() {
        let plan =
            plan("wan = \"eth0\"\nlan = \"wlan0\"\nremedy = \"proxy-tcp\"\n", KernelVersion::TCX);
        assert_eq!((plan.steps.len(), commands(&plan).len()), (1, 0));
        assert!(plan.to_string().contains("# Nothing has to be undone"));
    }

    #[test]
    fn a_queue_is_a_device_and_a_program_for_each_interface() {
        let plan = plan(BOTH, KernelVersion::TCX);
        assert_eq!(
            commands(&plan),
            [
                "ip tuntap add dev ackord0 mode tap vnet_hdr",
                "ip link set dev ackord0 mtu 1000 txqueuelen 4096 arp off up",
                "ip tuntap add dev ackord1 mode tap vnet_hdr",
                "ip link set dev ackord1 mtu 1000 txqueuelen 4096 arp off up",
            ]
        );
        let programs = plan.steps.iter().filter(|step| step.what.contains("by TCX")).count();
        assert_eq!(programs, 4, "one each that removes, one each that steers");
    }

    #[test]
    fn a_modem_without_ethernet_gets_a_device_like_itself() {
        let text = "wan = \"wwan0\"\nlan = \"eth0\"\n[queue.wan]\ndiscipline = \"drr\"\nrate = \"5 Mbit/s\"\n";
        let plan = plan(text, KernelVersion::TCX);
        assert_eq!(commands(&plan)[0], "ip tuntap add dev ackord0 mode tun vnet_hdr");
    }

    #[test]
    fn an_older_kernel_gets_one_clsact_an_interface_which_outlives_a_crash() {
        let plan = plan(BOTH, KernelVersion(6, 1));
        let qdiscs = commands(&plan).into_iter().filter(|one| one.starts_with("tc qdisc add"));
        assert_eq!(qdiscs.count(), 2);
        let text = plan.to_string();
        let undone = text.split("# Undone").nth(1).expect("something is undone");
        let order: Vec<&str> = undone.lines().skip(1).collect();
        assert_eq!(
            order,
            [
                "ip tuntap del dev ackord1 mode tap",
                "ip tuntap del dev ackord0 mode tap",
                "tc qdisc del dev wlan1 clsact",
                "tc qdisc del dev wlan0 clsact",
            ]
        );
        let steps = plan.to_json()["steps"].as_array().map(Vec::len);
        assert_eq!(steps, Some(plan.steps.len()));
    }

    #[test]
    fn everything_in_the_text_is_a_comment_or_a_command() {
        for line in plan(BOTH, KernelVersion(6, 1)).to_string().lines() {
            let command = ["ip ", "tc "].iter().any(|word| line.starts_with(word));
            assert!(line.is_empty() || line.starts_with("# ") || command, "{line}");
        }
    }
}
