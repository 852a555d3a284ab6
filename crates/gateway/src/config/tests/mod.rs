//! What files say, and what is wrong with them.
//!
//! | file | what |
//! | --- | --- |
//! | `rules.rs` | which rule takes a connection, and which takes none |
//! | `rate.rs` | the rate of a queue that follows its link |
//! | `warnings.rs` | what a file cannot have on this machine |

mod rate;
mod rules;
mod warnings;

use super::*;
use ackord_scenario::{Errors, Place};
use ackord_units::{KnobValue, Knobs};
use proptest::prelude::*;

const MINIMAL: &str = "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = \"proxy-tcp\"\n";

fn read(text: &str) -> Result<GatewayConfig, Errors> {
    ConfigFile::new("gateway.toml", text).check()
}

fn sound(text: &str) -> GatewayConfig {
    read(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is said of a file that is not sound.
fn refused(text: &str) -> String {
    read(text).expect_err("it is not sound").to_string()
}

fn with(more: &str) -> String {
    format!("{MINIMAL}{more}")
}

#[test]
fn turns_leave_time_to_compare_and_no_more_than_half_without_remedies() {
    let turns = |text: &str| sound(&with(&format!("[turns]\n{text}"))).turns.turns();
    let said = turns("untreated = \"25 %\"\nlength = \"1 min\"\nsettle = \"10 s\"").expect("turns");
    assert_eq!((said.in_block, said.length), (4, Span::from_secs(60)));
    assert_eq!(turns("").map(|turns| turns.in_block), Some(10));
    assert_eq!(turns("untreated = \"0 %\""), None);
    let text = refused(&with("[turns]\nuntreated = \"60 %\""));
    assert!(text.contains("turns.untreated") && text.contains("0 % to 50 %"), "{text}");
    let text = refused(&with("[turns]\nlength = \"20 s\""));
    assert!(text.contains("less than `length`, which is 20 s"), "{text}");
}

#[test]
fn two_interfaces_and_one_thing_to_do_are_a_file() {
    let config = sound(MINIMAL);
    assert_eq!((config.wan.as_str(), config.lan.as_slice()), ("eth0", &["wlan0".to_owned()][..]));
    assert_eq!(
        config.rules.remedy(RuleIndex(0)).map(|remedy| remedy.mechanism().name),
        Some("proxy-tcp")
    );
    assert_eq!(config.control_per_mille(), 50);
    assert_eq!(config.metrics, Some(GatewayConfig::METRICS));
    assert_eq!(config.queues().count(), 0);
    let queue = sound(
        "wan = \"eth0\"\nlan = [\"a\", \"b\"]\n[queue.lan]\ndiscipline = \"selective-drop\"\n\
         rate = \"20 Mbit/s\"\n",
    );
    assert!(!queue.has_remedies());
    let queues: Vec<_> = queue.queues().map(|(name, queue)| (name, queue.rate)).collect();
    assert_eq!(
        queues,
        ["a", "b"].map(|name| (name, QueueRate::Fixed(Rate::from_mbits_per_sec(20))))
    );
}

/// A file that says everything.
const FULL: &str = r#"
version = 1
wan = "eth0"
lan = ["wlan0", "wlan1"]
remedy = { kind = "proxy-tcp", mode = "paper", probe_interval = "50 ms" }
control = "10 %"

[[rule]]
name = "voice"
interface = "wlan1"
dscp = ["ef", 34]
remedy = "none"

[[rule]]
name = "office"
mobile = ["10.7.0.0/16", "2001:db8::/32", "192.0.2.7"]
fixed = "198.51.100.0/24"
port = [443, "8000-8100"]
mobile_port = "1024-65535"
mark = "0x10/0xff"
remedy = { kind = "snoop", suppress = "auto" }

[queue.lan]
discipline = { kind = "fq-codel", target = "5 ms" }
rate = "20 Mbit/s"
[queue.wan]
discipline = "codel"
rate = "5 Mbit/s"

[limits]
connections = 1000
cache_per_flow = "64 kB"
cache = "1 MB"
injected = "50 %"
injected_rate = "1 Mbit/s"
fast = "200 Mbit/s"
copied = "600 Mbit/s"
[metrics]
listen = "0.0.0.0:9000"
expose = "network"
[log]
level = "debug"
to = "stderr"
[state]
directory = "/var/lib/ackord"
[harm]
significance = "5 %"
sustained = "30 s"
flows = 5
retry = "never"
"#;

#[test]
fn everything_a_file_can_say_is_read() {
    let config = sound(FULL);
    let [voice, office] = config.rules.rules() else { panic!("two rules") };
    assert_eq!(
        (&voice.conditions.interfaces[..], &voice.conditions.dscps[..]),
        (&[1][..], &[46, 34][..])
    );
    assert_eq!((voice.remedy.is_none(), office.conditions.mobile.len()), (true, 3));
    let ports = [(443, 443), (8000, 8100)].map(|(from, to)| PortRange { from, to });
    assert_eq!(office.conditions.ports, ports);
    assert_eq!(office.conditions.mark, Some(MarkMatch { value: 0x10, mask: 0xff }));
    let limits = config.limits.limits();
    assert_eq!((limits.connections, limits.bytes_each), (1_000, Bytes(64_000)));
    assert_eq!(config.metrics.map(|address| address.port()), Some(9_000));
    assert_eq!(config.log, LogConfig { level: LogLevel::Debug, to: LogTarget::Stderr });
    assert_eq!((config.harm.flows, config.harm.retry), (5, None));
    let default = config.rules.remedy(RuleIndex(2)).expect("the paper's");
    assert_eq!(default.value("mode"), Some(KnobValue::Choice("paper")));
}

/// What is said of each, and where.
fn told(cases: &[(&str, &str, &str)]) {
    for (text, line, says) in cases {
        let said = refused(text);
        let place = if line.is_empty() {
            "gateway.toml".to_owned()
        } else {
            format!("gateway.toml:{line}")
        };
        assert!(said.contains(&place) && said.contains(says), "{text}\n{place}, {says}:\n{said}");
    }
}

#[test]
fn each_mistake_is_told_with_its_line_and_what_would_do() {
    told(&[
        ("wan = \"eth0\"\nremedy = \"snoop\"\n", "", "add `lan = \"wlan0\"`"),
        ("wan = \"eth0\"\nlan = \"eth0\"\nremedy = \"snoop\"\n", "2:7", "from `eth0` to itself"),
        ("wan = \"eth0\"\nlan = \"wlan0\"\n", "", "nothing to do"),
        (&with("colour = 1\n"), "4:1", "no key `colour`"),
        (&with("[limit]\n"), "4:2", "did you mean `limits`?"),
        (&with("version = 2\n"), "4:11", "version 2 is not known"),
        (
            "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = \"proxi-tcp\"\n",
            "3:10",
            "did you mean `proxy-tcp`?",
        ),
        (
            "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = \"i-tcp\"\n",
            "3:10",
            "snoop, m-tcp, proxy-tcp",
        ),
        (
            "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = { kind = \"proxy-tcp\", mode = \"paper\", place = \"in-path\" }\n",
            "3:10",
            "`place` is `in-path`",
        ),
        (
            "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = { kind = \"proxy-tcp\", probe_intervall = \"1 s\" }\n",
            "3:32",
            "did you mean `probe_interval`?",
        ),
        (&with("control = \"5\"\n"), "4:11", "has no unit"),
        (&with("[metrics]\nlisten = \"0.0.0.0:1\"\n"), "5:10", "add `expose = \"network\"`"),
        (&with("[metrics]\nlisten = \"localhost\"\n"), "5:10", "like `127.0.0.1:9469`"),
        (
            &with("[queue.lan]\ndiscipline = \"cake\"\nrate = \"1 Mbit/s\"\n"),
            "5:14",
            "no queue mechanism `cake`",
        ),
        (&with("[queue.lan]\ndiscipline = \"drr\"\n"), "4:1", "the key `rate` is missing"),
        (&with("[queue.lan]\ndiscipline = \"drr\"\nrate = \"0 bit/s\"\n"), "6:8", "is zero"),
        (&with("[limits]\ncache_per_flow = \"1 GB\"\n"), "5:18", "is more than `cache`"),
        (&with("[state]\ndirectory = \"state\"\n"), "5:13", "a path from the root"),
        (&with("[log]\nlevel = \"loud\"\n"), "5:9", "error or warn or info"),
        (&with("[harm]\nretry = \"0 s\"\n"), "5:9", "is zero"),
    ]);
}

#[test]
fn each_mistake_of_a_rule_is_told_likewise() {
    told(&[
        (
            &with("[[rule]]\nname = \"default\"\nremedy = \"none\"\nport = 1\n"),
            "5:8",
            "another name",
        ),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\ninterface = \"wlan1\"\n"),
            "7:13",
            "did you mean `wlan0`?",
        ),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\nmobile = \"10.0.0.1/8\"\n"),
            "7:10",
            "`10.0.0.0/8`, or `10.0.0.1`",
        ),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\nport = \"90-80\"\n"),
            "7:8",
            "like \"8000-8100\"",
        ),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\nport = 65536\n"),
            "7:8",
            "from 0 to 65535",
        ),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\ndscp = \"eff\"\n"),
            "7:8",
            "did you mean `ef`?",
        ),
        (&with("[[rule]]\nname = \"a\"\nremedy = \"none\"\ndscp = [46, 64]\n"), "7:13", "0 to 63"),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\nmark = \"0x1ff/0xff\"\n"),
            "7:8",
            "its mask leaves out",
        ),
        (
            &with("[[rule]]\nname = \"a\"\nremedy = \"none\"\nport = []\n"),
            "7:8",
            "the list is empty",
        ),
    ]);
}

