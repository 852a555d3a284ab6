//! `[[flows]]`: connections between hosts that are there and can reach each other.

use super::choice::choice;
use super::links::at_least_one;
use super::name_set::NameSet;
use super::names::{self, Member, Nodes, Pair};
use super::reader::{Field, Reader, join};
use super::report::Report;
use super::tcp::layer;
use crate::document::{Item, Place, Value};
use crate::error::{NameOf, Wrong};
use crate::exec::{Exec, ExecCommand, ExecError};
use crate::keys;
use crate::model::{Flow, Link, Start};
use crate::route::{Connections, Reach};
use ackord_tcp::registry::Stack;
use ackord_traffic::{Transport, WorkloadChoice};
use ackord_units::{Choice, Knobs, Ratio, Span};
use ackord_wire::{IpVersion, NodeId, Side};
use std::collections::BTreeMap;

/// The flows with their names and ends, before the rest of them is read: queues refer to flows by
/// name.
pub(super) struct Drafts<'a> {
    drafts: Vec<Draft<'a>>,
}

struct Draft<'a> {
    reader: Reader<'a>,
    /// As in the file, with `*`.
    written: Option<String>,
    members: Vec<Member>,
}

/// What flows are checked against.
pub(super) struct Context<'a> {
    pub nodes: &'a Nodes,
    pub base: &'a Stack,
    /// Of the run, if it is known.
    pub duration: Option<Span>,
    /// All links, if all are known.
    pub links: Option<&'a [Link]>,
}

/// Reads the names and ends of `[[flows]]`.
pub(super) fn drafts<'a>(report: &mut Report, root: &Reader<'a>, nodes: &Nodes) -> Drafts<'a> {
    let fields = root.list(report, "flows", "a list of tables, `[[flows]]`");
    if let Some(field) = root.get("flows").filter(|_| fields.is_empty()) {
        at_least_one(report, &field, "flow");
    }
    let mut places = BTreeMap::new();
    let mut drafts = Vec::new();
    for field in fields {
        let path = super::element_path(&field, flow_name(field.item));
        if let Some(reader) = Reader::new(report, field.item, path, keys::FLOW, "a flow") {
            drafts.push(draft(report, reader, nodes, &mut places));
        }
    }
    Drafts { drafts }
}

/// What a flow is called.
pub(crate) fn flow_name(item: &Item) -> Option<&str> {
    item.as_table()?.get("name")?.item.as_text()
}

fn draft<'a>(
    report: &mut Report,
    reader: Reader<'a>,
    nodes: &Nodes,
    places: &mut BTreeMap<String, Place>,
) -> Draft<'a> {
    let resolve = |report: &mut Report, key| {
        reader.get(key).and_then(|field| nodes.resolve(report, &field, NameOf::Host))
    };
    let (from, to) = (resolve(report, "from"), resolve(report, "to"));
    let written = reader.get("name").and_then(|field| names::written_name(report, &field));
    let members = match (&from, &to, &written) {
        (Some(from), Some(to), Some(name)) => {
            let pair = Pair { reader: &reader, what: "flow", name, from, to };
            names::expand(report, &pair).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    for member in &members {
        if member.from == member.to {
            let node = nodes.node(member.from).name.clone();
            let wrong = Wrong::SameEnds { what: "a flow", node };
            report.add(reader.place_of("to"), &join(&reader.path, "to"), wrong);
            break;
        }
        let place = reader.place_of("name");
        if let Some(first) = places.insert(member.name.clone(), place.clone()) {
            let wrong = Wrong::Duplicate { what: NameOf::Flow, name: member.name.clone(), first };
            report.add(place, &reader.path, wrong);
            break;
        }
    }
    Draft { reader, written, members }
}

impl Drafts<'_> {
    /// The flows' names. A flow whose ends are wrong still has its name.
    pub(super) fn names(&self) -> NameSet {
        let mut names = NameSet::default();
        for draft in &self.drafts {
            let Some(written) = &draft.written else { continue };
            if draft.members.is_empty() {
                names.add(written, written);
            }
            for member in &draft.members {
                names.add(written, &member.name);
            }
        }
        names
    }
}

