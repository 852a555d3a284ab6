//! Many captures into one data set: the same rows whatever interrupts the work, however many threads there are, and
//! whatever else is in the folder.

use crate::common::{ackord, files_below, json, output, printed, text, within_a_minute};
use ackord_report::data_set::{Column, Values, read_parquet};
use ackord_testing::{assert_timely, timely};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TABLES: [&str; 4] = ["connections", "causes", "remedies", "files"];

/// A folder of captures: two of each of two runs, one of them in a folder below, one cut off, and one text.
fn captures() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (scenario, below) in [("lossy-wifi", "a"), ("reno-against-vegas", "b/c")] {
        let below = at.join(below);
        printed(&["run", scenario, "--set", "duration=2 s", "--pcap", text(&below)]);
    }
    let whole = fs::read(at.join("a/wifi.at-server.pcapng")).unwrap();
    fs::write(at.join("cut.pcapng"), &whole[..whole.len() / 2 + 1]).unwrap();
    fs::write(at.join("notes.txt"), "These are the captures of yesterday.\n").unwrap();
    fs::write(at.join(".hidden"), "left out").unwrap();
    folder
}

/// As many copies of a capture as take some seconds.
fn many() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    printed(&["run", "lossy-wifi", "--set", "duration=8 s", "--pcap", text(&at.join(".run"))]);
    for number in 0..40 {
        let copy = at.join(format!("{number:02}.pcapng"));
        fs::copy(at.join(".run/wifi.at-server.pcapng"), copy).unwrap();
    }
    folder
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The files of a table.
fn parts(out: &Path, table: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(out.join(table)).map(Iterator::flatten).into_iter().flatten();
    let mut parts: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    parts.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    parts.sort();
    parts
}

/// A column of words of a table.
fn words(out: &Path, table: &str, name: &str) -> Vec<Option<String>> {
    let of = |column: Column| match column.values {
        Values::Words(values) => values,
        other => panic!("{name} is {other:?}"),
    };
    parts(out, table).iter().flat_map(|part| of(column(part, name))).collect()
}

/// The numbers of a column of a table, added up.
fn sum(out: &Path, table: &str, name: &str) -> f64 {
    let of = |column: Column| match column.values {
        Values::Numbers(values) => values.into_iter().flatten().sum::<f64>(),
        other => panic!("{name} is {other:?}"),
    };
    parts(out, table).iter().map(|part| of(column(part, name))).sum()
}

fn column(part: &Path, name: &str) -> Column {
    let columns = read_parquet(part).expect("a table");
    columns.into_iter().find(|column| column.name == name).expect("it is there")
}

#[test]
fn every_capture_of_a_folder_has_its_rows_and_what_is_none_its_reason() {
    let folder = captures();
    let out = folder.path().join("out");
    let done = output(&["diagnose", text(folder.path()), "--out", text(&out), "--json", "-"]);
    let told = errors(&done);
    assert_eq!(done.status.code(), Some(0), "{told}");
    assert!(told.contains("cannot be read: ") && told.contains("notes.txt is a text"), "{told}");
    let read = words(&out, "files", "file");
    assert!(told.contains(&format!("1 of {} files could not be read", read.len())), "{told}");
    let names: BTreeSet<&str> =
        read.iter().flatten().filter_map(|path| path.rsplit('/').next()).collect();
    assert!(names.contains("cut.pcapng") && names.contains("wifi.at-server.pcapng"), "{names:?}");
    assert!(!names.contains(".hidden"), "{names:?}");
    let unread = words(&out, "files", "error").into_iter().flatten().count();
    let damaged = words(&out, "files", "damage").into_iter().flatten().count();
    assert_eq!((unread, damaged), (1, 1));
    let (causes, connections) =
        (sum(&out, "causes", "seconds"), sum(&out, "connections", "duration_s"));
    assert!((causes - connections).abs() < 1e-6, "{causes} of {connections}");
    let lost = [("causes", "lost_s"), ("connections", "lost_s"), ("files", "lost_s")];
    let lost = lost.map(|(table, name)| sum(&out, table, name));
    assert!(lost[0] > 0.0 && lost.iter().all(|one| (one - lost[0]).abs() < 1e-6), "{lost:?}");
    assert!(parts(&out, "remedies").is_empty(), "nothing was predicted");

    let shown: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(shown, json(&["diagnose", "show", text(&out), "--json", "-"]));
    assert_eq!(shown["files"], read.len());
    assert!((shown["lost_s"].as_f64().unwrap() - lost[0]).abs() < 1e-6);
    let of_hosts = shown["hosts"].as_array().unwrap().iter();
    let of_hosts: f64 = of_hosts.map(|host| host["lost_s"].as_f64().unwrap()).sum();
    assert!((of_hosts - lost[0]).abs() < 1e-6, "{of_hosts}");
    let plots = folder.path().join("plots");
    let table = printed(&["diagnose", "show", text(&out), "--out", text(&plots)]);
    assert!(table.contains("Worst connections") && table.contains("notes.txt"), "{table}");
    for file in ["report.html", "summary.json", "plots/hosts.svg", "plots/hours.png"] {
        assert!(plots.join(file).exists(), "{file}");
    }
}