#[test]
fn one_line_says_what_a_file_says() {
    let options = ConfigOptions {
        wan: "eth0".to_owned(),
        lan: vec!["wlan0".to_owned()],
        remedy: Some("proxy-tcp:probe-interval=50ms,mode=paper".to_owned()),
        queue: Some("selective_drop".to_owned()),
        rate: Some("20mbit".to_owned()),
        rate_min: None,
        rate_max: None,
        rate_start: None,
        rate_dry_run: false,
        control: Some("10%".to_owned()),
        untreated: Some("50%".to_owned()),
    };
    let file = sound(
        "wan = \"eth0\"\nlan = \"wlan0\"\ncontrol = \"10 %\"\n\
         remedy = { kind = \"proxy-tcp\", mode = \"paper\", probe_interval = \"50 ms\" }\n\
         [turns]\nuntreated = \"50 %\"\n\
         [queue.lan]\ndiscipline = \"selective-drop\"\nrate = \"20 Mbit/s\"\n",
    );
    assert_eq!(options.file().check().unwrap_or_else(|errors| panic!("{errors}")), file);
    let rate_alone = ConfigOptions { queue: None, remedy: None, ..options };
    let said = rate_alone.file().check().expect_err("a rate of what?").to_string();
    assert!(said.contains("the key `discipline` is missing"), "{said}");
}

