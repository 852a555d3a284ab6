//! A status of an agent as tables.

use crate::daemons::standing::{self, estimate, section};
use crate::daemons::web::{Sample, Value};
use ackord_agent::watch::{
    ApplicationStatus, ExplainAnswer, LeverStatus, ReachedStatus, Standing, Status,
};
use ackord_daemon::status::Compared;
use ackord_report::document::{Block, Document, Section};
use ackord_report::table;

/// How it stands.
pub(super) fn document(status: &Status) -> Document {
    let mut sections = vec![standing::health(&status.health)];
    sections.extend(losses(&status.applications));
    sections.extend(levers(&status.applications));
    sections.extend(turns(status));
    sections.extend(hosts(status));
    if !status.journal.is_empty() {
        let notes = status.journal.clone();
        sections.push(Section::new("To be taken back").with(Block::Notes(notes)));
    }
    Document { title: "Agent".to_owned(), purpose: String::new(), facts: facts(status), sections }
}

/// Applications in a graph, at most: those that lose most.
const DRAWN: usize = 8;

/// Returns what graphs show over time.
pub(super) fn samples(status: &Status) -> Vec<Sample> {
    let lost = ("Time lost", "ms/s");
    let known = ("Connections", "connections");
    let level = |line: &str, count: u64| Sample {
        graph: known,
        line: line.to_owned(),
        value: Value::Level(count as f64),
    };
    let losses = status.applications.iter().take(DRAWN).map(|one| Sample {
        graph: lost,
        line: one.name.clone(),
        value: Value::Count(one.lost_s() * 1e3),
    });
    let connections = [
        level("followed", status.connections),
        level("treated", status.treated),
        level("left alone", status.control),
    ];
    losses.chain(connections).collect()
}

fn facts(status: &Status) -> Vec<(String, String)> {
    let mut facts = standing::facts(&status.process, format!("{:.0} s", status.process.uptime_s));
    let connections = format!(
        "{} of {} so far, {} treated, {} left alone",
        status.connections, status.connections_in_all, status.treated, status.control
    );
    facts.extend([
        ("control groups".to_owned(), status.cgroups.join(", ")),
        ("applications by".to_owned(), status.by.clone()),
        ("connections".to_owned(), connections),
    ]);
    facts
}

/// What applications lose.
fn losses(applications: &[ApplicationStatus]) -> Option<Section> {
    let table = table!(applications, |one| [
        words("application") => &one.name,
        numbers("connections", "") => one.connections,
        numbers("in all", "") => one.connections_in_all,
        numbers("data", "MB") => one.bytes as f64 / 1e6,
        numbers("exchanges", "s") => one.active_s,
        numbers("lost to Nagle", "s") => one.nagle_s,
        numbers("waits", "") => one.nagle_stalls,
        numbers("peers' to delayed ACKs", "s") => one.delayed_ack_s,
        numbers("waits", "") => one.delayed_ack_stalls,
    ]);
    let caption = "waits of 10 ms and longer; exchanges are gaps between packets below 300 ms";
    section("Applications", table.captioned(caption))
}

/// Levers that are or were at work, and what they bring.
fn levers(applications: &[ApplicationStatus]) -> Option<Section> {
    let all = applications.iter().flat_map(|one| one.levers.iter().map(move |lever| (one, lever)));
    let begun = all.filter_map(|(one, lever)| Some((one, lever, begun(lever)?)));
    let table = table!(begun, |(one, lever, standing)| {
        let Compared { treated, control, difference } = lever.lost_percent;
        let goodput = lever.goodput_bit_s;
        [
            words("application") => &one.name,
            words("lever") => &lever.lever,
            words("standing") => standing,
            words("treated since") => reached(lever.reached),
            numbers("lost, treated", "%") => estimate(treated, 1.0),
            numbers("left alone", "%") => estimate(control, 1.0),
            numbers("difference", "points") => difference.map(|one| standing::difference(one, 1.0)),
            numbers("goodput, treated", "Mbit/s") => estimate(goodput.treated, 1e6),
            numbers("left alone", "Mbit/s") => estimate(goodput.control, 1e6),
        ]
    });
    let caption = "share of the time of exchanges that is lost, and bytes in it";
    section("Levers", table.captioned(caption))
}

/// Connections that a lever has reached, of those that it should.
fn reached(ReachedStatus { connections, treated }: ReachedStatus) -> String {
    format!("{treated} of {connections}")
}

