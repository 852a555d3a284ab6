//! The names behind the numbers that events carry, from the scenario.

use ackord_measure::{FlowKind, FlowLabel, LinkLabel, ProfileLabel, ProxyLabel, RunLabels};
use ackord_scenario::{Flow, Link, Scenario, Stack, Transport, Way};
use ackord_sim::{start_time, workloads_for};
use ackord_traffic::DrawBudget;
use ackord_units::{Knob, KnobKind, KnobValue, Knobs};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a run of `scenario` with this seed is labelled with. Links come in the order in which the
/// simulator numbers their directions.
pub fn run_labels(scenario: &Scenario, seed: u64) -> RunLabels {
    let mut budget = DrawBudget::default();
    let flows = scenario.flows.iter().map(|flow| flow_label(flow, seed, &mut budget));
    let links = scenario.links.iter().flat_map(|link| {
        [Way::Forward, Way::Reverse].map(|way| {
            let direction = link.direction(way);
            LinkLabel {
                name: link.direction_name(way),
                rate: direction.rate,
                queue: describe(&direction.queue),
            }
        })
    });
    let out = |link: &Link| link.forward.outage.is_some() || link.reverse.outage.is_some();
    let outages = scenario.links.iter().any(out);
    let (flows, links) = (flows.collect(), links.collect());
    // Those that are there, as the graph numbers them.
    let proxies = scenario.proxies.iter().filter_map(|proxy| {
        let choice = proxy.choice.as_ref()?;
        Some(ProxyLabel { name: proxy.name.clone(), kind: describe(choice) })
    });
    let proxies = proxies.collect();
    RunLabels { flows, links, proxies, duration: scenario.duration, outages }
}

fn flow_label(flow: &Flow, seed: u64, budget: &mut DrawBudget) -> FlowLabel {
    let (kind, size) = match flow.transport() {
        Transport::Tcp => (FlowKind::Connection, workloads_for(seed, flow).sends.size(budget)),
        Transport::Udp => (FlowKind::Datagrams, None),
    };
    FlowLabel {
        name: flow.name.clone(),
        kind,
        mechanisms: mechanisms(flow),
        profile: (flow.transport() == Transport::Tcp).then(|| profile(flow)),
        sends: flow.sends,
        size,
        started_at: start_time(seed, flow),
    }
}

/// What was chosen for a flow, each with the knobs that are not at their default: the sender's
/// choices, and of the receiver its acknowledgment policy and whatever else sets it apart.
fn mechanisms(flow: &Flow) -> BTreeMap<String, String> {
    let mut named = BTreeMap::from([("traffic".to_owned(), describe(&flow.traffic))]);
    if flow.transport() == Transport::Udp {
        return named;
    }
    for (name, choice) in flow.sender_tcp().by_name() {
        match name {
            "endpoint" => {
                let changed = changed_knobs(choice);
                if !changed.is_empty() {
                    named.insert(name.to_owned(), changed.join(", "));
                }
            }
            // Only who receives data has anything to acknowledge.
            "ack" => drop(named.insert(name.to_owned(), describe(&flow.receiver_tcp().ack))),
            _ => drop(named.insert(name.to_owned(), describe(choice))),
        }
    }
    if flow.receiver_tcp().endpoint != flow.sender_tcp().endpoint {
        let changed = changed_knobs(&flow.receiver_tcp().endpoint).join(", ");
        let words = if changed.is_empty() { "defaults".to_owned() } else { changed };
        named.insert("receiver_endpoint".to_owned(), words);
    }
    named
}

/// What the ends of a flow began with, and what of its mechanisms is not as there.
fn profile(flow: &Flow) -> ProfileLabel {
    let (sender, receiver) = (flow.sender_tcp(), flow.receiver_tcp());
    let (sender_base, receiver_base) = (base(sender.profile()), base(receiver.profile()));
    let mut differs = BTreeMap::new();
    for ((name, choice), (_, base)) in sender.by_name().into_iter().zip(sender_base.by_name()) {
        let words = match name {
            "endpoint" if same(choice, base) => None,
            "endpoint" => Some(knobs_unlike(choice, base).join(", ")),
            "ack" => difference(&receiver.ack, &receiver_base.ack),
            _ => difference(choice, base),
        };
        differs.extend(words.map(|words| (name.to_owned(), words)));
    }
    if receiver.endpoint != sender.endpoint {
        let changed = knobs_unlike(&receiver.endpoint, &receiver_base.endpoint).join(", ");
        // Another profile says so itself.
        if !changed.is_empty() || sender.profile() == receiver.profile() {
            let words = if changed.is_empty() { "as in the profile".to_owned() } else { changed };
            differs.insert("receiver_endpoint".to_owned(), words);
        }
    }
    let (sender, receiver) = (sender.profile().to_owned(), receiver.profile().to_owned());
    ProfileLabel { sender, receiver, differs }
}

/// The endpoint that a profile stands for.
fn base(profile: &str) -> &'static Stack {
    static ALL: LazyLock<BTreeMap<&str, Stack>> = LazyLock::new(|| {
        let names = ackord_tcp::registry::PROFILES.iter().map(|profile| profile.name);
        names.filter_map(|name| Some((name, Stack::named(name).ok()?))).collect()
    });
    ALL.get(profile).expect("a checked scenario names registered profiles")
}

