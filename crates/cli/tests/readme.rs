//! The examples of the README print what the README quotes.

use crate::common::ackord;
use std::path::Path;

/// One block of the README: its commands, and the quoted lines of the last one's output.
#[derive(Debug)]
struct Example {
    commands: Vec<String>,
    quoted: Vec<String>,
}

/// Returns the `text` blocks with commands under this heading.
fn examples(readme: &str, heading: &str) -> Vec<Example> {
    let (_, below) = readme.split_once(heading).expect("the heading is there");
    let section = below.split("\n## ").next().unwrap_or(below);
    let blocks =
        section.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(rest));
    let example = |block: &str| {
        let (commands, quoted): (Vec<&str>, Vec<&str>) =
            block.lines().partition(|line| line.starts_with("$ "));
        Example {
            commands: commands
                .iter()
                .map(|line| line.trim_start_matches("$ ").to_owned())
                .collect(),
            quoted: quoted
                .into_iter()
                .filter(|line| !line.trim().is_empty())
                .map(str::to_owned)
                .collect(),
        }
    };
    blocks.map(example).filter(|example| !example.commands.is_empty()).collect()
}

/// Splits a command line at blanks outside double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

fn run(line: &str, folder: &Path) -> String {
    let words = words(line);
    assert_eq!(words[0], "ackord", "{line}");
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let output = ackord(&arguments).current_dir(folder).output().expect("the program starts");
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Whether a quoted line is `printed`, or is cut out of it: its words in their order.
fn is_cut_of(quoted: &str, printed: &str) -> bool {
    let mut words = printed.split_whitespace();
    quoted.split_whitespace().all(|word| words.any(|printed| printed == word))
}

#[test]
fn the_three_examples_print_what_the_readme_quotes() {
    let readme = include_str!("../../../README.md");
    let examples = examples(readme, "## Three examples");
    assert_eq!(examples.len(), 3, "{examples:?}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for Example { commands, quoted } in &examples {
        assert!(!quoted.is_empty(), "{commands:?} has output");
        let mut printed = String::new();
        for command in commands {
            printed = run(command, folder.path());
        }
        if commands.iter().any(|command| command.starts_with("ackord diagnose")) {
            let gains = quoted.iter().any(|line| line.contains("95 % interval"));
            assert!(gains, "the predicted gains of {commands:?} are quoted");
        }
        let mut lines = printed.lines();
        for line in quoted {
            // Quoted lines are in the order of the output.
            let found = lines.any(|printed| is_cut_of(line, printed));
            assert!(
                found,
                "`{line}` is not printed, or not in this place, by {commands:?}:\n{printed}"
            );
        }
    }
}

#[test]
fn a_cut_line_keeps_its_words_in_their_order_and_changes_none() {
    assert!(is_cut_of("  reno   5   4.297 ± 0.274", "reno  5  4.297 ± 0.274  0.98"));
    assert!(!is_cut_of("reno 5 4.297 ± 0.275", "reno  5  4.297 ± 0.274  0.98"));
    assert!(!is_cut_of("5 reno", "reno 5"));
    assert_eq!(
        words("ackord compare x --vary \"a=b, c\""),
        ["ackord", "compare", "x", "--vary", "a=b, c"]
    );
}
