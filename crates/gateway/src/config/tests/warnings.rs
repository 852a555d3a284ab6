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
    assert_eq!(said(MINIMAL, &machine), None);
    let all = said(&text, &machine).expect("two");
    assert!(all.contains("gateway.toml:4:11") && all.contains("is left alone"), "{all}");
    assert!(all.contains("gateway.toml:7:8") && all.contains("sends at 1 Gbit/s"), "{all}");
    let one = |change: &dyn Fn(&mut Machine), words: &str| {
        let mut changed = machine.clone();
        change(&mut changed);
        let said = said(MINIMAL, &changed).unwrap_or_default();
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
    assert_eq!(said(MINIMAL, &bridged), None);
}
