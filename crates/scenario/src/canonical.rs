//! One text for one meaning: the canonical form of a scenario, and its hash.
//!
//! Everything is written out: groups as their members, both directions of every link, both
//! endpoints of every flow, every knob with the value it has. Keys are in the order of this file,
//! which is fixed: two scenarios that mean the same have the same text.

use crate::model::{Direction, Flow, Link, NodeKind, Proxy, Scenario, Start, TcpChoices};
use ackord_traffic::registry::Transport;
use ackord_units::{Choice, KnobValue, Ratio};
use ackord_wire::Side;
use sha2::{Digest, Sha256};
use std::fmt::Write;

impl Scenario {
    /// The scenario as a TOML file that says everything. Reading it gives an equal scenario.
    pub fn canonical(&self) -> String {
        format!(
            "version = {}\nname = {}\npurpose = {}\nsource = {}\nseed = {}\n{}",
            self.version,
            quoted(&self.name),
            quoted(&self.purpose),
            quoted(&self.source),
            self.seed,
            self.physics()
        )
    }

    /// 16 hexadecimal digits that stand for what is simulated: the canonical form without name,
    /// purpose, source and seed (the first 64 bits of its SHA-256).
    pub fn hash(&self) -> String {
        let text = format!("version = {}\n{}", self.version, self.physics());
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().take(8).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Everything but what only labels the scenario.
    fn physics(&self) -> String {
        let mut text = format!("duration = \"{}\"\n\n", self.duration);
        for node in &self.nodes {
            let table = match node.kind {
                NodeKind::Host => "hosts",
                NodeKind::Router => "routers",
            };
            line(&mut text, &format!("[{table}.{}]", node.name));
        }
        for link in &self.links {
            text.push_str(&self.link(link));
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

    fn link(&self, link: &Link) -> String {
        let (from, to) = (&self.node(link.from).name, &self.node(link.to).name);
        let mut text = format!("\n[[links]]\nname = \"{}\"\n", link.name);
        line(&mut text, &format!("from = \"{from}\"\nto = \"{to}\""));
        text.push_str(&direction(&link.forward));
        if let Some(medium) = &link.medium {
            line(&mut text, &format!("medium = {}", choice(medium)));
        }
        line(&mut text, "[links.reverse]");
        text.push_str(&direction(&link.reverse));
        if link.forward.jitter.is_some() && link.reverse.jitter.is_none() {
            line(&mut text, "jitter = \"none\"");
        }
        if link.forward.outage.is_some() && link.reverse.outage.is_none() {
            line(&mut text, "outage = \"none\"");
        }
        text
    }

    fn proxy(&self, proxy: &Proxy) -> String {
        let (at, link) = (&self.node(proxy.at).name, &self.links[proxy.link].name);
        let mut text = format!("\n[[proxies]]\nname = \"{}\"\n", proxy.name);
        line(&mut text, &format!("at = \"{at}\"\nlink = \"{link}\""));
        let chosen = proxy.choice.as_ref().map_or("\"none\"".to_owned(), choice);
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

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Free text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn direction(direction: &Direction) -> String {
    let loss = direction.loss.as_ref().map_or("\"none\"".to_owned(), choice);
    // What a direction does not have is not said: scenarios older than the key keep their hash.
    let outage = direction.outage.as_ref().map(|outage| format!("outage = {}\n", choice(outage)));
    let jitter = direction.jitter.as_ref().map(|jitter| format!("jitter = {}\n", choice(jitter)));
    format!(
        "rate = \"{}\"\ndelay = \"{}\"\n{}queue = {}\n{}loss = {loss}\n",
        direction.rate,
        direction.delay,
        jitter.unwrap_or_default(),
        choice(&direction.queue),
        outage.unwrap_or_default()
    )
}

fn tcp(tcp: &TcpChoices) -> String {
    let mut text = String::new();
    for (name, chosen) in tcp.by_name() {
        if name == "endpoint" {
            for (knob, value) in &chosen.settings.0 {
                line(&mut text, &format!("{knob} = {}", value_text(value)));
            }
        } else {
            line(&mut text, &format!("{name} = {}", choice(chosen)));
        }
    }
    text
}

fn choice(choice: &Choice) -> String {
    let mut text = format!("{{ kind = \"{}\"", choice.mechanism.name);
    for (knob, value) in &choice.settings.0 {
        let _ = write!(text, ", {knob} = {}", value_text(value));
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
        KnobValue::BytesList(values) => {
            let parts: Vec<_> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("[{}]", parts.join(", "))
        }
        KnobValue::SpanList(values) => {
            let parts: Vec<_> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("[{}]", parts.join(", "))
        }
        KnobValue::Ratio(ratio) => format!("\"{}\"", ratio_text(*ratio)),
        value => format!("\"{value}\""),
    }
}

/// The ratio as people write it, if that says all of it.
fn ratio_text(ratio: Ratio) -> String {
    let percent = ratio.to_string();
    if percent.parse() == Ok(ratio) { percent } else { format!("{} of 1", ratio.get()) }
}