#[test]
fn threads_change_nothing_and_a_second_run_diagnoses_what_is_new() {
    let folder = captures();
    let given = text(folder.path()).to_owned();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    for (out, jobs) in [(&one, "1"), (&two, "2")] {
        printed(&["diagnose", &given, "--jobs", jobs, "--out", text(out)]);
    }
    let first = files_below(&one);
    assert!(first == files_below(&two), "other bytes with two threads");
    let count = parts(&one, "files").len();

    fs::copy(folder.path().join("cut.pcapng"), folder.path().join("new.pcapng")).unwrap();
    let told = errors(&output(&["diagnose", &given, "--out", text(&one)]));
    // The text is tried again each time.
    assert!(told.contains(&format!("{} files, ", count + 1)), "{told}");
    assert!(told.contains(&format!(", {} of them known", count - 1)), "{told}");
    let second = files_below(&one);
    assert!(first.iter().all(|file| second.contains(file)), "rows of before have changed");
    assert_eq!(parts(&one, "files").len(), count + 1);

    // A capture that has changed has its new rows instead of the old ones.
    let hosts = |out: &Path| words(out, "connections", "host").into_iter().flatten();
    assert!(hosts(&one).all(|host| host != "edge"));
    let cut = folder.path().join("cut.pcapng");
    printed(&["diagnose", text(&cut), "--each", "--host", "edge", "--out", text(&one)]);
    assert_eq!(parts(&one, "files").len(), count + 1);
    assert_eq!(hosts(&one).filter(|host| host == "edge").count(), 1);
}