/// Reads the rest of the flows.
pub(super) fn flows(report: &mut Report, drafts: &Drafts<'_>, context: &Context<'_>) -> Vec<Flow> {
    let reach = context.links.map(|links| Reach::new(context.nodes.list(), links));
    let reach = reach.map(|reach| (reach.connections(), reach));
    let mut flows = Vec::new();
    for draft in &drafts.drafts {
        let reader = &draft.reader;
        let application = application(report, reader);
        let start = start(report, reader, context.duration);
        let exec = exec(report, reader);
        let traffic = traffic(report, reader);
        let usual =
            traffic.as_ref().map_or(Side::Client, |traffic| traffic.config().usual_sender());
        let sends = sends(report, reader, usual);
        let transport = traffic.as_ref().map(|traffic| transport(report, reader, traffic));
        let ip = ip_version(report, reader);
        let (mut both, mut receiver) = match transport {
            Some(Transport::Udp) => no_endpoints(report, reader),
            _ => {
                let both = layer(report, reader.get("tcp"), context.base);
                let receiver = layer(report, reader.get("receiver_tcp"), &both);
                (both, receiver)
            }
        };
        (both.endpoint.ip, receiver.endpoint.ip) = (ip, ip);
        if let Some((connections, reach)) = &reach {
            unreachable_ends(report, draft, context.nodes, (connections, reach));
        }
        let (Some(start), Some(sends), Some(traffic)) = (start, sends, traffic) else { continue };
        let (client_tcp, server_tcp) = match sends {
            Side::Client => (both, receiver),
            Side::Server => (receiver, both),
        };
        flows.extend(draft.members.iter().map(|member| Flow {
            name: member.name.clone(),
            application: application.clone().unwrap_or_else(|| member.name.clone()),
            client: member.from,
            server: member.to,
            start,
            sends,
            traffic: traffic.clone(),
            client_tcp: client_tcp.clone(),
            server_tcp: server_tcp.clone(),
            exec: exec.clone(),
        }));
    }
    flows
}

