//! `ackord sweep` from outside: killed and resumed, stopped, refused, failing, shown.

use crate::common::{ackord, files_below, json, output, printed, text, within_a_minute};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

const STUDY: &str = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\nseeds = 25\n\
                     set = { duration = '3 s' }\n\
                     [grid]\nflows.download.tcp.congestion = ['reno', 'cubic']\n\
                     links.wifi.loss.per_packet = ['0.5 %', '2 %']\n";

fn study(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("study.toml");
    fs::write(&path, text).expect("writable");
    path
}

fn finished_runs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("runs.jsonl")).map_or(0, |text| text.lines().count())
}

/// What is said of runs, the journal left out: its lines are in the order in which runs ended.
fn tables(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = files_below(folder);
    files.retain(|(name, _)| name != "runs.jsonl");
    files
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_sweep_killed_half_way_goes_on_and_comes_to_the_same_bytes() {
    let folder = TempDir::new().expect("a folder");
    let study = study(&folder, STUDY);
    let (killed, whole) = (folder.path().join("killed"), folder.path().join("whole"));
    let sweep = |out: &Path| {
        let arguments = ["sweep", text(&study), "--out", text(out), "--csv", "--jobs", "2"];
        ackord(&arguments)
    };
    let mut child = sweep(&killed).stderr(Stdio::null()).spawn().expect("the program starts");
    let half = within_a_minute(|| finished_runs(&killed) >= 40);
    // SIGKILL: it cannot tidy up.
    child.kill().expect("it is there");
    child.wait().expect("it was there");
    assert!(half, "{} runs", finished_runs(&killed));
    let known = finished_runs(&killed);
    let again = sweep(&killed).output().expect("the program starts");
    assert_eq!(again.status.code(), Some(0), "{}", errors(&again));
    if known < 100 {
        let least = known.saturating_sub(1);
        let told = errors(&again);
        let counts = [least, known].map(|known| format!("100 runs, {known} of them known"));
        assert!(counts.iter().any(|count| told.contains(count)), "{known}: {told}");
    }
    let undisturbed = sweep(&whole).output().expect("the program starts");
    assert_eq!(undisturbed.status.code(), Some(0), "{}", errors(&undisturbed));
    assert!(tables(&killed) == tables(&whole), "other bytes than without the kill");
    let names: Vec<String> = tables(&whole).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"runs.csv".to_owned()), "{names:?}");
    if cfg!(feature = "parquet") {
        assert!(names.contains(&"flows/part-00000000-00000099.parquet".to_owned()), "{names:?}");
    }
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_is_written() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    let refused = |study_text: &str| {
        let study = study(&folder, study_text);
        let output = output(&["sweep", text(&study), "--out", text(&out)]);
        assert_eq!(output.status.code(), Some(2), "{study_text}\n{}", errors(&output));
        assert!(!out.exists(), "{study_text}");
        errors(&output)
    };
    assert!(refused(&STUDY.replace("seeds", "seedz")).contains("did you mean `seeds`?"));
    let point = refused(&STUDY.replace("'2 %'", "'2 percent'"));
    assert!(point.contains("study.toml:8") && point.contains("at the point: flows."), "{point}");
    let both = refused(&STUDY.replace("seeds", "seedz").replace("'2 %'", "'2 percent'"));
    for part in ["did you mean `seeds`?", "2 percent", "study.toml: 2 errors"] {
        assert!(both.contains(part), "{part}: {both}");
    }
    for (arguments, told) in [
        (&["sweep", "no.toml", "--out", text(&out)][..], "no.toml"),
        (&["sweep", "x.toml", "--out", text(&out), "--shard", "9/8"], "`1/8` to `8/8`"),
        (&["sweep", "x.toml"], "--out"),
        (&["sweep", "show", text(folder.path())], "has no sweep"),
        (&["sweep", "merge", text(folder.path()), "--out", text(&out)], "has no sweep"),
        (&["sweep", "show", "x", "--pareto", "a"], "METRIC,METRIC"),
    ] {
        let output = output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{}", errors(&output));
        assert!(errors(&output).contains(told), "{arguments:?}\n{}", errors(&output));
    }
}

#[test]
fn a_failed_run_is_told_with_its_command_and_fails_the_sweep_at_its_end() {
    let folder = TempDir::new().expect("a folder");
    let text_of = "version = 1\nname = 's'\nscenario = 'one-flow'\n\
                   set = { duration = '1 s' }\n[grid]\nhosts.server.kernel = ['no-such-kernel']\n";
    let study = study(&folder, text_of);
    let out = folder.path().join("out");
    let output = output(&["sweep", text(&study), "--out", text(&out), "--csv"]);
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let command = "ackord run one-flow --set 'duration=1 s' --set hosts.server.kernel=no-such-kernel --seed 1";
    assert!(told.contains(command) && told.contains("1 of 1 runs failed"), "{told}");
    let table = fs::read_to_string(out.join("runs.csv")).expect("the table of runs");
    assert!(table.contains("no-such-kernel"), "{table}");
}

#[test]
fn shards_are_merged_and_shown() {
    let folder = TempDir::new().expect("a folder");
    let study = study(&folder, &STUDY.replace("seeds = 25", "seeds = 3"));
    let part = |part: &str| folder.path().join(part);
    for shard in ["1", "2"] {
        let of = format!("{shard}/2");
        printed(&["sweep", text(&study), "--out", text(&part(shard)), "--shard", &of]);
    }
    let (one, two, out, whole) = (part("1"), part("2"), part("out"), part("whole"));
    printed(&["sweep", "merge", text(&one), text(&two), "--out", text(&out)]);
    printed(&["sweep", text(&study), "--out", text(&whole)]);
    assert!(tables(&out) == tables(&whole), "other bytes than without shards");
    let shown = json(&["sweep", "show", text(&out), "--best", "goodput_bit_s", "--json", "-"]);
    assert_eq!((&shown["finished_runs"], &shown["best"]["is"]), (&12.into(), &"most".into()));
    let csv = printed(&["sweep", "show", text(&out), "--csv", "-"]);
    assert_eq!(csv.lines().count(), 1 + 4, "{csv}");
    let plots = part("plots");
    let table =
        printed(&["sweep", "show", text(&out), "--metric", "rtt_mean_ms", "--out", text(&plots)]);
    assert!(table.contains("rtt mean") && table.contains('±'), "{table}");
    assert!(plots.join("plots/rtt-mean-ms-map.svg").exists() && plots.join("report.html").exists());
}