/// How a lever stands that is or was at work.
fn begun(lever: &LeverStatus) -> Option<String> {
    match &lever.standing {
        Standing::Off | Standing::Watching => None,
        Standing::AtWork => Some("at work".to_owned()),
        Standing::Withdrawn { why } => Some(format!("withdrawn: {why}")),
    }
}

/// What settings do to the host as a whole.
fn turns(status: &Status) -> Option<Section> {
    let turns = status.turns?;
    let table = table!(turns.changes(), |(of, by)| [
        words("of the whole host") => of,
        numbers("change by settings", "%") => standing::change(by),
    ]);
    let now = if turns.treated_now { "with settings" } else { "without settings" };
    let caption = format!(
        "turns with settings beside turns without, 95 % intervals of {} blocks of turns; the present turn is {now}",
        turns.blocks
    );
    section("The host", table.captioned(caption))
}

fn hosts(status: &Status) -> Option<Section> {
    let table = table!(&status.hosts, |one| [
        words("host") => one.address.to_string(),
        numbers("reordering", "segments") => one.reordering_segments,
    ]);
    section("Routes where packets overtake each other", table)
}

/// What levers would gain. The shortest delayed acknowledgment that this kernel lets a lever ask for is left of each
/// wait.
#[cfg_attr(not(feature = "agent"), allow(dead_code, reason = "only `advise` shows it"))]
pub(super) fn advice(status: &Status) -> Document {
    let least = ackord_agent::probe::least_delack().as_secs_f64();
    let table = table!(&status.applications, |one| {
        let left = one.delayed_ack_stalls as f64 * least;
        [
            words("application") => &one.name,
            numbers("connections", "") => one.connections_in_all,
            numbers("exchanges", "s") => one.active_s,
            numbers("lost to Nagle", "s") => one.nagle_s,
            numbers("nodelay gains", "s") => one.nagle_s,
            numbers("peers' to delayed ACKs", "s") => one.delayed_ack_s,
            numbers("delayed-ack gains", "s") => (one.delayed_ack_s - left).max(0.0),
            numbers("with [quick]", "s") => one.delayed_ack_s,
        ]
    })
    .captioned("a gain is at most this, and that of the peers for the third");
    let verdict = match (status.connections_in_all, status.nothing_to_gain) {
        (0, _) => "No connection was seen.",
        (_, true) => "Nothing to gain here.",
        (_, false) => "Levers would begin where 1 % of the time of exchanges is lost.",
    };
    let section = Section::new("What would be gained").with(Block::Text(verdict.to_owned()));
    Document {
        title: "What an agent would gain here".to_owned(),
        purpose: String::new(),
        facts: vec![("looked on".to_owned(), format!("{:.0} s", status.process.uptime_s))],
        sections: vec![match table.rows.is_empty() {
            true => section,
            false => section.with(Block::Table(table)),
        }],
    }
}

/// Connections, each with what is done about it and why.
pub(super) fn explained(answer: &ExplainAnswer) -> Document {
    let sections = answer.connections.iter().map(|one| {
        let mut notes = vec![format!(
            "lost to Nagle's algorithm {:.3} s in {} waits; its peer's to our delayed acknowledgments {:.3} s in {}; of \
             {:.3} s in exchanges",
            one.nagle_s, one.nagle_stalls, one.delayed_ack_s, one.delayed_ack_stalls, one.active_s
        )];
        if !one.levers.is_empty() {
            notes.push(format!("at work on it: {}", one.levers.join(", ")));
        }
        if let Some(bound) = one.delack_max_ms {
            notes.push(format!("acknowledgments wait for {bound:.0} ms at most"));
        }
        if one.was_there {
            notes.push("it was there before the agent".to_owned());
        }
        notes.extend(one.why.iter().cloned());
        let heading = format!("{} to {} of {} (process {})", one.local, one.remote, one.application, one.pid);
        Section::new(&heading).with(Block::Notes(notes))
    });
    let applications = answer.applications.iter().filter(|_| answer.in_all == 0).map(|one| {
        let all = one.connections_in_all;
        let mut notes = vec![format!("no connection is open; there were {all} so far")];
        notes.extend(
            one.levers.iter().map(|lever| format!("{}: {}", lever.lever, lever.standing.told())),
        );
        Section::new(&one.name).with(Block::Notes(notes))
    });
    Document {
        title: "Connections".to_owned(),
        purpose: String::new(),
        facts: vec![("found".to_owned(), answer.in_all.to_string())],
        sections: sections.chain(applications).collect(),
    }
}
