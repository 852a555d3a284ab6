//! The command lines that are ended.

use crate::common::text;
use std::path::Path;

/// A command line.
pub(super) struct Line {
    pub(super) name: &'static str,
    /// Its words, for a scenario, a folder, and a command to run inside.
    pub(super) words: fn(&str, &Path, &[&str]) -> Vec<String>,
    /// The scenario that it usually has, or what else it takes in its place.
    pub(super) scenario: &'static str,
    pub(super) inside: Inside,
}

/// What runs inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// The command that is given.
    Command,
    /// What the program thinks fit, for longer than this test waits, in the same namespaces.
    ItsOwn,
    /// The same in ever new namespaces, or in some that it holds on to by their sockets: the first
    /// process in one may be killed without any harm.
    ItsOwnInMany,
}

pub(super) const LINES: &[Line] = &[
    Line {
        name: "live serve",
        words: |scenario, folder, command| {
            let serve = ["live", "serve", text(folder), "--scenario", scenario];
            words(&[&serve[..], &["--compare-runs", "0"]].concat(), command)
        },
        scenario: "lossy-wifi",
        inside: Inside::Command,
    },
    Line {
        name: "live run",
        words: |scenario, _, _| words(&["live", "run", scenario], &[]),
        scenario: "lossy-wifi",
        inside: Inside::ItsOwn,
    },
    Line {
        name: "live run with a program",
        words: |scenario, _, command| {
            let quoted: Vec<String> = command.iter().map(|word| format!("\"{word}\"")).collect();
            // A text of TOML, in which nothing is escaped.
            let exec = format!("flows.0.exec.client='{}'", quoted.join(" "));
            words(&["live", "run", scenario, "--set", &exec], &[])
        },
        scenario: "lossy-wifi",
        inside: Inside::Command,
    },
    Line {
        name: "shell",
        words: |rate, _, command| words(&["shell", "--rate", rate, "--delay", "5ms"], command),
        scenario: "10mbit",
        inside: Inside::Command,
    },
    Line {
        name: "shell through the gateway",
        words: |rate, _, command| words(&["shell", "--outside=gateway", "--rate", rate], command),
        scenario: "10mbit",
        inside: Inside::Command,
    },
    Line {
        name: "live accuracy",
        words: |rate, _, _| {
            words(&["live", "accuracy", "--quick", "--duration=1 s", "--rates", rate], &[])
        },
        scenario: "1 Mbit/s",
        inside: Inside::ItsOwnInMany,
    },
    Line {
        name: "live papers",
        words: |paper, _, _| words(&["live", "papers", paper, "--quick"], &[]),
        scenario: "ari",
        inside: Inside::ItsOwnInMany,
    },
    Line {
        name: "validate",
        words: |scenario, _, _| words(&["validate", "--quick", "--only", scenario], &[]),
        scenario: "clean",
        inside: Inside::ItsOwnInMany,
    },
];

fn words(words: &[&str], command: &[&str]) -> Vec<String> {
    let dashes = if command.is_empty() { &[][..] } else { &["--"] };
    [words, dashes, command].concat().into_iter().map(str::to_owned).collect()
}