#[test]
fn a_place_is_found_by_its_keys() {
    let text = with("[[rule]]\nname = \"a\"\nport = 1\nremedy = \"none\"\n");
    let file = ConfigFile::new("gateway.toml", &text);
    let at = |path| match file.place_of(path) {
        Place::Text(range) => Some(text[range].to_owned()),
        _ => None,
    };
    assert_eq!(at("lan").as_deref(), Some("\"wlan0\""));
    assert_eq!(at("rule.0.port").as_deref(), Some("1"));
    assert_eq!(at("queue.lan.rate"), None);
}

#[test]
fn a_reload_says_what_each_change_does() {
    let old = sound(MINIMAL);
    let to = |text: &str| Reload::between(&old, &sound(text)).expect("while running").effect();
    assert_eq!(to(MINIMAL), None);
    assert_eq!(to(&with("control = \"6 %\"\n")), Some(Effect::InPlace));
    assert_eq!(to(&with("[limits]\ninjected = \"7 %\"\n")), Some(Effect::InPlace));
    assert_eq!(to(&with("[limits]\nconnections = 7\n")), Some(Effect::NewBox));
    let marked = with("[[rule]]\nname = \"a\"\nmark = 1\nremedy = \"none\"\n");
    assert_eq!(to(&marked), Some(Effect::NewRing));
    // An exception: no box begins anew.
    assert_eq!(
        to(&with("[[rule]]\nname = \"a\"\nport = 1\nremedy = \"none\"\n")),
        Some(Effect::InPlace)
    );
    assert_eq!(to(&MINIMAL.replace("proxy-tcp", "snoop")), Some(Effect::NewBox));
    let queued = with("[queue.lan]\ndiscipline = \"drr\"\nrate = \"1 Mbit/s\"\n");
    assert_eq!(to(&queued), Some(Effect::NewQueue));
    assert_eq!(to(&queued.replace("wlan0", "wlan1")), Some(Effect::NewRing));
    let faster = sound(&queued.replace("1 Mbit", "2 Mbit"));
    let reload = Reload::between(&sound(&queued), &faster).expect("while running");
    assert_eq!(reload.effect(), Some(Effect::InPlace));
    assert_eq!(reload.changes[0].path, "queue.lan.rate");
    let elsewhere = sound(&with("[state]\ndirectory = \"/elsewhere\"\n"));
    let refused = Reload::between(&old, &elsewhere).expect_err("two journals").to_string();
    assert!(refused.contains("`state.directory` cannot become /elsewhere"), "{refused}");
}

proptest! {
    #[test]
    fn nothing_in_a_file_makes_the_reader_panic(text in "[a-z\\[\\]=\"{}0-9./% \n]{0,80}") {
        let file = ConfigFile::new("x", with(&text));
        if let Err(errors) = file.check() {
            let _ = errors.to_string();
        }
    }
}

/// The examples that are delivered, with their names.
fn examples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/examples");
    let read = |path: std::path::PathBuf| {
        (path.display().to_string(), std::fs::read_to_string(&path).expect("it is there"))
    };
    let files = std::fs::read_dir(folder).expect("they are there");
    files.map(|file| read(file.expect("it is there").path())).collect()
}

#[test]
fn every_example_is_sound_and_says_what_it_is_for() {
    let examples = examples();
    assert!(examples.len() >= 4);
    for (name, text) in examples {
        assert!(text.starts_with("# "), "{name}");
        if let Err(errors) = ConfigFile::new(&name, &text).check() {
            panic!("{errors}");
        }
    }
}

#[test]
fn the_schema_in_the_repository_is_that_of_the_keys() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/gateway.schema.json");
    let text = serde_json::to_string_pretty(&gateway_json_schema()).expect("it is JSON") + "\n";
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == text, "write it with `ackord gateway schema > schema/gateway.schema.json`");
}
