//! Output quoted in the documents is what the program prints today.
//!
//! A quoted block looks like this (the command may be anything that prints the same every time):
//!
//! ```text
//! <!-- generated: ackord list papers -->
//! ...
//! <!-- end of generated -->
//! ```
//!
//! The pages of `docs/guide` are wholly the program's: `ackord guide --pages docs/guide`. The pages of
//! the ledger and of the profiles, and the picture of the crates, are written by this crate.
//!
//! `generated --write` fills the blocks in and writes the pages; the check compares. The scenario schema is generated
//! too; the test beside the types compares it with the file.

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;
use crate::{ledger, profiles, rooms};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The pages of the mechanism guide.
const GUIDE: &str = "docs/guide";

/// The page of what the RFCs ask.
const LEDGER: &str = "docs/ledger.md";

/// The page of the profiles.
const PROFILES: &str = "docs/profiles.md";

/// The picture of the crates.
const ROOMS: &str = "docs/crates.svg";

const OPEN: &str = "<!-- generated: ";
const OPEN_END: &str = " -->";
const CLOSE: &str = "<!-- end of generated -->";

/// Compares every block with what its command prints.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    for (name, text, fresh) in documents(workspace)? {
        if text != fresh {
            findings.errors.push(format!("{name}: quoted output is out of date: `make generated`"));
        }
    }
    for (name, fresh) in pages(workspace)? {
        if workspace.read(name).ok() != Some(fresh) {
            findings.errors.push(format!("{name} is out of date: `make generated`"));
        }
    }
    Ok(findings)
}

/// Compares the pages of the guide, whose hundreds of runs take a minute or two.
pub(crate) fn check_guide(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let fresh = Path::new(&workspace.metadata.target_directory).join("guide");
    guide(workspace, &fresh)?;
    let differs = differing(&workspace.root.join(GUIDE), &fresh)?;
    std::fs::remove_dir_all(&fresh)?;
    let out_of_date = |name| format!("{GUIDE}/{name} is out of date: `make generated`");
    Ok(Findings { errors: differs.into_iter().map(out_of_date).collect(), ..Findings::default() })
}

/// Writes what each block's command prints into the block, and the pages of the guide.
pub(crate) fn write(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    for (name, text, fresh) in documents(workspace)? {
        if text != fresh {
            std::fs::write(workspace.root.join(&name), fresh)?;
            println!("generated: wrote {name}");
        }
    }
    write_pages(workspace)?;
    let folder = workspace.root.join(GUIDE);
    if folder.exists() {
        // Pages of mechanisms that are no more would stay otherwise.
        std::fs::remove_dir_all(&folder)?;
    }
    guide(workspace, &folder)?;
    println!("generated: wrote {GUIDE}");
    Ok(Findings::default())
}

/// Writes the pages that are this crate's own work, which need no program built.
pub(crate) fn write_pages(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    for (name, fresh) in pages(workspace)? {
        if workspace.read(name).ok().as_ref() != Some(&fresh) {
            std::fs::write(workspace.root.join(name), fresh)?;
            println!("generated: wrote {name}");
        }
    }
    Ok(Findings::default())
}

/// Those pages, and what they should hold.
fn pages(workspace: &Workspace) -> Result<Vec<(&'static str, String)>, CannotCheck> {
    let (ledgers, _) = ledger::read(workspace)?;
    let profiles = profiles::page(&workspace.read(profiles::FILE)?, &ledgers)?;
    let rooms = rooms::picture(workspace)?;
    Ok(vec![(LEDGER, ledger::page(&ledgers)), (PROFILES, profiles), (ROOMS, rooms)])
}

/// Lets the program write the guide's pages into `folder`.
fn guide(workspace: &Workspace, folder: &Path) -> Result<(), CannotCheck> {
    let program = workspace.build_program()?;
    let done = Command::new(program).args(["guide", "--pages"]).arg(folder).output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("the guide: {}", String::from_utf8_lossy(&done.stderr)).into())
}

/// The files that are not the same in both folders, or only in one of them.
fn differing(one: &Path, other: &Path) -> Result<BTreeSet<String>, CannotCheck> {
    let (one, other) = (contents(one)?, contents(other)?);
    let names = one.keys().chain(other.keys());
    Ok(names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect())
}

