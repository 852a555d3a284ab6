//! `ackord gateway check` and `plan`: what they say of a configuration, and with which exit code.

use crate::common::machine::{Machine, Who};
use crate::common::{json, output, printed, text};
use serde_json::Value;
use std::time::Duration;

#[test]
fn a_line_of_options_becomes_a_file_that_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let line = ["--wan", "nosuch0", "--lan", "nosuch1", "--remedy", "proxy-tcp:mode=paper"];
    let queue = ["--queue", "selective-drop", "--rate", "20mbit", "--control", "10%"];
    let check = [&["gateway", "check", "--print"][..], &line, &queue].concat();
    let file = folder.path().join("gateway.toml");
    std::fs::write(&file, printed(&check)).unwrap();
    let said = printed(&["gateway", "check", text(&file)]);
    assert!(said.contains("is sound"), "{said}");
    for word in ["nosuch0", "nosuch1", "proxy-tcp", "selective-drop", "20 Mbit/s"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    // Interfaces that are not there are a warning: they may come.
    let warned = output(&["gateway", "check", text(&file)]);
    let warnings = String::from_utf8_lossy(&warned.stderr);
    assert_eq!(warned.status.code(), Some(0));
    assert!(warnings.contains("warning: this machine has no interface `nosuch1`"), "{warnings}");
}

#[test]
fn warnings_have_an_exit_code_of_their_own_if_it_is_asked_for() {
    let line = ["--wan", "nosuch0", "--lan", "nosuch1", "--remedy", "proxy-tcp"];
    let code = |words: &[&str]| output(words).status.code();
    for what in ["check", "plan"] {
        let plain = [&["gateway", what][..], &line].concat();
        assert_eq!(code(&plain), Some(0));
        assert_eq!(code(&[&plain[..], &["--exit-code"]].concat()), Some(3));
    }
    assert_eq!(code(&["gateway", "probe", "nosuch0"]), Some(0));
    assert_eq!(code(&["gateway", "probe", "nosuch0", "--exit-code"]), Some(3));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    std::fs::write(&file, "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = \"proxi-tcp\"\n").unwrap();
    let nowhere = folder.path().join("nowhere.toml");
    let options = ["--wan", "eth0", "--lan", "wlan0"];
    let cases: [(Vec<&str>, &str); 6] = [
        (vec![text(&file)], "gateway.toml:3:10"),
        (vec![text(&nowhere)], "there is no such file"),
        (options.to_vec(), "nothing to do"),
        (
            [&options[..], &["--queue", "cake", "--rate", "1mbit"]].concat(),
            "no queue mechanism `cake`",
        ),
        ([&options[..], &["--queue", "drr"]].concat(), "--rate <RATE>"),
        (vec![], "<CONFIG"),
    ];
    for (arguments, says) in cases {
        for what in ["check", "plan"] {
            let done = output(&[&["gateway", what][..], &arguments].concat());
            let errors = String::from_utf8_lossy(&done.stderr);
            assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{errors}");
            assert!(errors.contains(says), "{says}: {errors}");
        }
    }
}

#[test]
fn a_plan_is_a_script_and_as_json_the_same_steps() {
    let line = ["gateway", "plan", "--wan", "nosuch0", "--lan", "nosuch1"];
    let beside = printed(&[&line[..], &["--remedy", "proxy-tcp"]].concat());
    assert!(beside.lines().all(|line| line.is_empty() || line.starts_with('#')), "{beside}");
    let queued = [&line[..], &["--queue", "drr", "--rate", "1mbit"]].concat();
    let script = printed(&queued);
    let steps = json(&[&queued[..], &["--json"]].concat())["steps"].clone();
    let commands: Vec<&str> = steps
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| [&step["command"], &step["undo"]])
        .filter_map(|command| command.as_str())
        .collect();
    assert_eq!(commands.len(), 3, "{steps}");
    assert!(commands.iter().all(|command| script.lines().any(|line| line == *command)));
}

/// A device as far as a plan says how it is made.
fn device(machine: &Machine, name: &str) -> Option<Value> {
    let show = ["ip", "-details", "-json", "link", "show", "dev", name];
    let shown = machine.enter().args(show).output().unwrap();
    let all: Value = serde_json::from_slice(&shown.stdout).ok()?;
    let (one, kind) = (&all[0], &all[0]["linkinfo"]);
    let has = |flag: &str| one["flags"].as_array().is_some_and(|all| all.iter().any(|f| f == flag));
    Some(serde_json::json!({
        "kind": kind["info_kind"],
        "type": kind["info_data"]["type"],
        "vnet_hdr": kind["info_data"]["vnet_hdr"],
        "mtu": one["mtu"],
        "txqlen": one["txqlen"],
        "flags": [has("UP"), has("NOARP")],
    }))
}

