//! What settings say against what the kernel that runs here then has; SKIPPED where no namespace
//! may be made.

use super::host::host_settings_with;
use super::*;
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sys::socket::{option, set_option};
use ackord_sys::{Inside, Namespace, NamespaceError};
use ackord_tcp::registry::{CHOICES, ENDPOINT, PROFILES, Stack};
use ackord_testing::skipped;
use ackord_units::{KnobKind, Knobs};
use nix::sys::socket::{AddressFamily, SockType};
use std::collections::BTreeSet;
use std::os::fd::AsFd as _;

pub(super) fn choices_of(name: &str) -> Stack {
    Stack::named(name).expect("it is listed")
}

/// With knobs of the endpoint changed.
pub(super) fn with(mut choices: Stack, changes: &[(&str, &str)]) -> Stack {
    for (knob, text) in changes {
        let kind = ENDPOINT.knob(knob).expect("it is listed").kind;
        assert!(choices.endpoint.set(knob, kind.parse(text).expect("a value")), "{knob}");
    }
    choices
}

/// Every endpoint worth a look: the profiles, and each mechanism once.
fn varied() -> Vec<(String, Stack)> {
    let mut all: Vec<_> =
        PROFILES.iter().map(|p| (p.name.to_owned(), choices_of(p.name))).collect();
    for chosen in CHOICES {
        for mechanism in chosen.mechanisms {
            let mut choices = choices_of("rfc");
            assert!(choices.choose(chosen.key, mechanism.name), "{}", mechanism.name);
            all.push((format!("{} = {}", chosen.key, mechanism.name), choices));
        }
    }
    for knob in ENDPOINT.knobs {
        if let KnobKind::Choice(words) = knob.kind {
            all.extend(words.iter().map(|word| {
                let change = [(knob.name, *word)];
                (format!("{} = {word}", knob.name), with(choices_of("rfc"), &change))
            }));
        }
    }
    let changes = [
        ("mss", "536 B"),
        ("initial_window", "3"),
        ("receive_buffer", "100 kB"),
        ("send_buffer", "200 kB"),
        ("rto_min", "30 ms"),
        ("rto_max", "7 s"),
        ("user_timeout", "2500 ms"),
        ("keepalive", "on"),
        ("keepalive_idle", "90 s"),
        ("keepalive_interval", "11 s"),
        ("keepalive_probes", "4"),
        ("syn_retransmissions", "9"),
        ("fin_wait_2_timeout", "12 s"),
        ("pacing", "on"),
    ];
    all.push(("many knobs".to_owned(), with(choices_of("linux"), &changes)));
    all
}

#[test]
fn every_choice_and_every_knob_is_told_once() {
    for kernel in [KernelFacts::of_this_machine(), KernelFacts::of_linux_6_18()] {
        for (name, choices) in varied() {
            let told = settings_with(&choices, &kernel).told;
            let keys: Vec<&str> = told.iter().map(|told| told.knob.as_str()).collect();
            let mut expected = BTreeSet::new();
            for (family, choice) in choices.by_name() {
                let own = family == "endpoint";
                expected.extend((!own).then(|| family.to_owned()));
                let key =
                    |knob: &str| if own { knob.to_owned() } else { format!("{family}.{knob}") };
                expected.extend(choice.mechanism().knobs.iter().map(|knob| key(knob.name)));
            }
            let unique: BTreeSet<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(unique, expected, "{name}");
            assert_eq!(keys.len(), unique.len(), "{name}: {keys:?}");
            assert!(told.iter().all(|told| !told.outcome.detail().is_empty()), "{name}: {told:#?}");
        }
    }
}

/// Whoever asks for the profile `linux` gets a stock kernel: nothing is told to be otherwise.
#[test]
fn the_linux_profile_is_what_the_kernel_has() {
    let told = settings_with(&choices_of("linux"), &KernelFacts::of_linux_6_18()).told;
    let other = |told: &&SettingTold| matches!(told.outcome, SettingOutcome::Instead(_));
    let others: Vec<String> = told.iter().filter(other).map(SettingTold::to_string).collect();
    assert_eq!(others, [""; 0]);
}

pub(super) fn inside(settings: &Settings, address: &str) -> Inside {
    let mut inside = Inside::new(vec![(address.parse().expect("an address"), 32)]);
    let pairs = settings.sysctls.iter().map(|s| (s.path.clone(), s.value.clone()));
    inside.sysctls = pairs.collect();
    inside.route = Some(settings.route.clone());
    inside
}

