//! No crate uses a room at or below itself, or one it has no business with.

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;

/// Which rooms a crate may use: these, or any above it.
type MayUse = Option<&'static [&'static str]>;
const ABOVE: MayUse = None;

/// The rooms from the ground up, and what each may use.
const ROOMS: &[(&str, MayUse)] = &[
    // For tests only: what the machine lacks, and how busy it is.
    ("testing", ABOVE),
    // Code for the compiler: what mechanisms' structs of knobs derive.
    ("knobs-derive", Some(&[])),
    ("units", Some(&["knobs-derive"])),
    ("wire", ABOVE),
    ("events", ABOVE),
    ("tcp", Some(&["units", "wire", "events"])),
    // One endpoint against a peer that a script injects: no path, no clock.
    ("script", Some(&["units", "wire", "events", "tcp"])),
    // A middlebox that splits a connection is made of two endpoints.
    ("path", Some(&["units", "wire", "events", "tcp"])),
    ("traffic", ABOVE),
    ("scenario", ABOVE),
    ("sim", ABOVE),
    // A kernel, its clock and its network card: no packet is looked into.
    ("uml", Some(&["units"])),
    // The kernel's calls, and what of them is unsafe: no packet is looked into.
    ("sys", Some(&["testing", "units"])),
    ("live", ABOVE),
    ("packetdrill", Some(&["units", "wire", "events", "tcp"])),
    // A measure that looked into an endpoint could not be fed from a capture.
    ("measure", Some(&["units", "wire", "events"])),
    // What it knows of an application comes from captures as well as from runs.
    ("history", Some(&["units", "wire"])),
    // Captures: no endpoint, no path.
    ("diagnose", Some(&["testing", "units", "wire"])),
    // What is around an engine, of whatever kind that is.
    ("daemon", Some(&["testing", "units", "scenario", "measure"])),
    // Frames of a router: no endpoint, no simulation.
    (
        "gateway",
        Some(&[
            "testing", "units", "wire", "events", "tcp", "path", "scenario", "measure", "daemon",
        ]),
    ),
    // Sockets of a host: no packet, no path.
    ("agent", Some(&["testing", "units", "tcp", "scenario", "measure", "history", "daemon"])),
    ("report", Some(&["testing", "units", "wire", "events", "measure", "diagnose"])),
    ("study", ABOVE),
    ("advice", ABOVE),
    ("validation", ABOVE),
    ("papers", ABOVE),
    ("cli", ABOVE),
    // What Python sees of it.
    ("py", ABOVE),
    // Readers and endpoints: what takes bytes from strangers.
    (
        "fuzz-targets",
        Some(&[
            "units", "wire", "events", "tcp", "path", "scenario", "script", "diagnose", "gateway",
            "daemon", "agent",
        ]),
    ),
    // The ledger of the RFCs and the table of the profiles name knobs.
    ("xtask", Some(&["units", "tcp"])),
];

const PREFIX: &str = "ackord-";

/// A crate and the workspace crates it uses, for building, running or testing.
struct Uses {
    name: String,
    uses: Vec<String>,
}

/// Checks the workspace's own dependency graph.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let graph: Vec<Uses> = workspace
        .metadata
        .workspace_packages()
        .into_iter()
        .map(|package| Uses {
            name: package.name.to_string(),
            uses: package
                .dependencies
                .iter()
                .filter(|dependency| dependency.path.is_some())
                .map(|dependency| dependency.name.clone())
                .collect(),
        })
        .collect();
    Ok(Findings { errors: violations(&graph), warnings: Vec::new() })
}

fn violations(graph: &[Uses]) -> Vec<String> {
    let mut errors = Vec::new();
    for Uses { name, uses } in graph {
        let Some(rank) = rank(name) else {
            errors
                .push(format!("{name} has no room: add it to ROOMS in crates/xtask/src/layers.rs"));
            continue;
        };
        for used in uses {
            let why = match (self::rank(used), ROOMS[rank].1) {
                (None, _) => Some("which has no room"),
                (Some(below), _) if below >= rank => Some(
                    "which is at or below it (a test that needs both belongs to the lower one)",
                ),
                (Some(above), Some(allowed)) if !allowed.contains(&ROOMS[above].0) => {
                    Some("which it must not know")
                }
                _ => None,
            };
            if let Some(why) = why {
                errors.push(format!("{name} uses {used}, {why}"));
            }
        }
    }
    errors
}

/// A crate's name in ARCHITECTURE.md: its package's without what all have.
pub(crate) fn room(package: &str) -> Option<&str> {
    package.strip_prefix(PREFIX)
}

/// Every room, from the ground up.
pub(crate) fn rooms() -> impl Iterator<Item = &'static str> {
    ROOMS.iter().map(|(room, _)| *room)
}

/// A crate's place in the order, from the ground up.
fn rank(name: &str) -> Option<usize> {
    let room = room(name)?;
    ROOMS.iter().position(|(known, _)| *known == room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(name: &str, uses: &[&str]) -> Vec<Uses> {
        vec![Uses { name: name.to_owned(), uses: uses.iter().map(|&u| u.to_owned()).collect() }]
    }

    #[test]
    fn using_rooms_above_is_allowed() {
        assert_eq!(violations(&graph("ackord-sim", &["ackord-tcp", "ackord-path"])), [""; 0]);
        assert_eq!(violations(&graph("ackord-report", &["ackord-measure"])), [""; 0]);
    }

    #[test]
    fn using_a_room_below_is_refused() {
        let errors = violations(&graph("ackord-tcp", &["ackord-units", "ackord-sim"]));
        assert_eq!(errors.len(), 1);
        assert!(errors[0].starts_with("ackord-tcp uses ackord-sim, which is at or below it"));
    }

    #[test]
    fn using_oneself_is_refused() {
        assert_eq!(violations(&graph("ackord-path", &["ackord-path"])).len(), 1);
    }

    #[test]
    fn a_measure_that_looks_into_an_endpoint_is_refused() {
        for inner in ["ackord-tcp", "ackord-path", "ackord-sim"] {
            let errors = violations(&graph("ackord-measure", &[inner]));
            assert_eq!(errors, [format!("ackord-measure uses {inner}, which it must not know")]);
        }
    }

    #[test]
    fn a_crate_without_a_room_is_refused() {
        assert_eq!(violations(&graph("ackord-attic", &[])).len(), 1);
        assert_eq!(violations(&graph("ackord-cli", &["ackord-attic"])).len(), 1);
    }
}