#[test]
fn what_a_plan_says_is_what_a_gateway_does_and_undoes() {
    let (Some(machine), Some(by_hand)) = (Machine::new(), Machine::new()) else { return };
    let shell = |machine: &Machine, script: &str| {
        let done = machine.enter().args(["sh", "-e", "-c", script]).output().unwrap();
        assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    };
    for machine in [&machine, &by_hand] {
        shell(
            machine,
            "ip link add wan0 type veth peer name lan0
             for one in wan0 lan0; do ip link set $one addrgenmode none; ip link set $one up; done",
        );
    }
    let file = machine.folder("state").join("gateway.toml");
    let text_of_file = format!(
        "wan = \"wan0\"\nlan = \"lan0\"\nremedy = \"snoop\"\n[queue.lan]\ndiscipline = \"drr\"\n\
         rate = \"20 Mbit/s\"\n[metrics]\nlisten = \"none\"\n[state]\ndirectory = {:?}\n",
        file.parent().unwrap().display().to_string()
    );
    std::fs::write(&file, text_of_file).unwrap();
    let (before, before_by_hand) = (machine.state(), by_hand.state());
    let (mut plan, _) = machine.ackord(Who::Root, &["gateway", "plan", text(&file)]);
    let script = String::from_utf8(plan.output().unwrap().stdout).unwrap();
    let (does, undoes) = script.split_once("# Undone").expect("there is a queue");
    assert_eq!(machine.state(), before, "a plan changes nothing");

    shell(&by_hand, does);
    let planned = device(&by_hand, "ackord0").expect("the plan makes it");
    let mut run = machine.start(Who::Root, &["gateway", "run", text(&file)]);
    let made = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        device(&machine, "ackord0").filter(|made| made["flags"] == planned["flags"])
    });
    let others = machine.state().lines().count();
    let process = run.program().expect("it runs");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::SIGTERM).unwrap();
    assert!(run.child.wait().unwrap().success());
    assert_eq!(made, Some(planned));
    assert_eq!(machine.state(), before, "what was done is undone");

    // Nothing but what the plan has: the same lines of links, addresses, routes and qdiscs.
    assert_eq!(others, by_hand.state().lines().count());
    shell(&by_hand, &format!("#{undoes}"));
    assert_eq!(by_hand.state(), before_by_hand);
}

#[test]
fn advise_forecasts_from_a_capture_or_prints_why_it_does_not() {
    let folder = tempfile::tempdir().unwrap();
    // Eight downloads over a link that loses 1 %, one after the other.
    let mut scenario = "version = 1\nname = \"lossy\"\npurpose = \"Downloads\"\nseed = 1\nduration = \"24 s\"\n\
        [hosts.fixed]\n[hosts.mobile]\n[routers.base]\n[[links]]\nname = \"wired\"\nfrom = \"fixed\"\n\
        to = \"base\"\nrate = \"1 Gbit/s\"\ndelay = \"18 ms\"\n[[links]]\nname = \"air\"\nfrom = \"base\"\n\
        to = \"mobile\"\nrate = \"20 Mbit/s\"\ndelay = \"4 ms\"\n\
        loss = { kind = \"random\", per_packet = \"1 %\" }\n[tcp]\nprofile = \"linux\"\n\
        [record]\ncaptures = [\"air\", \"air.reverse\"]\n"
        .to_owned();
    for number in 0..8 {
        scenario.push_str(&format!(
            "[[flows]]\nname = \"download-{number}\"\nfrom = \"mobile\"\nto = \"fixed\"\nsends = \"server\"\n\
             start = \"{} s\"\ntraffic = {{ kind = \"bulk\", size = \"500 kB\" }}\n",
            3 * number
        ));
    }
    let file = folder.path().join("lossy.toml");
    std::fs::write(&file, scenario).unwrap();
    printed(&["run", text(&file), "--pcap", text(folder.path())]);
    let capture = folder.path().join("air.at-base.pcapng");
    let found = json(&["gateway", "advise", "--capture", text(&capture), "--json"]);
    assert_eq!(found["forecast"]["downloads"], 8, "{found}");
    assert_eq!(found["forecast"]["congestion_control"], "CUBIC", "{found}");
    let gain = found["forecast"]["remedies"][0]["gain_percent"].as_f64().unwrap();
    assert!(gain > 15.0, "{found}");
    // No time, no forecast.
    let said = printed(&["gateway", "advise", "--capture", text(&capture), "--predict-for", "0 s"]);
    assert!(said.starts_with("No forecast: none was requested"), "{said}");
    // A capture and an interface exclude each other.
    let refused = output(&["gateway", "advise", "--capture", text(&capture), "--lan", "lo"]);
    assert_eq!(refused.status.code(), Some(2));
}
