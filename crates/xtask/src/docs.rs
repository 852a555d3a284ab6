//! The documents tell the truth: a row per crate, links that lead somewhere, commands that exist,
//! decisions with numbers of their own, translations that keep up, and nothing left of a merge.
//!
//! Not checked: links to other sites (a build must not depend on them).

use crate::findings::{CannotCheck, Findings};
use crate::translations;
use crate::workspace::Workspace;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Checks ARCHITECTURE.md's table, and links and commands of every tracked document.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    let architecture = workspace.read("ARCHITECTURE.md")?;
    let members = workspace.metadata.workspace_packages();
    let rooms: Vec<&str> =
        members.iter().filter_map(|package| package.name.strip_prefix("ackord-")).collect();
    findings.errors.extend(missing_rows(&architecture, &rooms));

    let makefile = workspace.read("Makefile")?;
    let targets = make_targets(&makefile);
    let mut program = None;
    let names = workspace.files_ending(".md")?;
    findings.errors.extend(doubled_decisions(&names));
    let index = workspace.read("docs/decisions/README.md")?;
    findings.errors.extend(unlisted_decisions(&names, &index));
    findings.errors.extend(translations::complaints(workspace, &names)?);
    for name in names {
        let text = workspace.read(&name)?;
        if text.lines().any(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ")) {
            findings.errors.push(format!("{name}: a merge was left half done"));
        }
        for link in relative_links(&text) {
            let folder = workspace.root.join(&name);
            let folder = folder.parent().unwrap_or(Path::new("."));
            if !folder.join(&link).exists() {
                findings.errors.push(format!("{name}: the link to {link} leads nowhere"));
            }
        }
        for command in commands(&text) {
            let complaint = match command.first().map(String::as_str) {
                Some("make") => unknown_target(&command, &targets),
                Some("ackord") => {
                    if program.is_none() {
                        program = Some(workspace.build_program()?);
                    }
                    let program = program.as_ref().expect("built just above");
                    refused(program, &command)?
                }
                _ => None,
            };
            if let Some(complaint) = complaint {
                findings.errors.push(format!("{name}: `{}`: {complaint}", command.join(" ")));
            }
        }
    }
    Ok(findings)
}

fn missing_rows(architecture: &str, rooms: &[&str]) -> Vec<String> {
    let has_row = |room: &str| {
        let row = format!("| `{room}` |");
        architecture.lines().any(|line| line.starts_with(&row))
    };
    let missing = rooms.iter().filter(|room| !has_row(room));
    missing.map(|room| format!("ARCHITECTURE.md has no row for `{room}`")).collect()
}

/// Decisions that have the number of another.
fn doubled_decisions(names: &[String]) -> Vec<String> {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut doubled = Vec::new();
    for name in names {
        let Some(page) = name.strip_prefix("docs/decisions/") else { continue };
        let Some((number, _)) = page.split_once('-') else { continue };
        if let Some(other) = known.insert(number, page) {
            doubled.push(format!("docs/decisions: {other} and {page} have one number"));
        }
    }
    doubled
}

/// Decisions that the index does not link to.
fn unlisted_decisions(names: &[String], index: &str) -> Vec<String> {
    let listed = relative_links(index);
    let pages = names.iter().filter_map(|name| name.strip_prefix("docs/decisions/"));
    pages
        .filter(|page| *page != "README.md" && !listed.iter().any(|link| link == page))
        .map(|page| format!("docs/decisions/README.md does not list {page}"))
        .collect()
}

/// Links and images to other files of the checkout, without their `#anchor`.
fn relative_links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for event in Parser::new(text) {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            let file = dest_url.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains(':') {
                links.push(file.to_owned());
            }
        }
    }
    links
}

/// The commands in a document's `sh` blocks, as words. Comments and prompts are left out; a line
/// that joins commands counts as several.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut in_shell = false;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                in_shell = &*language == "sh";
            }
            Event::End(TagEnd::CodeBlock) => in_shell = false,
            Event::Text(lines) if in_shell => {
                let joined = lines.replace("\\\n", " ");
                found.extend(joined.lines().flat_map(line_commands));
            }
            _ => {}
        }
    }
    found
}

