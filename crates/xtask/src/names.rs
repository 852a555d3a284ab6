//! No tracked file names a path of somebody's machine, or notes that only its author can follow.

use crate::workspace::Workspace;
use crate::{CannotCheck, Findings};

/// Beginnings of absolute paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/work/", "/root/", "/home/", "/Users/", "/tmp/t-", "C:\\Users"];

/// Pointers that a reader of the checkout cannot follow.
const DEAD_ENDS: &[&str] = &["../shared", "issue #", "this session", "previous session"];

/// This file has to spell them out.
const THIS_FILE: &str = "crates/xtask/src/names.rs";

/// Checks every tracked text file.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    for name in workspace.files()? {
        if name == THIS_FILE {
            continue;
        }
        // What is not text (a capture, an image) has nothing to read in it.
        let Ok(text) = std::fs::read_to_string(workspace.root.join(&name)) else { continue };
        for (number, line) in text.lines().enumerate() {
            if let Some(found) = offence(line) {
                findings.errors.push(format!("{name}:{}: `{found}`", number + 1));
            }
        }
    }
    Ok(findings)
}

/// The first thing in a line that does not belong there.
fn offence(line: &str) -> Option<&'static str> {
    let lower = line.to_lowercase();
    let dead_end = DEAD_ENDS.iter().find(|phrase| lower.contains(**phrase));
    dead_end.or_else(|| MACHINE_PATHS.iter().find(|path| starts_a_path(line, path))).copied()
}

/// Whether `path` stands in `line` as the beginning of a path: `docs/work/x` does not count.
fn starts_a_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_and_a_relative_one_is_not() {
        assert_eq!(offence("see /work/notes.txt"), Some("/work/"));
        assert_eq!(offence("cp `/home/ann/x` ."), Some("/home/"));
        assert_eq!(offence("see docs/work/notes.txt, ./root/x and ~/home/x"), None);
    }

    #[test]
    fn a_pointer_nobody_can_follow_is_found() {
        assert_eq!(offence("as Issue #12 says"), Some("issue #"));
        assert_eq!(offence("the TCP session of the user, a shared/exclusive lock"), None);
    }
}
