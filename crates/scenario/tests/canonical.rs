//! The canonical form says all of a scenario and the hash stands for what is simulated; and no
//! text whatever makes the checker panic.

use ackord_scenario::{Override, Scenario, ScenarioFile, library};
use ackord_units::{Choice, Knob, KnobKind, Mechanism};
use proptest::prelude::*;
use proptest::sample::select;

/// A value of the knob as people write it.
fn knob_value(kind: KnobKind) -> BoxedStrategy<String> {
    match kind {
        KnobKind::Count { unit, min, max } => {
            let max = max.min(1 << 40);
            (min..=max, any::<bool>())
                .prop_map(
                    move |(n, bare)| {
                        if bare { n.to_string() } else { format!("\"{n} {unit}\"") }
                    },
                )
                .boxed()
        }
        KnobKind::Number { min, max } => (min..=max).prop_map(|n| format!("{n:?}")).boxed(),
        KnobKind::Span { min, max } => {
            (min.as_nanos()..=max.as_nanos()).prop_map(|nanos| format!("\"{nanos} ns\"")).boxed()
        }
        KnobKind::Bytes { min, max } => {
            (min.get()..=max.get()).prop_map(|bytes| format!("\"{bytes} B\"")).boxed()
        }
        KnobKind::BytesList { min, max } => {
            let amount = (min.get()..=max.get()).prop_map(|bytes| format!("\"{bytes} B\""));
            prop::collection::vec(amount, 1..4)
                .prop_map(|list| format!("[{}]", list.join(", ")))
                .boxed()
        }
        KnobKind::Rate { min, max } => (min.as_bits_per_sec()..=max.as_bits_per_sec())
            .prop_map(|bits| format!("\"{bits} bit/s\""))
            .boxed(),
        KnobKind::Ratio => (0.0..=1.0f64).prop_map(|share| format!("\"{share} of 1\"")).boxed(),
        KnobKind::Choice(words) => select(words).prop_map(|word| format!("\"{word}\"")).boxed(),
        KnobKind::PerFlow { min, max } => (min..=max, min..=max)
            .prop_map(|(all, one)| format!("{{ \"up-*\" = {all:?}, up-2 = {one:?} }}"))
            .boxed(),
        KnobKind::RateList { min, max } => {
            let rate = min.as_bits_per_sec()..=max.as_bits_per_sec();
            prop::collection::vec(rate.prop_map(|bits| format!("\"{bits} bit/s\"")), 1..4)
                .prop_map(|list| format!("[{}]", list.join(", ")))
                .boxed()
        }
        KnobKind::SpanList { min, max } => {
            prop::collection::vec(min.as_nanos()..=max.as_nanos(), 1..4)
                .prop_map(|spans| {
                    let quoted: Vec<_> =
                        spans.iter().map(|span| format!("\"{span} ns\"")).collect();
                    format!("[{}]", quoted.join(", "))
                })
                .boxed()
        }
        KnobKind::PacketsOrBytes => (1u64..1_000_000, any::<bool>())
            .prop_map(
                |(n, packets)| {
                    if packets { format!("\"{n} packets\"") } else { format!("\"{n} B\"") }
                },
            )
            .boxed(),
    }
}

/// Knobs of which some are set: `name = value` each. Those that bound one another stay unset.
fn knobs(knobs: &'static [Knob]) -> BoxedStrategy<Vec<String>> {
    const BOUNDED: [&str; 8] =
        ["alpha", "beta", "gamma", "rto_initial", "rto_min", "rto_max", "cw_min", "cw_max"];
    let set: Vec<_> = knobs
        .iter()
        .filter(|knob| !BOUNDED.contains(&knob.name))
        .map(|knob| {
            let value = knob_value(knob.kind);
            prop::option::of(value.prop_map(|value| format!("{} = {value}", knob.name)))
        })
        .collect();
    set.prop_map(|set| set.into_iter().flatten().collect()).boxed()
}

/// A choice as people write it.
fn choice(mechanisms: &'static [Mechanism]) -> BoxedStrategy<String> {
    select(mechanisms)
        .prop_flat_map(|mechanism| {
            knobs(mechanism.knobs).prop_map(move |set| {
                let kind = format!("kind = \"{}\"", mechanism.name);
                format!("{{ {} }}", [vec![kind], set].concat().join(", "))
            })
        })
        .boxed()
}

/// A loss model as people write it: of the knobs of `random` exactly one is given.
fn link_loss() -> BoxedStrategy<String> {
    let random = &ackord_path::registry::LossChoice::MECHANISMS[0];
    assert_eq!(random.name, "random", "the first loss model");
    let one = select(random.knobs).prop_flat_map(|knob| {
        knob_value(knob.kind).prop_map(move |value| format!("{} = {value}", knob.name))
    });
    one.prop_map(|rate| format!("{{ kind = \"random\", {rate} }}")).boxed()
}

/// Outages as people write them: the lists of a schedule have to agree.
fn outage() -> BoxedStrategy<String> {
    let (schedule, random) = ackord_path::registry::OutageChoice::MECHANISMS.split_at(1);
    assert_eq!(schedule[0].name, "schedule", "the first of them");
    let listed = (0u64..1_000, 1u64..1_000, any::<bool>()).prop_map(|(from, lasts, again)| {
        let every = if again { ", every = \"1 s\"" } else { "" };
        let from = format!("[\"{from} us\", \"{} us\"]", from + lasts);
        format!("{{ kind = \"schedule\", from = {from}, for = [\"{lasts} us\"]{every} }}")
    });
    prop_oneof![Just("\"none\"".to_owned()), listed, choice(random)].boxed()
}

