//! Scenario files as nobody would write them: every mechanism and knob of the registries, at random.

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
pub(crate) fn file() -> impl Strategy<Value = String> {
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
            let or_none = |jitter: Option<String>| jitter.unwrap_or("\"none\"".to_owned());
            let (outage, (outage_back, impairments)) = outages;
            let (jitter, jitter_back) = (or_none(jitter), or_none(jitter_back));
            let first_link = first_link(
                [queue, reverse],
                [jitter, jitter_back],
                [loss, medium],
                &bucket,
                (rate, delay),
            );
            let last_link = last_link([outage, outage_back, impairments], &bucket, (rate, delay));
            let head = format!(
                r#"version = 1
name = "generated"
purpose = {purpose}
source = "this project"
seed = {seed}
duration = "{duration} ns"
tcp = {base}
"#
            );
            let flow = flow((first, first + last), sends, &traffic, [both, receiver]);
            [head, hosts(&processing), first_link, last_link, proxies(delay), flow].concat()
        },
    )
}

fn hosts(processing: &str) -> String {
    format!(
        r#"[hosts]
b = {{ processing = {processing} }}
a = {{ count = 3, processing = "jitter" }}
[routers.r]
"#
    )
}

/// The first link and its reverse direction: queues, jitters, loss and medium as given.
fn first_link(
    [queue, reverse]: [String; 2],
    [jitter, jitter_back]: [String; 2],
    [loss, medium]: [String; 2],
    bucket: &str,
    (rate, delay): (u64, u64),
) -> String {
    format!(
        r#"[[links]]
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
"#
    )
}

/// The last link: outages there and back, and other impairments as given.
fn last_link(
    [outage, outage_back, impairments]: [String; 3],
    bucket: &str,
    (rate, delay): (u64, u64),
) -> String {
    format!(
        r#"[[links]]
name = "last"
from = "r"
to = "b"
rate = "1 Gbit/s"
delay = "0 s"
outage = {outage}
corrupt = {{ kind = "random", per_bit = "1 %", caught_by = "link" }}
rate_changes = {{ kind = "schedule", at = ["{delay} ns"], to = ["{rate} bit/s"] }}
reverse = {{ outage = {outage_back}, {impairments}, rate_changes = "none", shaper = {bucket} }}
"#
    )
}

/// A box that dies.
fn proxies(delay: u64) -> String {
    format!(
        r#"[[proxies]]
name = "box"
at = "r"
link = "last"
proxy = "none"
dies = "{delay} ns"
"#
    )
}

/// The flows, between these endpoints.
fn flow(
    (first, last): (u64, u64),
    sends: &str,
    traffic: &str,
    [both, receiver]: [String; 2],
) -> String {
    // Datagrams have no endpoints.
    let endpoints = match traffic.contains("\"cbr\"") {
        true => "transport = \"udp\"".to_owned(),
        false => format!("tcp = {both}\nreceiver_tcp = {receiver}"),
    };
    format!(
        r#"[[flows]]
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
}
