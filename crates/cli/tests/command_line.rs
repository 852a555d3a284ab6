//! The command line as such: groups in the help, nearest names, colours, width, problems as JSON.

use crate::common::{ackord, output, printed, text};
use std::process::Output;

fn with(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    ackord(arguments).envs(environment.iter().copied()).output().expect("the program starts")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn the_help_and_the_manual_page_have_every_command_under_its_purpose() {
    let help = printed(&["--help"]);
    let folder = tempfile::tempdir().unwrap();
    printed(&["man", text(folder.path())]);
    let man = std::fs::read_to_string(folder.path().join("ackord.1")).unwrap();
    let mut at = (0, 0);
    for (heading, command) in [
        ("Laboratory (simulated time)", "run"),
        ("Real time, real programs and kernels", "shell"),
        ("Deployment", "gateway"),
        ("Captures", "diagnose"),
        ("Tools", "script"),
    ] {
        let in_help = help.find(&format!("{heading}:\n  {command} ")).expect(heading);
        let quoted = format!("\"{heading}\"");
        let in_man = man.find(&quoted).or_else(|| man.find(&format!(".SH {heading}\n")));
        let in_man = in_man.unwrap_or_else(|| panic!("{heading}: {man}"));
        assert!(man[in_man..].contains(&format!("ackord\\-{command}(1)")), "{man}");
        assert!((in_help, in_man) > at, "in the order of the groups");
        at = (in_help, in_man);
    }
    assert!(!help.contains("bench"), "hidden commands stay hidden");
}

#[test]
fn unknown_commands_and_options_get_the_nearest_one_and_exit_code_2() {
    for (arguments, nearest) in [
        (&["rn", "lossy-wifi"][..], "'run'"),
        (&["live", "rn", "lossy-wifi"], "'run'"),
        (&["run", "lossy-wifi", "--sed", "1"], "'--seed'"),
        (&["list", "mechanism"], "'mechanisms'"),
        (&["sweep", "shw"], "'show'"),
        (&["--color", "alway", "list", "papers"], "'always'"),
    ] {
        let refused = output(arguments);
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{errors}");
        assert!(errors.contains(nearest), "{arguments:?}: {errors}");
    }
}

#[test]
fn colours_are_as_the_option_says_and_else_as_the_environment_does() {
    const LIST: [&str; 2] = ["list", "papers"];
    let no = &[("NO_COLOR", "1")][..];
    let force = &[("CLICOLOR_FORCE", "1")][..];
    let both = &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")][..];
    for (option, environment, coloured) in [
        (&[][..], &[][..], false),
        (&[], force, true),
        (&[], no, false),
        (&[], both, false),
        (&["--color", "always"], no, true),
        (&["--color", "auto"], force, true),
        (&["--color=never"], force, false),
    ] {
        let results = with(&[&LIST[..], option].concat(), environment);
        let help = with(&[option, &["run", "--help"]].concat(), environment);
        let wrong = with(&[&["run", "no-such-scenario"], option].concat(), environment);
        let usage = with(&[&["run", "--no-such-option"], option].concat(), environment);
        for (what, bytes) in [
            ("results", results.stdout),
            ("help", help.stdout),
            ("errors", wrong.stderr),
            ("usage", usage.stderr),
        ] {
            let found = bytes.contains(&0x1b);
            assert_eq!(found, coloured, "{what}: {option:?} {environment:?}");
        }
    }
}

#[test]
fn columns_count_where_standard_output_is_no_terminal() {
    let wide = |columns: &str| {
        let environment = [("COLUMNS", columns)];
        ["list papers", "--help", "run --help", "list mechanisms"].map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let found = with(&words, &environment);
            assert!(found.status.success());
            widest(&out(&found))
        })
    };
    let usual = wide("");
    assert!(usual.iter().all(|width| (80..=100).contains(width)), "{usual:?}");
    assert_eq!(wide("many"), usual, "what is no number is no width");
    let [papers, help, run, mechanisms] = wide("160");
    assert!(papers > 100 && papers <= 160, "{papers}");
    assert!([help, run, mechanisms].iter().all(|width| *width > 90 && *width <= 160));
    // Examples in the help are not wrapped.
    let [papers, _, _, mechanisms] = wide("60");
    assert!(papers <= 60 && mechanisms <= 60, "{papers} {mechanisms}");
    let commands = out(&with(&["--help"], &[("COLUMNS", "60")]));
    let commands = commands.split("Begin with").next().unwrap_or_default();
    assert!(widest(commands) <= 60, "{commands}");
}

#[test]
fn check_prints_every_problem_as_an_object() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    let sound = printed(&["check", "lossy-wifi", "--json"]);
    assert_eq!(sound, "[]\n");
    let broken = printed(&["new", "-"]).replacen("duration", "durration", 1).replacen(
        "rate = \"20 Mbit/s\"",
        "rate = \"20 Mbit\"",
        1,
    );
    std::fs::write(&file, &broken).unwrap();
    let refused = output(&["check", text(&file), "--json", "--set", "tcp.profile=lnux"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stderr.is_empty(), "{}", String::from_utf8_lossy(&refused.stderr));
    let found: serde_json::Value = serde_json::from_slice(&refused.stdout).expect("JSON");
    let problems = found.as_array().expect("an array");
    let of = |key: &str| problems.iter().find(|one| one["key"] == key).expect(key);
    let line = |part: &str| broken.lines().position(|line| line.contains(part)).expect(part) + 1;
    let misspelt = of("durration");
    assert_eq!(
        (&misspelt["file"], &misspelt["line"]),
        (&text(&file).into(), &line("durration").into())
    );
    assert_eq!((&misspelt["column"], &misspelt["suggestion"]), (&1.into(), &"duration".into()));
    assert!(misspelt["message"].as_str().is_some_and(|it| it.contains("durration")), "{found}");
    let rate =
        problems.iter().find(|one| one["message"].as_str().is_some_and(|it| it.contains("Mbit`")));
    assert_eq!(rate.expect("the rate")["line"], line("Mbit\""), "{found}");
    let missing = output(&["check", "no-such-scenario", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&missing.stdout).expect("JSON");
    assert_eq!((missing.status.code(), &found[0]["line"]), (Some(2), &serde_json::Value::Null));
}