/// Damage and duplication as people write them.
fn impairments() -> BoxedStrategy<String> {
    (0.0..=1.0f64, 0.0..=1.0f64, 0..4_u8)
        .prop_map(|(damage, twice, both)| {
            let none = "\"none\"".to_owned();
            let corrupt = format!("{{ kind = \"random\", per_bit = \"{damage} of 1\" }}");
            let duplicate = format!("{{ kind = \"random\", per_packet = \"{twice} of 1\" }}");
            format!(
                "corrupt = {}, duplicate = {}",
                if both & 1 == 1 { corrupt } else { none.clone() },
                if both & 2 == 2 { duplicate } else { none },
            )
        })
        .boxed()
}

fn tcp() -> BoxedStrategy<String> {
    use ackord_tcp::registry::{CHOICES, ENDPOINT};
    let choices: Vec<_> = CHOICES
        .iter()
        .map(|chosen| {
            let key = chosen.key;
            let text = choice(chosen.mechanisms).prop_map(move |text| format!("{key} = {text}"));
            prop::option::of(text)
        })
        .collect();
    (choices, knobs(ENDPOINT.knobs))
        .prop_map(|(choices, knobs)| {
            let keys: Vec<String> = choices.into_iter().flatten().chain(knobs).collect();
            format!("{{ {} }}", keys.join(", "))
        })
        .boxed()
}

/// A whole file, with groups, a reverse direction and layered endpoints.
fn file() -> impl Strategy<Value = String> {
    let head = (any::<u64>(), "[ -~äßµ]{0,40}", 1u64..10_000_000_000);
    let queue = || choice(ackord_path::registry::QueueChoice::MECHANISMS);
    let medium = prop_oneof![
        Just("\"none\"".to_owned()),
        choice(ackord_path::registry::MediumChoice::MECHANISMS)
    ];
    let traffic = choice(ackord_traffic::WorkloadChoice::MECHANISMS);
    let jitter = || prop::option::of(choice(ackord_path::registry::JitterChoice::MECHANISMS));
    let queues = (queue(), queue(), jitter(), jitter());
    let outages = (outage(), (outage(), impairments()));
    let link = (queues, (link_loss(), outages), medium, 1u64..100_000_000_000, 0u64..1_000_000_000);
    let ends = (tcp(), tcp(), tcp(), select(&["client", "server"][..]));
    let processing = prop_oneof![
        Just("\"none\"".to_owned()),
        choice(ackord_path::registry::ProcessingChoice::MECHANISMS)
    ];
    let start = (0u64..1_000, 0u64..1_000, processing);
    (head, link, ends, traffic, start).prop_map(
        |(
            (seed, purpose, more),
            ((queue, reverse, jitter, jitter_back), (loss, outages), medium, rate, delay),
            (base, both, receiver, sends),
            traffic,
            (first, last, processing),
        )| {
            let purpose = toml::Value::String(format!("x{purpose}"));
            let duration = 2_000 + more;
            let bucket = format!(
                "{{ kind = \"token-bucket\", rate = \"{rate} bit/s\", burst = \"{} B\" }}",
                1_500 + delay
            );
            let last = first + last;
            let or_none = |jitter: Option<String>| jitter.unwrap_or("\"none\"".to_owned());
            let (outage, (outage_back, impairments)) = outages;
            let (jitter, jitter_back) = (or_none(jitter), or_none(jitter_back));
            // Datagrams have no endpoints.
            let endpoints = match traffic.contains("\"cbr\"") {
                true => "transport = \"udp\"".to_owned(),
                false => format!("tcp = {both}\nreceiver_tcp = {receiver}"),
            };
            format!(
                r#"version = 1
name = "generated"
purpose = {purpose}
source = "this project"
seed = {seed}
duration = "{duration} ns"
tcp = {base}
[hosts]
b = {{ processing = {processing} }}
a = {{ count = 3, processing = "jitter" }}
[routers.r]
[[links]]
from = "a-*"
to = "r"
rate = "{rate} bit/s"
delay = "{delay} ns"
queue = {queue}
jitter = {jitter}
loss = {loss}
medium = {medium}
policer = {bucket}
[links.reverse]
jitter = {jitter_back}
queue = {reverse}
policer = "none"
loss = "none"
[[links]]
name = "last"
from = "r"
to = "b"
rate = "1 Gbit/s"
delay = "0 s"
outage = {outage}
corrupt = {{ kind = "random", per_bit = "1 %", caught_by = "link" }}
rate_changes = {{ kind = "schedule", at = ["{delay} ns"], to = ["{rate} bit/s"] }}
reverse = {{ outage = {outage_back}, {impairments}, rate_changes = "none", shaper = {bucket} }}
[[proxies]]
name = "box"
at = "r"
link = "last"
proxy = "none"
dies = "{delay} ns"
[[flows]]
name = "up-*"
from = "a-*"
to = "b"
start = {{ from = "{first} ns", to = "{last} ns" }}
application = "of its \"own\""
sends = "{sends}"
traffic = {traffic}
{endpoints}
[record]
captures = ["last.reverse", "a-*-r"]
"#
            )
        },
    )
}

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
