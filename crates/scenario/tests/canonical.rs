//! The canonical form says all of a scenario and the hash stands for what is simulated; and no
//! text whatever makes the checker panic.

use crate::generated::file;
use ackord_scenario::{Override, Scenario, ScenarioFile, library};
use proptest::prelude::*;

fn canonical_says_all(scenario: &Scenario) {
    let canonical = scenario.canonical();
    let again = Scenario::from_toml(&canonical, "canonical")
        .unwrap_or_else(|errors| panic!("{errors}\n{canonical}"));
    assert_eq!(&again, scenario, "{canonical}");
    assert_eq!(again.canonical(), canonical);
    assert_eq!(again.hash(), scenario.hash());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_reads_back_as_the_same_scenario(text in file()) {
        let scenario = Scenario::from_toml(&text, "generated")
            .unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        canonical_says_all(&scenario);
    }

    #[test]
    fn no_text_makes_the_checker_panic(text in "(?s).{0,400}") {
        let _ = Scenario::from_toml(&text, "arbitrary").map_err(|errors| errors.to_string());
    }

    #[test]
    fn toml_like_text_does_not_make_the_checker_panic(
        text in r#"([\[\]]{0,2}(hosts|links|flows|tcp|a-\*|name|kind|x)(\.y)?[\]]{0,2} ?=? ?("[a-zé0-9 /*-]{0,9}"|[0-9.e-]{0,6}|\{ ?kind ?= ?"red" \}|true)?\n?){0,20}"#
    ) {
        let _ = Scenario::from_toml(&text, "arbitrary").map_err(|errors| errors.to_string());
    }

    #[test]
    fn a_damaged_scenario_does_not_make_the_checker_panic(
        (which, at, removed) in (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..60),
        inserted in r#"([\[\]{}="*.\n-]|[a-z0-9é ]){0,12}"#,
    ) {
        let all: Vec<_> = library().collect();
        let mut text: Vec<char> = which.get(&all).1.chars().collect();
        let from = at.index(text.len());
        let to = (from + removed).min(text.len());
        text.splice(from..to, inserted.chars());
        let text: String = text.into_iter().collect();
        if let Ok(scenario) = Scenario::from_toml(&text, "damaged").map_err(|e| e.to_string()) {
            canonical_says_all(&scenario);
        }
    }

    #[test]
    fn no_override_makes_the_checker_panic(
        path in r"(links|flows|hosts|tcp|record|\*|bottleneck|reno|queue|congestion|[a-zé*0-9]{0,5})(\.(\*|0|reno|bottleneck|queue|tcp|reverse|loss|name|[a-zé*]{0,4})){0,5}",
        value in r#"[ -~é\n]{0,20}|\{ ?[a-z]{1,5} = [0-9"]{1,3} ?\}"#,
    ) {
        let file = ScenarioFile::from_library("reno-against-vegas").expect("in the library");
        let _ = file.with_overrides([Override::new(path, value)]).check()
            .map_err(|errors| errors.to_string());
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    for text in ["a = ".to_owned() + &"[".repeat(100_000), "[a".to_owned() + &".a".repeat(100_000)]
    {
        assert!(Scenario::from_toml(&text, "deep").is_err());
    }
}

#[test]
fn every_library_scenario_has_a_canonical_form() {
    for (name, text) in library() {
        canonical_says_all(&Scenario::from_toml(text, name).expect("sound"));
    }
}

#[test]
fn the_hash_stands_for_what_is_simulated() {
    let hash = |overrides: &[(&str, &str)]| {
        let overrides = overrides.iter().map(|(path, value)| Override::new(*path, *value));
        let file = ScenarioFile::from_library("reno-against-vegas").expect("in the library");
        file.with_overrides(overrides).check().expect("sound").hash()
    };
    let original = hash(&[]);
    assert_eq!(original.len(), 16);
    for label in ["name", "purpose", "source"] {
        assert_eq!(hash(&[(label, "another")]), original, "{label} is a label");
    }
    assert_eq!(hash(&[("seed", "7")]), original, "the seed picks one run of many");
    assert_eq!(hash(&[("links.bottleneck.rate", "2000 kbit/s")]), original, "the same rate");
    assert_eq!(hash(&[("links.bottleneck.queue", "drop-tail")]), original, "50 packets by default");
    for (path, value) in [
        ("duration", "99 s"),
        ("links.bottleneck.rate", "3 Mbit/s"),
        ("links.bottleneck.reverse.delay", "3 ms"),
        ("links.bottleneck.queue.limit", "49 packets"),
        ("flows.reno.start", "0 s"),
        ("flows.vegas.tcp.congestion.beta", "4"),
        ("tcp.nagle", "on"),
        ("record.series", "1 ms"),
    ] {
        assert_ne!(hash(&[(path, value)]), original, "{path} changes what is simulated");
    }
}

/// All that has to be said of a question about one flow.
const SMALLEST: &str = r#"version = 1
name = "smallest"
duration = "1 s"
[hosts]
a = {}
b = {}
[[links]]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
[[flows]]
name = "up"
from = "a"
to = "b"
traffic = "bulk"
"#;

#[test]
fn purpose_and_source_may_be_left_out_and_the_seed_is_then_one() {
    let smallest = Scenario::from_toml(SMALLEST, "smallest").expect("sound");
    assert_eq!((smallest.purpose.as_str(), smallest.source.as_str()), ("", ""));
    assert_eq!(smallest.seed, 1);
    canonical_says_all(&smallest);
    assert!(smallest.canonical().contains("\nseed = 1\n"), "the seed is always said");

    let labels = "purpose = \"why\"\nsource = \"this project\"\nseed = 1\nduration";
    let said = Scenario::from_toml(&SMALLEST.replace("duration", labels), "said").expect("sound");
    assert_eq!((said.hash(), said.seed), (smallest.hash(), smallest.seed));
    let head = "version = 1\nname = \"smallest\"\npurpose = \"why\"\nsource = \"this project\"\n";
    assert!(said.canonical().starts_with(head), "{}", said.canonical());
}

#[test]
fn endpoints_remember_the_profile_they_began_with_as_a_label() {
    let profiles = |change: Override| {
        let file = ScenarioFile::new("smallest", SMALLEST).with_overrides([change]);
        let scenario = file.check().expect("sound");
        let flow = &scenario.flows[0];
        (flow.sender_tcp().profile(), flow.receiver_tcp().profile())
    };
    assert_eq!(profiles(Override::new("seed", "1")), ("rfc", "rfc"));
    assert_eq!(profiles(Override::new("tcp.profile", "linux")), ("linux", "linux"));
    assert_eq!(profiles(Override::new("flows.up.receiver_tcp.profile", "ns2")), ("rfc", "ns2"));
    // Saying every value of a profile is as good as naming it.
    let named = Override::new("tcp.profile", "linux");
    let named = ScenarioFile::new("named", SMALLEST).with_overrides([named]).check();
    canonical_says_all(&named.expect("sound"));
}

#[test]
fn tables_have_no_order() {
    let (_, text) = library().find(|(name, _)| *name == "reno-against-vegas").expect("there");
    let turned = text
        .replace("[hosts.reno]\n[hosts.vegas]\n", "[hosts.vegas]\n[hosts.reno]\n")
        .replace("[routers.n1]\n[routers.n2]\n", "[routers.n2]\n[routers.n1]\n");
    assert_ne!(text, turned);
    let scenario = |text| Scenario::from_toml(text, "turned").expect("sound");
    assert_eq!(scenario(text), scenario(&turned));
}

#[test]
fn the_hash_follows_what_is_in_a_trace_and_not_what_it_is_called() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("traces-and-hashes");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let scenario = |file: &str, content: &str| {
        std::fs::write(folder.join(file), content).expect("a file for the test");
        let text = format!(
            r#"version = 1
name = "traced"
purpose = "x"
source = "this project"
seed = 1
duration = "1 s"
[hosts]
a = {{}}
b = {{}}
[[links]]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
trace = "{file}"
reverse = {{ trace = "none" }}
[[flows]]
name = "up"
from = "a"
to = "b"
traffic = "bulk"
"#
        );
        let file = ackord_scenario::ScenarioFile::new("traced.toml", text).in_folder(&folder);
        let scenario = file.check().unwrap_or_else(|errors| panic!("{errors}"));
        let canonical = ackord_scenario::ScenarioFile::new("canonical", scenario.canonical());
        let again =
            canonical.in_folder(&folder).check().unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(again, scenario);
        scenario
    };
    let first = scenario("first.trace", "1\n2\n4\n");
    assert_eq!(first.hash(), scenario("second.trace", "1\r\n2\n4").hash());
    assert_ne!(first.hash(), scenario("third.trace", "1\n2\n5\n").hash());
    // A canonical form refuses a trace that has changed since.
    std::fs::write(folder.join("first.trace"), "1\n").expect("a file for the test");
    let changed = ackord_scenario::ScenarioFile::new("canonical", first.canonical());
    let refused = changed.in_folder(&folder).check().map_err(|errors| errors.to_string());
    assert!(refused.is_err_and(|text| text.contains("is not the one meant")));
}

#[test]
fn a_flow_over_ipv6_says_so_and_one_over_ipv4_is_as_it_always_was() {
    let with = |overrides: &[(&str, &str)]| {
        let overrides = overrides.iter().map(|(path, value)| Override::new(*path, *value));
        let file = ScenarioFile::from_library("lossy-wifi").expect("in the library");
        file.with_overrides(overrides).check().expect("sound")
    };
    let [usual, v4, v6] =
        [&[][..], &[("flows.download.ip", "v4")], &[("flows.download.ip", "v6")]].map(with);
    assert_eq!((v4.canonical(), v4.hash()), (usual.canonical(), usual.hash()));
    assert!(!usual.canonical().contains("ip = "));
    assert_ne!(v6.hash(), usual.hash());
    assert_ne!(v6.flows[0].client_tcp, usual.flows[0].client_tcp);
    canonical_says_all(&v6);
}
