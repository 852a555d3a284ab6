//! What needs no kernel: arguments, plans, configurations, errors.

use crate::common::{output, printed, text};

#[test]
fn a_plan_is_commands_with_their_undoing() {
    let said = printed(&["agent", "plan", "--quick"]);
    for line in [
        "ip -4 rule add fwmark 0x10000000/0x10000000 table 7411 priority 7411",
        "#   undone by: ip -6 route flush table 7411",
    ] {
        assert!(said.contains(line), "{said}");
    }
}

#[test]
fn options_become_a_file_that_says_the_same() {
    let said = printed(&["agent", "check", "--all", "--by", "unit", "--quick", "--print"]);
    assert_eq!(said, "by = \"unit\"\n\n[quick]\n");
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("agent.toml");
    std::fs::write(&file, said).expect("ours");
    assert!(printed(&["agent", "check", text(&file)]).ends_with("is sound\n"));
}

#[test]
fn a_control_group_that_is_not_there_is_a_warning_with_an_exit_code() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("agent.toml");
    std::fs::write(&file, "cgroup = \"/etc/none\"\n").expect("ours");
    let said = output(&["agent", "check", "--exit-code", text(&file)]);
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(3), "{errors}");
    assert!(errors.starts_with("warning: "), "{errors}");
}

#[test]
fn a_bad_file_is_told_with_its_line_and_the_nearest_name() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("agent.toml");
    std::fs::write(&file, "levers = [\"nodelay\", \"delayed-akc\"]\n").expect("ours");
    let said = output(&["agent", "check", text(&file)]);
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{errors}");
    assert!(errors.contains("agent.toml:1:22") && errors.contains("`delayed-ack`"), "{errors}");
}

#[test]
fn options_and_files_that_are_none_are_told_and_end_with_2() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("agent.toml");
    std::fs::write(&file, b"by = \"unit\"\n# \xff\xfe\x00\n").expect("ours");
    let missing = folder.path().join("none.toml");
    for (arguments, said) in [
        (&["agent", "check", text(&file)][..], "agent.toml"),
        (&["agent", "plan", text(&file)], "line 2 is not UTF-8 text"),
        (&["agent", "check", text(&missing)], "there is no such file"),
        (&["agent", "check", "--all", "--by", "proces"], "cgroup or unit or container"),
        (&["agent", "check", "--all", "--control", "101%"], "0 % to 100 %"),
        (&["agent", "check", "--all", "--lever", "nodela"], "did you mean `nodelay`?"),
        (&["agent", "run", "--all", "--for", "5"], "no unit"),
        (&["agent", "run", "--all", "--on-exit", "kep"], "restore"),
        (&["agent", "explian", ":80"], "explain"),
    ] {
        let output = output(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(said) && !errors.contains("panicked"), "{arguments:?}: {errors}");
    }
}

#[test]
fn whoever_is_to_change_something_is_told_whose_connections() {
    let said = output(&["agent", "run", "--for", "1s"]);
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{errors}");
    let expected = if cfg!(feature = "agent") { "--all" } else { "make agent" };
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn where_no_agent_runs_that_is_said() {
    let folder = tempfile::tempdir().expect("a directory");
    let said = output(&["agent", "status", "--state", text(folder.path())]);
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(
        errors.contains("no agent runs here") && errors.contains("ackord agent run"),
        "{errors}"
    );
    assert_eq!(said.status.code(), Some(1));
}
