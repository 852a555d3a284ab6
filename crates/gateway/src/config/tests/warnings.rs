//! What a file cannot have on this machine.

use super::*;
use crate::{InterfaceFacts, KernelVersion, Machine};

#[test]
fn what_cannot_help_here_is_a_warning_with_its_line() {
    let text = with("control = \"0 %\"\n[queue.lan]\ndiscipline = \"drr\"\nrate = \"2 Gbit/s\"\n");
    let facts = |name: &str| InterfaceFacts {
        name: name.to_owned(),
        is_up: true,
        is_bare: false,
        speed: Some(Rate::from_mbits_per_sec(1_000)),
        bridge: None,
        lro: false,
    };
    let machine = Machine {
        kernel: KernelVersion::TCX,
        forwards_v4: true,
        forwards_v6: false,
        interfaces: ["eth0", "wlan0"].map(facts).to_vec(),
    };
    let said = |text: &str, machine: &Machine| {
        let file = ConfigFile::new("gateway.toml", text);
        let config = file.check().unwrap_or_else(|errors| panic!("{errors}"));
        warnings(&file, &config, machine).map(|warnings| warnings.to_string())
    };
    let queued = &with("[queue.lan]\ndiscipline = \"fq-codel\"\nrate = \"18 Mbit/s\"\n")[..];
    assert_eq!(said(queued, &machine), None);
    let all = said(&text, &machine).expect("two");
    assert!(all.contains("gateway.toml:4:11") && all.contains("is left alone"), "{all}");
    assert!(all.contains("gateway.toml:7:8") && all.contains("sends at 1 Gbit/s"), "{all}");
    let one = |change: &dyn Fn(&mut Machine), words: &str| {
        let mut changed = machine.clone();
        change(&mut changed);
        let said = said(queued, &changed).unwrap_or_default();
        assert!(said.contains(words) && said.contains("1 error"), "{words}: {said}");
    };
    one(&|machine| machine.interfaces.truncate(1), "no interface `wlan0`");
    one(&|machine| machine.interfaces[0].is_up = false, "`ip link set dev eth0 up`");
    one(&|machine| machine.interfaces[1].lro = true, "`ethtool -K wlan0 lro off`");
    one(&|machine| machine.forwards_v4 = false, "does not forward IP,");
    one(
        &|machine| (machine.forwards_v4, machine.forwards_v6) = (false, true),
        "does not forward IPv4,",
    );
    // A bridge forwards by itself.
    let mut bridged = machine;
    bridged.forwards_v4 = false;
    bridged.interfaces.iter_mut().for_each(|one| one.bridge = Some("br0".to_owned()));
    assert_eq!(said(queued, &bridged), None);
    // The bridge itself does not carry what it forwards between its ports.
    bridged.forwards_v4 = true;
    let over = queued.replace("lan = \"wlan0\"", "lan = \"br0\"");
    bridged.interfaces[1] = facts("br0");
    let found = said(&over, &bridged).expect("one");
    assert!(
        found.contains("gateway.toml:2:7") && found.contains("of which `eth0` is a port"),
        "{found}"
    );
}

#[test]
fn a_remedy_without_a_queue_and_the_literal_freeze_are_warnings_with_their_lines() {
    let machine = Machine {
        kernel: KernelVersion::TCX,
        forwards_v4: true,
        forwards_v6: true,
        interfaces: Vec::new(),
    };
    let said = |text: &str| {
        let file = ConfigFile::new("gateway.toml", text);
        let config = file.check().unwrap_or_else(|errors| panic!("{errors}"));
        warnings(&file, &config, &machine).map(|found| found.to_string()).unwrap_or_default()
    };
    const QUEUE: &str = "[queue.lan]\ndiscipline = \"fq-codel\"\nrate = \"18 Mbit/s\"\n";
    const PAPER: &str = "remedy = { kind = \"proxy-tcp\", mode = \"paper\" }\n";
    let (without, freeze) = ("a remedy without a queue", "`mode = \"paper\"` freezes senders");
    let alone = said(MINIMAL);
    assert!(alone.contains(without) && !alone.contains(freeze), "{alone}");
    assert!(!said(&with(QUEUE)).contains(without));
    let only_queue = said(&format!("wan = \"a\"\nlan = \"b\"\n{QUEUE}"));
    assert!(!only_queue.contains(without), "{only_queue}");
    let all = said(&format!("wan = \"a\"\nlan = \"b\"\n{PAPER}{QUEUE}"));
    assert!(all.contains(freeze) && all.contains("gateway.toml:3:10"), "{all}");
    let rule = format!("[[rule]]\nname = \"some\"\nport = 80\n{PAPER}");
    let of_rule = said(&with(&format!("{QUEUE}{rule}")));
    assert!(of_rule.contains(freeze) && of_rule.contains("gateway.toml:10:10"), "{of_rule}");
}
