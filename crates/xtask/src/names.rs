//! No tracked file names a path of somebody's machine, and prose uses the field's words.

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;

/// Beginnings of absolute paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/root/", "/home/", "/Users/", "C:\\Users"];

/// This file has to spell them out.
const THIS_FILE: &str = "crates/xtask/src/names.rs";

/// Words that are refused, in lower case, and what to write instead. A word stands for all that begin with it, so
/// "octet" is "octets" too.
const WORDS: &[(&str, &str)] = &[
    ("acknowledgement", "acknowledgment, as in RFC 9293; ACK for the segment"),
    ("asker", "requester"),
    ("hand-over", "handover"),
    ("in peace", "outside recovery"),
    ("middle box", "middlebox"),
    ("middle-box", "middlebox"),
    ("octet", "byte"),
    ("repair", "recovery; recover or retransmit what was lost"),
    ("send again", "retransmit"),
    ("sending again", "retransmitting"),
    ("sends again", "retransmits"),
    ("sent again", "retransmitted"),
    ("time stamp", "timestamp"),
    ("timer strike", "timer expires"),
    ("typist", "telnet client"),
    ("way of acknowledging", "ACK policy"),
    ("ways of acknowledging", "ACK policies"),
    ("what comes along", "built-in"),
];

/// Where prose is held to that, by how a path begins.
const HELD: &[&str] = &[
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "benches/",
    "crates/study/src/guide/",
    "docs/",
    "papers/",
    "scenarios/",
    "scripts/",
];

/// Where comments are.
const HELD_COMMENTS: &str = "crates/";

/// The kinds of files that have prose of ours.
const KINDS: &[&str] = &[".md", ".rs"];

/// Where a word may stand: quotations of RFCs, history, and pages that the program has printed.
const EXCEPT: &[&str] = &[
    "CHANGELOG.md",
    "docs/accuracy.md",
    "docs/annotated-transfer.md",
    "docs/fidelity",
    "docs/gateway-measured",
    "docs/interop.md",
    "docs/ledger.md",
    "docs/live-settings.md",
    "docs/profiles.md",
    "docs/scripts-against-kernel.md",
];

/// Checks every tracked text file.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    // The checkout's own place is one machine's too, wherever it is.
    let here = format!("{}/", workspace.root.display());
    for name in workspace.files()? {
        if name == THIS_FILE {
            continue;
        }
        // What is not text (a capture, an image) has nothing to read in it.
        let Ok(text) = std::fs::read_to_string(workspace.root.join(&name)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let found = offence(line).or_else(|| line.contains(&here).then_some("this checkout"));
            if let Some(found) = found {
                findings.errors.push(format!("{name}:{}: `{found}`", number + 1));
            }
        }
        for (number, word, instead) in refused(&name, &text) {
            findings.errors.push(format!("{name}:{number}: `{word}`: write {instead}"));
        }
    }
    Ok(findings)
}

/// The first thing in a line that does not belong there.
fn offence(line: &str) -> Option<&'static str> {
    MACHINE_PATHS.iter().find(|path| starts_a_path(line, path)).copied()
}

/// Whether `path` stands in `line` as the beginning of a path: `docs/home/x` does not count.
fn starts_a_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*}".contains(c))
    })
}

/// The refused words in a file that is held to them: the line of each, the word, what to write instead.
fn refused(name: &str, text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let among = |places: &[&str]| places.iter().any(|place| name.starts_with(place));
    if among(EXCEPT) || !KINDS.iter().any(|kind| name.ends_with(kind)) {
        return Vec::new();
    }
    let whole = among(HELD);
    if !whole && !name.starts_with(HELD_COMMENTS) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut quoted = false;
    for (number, line) in text.lines().enumerate() {
        // What a program prints or takes is not prose.
        let fence = name.ends_with(".md") && line.trim_start().starts_with("```");
        quoted ^= fence;
        if quoted || fence {
            continue;
        }
        let held =
            if whole { line } else { line.split_once("//").map_or("", |(_, comment)| comment) };
        let prose = without_code(&held.to_lowercase());
        let here = WORDS.iter().filter(|(word, _)| starts_a_word(&prose, word));
        found.extend(here.map(|&(word, instead)| (number + 1, word, instead)));
    }
    found
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Whether `word` stands in `line` where a word begins.
fn starts_a_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_/-".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_and_a_relative_one_is_not() {
        assert_eq!(offence("see /root/notes.txt"), Some("/root/"));
        assert_eq!(offence("cp `/home/ann/x` ."), Some("/home/"));
        assert_eq!(offence("see docs/home/notes.txt, ./root/x and ~/home/x"), None);
    }

    #[test]
    fn a_refused_word_is_found_in_held_prose_but_not_in_code_or_a_quotation() {
        let words = |name, text| {
            refused(name, text).into_iter().map(|(line, word, _)| (line, word)).collect::<Vec<_>>()
        };
        let text =
            "Five Octets\nare sent again.\n```text\n8 octets\n```\nthe column `repair`, nonoctet";
        assert_eq!(words("docs/tcp.md", text), [(1, "octet"), (2, "sent again")]);
        assert_eq!(words("docs/ledger.md", text), []);
        assert_eq!(words("docs/tcp.toml", text), []);
        assert_eq!(words("CHANGELOG.md", text), []);
        let code = "let octets = 8; // Octets.\n/// `octets` of `repair`";
        assert_eq!(words("crates/wire/src/lib.rs", code), [(1, "octet")]);
    }
}