fn line_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    for word in words(line) {
        match word.as_str() {
            word if word.starts_with('#') => break,
            "$" => {}
            "&&" | "||" | "|" | ";" | "&" | ">" | "<" => commands.push(Vec::new()),
            _ => commands.last_mut().expect("starts with one").push(word),
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

/// Splits at spaces outside quotes, and takes the quotes away.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn make_targets(makefile: &str) -> Vec<&str> {
    let rules = makefile.lines().filter(|line| !line.starts_with(['\t', '#', '.', ' ']));
    let heads = rules.filter_map(|line| line.split_once(':'));
    heads.flat_map(|(names, _)| names.split_whitespace()).collect()
}

fn unknown_target(command: &[String], targets: &[&str]) -> Option<String> {
    let mut wanted =
        command.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains('='));
    let unknown = wanted.find(|word| !targets.contains(&word.as_str()))?;
    Some(format!("the Makefile has no target {unknown}"))
}

/// What the program says against this command line. With `--help` at the end it reads the whole
/// line and does nothing.
fn refused(program: &Path, command: &[String]) -> Result<Option<String>, CannotCheck> {
    // What follows `--` is somebody else's command line.
    let ours = command[1..].split(|word| word == "--").next().unwrap_or_default();
    let done = Command::new(program).args(ours).arg("--help").output()?;
    if done.status.success() {
        return Ok(None);
    }
    let complaint = String::from_utf8_lossy(&done.stderr);
    Ok(Some(complaint.lines().next().unwrap_or("refused").to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_with_one_number_or_without_a_place_in_the_index_are_told() {
        let names = ["README.md", "0001-a.md", "0002-b.md", "0002-c.md"];
        let names = names.map(|name| format!("docs/decisions/{name}"));
        let told = doubled_decisions(&names);
        assert_eq!(told, ["docs/decisions: 0002-b.md and 0002-c.md have one number"]);
        let told = unlisted_decisions(&names, "[a](0001-a.md) and [c](0002-c.md)");
        assert_eq!(told, ["docs/decisions/README.md does not list 0002-b.md"]);
    }

    #[test]
    fn a_crate_without_a_row_is_reported() {
        let table = "| crate | job |\n| --- | --- |\n| `units` | quantities |\n";
        assert_eq!(missing_rows(table, &["units"]), [""; 0]);
        assert_eq!(missing_rows(table, &["unit"]), ["ARCHITECTURE.md has no row for `unit`"]);
    }

    #[test]
    fn only_links_inside_the_checkout_are_followed() {
        let text = "[a](docs/a.md#part) [b](https://x.org/y) [c](#here) ![d](d.svg) `[e](e.md)`";
        assert_eq!(relative_links(text), ["docs/a.md", "d.svg"]);
    }

    #[test]
    fn commands_come_from_shell_blocks_only() {
        let text = "```sh\n# first\nmake demo && ackord run x.toml --set \"a.b=5 ms\"  # then\n\
                    $ ackord check \\\n  y.toml | less\n```\n```text\nmake nothing\n```\n";
        let expected: [&[&str]; 4] = [
            &["make", "demo"],
            &["ackord", "run", "x.toml", "--set", "a.b=5 ms"],
            &["ackord", "check", "y.toml"],
            &["less"],
        ];
        assert_eq!(commands(text), expected);
    }

    #[test]
    fn a_make_target_must_exist() {
        let targets = make_targets(".PHONY: no\ndemo test: build\n\tcargo x: y\nbuild:\n");
        assert_eq!(targets, ["demo", "test", "build"]);
        let of = |line: &str| unknown_target(&words(line), &targets);
        assert_eq!(of("make test build -j2 X=1"), None);
        assert_eq!(of("make no").as_deref(), Some("the Makefile has no target no"));
    }
}