pub(super) fn made(inside: &Inside) -> Option<Namespace> {
    match Namespace::create(inside) {
        Ok(namespace) => Some(namespace),
        Err(error @ NamespaceError::NotAllowed(_)) => {
            skipped(format_args!("settings need root or rootless TUN: {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_is_written_and_set_is_there_afterwards() {
    let mut seen = BTreeSet::new();
    for (name, choices) in varied() {
        let settings = settings_for(&choices);
        let Some(namespace) = made(&inside(&settings, "10.0.0.1")) else { return };
        let of_ipv6 = |what: &str| what.contains("IPv6") || what.contains("ipv6");
        let refused = namespace.refused().iter().filter(|(what, _)| !of_ipv6(what));
        // An old kernel may have no such file for what is written without being told.
        let refused: Vec<_> =
            refused.filter(|(_, errno)| *errno != nix::errno::Errno::ENOENT).collect();
        assert!(refused.is_empty(), "{name}: {refused:?}");
        for super::Sysctl { path, value, .. } in &settings.sysctls {
            let Ok(found) = namespace.sysctl(path) else { continue };
            let found: Vec<&str> = found.split_whitespace().collect();
            assert_eq!(found.join(" "), *value, "{name}: {path}");
            seen.insert(path.clone());
        }
        let socket = namespace.socket(AddressFamily::Inet, SockType::Stream).expect("a socket");
        for SocketOption { told_as, level, name: number, value } in &settings.options {
            set_option(socket.as_fd(), *level, *number, value)
                .unwrap_or_else(|errno| panic!("{name}: {told_as} = {value:?}: {errno}"));
            let found = option(socket.as_fd(), *level, *number).expect("it can be asked for");
            assert_eq!(kept(told_as, &found), kept(told_as, value), "{name}: {told_as}");
            seen.insert((*told_as).to_owned());
        }
    }
    println!("read back: {seen:?}");
    assert!(seen.len() >= 25, "{seen:?}");
}

/// An option's value for comparison: a name to its zero byte, a time in whole ticks.
fn kept(told_as: &str, value: &[u8]) -> String {
    let number = |value: &[u8]| value.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
    match told_as {
        "TCP_CONGESTION" => {
            let name: Vec<u8> = value.iter().copied().take_while(|byte| *byte != 0).collect();
            String::from_utf8_lossy(&name).into_owned()
        }
        // Rounded up to ticks of at most 10 ms.
        "TCP_DELACK_MAX_US" => format!("about {} cs", (number(value) + 9_999) / 10_000),
        "SO_MAX_PACING_RATE" => "the most".to_owned(),
        _ => number(value).to_string(),
    }
}

fn scenario(changes: &[(&str, &str)]) -> Scenario {
    let file = ScenarioFile::from_library("reno-against-cubic").expect("in the library");
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    file.with_overrides(changes).check().expect("sound")
}

/// Both flows end at one host.
#[test]
fn flows_of_a_host_that_ask_for_different_things_are_named() {
    let kernel = KernelFacts::of_linux_6_18();
    let settings = |changes: &[(&str, &str)]| {
        let scenario = scenario(changes);
        let shared = scenario.flows[0].server;
        assert_eq!(shared, scenario.flows[1].server, "another scenario is needed");
        host_settings_with(&scenario, shared, &kernel)
    };
    // What is set by socket may differ.
    let agreed = settings(&[("flows.1.tcp.nagle", "off")]).expect("they agree");
    assert_eq!(agreed.options.len(), 2);
    let told = |knob: &str| agreed.told.iter().filter(|told| told.knob == knob).count();
    assert_eq!((told("sack"), told("nagle"), told("congestion")), (1, 2, 2));
    for (knob, value, what) in [
        ("sack", "off", "net.ipv4.tcp_sack"),
        ("initial_window", "4", "`initcwnd` of its default route"),
        ("ack", "immediate", "`quickack` of its default route"),
        ("rto_min", "300 ms", "net.ipv4.tcp_rto_min_us"),
        ("loss", "rack", "net.ipv4.tcp_recovery"),
    ] {
        let path = format!("flows.1.tcp.{knob}");
        let conflict = settings(&[(&path, value)]).expect_err("they differ");
        assert_eq!((conflict.knob.as_str(), conflict.what.as_str()), (knob, what));
        let said = conflict.to_string();
        let flows = scenario(&[]).flows;
        for name in [&flows[0].name, &flows[1].name, &conflict.host] {
            assert!(said.contains(&format!("`{name}`")), "{said}");
        }
    }
}

#[test]
fn what_the_kernel_refused_is_told() {
    let kernel = KernelFacts::of_linux_6_18();
    let scenario = scenario(&[]);
    let mut settings =
        host_settings_with(&scenario, scenario.flows[0].server, &kernel).expect("they agree");
    let refused = |path: &str| (path.to_owned(), nix::errno::Errno::EPERM);
    settings.refused(&[refused("net/ipv4/tcp_sack"), refused("default route of IPv4")]);
    let outcome = |knob: &str| {
        let told = settings.told.iter().find(|told| told.knob == knob).expect("it is told");
        told.outcome.clone()
    };
    let expected = "what it did before: net/ipv4/tcp_sack (Operation not permitted)";
    assert_eq!(outcome("sack"), SettingOutcome::Instead(expected.to_owned()));
    assert_eq!(outcome("initial_window").word(), "instead");
    assert_eq!(outcome("timestamps").word(), "set");
}

/// A control goes by the same name in a kernel that has it.
#[test]
fn a_control_is_asked_of_the_kernel_by_its_name_or_told_to_be_something_else() {
    let mut choices = choices_of("rfc");
    assert!(choices.choose("congestion", "vegas") && choices.choose("nagle", "on"));
    let mut kernel = KernelFacts::of_linux_6_18();
    kernel.congestions.retain(|has| has != "vegas");
    let outcomes = |kernel: &KernelFacts| {
        let told = settings_with(&choices, kernel).told;
        ["congestion", "nagle"].map(|key| {
            told.iter().find(|told| told.knob == key).expect("it is told").outcome.word()
        })
    };
    assert_eq!(outcomes(&kernel), ["instead", "instead"]);
    kernel.congestions.push("vegas".to_owned());
    assert_eq!(outcomes(&kernel), ["set", "instead"]);
}
