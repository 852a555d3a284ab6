//! Broken files and what is said about them. Beside each `broken/NAME.toml` stands the expected
//! text in `NAME.txt`; lines `#! --set path=VALUE` at the top of a file are overrides.
//! `BLESS=1 cargo test -p ackord-scenario --test tests broken` writes the texts anew.

#![expect(
    clippy::disallowed_methods,
    reason = "a test is told by its environment to write files anew"
)]

use ackord_scenario::{Errors, Override, ScenarioFile, Style};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder is in the repository")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn check(path: &Path) -> Result<(), Errors> {
    let text = fs::read_to_string(path).expect("a broken file is still text");
    let name = path.file_name().expect("a file").to_string_lossy();
    let overrides: Vec<Override> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#! --set "))
        .map(|text| text.parse().expect("the overrides have the right form"))
        .collect();
    ScenarioFile::new(name, text).in_folder("tests").with_overrides(overrides).check().map(|_| ())
}

#[test]
fn each_broken_file_is_refused_in_the_expected_words() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let files = files();
    assert!(files.len() >= 30, "{} broken files", files.len());
    for path in &files {
        let Err(errors) = check(path) else {
            wrong.push(format!("{} is accepted", path.display()));
            continue;
        };
        let text = errors.render(Style::Plain);
        let expected = path.with_extension("txt");
        if bless {
            fs::write(&expected, &text).expect("the folder can be written to");
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if text != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- said\n{text}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_expected_text_has_its_file() {
    for entry in fs::read_dir(folder()).expect("the folder is in the repository") {
        let path = entry.expect("a readable entry").path();
        assert!(path.with_extension("toml").exists(), "{} is left over", path.display());
    }
}

#[test]
fn each_error_names_its_place() {
    for path in files() {
        let errors = check(&path).expect_err("broken");
        let text = errors.to_string();
        let name = path.file_name().expect("a file").to_string_lossy();
        let placed = text.contains(&format!("--> {name}")) || text.contains("--set ");
        assert!(placed, "{text}");
        assert_eq!(text.matches("error: ").count(), errors.problems.len(), "{text}");
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for path in files() {
        let errors = check(&path).expect_err("broken");
        let coloured = errors.render(Style::Coloured);
        assert!(coloured.contains('\u{1b}'), "{coloured}");
        assert_eq!(without_colours(&coloured), errors.render(Style::Plain));
    }
}

fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

/// A file of another kind, a trace say, has an error on every line: found by fuzzing, as seconds
/// spent on thousands of them.
#[test]
fn of_thousands_of_errors_the_first_hundred_are_shown() {
    let text = "17\n".repeat(7_000);
    let errors = ackord_scenario::Scenario::from_toml(&text, "trace.toml").expect_err("no TOML");
    let shown = errors.render(ackord_scenario::Style::Plain);
    assert!(shown.ends_with("trace.toml: 7000 errors, 6900 of them not shown\n"), "{shown}");
    assert_eq!(shown.matches("--> trace.toml").count(), 100);
}
