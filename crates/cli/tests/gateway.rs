//! `ackord gateway check` and `plan`: what they say of a configuration, and with which exit code.

use crate::common::{json, output, printed, text};

#[test]
fn a_line_of_options_becomes_a_file_that_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let line = ["--wan", "nosuch0", "--lan", "nosuch1", "--remedy", "proxy-tcp:mode=paper"];
    let queue = ["--queue", "selective-drop", "--rate", "20mbit", "--control", "10%"];
    let check = [&["gateway", "check", "--print"][..], &line, &queue].concat();
    let file = folder.path().join("gateway.toml");
    std::fs::write(&file, printed(&check)).unwrap();
    let said = printed(&["gateway", "check", text(&file)]);
    assert!(said.contains("is sound"), "{said}");
    for word in ["nosuch0", "nosuch1", "proxy-tcp", "selective-drop", "20 Mbit/s"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    // Interfaces that are not there are a warning: they may come.
    let warned = output(&["gateway", "check", text(&file)]);
    let warnings = String::from_utf8_lossy(&warned.stderr);
    assert_eq!(warned.status.code(), Some(0));
    assert!(warnings.contains("warning: this machine has no interface `nosuch1`"), "{warnings}");
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    std::fs::write(&file, "wan = \"eth0\"\nlan = \"wlan0\"\nremedy = \"proxi-tcp\"\n").unwrap();
    let nowhere = folder.path().join("nowhere.toml");
    let options = ["--wan", "eth0", "--lan", "wlan0"];
    let cases: [(Vec<&str>, &str); 6] = [
        (vec![text(&file)], "gateway.toml:3:10"),
        (vec![text(&nowhere)], "there is no such file"),
        (options.to_vec(), "nothing to do"),
        (
            [&options[..], &["--queue", "cake", "--rate", "1mbit"]].concat(),
            "no queue mechanism `cake`",
        ),
        ([&options[..], &["--queue", "drr"]].concat(), "--rate <RATE>"),
        (vec![], "<CONFIG"),
    ];
    for (arguments, says) in cases {
        for what in ["check", "plan"] {
            let done = output(&[&["gateway", what][..], &arguments].concat());
            let errors = String::from_utf8_lossy(&done.stderr);
            assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{errors}");
            assert!(errors.contains(says), "{says}: {errors}");
        }
    }
}

#[test]
fn a_plan_is_a_script_and_as_json_the_same_steps() {
    let line = ["gateway", "plan", "--wan", "nosuch0", "--lan", "nosuch1"];
    let beside = printed(&[&line[..], &["--remedy", "proxy-tcp"]].concat());
    assert!(beside.lines().all(|line| line.is_empty() || line.starts_with('#')), "{beside}");
    let queued = [&line[..], &["--queue", "drr", "--rate", "1mbit"]].concat();
    let script = printed(&queued);
    let steps = json(&[&queued[..], &["--json"]].concat())["steps"].clone();
    let commands: Vec<&str> = steps
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| [&step["command"], &step["undo"]])
        .filter_map(|command| command.as_str())
        .collect();
    assert!(commands.len() >= 4, "{steps}");
    assert!(commands.iter().all(|command| script.lines().any(|line| line == *command)));
}