fn unreachable_ends(
    report: &mut Report,
    draft: &Draft<'_>,
    nodes: &Nodes,
    (connections, reach): (&Connections, &Reach<'_>),
) {
    let name = |id: NodeId| nodes.node(id).name.clone();
    let cut_off =
        |member: &&Member| member.from != member.to && !connections.reach(member.from, member.to);
    if let Some(member) = draft.members.iter().find(cut_off) {
        let reached = reach.from(member.from).into_iter().filter(|id| *id != member.from);
        let wrong = Wrong::Unreachable {
            flow: member.name.clone(),
            from: name(member.from),
            to: name(member.to),
            reached: reached.map(name).collect(),
        };
        report.add(draft.reader.place_of("to"), &join(&draft.reader.path, "to"), wrong);
    }
}

fn traffic(report: &mut Report, reader: &Reader<'_>) -> Option<WorkloadChoice> {
    choice(report, &reader.get("traffic")?, ("traffic", &NameSet::default()), None)
}

/// What carries the workload, which the file may say and must not contradict.
fn transport(report: &mut Report, reader: &Reader<'_>, traffic: &WorkloadChoice) -> Transport {
    let carried_by = traffic.config().transport();
    let Some(field) = reader.get("transport") else { return carried_by };
    let words = [Transport::Tcp, Transport::Udp].map(|transport| (transport.name(), transport));
    if let Some(given) = field.word(report, &words).filter(|given| *given != carried_by) {
        let names = WorkloadChoice::MECHANISMS.iter().map(|mechanism| mechanism.name);
        let fit = names.filter(|name| {
            WorkloadChoice::named(name)
                .is_some_and(|workload| workload.config().transport() == given)
        });
        let fit: Vec<_> = fit.map(|name| format!("`{name}`")).collect();
        let wrong = Wrong::NotThat {
            given: given.name().to_owned(),
            because: format!(
                "the traffic is `{}`, which is carried by {}",
                traffic.mechanism().name,
                carried_by.name()
            ),
            instead: format!(
                "`transport = \"{}\"`, or traffic over {}: {}",
                carried_by.name(),
                given.name(),
                fit.join(", ")
            ),
        };
        field.report(report, wrong);
    }
    carried_by
}

/// A flow that is no connection has no endpoints to say anything about.
fn no_endpoints(report: &mut Report, reader: &Reader<'_>) -> (Stack, Stack) {
    for key in ["tcp", "receiver_tcp", "ip"] {
        if let Some(field) = reader.get(key) {
            let wrong = Wrong::NotThat {
                given: key.to_owned(),
                because: "the flow is carried by UDP and has no TCP endpoints".to_owned(),
                instead: format!("a flow without `{key}`"),
            };
            field.report(report, wrong);
        }
    }
    (Stack::default(), Stack::default())
}

/// Which Internet Protocol carries the flow.
fn ip_version(report: &mut Report, reader: &Reader<'_>) -> IpVersion {
    let words = [("v4", IpVersion::V4), ("v6", IpVersion::V6)];
    let given = reader.get("ip").and_then(|field| field.word(report, &words));
    given.unwrap_or(IpVersion::V4)
}

/// The name in the history, if the file gives one.
fn application(report: &mut Report, reader: &Reader<'_>) -> Option<String> {
    const LONGEST: usize = 255;
    let field = reader.get("application")?;
    let name = field.text(report, "the name of an application")?;
    if name.trim().is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
        let why = format!("{name:?} cannot be the name of an application");
        let allowed = format!("1 to {LONGEST} bytes of text without control characters");
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(name.to_owned())
}

/// The commands of a live run.
fn exec(report: &mut Report, reader: &Reader<'_>) -> Option<Exec> {
    let field = reader.get("exec")?;
    let path = field.path.clone();
    let commands = Reader::new(report, field.item, path, keys::EXEC, "`exec`")?;
    let mut command = |key| {
        let field = commands.get(key)?;
        let text = field.text(report, "a command")?;
        let refused = |why: ExecError| Wrong::BadValue {
            why: format!("`{text}` is no command: {why}"),
            allowed: "words, with quotes around those that hold spaces: `iperf3 -c {server}`"
                .to_owned(),
        };
        ExecCommand::new(text).map_err(|why| field.report(report, refused(why))).ok()
    };
    let exec = Exec { server: command("server"), client: command("client") };
    if field.item.as_table().is_some_and(|table| table.is_empty()) {
        let why = "there is no command in it".to_owned();
        let allowed = "`server`, `client` or both".to_owned();
        field.report(report, Wrong::BadValue { why, allowed });
    }
    Some(exec)
}

/// Which end sends: by its role, or by the name of the host, as `from` or `to` has it. A role comes first: whether
/// a host is called `client` must not change what a file means.
fn sends(report: &mut Report, reader: &Reader<'_>, usual: Side) -> Option<Side> {
    let Some(field) = reader.get("sends") else { return Some(usual) };
    let end = |key| reader.get(key).and_then(|field| field.item.as_text()).unwrap_or_default();
    let roles = [("client", Side::Client), ("server", Side::Server)];
    let ends = [(end("from"), Side::Client), (end("to"), Side::Server)];
    let words: Vec<_> =
        roles.into_iter().chain(ends).filter(|(name, _)| !name.is_empty()).collect();
    field.word(report, &words)
}

fn start(report: &mut Report, reader: &Reader<'_>, duration: Option<Span>) -> Option<Start> {
    let Some(field) = reader.get("start") else { return Some(Start::At(Span::ZERO)) };
    let start = match &field.item.value {
        Value::Table(_) => uniform_start(report, &field, duration)?,
        Value::Array(_) | Value::Bool(_) | Value::Other(_) => {
            field.wrong_type(report, "a time span like `1 s`, or a table with `from` and `to`");
            return None;
        }
        _ => Start::At(instant(report, &field, duration)?),
    };
    let duration = duration?;
    if start.latest() >= duration {
        let why = format!("the flow may start at {}, the run ends at {duration}", start.latest());
        let allowed = format!("a start before {duration}");
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(start)
}

/// A time in the run, or a share of its duration.
fn instant(report: &mut Report, field: &Field<'_>, duration: Option<Span>) -> Option<Span> {
    match field.item.as_text() {
        Some(text) if text.ends_with('%') => {
            let share: Ratio = field.quantity(report)?;
            Some(Span::from_secs_f64(duration?.as_secs_f64() * share.get()))
        }
        _ => field.quantity(report),
    }
}

fn uniform_start(report: &mut Report, field: &Field<'_>, duration: Option<Span>) -> Option<Start> {
    let path = field.path.clone();
    let reader = Reader::new(report, field.item, path, keys::START, "a random start")?;
    let mut end = |key| reader.get(key).and_then(|field| instant(report, &field, duration));
    let (from, to) = (end("from"), end("to"));
    let (from, to) = (from?, to?);
    if from > to {
        let why = format!("`from` ({from}) is after `to` ({to})");
        let allowed = "a `from` that is not after `to`".to_owned();
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(Start::Uniform { from, to })
}
