//! `ackord new`: a file to begin with, which runs as it is.

use crate::common::{files_below, json, output, printed, text};

#[test]
fn what_new_writes_is_sound_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("first-try.toml");
    let said = printed(&["new", text(&file)]);
    assert!(said.contains(&format!("\n  ackord run {}\n", text(&file))), "{said}");
    assert_eq!(files_below(folder.path()).len(), 1, "nothing is left beside it");
    assert!(printed(&["check", text(&file)]).starts_with("first-try is sound: 3 hosts"));
    let run = json(&["run", text(&file), "--set", "duration=6 s", "--json", "-"]);
    for flow in run["flows"].as_array().unwrap() {
        assert!(flow["bytes_delivered"].as_u64().unwrap() > 100_000, "{flow}");
    }
}

#[test]
fn every_choice_that_its_comments_show_may_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let beginning = printed(&["new", "-"]);
    // Comments of the form `# key = value`; prose has more words before the sign.
    let shows = |line: &&str| {
        let key = line.strip_prefix("# ").and_then(|line| line.split_once(" = "));
        key.is_some_and(|(key, _)| !key.contains(' '))
    };
    let choices: Vec<&str> = beginning.lines().filter(shows).collect();
    assert!(choices.len() >= 5, "{choices:?}");
    for choice in choices {
        let key = choice.trim_start_matches("# ").split(" = ").next().unwrap();
        // In place of what stands there, or else beside it.
        let stands = format!("\n{key} = ");
        let before = beginning.split(choice).next().unwrap();
        let table = before.rfind("\n[").unwrap();
        let open = match before[table..].rfind(&stands) {
            Some(at) => format!("{}\n#{}", &before[..table + at], &before[table + at + 1..]),
            None => before.to_owned(),
        };
        let after = beginning.split(choice).nth(1).unwrap();
        let file = folder.path().join("tried.toml");
        let tried = format!("{open}{}{after}", choice.trim_start_matches("# "));
        std::fs::write(&file, &tried).unwrap();
        let checked = output(&["check", text(&file)]);
        let errors = String::from_utf8_lossy(&checked.stderr);
        assert_eq!(checked.status.code(), Some(0), "{choice}\n{errors}\n{tried}");
    }
}

#[test]
fn what_is_there_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "precious").unwrap();
    let link = folder.path().join("link.toml");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    for there in [&file, &link] {
        let refused = output(&["new", text(there)]);
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{errors}");
        assert!(errors.contains("is there already"), "{errors}");
        assert!(refused.stdout.is_empty());
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    assert!(!folder.path().join("nowhere").exists());
    let below = folder.path().join("no/folder.toml");
    assert_eq!(output(&["new", text(&below)]).status.code(), Some(2));
    std::fs::remove_file(&link).unwrap();
    assert_eq!(files_below(folder.path()).len(), 1, "nothing half-written");
}

#[test]
fn new_begins_with_any_scenario_that_comes_along() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("like.toml");
    for name in ["bufferbloat", "cellular-trace"] {
        printed(&["new", text(&file), "--like", name]);
        let hash = |file: &str| {
            let said = printed(&["check", file]);
            said.trim_end().rsplit(' ').next().unwrap().to_owned()
        };
        assert_eq!(hash(text(&file)), hash(name));
        assert!(printed(&["check", text(&file)]).starts_with("like is sound"));
        std::fs::remove_file(&file).unwrap();
    }
    let refused = output(&["new", text(&file), "--like", "bufferblot"]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(errors.contains("did you mean `bufferbloat`?"), "{errors}");
    assert!(!file.exists());
}
