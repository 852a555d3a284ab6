//! One text for one meaning: the canonical form of a scenario, and its hash.
//!
//! Everything is written out: groups as their members, both directions of every link, both
//! endpoints of every flow, every knob with the value it has. Keys are in the order of this file,
//! which is fixed: two scenarios that mean the same have the same text.

use crate::model::{Direction, Flow, Link, NodeKind, Proxy, Scenario, Start};
use ackord_tcp::registry::Stack;
use ackord_traffic::Transport;
use ackord_units::{KnobValue, Knobs, Ratio};
use ackord_wire::{IpVersion, Side};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

impl Scenario {
    /// The scenario as a TOML file that says everything. Reading it gives an equal scenario.
    pub fn canonical(&self) -> String {
        let mut text = format!("version = {}\nname = {}\n", self.version, quoted(&self.name));
        for (key, words) in [("purpose", &self.purpose), ("source", &self.source)] {
            if !words.is_empty() {
                line(&mut text, &format!("{key} = {}", quoted(words)));
            }
        }
        format!("{text}seed = {}\n{}", self.seed, self.physics(Label::Said))
    }

    /// 16 hexadecimal digits that stand for what is simulated: the canonical form without name,
    /// purpose, source and seed (the first 64 bits of its SHA-256).
    pub fn hash(&self) -> String {
        let text = format!("version = {}\n{}", self.version, self.physics(Label::LeftOut));
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().take(8).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Everything but what only labels the scenario.
    fn physics(&self, label: Label) -> String {
        let mut text = format!("duration = \"{}\"\n\n", self.duration);
        for node in &self.nodes {
            let table = match node.kind {
                NodeKind::Host => "hosts",
                NodeKind::Router => "routers",
            };
            line(&mut text, &format!("[{table}.{}]", node.name));
            if let Some(processing) = &node.processing {
                line(&mut text, &format!("processing = {}", choice(processing)));
            }
            if let Some(kernel) = &node.kernel {
                line(&mut text, &format!("kernel = \"{kernel}\""));
            }
        }
        for link in &self.links {
            text.push_str(&self.link(link, label));
        }
        for proxy in &self.proxies {
            text.push_str(&self.proxy(proxy));
        }
        for flow in &self.flows {
            text.push_str(&self.flow(flow));
        }
        line(&mut text, "\n[record]");
        line(&mut text, &format!("series = \"{}\"", self.record.series));
        let capture = |capture: &crate::Capture| {
            format!("\"{}\"", self.links[capture.link].direction_name(capture.way))
        };
        let captures: Vec<_> = self.record.captures.iter().map(capture).collect();
        line(&mut text, &format!("captures = [{}]", captures.join(", ")));
        text
    }

    fn link(&self, link: &Link, label: Label) -> String {
        let (from, to) = (&self.node(link.from).name, &self.node(link.to).name);
        let mut text = format!("\n[[links]]\nname = \"{}\"\n", link.name);
        line(&mut text, &format!("from = \"{from}\"\nto = \"{to}\""));
        text.push_str(&direction(&link.forward, None, label));
        if let Some(medium) = &link.medium {
            line(&mut text, &format!("medium = {}", choice(medium)));
        }
        line(&mut text, "[links.reverse]");
        text + &direction(&link.reverse, Some(&link.forward), label)
    }

    fn proxy(&self, proxy: &Proxy) -> String {
        let (at, link) = (&self.node(proxy.at).name, &self.links[proxy.link].name);
        let mut text = format!("\n[[proxies]]\nname = \"{}\"\n", proxy.name);
        line(&mut text, &format!("at = \"{at}\"\nlink = \"{link}\""));
        let chosen = proxy.choice.as_ref().map_or("\"none\"".to_owned(), |chosen| choice(chosen));
        line(&mut text, &format!("proxy = {chosen}"));
        for (key, at) in [("dies", proxy.dies), ("restarts", proxy.restarts)] {
            if let Some(at) = at {
                line(&mut text, &format!("{key} = \"{at}\""));
            }
        }
        text
    }

    fn flow(&self, flow: &Flow) -> String {
        let (from, to) = (&self.node(flow.client).name, &self.node(flow.server).name);
        let mut text = format!("\n[[flows]]\nname = \"{}\"\n", flow.name);
        line(&mut text, &format!("from = \"{from}\"\nto = \"{to}\""));
        // What is said of most flows anyway would change the hash of every scenario there is.
        if flow.application != flow.name {
            line(&mut text, &format!("application = {}", quoted(&flow.application)));
        }
        match flow.start {
            Start::At(at) => line(&mut text, &format!("start = \"{at}\"")),
            Start::Uniform { from, to } => {
                line(&mut text, &format!("start = {{ from = \"{from}\", to = \"{to}\" }}"));
            }
        }
        let sends = match flow.sends {
            Side::Client => "client",
            Side::Server => "server",
        };
        line(&mut text, &format!("sends = \"{sends}\""));
        line(&mut text, &format!("traffic = {}", choice(&flow.traffic)));
        // As above: most flows are IPv4's.
        if flow.client_tcp.endpoint.ip == IpVersion::V6 && flow.transport() == Transport::Tcp {
            line(&mut text, "ip = \"v6\"");
        }
        if let Some(exec) = &flow.exec {
            let commands = [("server", &exec.server), ("client", &exec.client)];
            let given = commands.into_iter().filter_map(|(key, of)| Some((key, of.as_ref()?)));
            let given = given.map(|(key, of)| format!("{key} = {}", quoted(of.text())));
            line(&mut text, &format!("exec = {{ {} }}", given.collect::<Vec<_>>().join(", ")));
        }
        if flow.transport() == Transport::Udp {
            line(&mut text, "transport = \"udp\"");
            return text;
        }
        line(&mut text, "[flows.tcp]");
        text.push_str(&tcp(flow.sender_tcp()));
        line(&mut text, "[flows.receiver_tcp]");
        text.push_str(&tcp(flow.receiver_tcp()));
        text
    }
}

impl Direction {
    /// Its keys with their values as they stand in a file: for one that takes a link over from
    /// another. What it has not is not there.
    pub fn keys(&self) -> Vec<(&'static str, String)> {
        let names = [
            "jitter",
            "rate_changes",
            "shaper",
            "policer",
            "outage",
            "loss",
            "corrupt",
            "duplicate",
        ];
        let mut keys = vec![
            ("rate", format!("\"{}\"", self.rate)),
            ("delay", format!("\"{}\"", self.delay)),
            ("queue", choice(&self.queue)),
        ];
        keys.extend(self.trace.as_ref().map(|trace| ("trace", quoted(trace.file()))));
        keys.extend(names.into_iter().filter_map(|key| Some((key, choice(self.chosen(key)?)))));
        keys
    }