/// Every file below a folder, by its path from there; nothing if there is no folder.
fn contents(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, CannotCheck> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        if !next.exists() {
            continue;
        }
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder)?.display().to_string();
                files.insert(name, std::fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

/// Every document with blocks: its name, its text, and its text with the blocks filled afresh.
fn documents(workspace: &Workspace) -> Result<Vec<(String, String, String)>, CannotCheck> {
    let mut documents = Vec::new();
    let mut program = None;
    for name in workspace.files_ending(".md")? {
        let text = workspace.read(&name)?;
        if !text.lines().any(|line| line.starts_with(OPEN)) {
            continue;
        }
        if program.is_none() {
            program = Some(workspace.build_program()?);
        }
        let program = program.as_ref().expect("built just above");
        let fresh = refill(&text, |command| output(&workspace.root, program, command))
            .map_err(|error| format!("{name}: {error}"))?;
        documents.push((name, text, fresh));
    }
    Ok(documents)
}

/// The text with the content of every block replaced by what `run` prints for its command.
fn refill(
    text: &str,
    mut run: impl FnMut(&str) -> Result<String, CannotCheck>,
) -> Result<String, CannotCheck> {
    let mut fresh = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        fresh.push_str(line);
        fresh.push('\n');
        let Some(command) = line.strip_prefix(OPEN) else { continue };
        let Some(command) = command.strip_suffix(OPEN_END) else {
            return Err(format!("`{line}` does not end with `{OPEN_END}`").into());
        };
        if !lines.by_ref().any(|line| line == CLOSE) {
            return Err(format!("the block of `{command}` has no `{CLOSE}`").into());
        }
        let printed = run(command)?;
        fresh
            .push_str(&format!("\n```text\n$ {command}\n{}\n```\n\n{CLOSE}\n", printed.trim_end()));
    }
    Ok(fresh)
}

/// What `command` prints, run at the root with the program under its plain name.
fn output(root: &Path, program: &Path, command: &str) -> Result<String, CannotCheck> {
    let Some(arguments) = command.strip_prefix("ackord ") else {
        return Err(format!("`{command}` is not a command of this program").into());
    };
    let mut command_line = Command::new(program);
    command_line.args(arguments.split_whitespace()).current_dir(root);
    for variable in ["COLUMNS", "CLICOLOR_FORCE"] {
        command_line.env_remove(variable);
    }
    let done = command_line.output()?;
    if !done.status.success() {
        let complaint = String::from_utf8_lossy(&done.stderr);
        return Err(format!("`{command}` failed: {complaint}").into());
    }
    let lines = String::from_utf8(done.stdout)?;
    // Trailing blanks would be lost in an editor and then differ.
    Ok(lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "before\n<!-- generated: ackord x -->\nold\n\
                            <!-- end of generated -->\nafter\n";

    #[test]
    fn a_block_takes_what_its_command_prints_and_then_stays() {
        let print = |command: &str| Ok(format!("output of {command}\n"));
        let fresh = refill(DOCUMENT, print).unwrap();
        assert!(fresh.contains("\n$ ackord x\noutput of ackord x\n```\n"), "{fresh}");
        assert!(!fresh.contains("old") && fresh.ends_with("after\n"), "{fresh}");
        assert_eq!(refill(&fresh, print).unwrap(), fresh);
    }

    #[test]
    fn folders_are_compared_file_by_file() {
        let folder = std::env::temp_dir().join(format!("ackord-xtask-{}", std::process::id()));
        let (one, other) = (folder.join("one"), folder.join("other"));
        for (side, name, text) in
            [(&one, "a/same", "x"), (&other, "a/same", "x"), (&one, "b", "1"), (&other, "b", "2")]
        {
            let path = side.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(one.join("only"), "").unwrap();
        let differs = differing(&one, &other).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(differs.into_iter().collect::<Vec<_>>(), ["b", "only"]);
    }

    #[test]
    fn a_block_without_an_end_is_refused() {
        let text = DOCUMENT.replace(CLOSE, "");
        assert!(refill(&text, |_| Ok(String::new())).is_err());
    }
}