/// Whether two choices of one family are the same mechanism with the same knobs.
fn same(choice: &dyn Knobs, base: &dyn Knobs) -> bool {
    let mechanism = choice.mechanism();
    mechanism.name == base.mechanism().name
        && mechanism.knobs.iter().all(|knob| choice.value(knob.name) == base.value(knob.name))
}

/// A choice in a few words where it is another than `base`.
fn difference(choice: &dyn Knobs, base: &dyn Knobs) -> Option<String> {
    if same(choice, base) {
        return None;
    }
    if choice.mechanism().name != base.mechanism().name {
        return Some(describe(choice));
    }
    let mut words = vec![choice.mechanism().name.to_owned()];
    words.extend(knobs_unlike(choice, base));
    Some(words.join(", "))
}

/// A choice in a few words: its name, and the knobs that are not at their default.
pub fn describe(choice: &dyn Knobs) -> String {
    let mut words = vec![choice.mechanism().name.to_owned()];
    words.extend(changed_knobs(choice));
    words.join(", ")
}

/// The knobs whose value is not the default, as "name value".
fn changed_knobs(choice: &dyn Knobs) -> Vec<String> {
    knobs_but(choice, Knob::default_value)
}

/// The knobs whose value is not that of `base`, as "name value".
fn knobs_unlike(choice: &dyn Knobs, base: &dyn Knobs) -> Vec<String> {
    knobs_but(choice, |knob| base.value(knob.name))
}

/// The knobs whose value is not the `usual` one, as "name value".
fn knobs_but(choice: &dyn Knobs, usual: impl Fn(&Knob) -> Option<KnobValue>) -> Vec<String> {
    // In the order of the registry, where what matters most comes first.
    choice
        .mechanism()
        .knobs
        .iter()
        .filter_map(|knob| {
            let value = choice.value(knob.name)?;
            if usual(knob).as_ref() == Some(&value) {
                return None;
            }
            let unit = match (&knob.kind, &value) {
                (KnobKind::Count { unit, .. }, KnobValue::Count(_)) => format!(" {unit}"),
                _ => String::new(),
            };
            Some(format!("{} {value}{unit}", knob.name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::{Override, ScenarioFile};
    use ackord_units::{Bytes, Time};

    fn labels(scenario: &str, changes: &[(&str, &str)]) -> RunLabels {
        let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
        let file = ScenarioFile::from_library(scenario).expect("it comes along");
        let scenario = file.with_overrides(changes).check().expect("a sound scenario");
        run_labels(&scenario, scenario.seed)
    }

    #[test]
    fn a_flow_is_labelled_with_its_choices_and_what_is_not_default_about_them() {
        let changes = [("flows.download.tcp.congestion", "{ kind = 'vegas', alpha = 2.5 }")];
        let labels = labels("lossy-wifi", &changes);
        let flow = &labels.flows[0];
        assert_eq!(flow.mechanisms["congestion"], "vegas, alpha 2.5");
        assert_eq!(flow.mechanisms["traffic"], "bulk, size 20 MB");
        assert_eq!((flow.size, flow.started_at), (Some(Bytes(20_000_000)), Time::ZERO));
    }

    #[test]
    fn a_flow_is_labelled_with_its_profile_and_what_differs_from_that() {
        let of = |changes: &[(&str, &str)]| {
            labels("lossy-wifi", changes).flows.remove(0).profile.expect("a connection")
        };
        let linux = of(&[("tcp.profile", "linux")]);
        assert_eq!((linux.sender.as_str(), linux.receiver.as_str()), ("linux", "linux"));
        assert_eq!(linux.differs, BTreeMap::new());

        let changed = of(&[
            ("tcp.profile", "linux"),
            ("tcp.congestion.hystart", "off"),
            ("tcp.rto_min", "1 s"),
            ("tcp.ack", "immediate"),
        ]);
        let differs = |differs: &[(&str, &str)]| -> BTreeMap<String, String> {
            differs.iter().map(|(key, words)| (key.to_string(), words.to_string())).collect()
        };
        let expected = [
            ("ack", "immediate"),
            ("congestion", "cubic, hystart off"),
            ("endpoint", "rto_min 1 s"),
        ];
        assert_eq!(changed.differs, differs(&expected));

        let mixed = of(&[("flows.download.receiver_tcp.profile", "linux")]);
        assert_eq!((mixed.sender.as_str(), mixed.receiver.as_str()), ("rfc", "linux"));
        assert_eq!(mixed.differs, BTreeMap::new());
        let mss = of(&[("tcp.mss", "500 B"), ("flows.download.receiver_tcp.mss", "1460 B")]);
        let expected = [("endpoint", "mss 500 B"), ("receiver_endpoint", "as in the profile")];
        assert_eq!(mss.differs, differs(&expected));
    }

    #[test]
    fn links_are_labelled_in_the_order_of_their_numbers() {
        let labels = labels("lossy-wifi", &[]);
        let names: Vec<_> = labels.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["wifi", "wifi.reverse"]);
        assert!(labels.links[0].queue.starts_with("drop-tail"), "{}", labels.links[0].queue);
    }

    #[test]
    fn paced_messages_with_an_end_have_a_size() {
        let traffic = "{ kind = 'paced', message = '500 B', messages = 8 }";
        let labels = labels("lossy-wifi", &[("flows.download.traffic", traffic)]);
        assert_eq!(labels.flows[0].size, Some(Bytes(4_000)));
    }
}
