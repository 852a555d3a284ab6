//! No tracked file names a path of somebody's machine.

use crate::workspace::Workspace;
use crate::{CannotCheck, Findings};

/// Beginnings of absolute paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/root/", "/home/", "/Users/", "C:\\Users"];

/// This file has to spell them out.
const THIS_FILE: &str = "crates/xtask/src/names.rs";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_and_a_relative_one_is_not() {
        assert_eq!(offence("see /root/notes.txt"), Some("/root/"));
        assert_eq!(offence("cp `/home/ann/x` ."), Some("/home/"));
        assert_eq!(offence("see docs/home/notes.txt, ./root/x and ~/home/x"), None);
    }
}