#[test]
fn killed_in_the_middle_and_continued_it_comes_to_the_same_bytes() {
    let folder = many();
    let [killed, whole] = ["killed", "whole"].map(|name| folder.path().join(name));
    let fleet =
        |out: &Path| ackord(&["diagnose", text(folder.path()), "--jobs", "2", "--out", text(out)]);
    let mut child = fleet(&killed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let some = within_a_minute(|| parts(&killed, "files").len() >= 10);
    // SIGKILL: it cannot tidy up.
    child.kill().expect("it is there");
    child.wait().expect("it was there");
    assert!(some);
    let known = parts(&killed, "files");
    assert!(known.len() < 40, "it was done before it was killed");
    let times = |files: &[PathBuf]| -> Vec<_> {
        files.iter().map(|file| fs::metadata(file).unwrap().modified().unwrap()).collect()
    };
    let before = times(&known);
    let again = fleet(&killed).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", errors(&again));
    assert!(errors(&again).contains(&format!(", {} of them known", known.len())), "{again:?}");
    assert_eq!(times(&known), before, "known captures are not diagnosed again");
    let undisturbed = fleet(&whole).output().unwrap();
    assert_eq!(undisturbed.status.code(), Some(0), "{}", errors(&undisturbed));
    assert!(files_below(&killed) == files_below(&whole), "other bytes than without the kill");
    assert_eq!(again.stdout, undisturbed.stdout);
}

#[test]
fn sigterm_ends_it_within_a_fifth_of_a_second_and_leaves_whole_files() {
    timely(|| {
        let folder = many();
        let out = folder.path().join("out");
        let mut command = ackord(&["diagnose", text(folder.path()), "--out", text(&out)]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(within_a_minute(|| parts(&out, "files").len() >= 3));
        let pressed = Instant::now();
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("it is at work");
        let ended = child.wait_with_output().expect("it ends");
        let took = pressed.elapsed();
        assert_eq!(ended.status.code(), Some(130), "{}", errors(&ended));
        assert!(errors(&ended).contains("the same command continues"), "{}", errors(&ended));
        assert!(ended.stdout.is_empty());
        for part in TABLES.into_iter().flat_map(|table| parts(&out, table)) {
            assert!(read_parquet(&part).is_ok(), "{}", part.display());
        }
        assert_timely!(took < Duration::from_millis(200), "{took:?}");
    });
}

#[test]
fn remedies_are_predicted_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let capture = super::lossy(folder.path());
    let out = folder.path().join("out");
    printed(&["diagnose", text(&capture), "--each", "--predict", "--out", text(&out)]);
    let told = json(&["diagnose", text(&capture), "--json", "-"]);
    let expected = told["connections"][0]["remedies"].as_array().unwrap().iter();
    let expected: Vec<_> =
        expected.map(|remedy| remedy["remedy"].as_str().map(str::to_owned)).collect();
    assert!(!expected.is_empty());
    assert_eq!(words(&out, "remedies", "remedy"), expected);
    let shown = printed(&["diagnose", "show", text(&out)]);
    assert!(shown.contains("What would help"), "{shown}");
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let out = at.join("out");
    let (given, data_set) = (text(at), text(&out));
    fs::create_dir(at.join("empty")).unwrap();
    let empty = text(&at.join("empty")).to_owned();
    for (arguments, says) in [
        (&[given][..], "--out DATASET"),
        (&["x.pcap", "--each"], "--out DATASET"),
        (&["x.pcap", "--host", "a"], "add --each"),
        (&[given, "--out", data_set, "--connection", "1"], "--connection cannot be used"),
        (&[given, "--out", data_set, "--qlog", "x.qlog"], "--qlog and --annotate cannot"),
        (&["-", "--each", "--out", data_set], "`-` is no file"),
        (&["/nowhere/x.pcap", "--each", "--out", data_set], "/nowhere/x.pcap"),
        (&["/dev/null", "--each", "--out", data_set], "a pipe or a device"),
        (&[&empty, "--out", data_set], "there is no file in"),
        (&["show", given], "has no data set"),
        (&["show"], "DATASET"),
    ] {
        let refused = output(&[&["diagnose"], arguments].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}\n{}", errors(&refused));
        assert!(errors(&refused).contains(says), "{arguments:?}\n{}", errors(&refused));
        assert!(!out.exists(), "{arguments:?}");
    }
    fs::write(at.join("notes.txt"), "no capture").unwrap();
    let none = output(&["diagnose", given, "--out", data_set]);
    assert_eq!(none.status.code(), Some(2));
    assert!(errors(&none).contains("none of 1 files could be read"), "{}", errors(&none));
}

#[test]
fn the_documentation_has_every_column_of_every_table_with_its_unit() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnose.md");
    let page = fs::read_to_string(page).unwrap();
    for (table, columns) in TABLES.into_iter().zip(ackord_advice::fleet::no_rows()) {
        for Column { name, unit, .. } in columns {
            let rows = page.lines().filter(|line| line.contains(&format!("`{name}`")));
            let unit = unit.unwrap_or_default();
            let row = rows.clone().find(|row| row.contains(&format!("| {unit} |")));
            let documented = row.is_some() || unit.is_empty() && rows.count() > 0;
            assert!(documented, "{table}: {name} ({unit})");
        }
    }
}