    /// What was chosen under a key that may be `none`.
    fn chosen(&self, key: &str) -> Option<&dyn Knobs> {
        fn seen<K: Knobs>(chosen: &Option<K>) -> Option<&dyn Knobs> {
            chosen.as_ref().map(|chosen| chosen as &dyn Knobs)
        }
        match key {
            "jitter" => seen(&self.jitter),
            "rate_changes" => seen(&self.rate_changes),
            "shaper" => seen(&self.shaper),
            "policer" => seen(&self.policer),
            "outage" => seen(&self.outage),
            "loss" => seen(&self.loss),
            "corrupt" => seen(&self.corrupt),
            "duplicate" => seen(&self.duplicate),
            _ => unreachable!("{key} is written here"),
        }
    }
}

/// A choice with its knobs, as it stands in a file.
pub fn choice_text(of: &dyn Knobs) -> String {
    choice(of)
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Free text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// One direction of a link. What it does not have is not said, so that scenarios older than a key
/// keep their hash, unless it is said of the direction it would be taken over from.
fn direction(direction: &Direction, inherited: Option<&Direction>, label: Label) -> String {
    let mut text = format!("rate = \"{}\"\ndelay = \"{}\"\n", direction.rate, direction.delay);
    // Last, where the first of these keys has always had it.
    let mut none = String::new();
    let mut perhaps = |text: &mut String, key| match direction.chosen(key) {
        Some(chosen) => line(text, &format!("{key} = {}", choice(chosen))),
        None if inherited.is_some_and(|inherited| inherited.chosen(key).is_some()) => {
            line(&mut none, &format!("{key} = \"none\""));
        }
        None => {}
    };
    perhaps(&mut text, "jitter");
    perhaps(&mut text, "rate_changes");
    text.push_str(&trace(direction, inherited, label));
    perhaps(&mut text, "shaper");
    perhaps(&mut text, "policer");
    line(&mut text, &format!("queue = {}", choice(&direction.queue)));
    perhaps(&mut text, "outage");
    let loss = direction.chosen("loss").map_or("\"none\"".to_owned(), choice);
    line(&mut text, &format!("loss = {loss}"));
    perhaps(&mut text, "corrupt");
    perhaps(&mut text, "duplicate");
    text + &none
}

/// What is in the file is said by its hash; where it lies is only a label.
fn trace(direction: &Direction, inherited: Option<&Direction>, label: Label) -> String {
    match &direction.trace {
        Some(trace) => {
            let file = match label {
                Label::Said => format!("file = {}, ", quoted(trace.file())),
                Label::LeftOut => String::new(),
            };
            format!("trace = {{ {file}sha256 = \"{}\" }}\n", trace.sha256())
        }
        None if inherited.is_some_and(|inherited| inherited.trace.is_some()) => {
            "trace = \"none\"\n".to_owned()
        }
        None => String::new(),
    }
}

/// Whether what only labels something is written.
#[derive(Clone, Copy)]
enum Label {
    Said,
    LeftOut,
}

fn tcp(tcp: &Stack) -> String {
    let mut text = String::new();
    for (name, chosen) in tcp.by_name() {
        if name == "endpoint" {
            for (knob, value) in values(chosen) {
                line(&mut text, &format!("{knob} = {}", value_text(&value)));
            }
        } else {
            line(&mut text, &format!("{name} = {}", choice(chosen)));
        }
    }
    text
}

/// The knobs that have a value, by name.
fn values(of: &dyn Knobs) -> BTreeMap<&'static str, KnobValue> {
    let knobs = of.mechanism().knobs.iter();
    knobs.filter_map(|knob| Some((knob.name, of.value(knob.name)?))).collect()
}

fn choice(of: &dyn Knobs) -> String {
    let mut text = format!("{{ kind = \"{}\"", of.mechanism().name);
    for (knob, value) in values(of) {
        let _ = write!(text, ", {knob} = {}", value_text(&value));
    }
    text + " }"
}

fn value_text(value: &KnobValue) -> String {
    match value {
        KnobValue::Count(count) => count.to_string(),
        KnobValue::Number(number) => format!("{number:?}"),
        KnobValue::PerFlow(values) => {
            let parts: Vec<_> =
                values.iter().map(|(flow, number)| format!("{flow} = {number:?}")).collect();
            format!("{{ {} }}", parts.join(", "))
        }
        KnobValue::BytesList(values) => list_text(values),
        KnobValue::SpanList(values) => list_text(values),
        KnobValue::RateList(values) => list_text(values),
        KnobValue::Ratio(ratio) => format!("\"{}\"", ratio_text(*ratio)),
        value => format!("\"{value}\""),
    }
}

fn list_text<Q: Display>(values: &[Q]) -> String {
    let parts: Vec<_> = values.iter().map(|value| format!("\"{value}\"")).collect();
    format!("[{}]", parts.join(", "))
}

/// The ratio as people write it, if that says all of it.
fn ratio_text(ratio: Ratio) -> String {
    let percent = ratio.to_string();
    if percent.parse() == Ok(ratio) { percent } else { format!("{} of 1", ratio.get()) }
}
