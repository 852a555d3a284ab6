//! Broken input is refused with exit code 2, where it is, what is allowed, what was meant.

use crate::common::{output, text};

const SOUND: &str = "version = 1
name = \"small\"
purpose = \"a test\"
source = \"this project\"
seed = 1
duration = \"1 s\"
[hosts.a]
[hosts.b]
[[links]]
name = \"wire\"
from = \"a\"
to = \"b\"
rate = \"10 Mbit/s\"
delay = \"5 ms\"
queue = { kind = \"drop-tail\", limit = \"50 packets\" }
[[flows]]
name = \"f\"
from = \"a\"
to = \"b\"
traffic = \"bulk\"
";

/// Runs the sound file with parts replaced; what it prints to standard error.
fn refused(changes: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let broken = changes.iter().fold(SOUND.to_owned(), |text, (part, broken)| {
        assert!(text.contains(part), "{part}");
        text.replacen(part, broken, 1)
    });
    std::fs::write(&file, broken).unwrap();
    refusal(&["run", text(&file)])
}

fn refusal(arguments: &[&str]) -> String {
    let output = output(arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(output.stdout.is_empty(), "nothing is printed but the error");
    errors
}

#[test]
fn the_file_that_is_broken_below_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    std::fs::write(&file, SOUND).unwrap();
    for command in ["run", "check"] {
        assert_eq!(output(&[command, text(&file)]).status.code(), Some(0), "{command}");
    }
}

#[test]
fn ten_broken_files_are_refused_with_place_and_advice() {
    let to_nowhere = ("to = \"b\"\ntraffic", "to = \"d\"\ntraffic");
    for (changes, said) in [
        (&[("duration = \"1 s\"\n", "")][..], &["missing", "duration"][..]),
        (&[("delay = ", "dely = ")], &["small.toml:14", "did you mean `delay`?"]),
        (&[("\"10 Mbit/s\"", "\"10 ms\"")], &["small.toml:13:8", "10 ms"]),
        (&[("\"10 Mbit/s\"", "10")], &["small.toml:13:8", "Mbit/s"]),
        (&[("drop-tail", "droptail")], &["small.toml:15", "did you mean `drop-tail`?"]),
        (&[("50 packets", "0 packets")], &["small.toml:15", "out of range"]),
        (&[to_nowhere], &["small.toml:19:6", "d"]),
        (&[("version = 1", "version = 2")], &["small.toml:1", "version"]),
        (&[("[hosts.b]", "[hosts.b")], &["small.toml:8"]),
        (
            &[("[hosts.b]", "[hosts.b]\n[hosts.d]"), to_nowhere],
            &["small.toml:20:6", "no links lead from `a` to `d`"],
        ),
    ] {
        let errors = refused(changes);
        for words in said {
            assert!(errors.contains(words), "`{words}` is not in:\n{errors}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused_in_the_same_way() {
    for (arguments, said) in [
        (&["run", "lossy-wify"][..], "did you mean `lossy-wifi`?"),
        (&["run", "nosuch"], "known: ack-path-loss, aqm-aggressive,"),
        (&["check", "wifi"], "did you mean `lossy-wifi`?"),
        (&["compare", "dumbell", "--vary", "seed=1,2"], "did you mean `dumbbell`?"),
        (&["live", "run", "dumbell"], "did you mean `dumbbell`?"),
        (
            &["live", "fetch", "http://10.77.0.1/x", "--scenario", "dumbell", "--", "true"],
            "mean `dumbbell`?",
        ),
        (&["shell", "--scenario", "dumbell", "--", "true"], "did you mean `dumbbell`?"),
        (
            &["shell", "--scenario", "dumbbell", "--link", "bottlenek", "--", "true"],
            "did you mean `bottleneck`?",
        ),
        (&["validate", "--only", "los-1"], "did you mean `loss-1`?"),
        (&["diagnose", "--self-test", "--only", "no-such-case"], "no case of the self-test called"),
        (
            &["diagnose", "--verify", "a.pcap", "b.pcap", "--remedy", "nodely"],
            "did you mean `nodelay`?",
        ),
        (&["run", "lossy-wifi", "--set", "links.wifi.rate=1 s"], "--set links.wifi.rate=1 s"),
        (&["run", "lossy-wifi", "--set", "links.wify.rate=1 Mbit/s"], "did you mean `wifi`?"),
        (&["run", "lossy-wifi", "--set", "nonsense"], "path.to.key=VALUE"),
        (&["run", "lossy-wifi", "--seed", "minus one"], "invalid value 'minus one'"),
        (&["run"], "<FILE>"),
        (&["runn", "lossy-wifi"], "similar"),
        (&["compare", "lossy-wifi"], "--vary"),
        (&["compare", "lossy-wifi", "--vary", "seed"], "path.to.key=A,B,.."),
        (&["compare", "lossy-wifi", "--vary", "seed=1,1"], "twice"),
        (&["compare", "lossy-wifi", "--vary", "seed=1", "--runs", "0"], "'0'"),
        (&["compare", "lossy-wifi", "--vary", "sed=1,2"], "did you mean `seed`?"),
        (&["list", "mechanisms", "vegass"], "did you mean `vegas`?"),
        (&["list", "scenarios", "dumbell"], "did you mean `dumbbell`?"),
        (&["list", "machines"], "mechanisms"),
    ] {
        let errors = refusal(arguments);
        assert!(errors.contains(said), "{arguments:?}: `{said}` is not in:\n{errors}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_run_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let below = file.join("below");
    for option in ["--out", "--json", "--pcap"] {
        // For ever, if it were not looked at before the run.
        let run = ["run", "dumbbell-100", "--yes", "--set", "duration=3600 s"];
        let errors = refusal(&[&run[..], &[option, text(&below)]].concat());
        assert!(errors.starts_with("error: ") && errors.contains("is a file"), "{errors}");
    }
    let errors = refusal(&["run", "lossy-wifi", "--out", text(&file)]);
    assert!(errors.contains("is a file; outputs need a folder"), "{errors}");
    let left: Vec<_> = crate::common::files_below(folder.path());
    assert_eq!(left, [("file".to_owned(), b"x".to_vec())]);
}
